"""Setup: what a tournament is to be, as people write it in a file of YAML or TOML, or send it over the API."""

import json
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PositiveFloat,
    PositiveInt,
    StringConstraints,
    ValidationError,
    model_validator,
)

from arena.errors import CannotStart, Invalid
from arena.models import complaint
from arena.packs.guesses import close

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Seed = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,64}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]

KINDS = ("bot", "cmd", "model", "remote")  # who plays for an agent
LARGEST = 256 * 1024  # bytes of a file
USER_ID = re.compile("[0-9a-f]{64}")  # who signs in with a key is called so


class Format(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    LADDER = "ladder"


class Part(BaseModel):
    """A block of the file: keys that nobody knows are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


class Agent(Part):
    """A participant: a name of its own, and who plays for it."""

    name: Name
    bot: Text | None = None  # of the house: `honest`, or `psi/honest`
    cmd: Text | None = None  # a program on the machine of whoever runs the tournament
    model: Text | None = None  # a language model, asked from there too
    remote: Text | None = None  # over the API: words about whoever takes the invites
    anchor: bool = False  # of a ladder: it stays where it is

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError("an agent has a name and one of bot, cmd or model")
        if USER_ID.fullmatch(self.name):
            raise ValueError("this is what users are called who sign in; choose another name")
        return self

    @property
    def is_ours(self) -> bool:
        """Whether the server plays for it."""
        return self.bot is not None

    def bot_of(self, challenge: str) -> str:
        """The name of its bot among those of a challenge."""
        return (self.bot or "").removeprefix(f"{challenge}/")


class Budget(Part):
    """Where a tournament stops though it is not over; it can be resumed with more."""

    games: PositiveInt | None = None
    cost: PositiveFloat | None = None  # US dollars, as far as agents report them
    seconds: PositiveFloat | None = None  # of playing, over all runs
    game_seconds: PositiveFloat = 600.0  # after which a game is void


class Setup(Part):
    """The whole file."""

    challenge: str = Field(min_length=1, max_length=200)
    options: dict[str, JsonValue] = {}
    format: Format = Format.ROUND_ROBIN
    rounds: Annotated[int, Field(ge=1, le=1000)] | None = None
    games_per_pair: Annotated[int, Field(ge=1, le=10_000)] | None = None
    seed: Seed | None = None
    agents: Annotated[tuple[Agent, ...], Field(min_length=2, max_length=256)]
    concurrency: Annotated[int, Field(ge=1, le=64)] = 8
    budget: Budget = Budget()
    stop_when_decided: bool | Literal["winner"] = False
    rank_by: Literal["points", "utility", "security"] = "points"
    ranked: bool = True  # whether the games count on the boards of the server, too

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = [agent.name for agent in self.agents]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two agents are called {min(twice)}")
        swiss, ladder = self.format is Format.SWISS, self.format is Format.LADDER
        if swiss != (self.rounds is not None):
            raise ValueError("a swiss tournament needs rounds" if swiss else "only a swiss tournament has rounds")
        if ladder and not 0 < len(self.anchors) < len(self.agents):
            raise ValueError("a ladder needs agents that are anchors, weakest first, and others that climb")
        if not ladder and self.anchors:
            raise ValueError("only a ladder has anchors")
        if self.stop_when_decided and self.format not in {Format.ROUND_ROBIN, Format.LADDER}:
            raise ValueError("stop_when_decided works for a round-robin or a ladder")
        return self

    @property
    def names(self) -> list[str]:
        """The agents in the order of the file."""
        return [agent.name for agent in self.agents]

    @property
    def anchors(self) -> list[str]:
        """The rungs of a ladder, the lowest first."""
        return [agent.name for agent in self.agents if agent.anchor]

    def agent(self, name: str) -> Agent:
        """The agent of that name."""
        return next(agent for agent in self.agents if agent.name == name)

    def plain(self) -> dict[str, Any]:
        """As it would be written in a file, without what says nothing."""
        told: dict[str, Any] = json.loads(self.model_dump_json(exclude_defaults=True))
        return {"challenge": told.pop("challenge"), "format": str(self.format), **told}


def parse(told: object) -> Setup:
    """A setup from plain data; raises `Invalid` with the key that is wrong and a guess at what was meant."""
    try:
        text = json.dumps(_with_text_seed(told), allow_nan=False)
        return Setup.model_validate_json(text)
    except ValidationError as error:
        raise Invalid(_complain(error)) from None
    except (TypeError, ValueError) as error:
        raise Invalid(f"This is no plain data: {error}") from None


def read(path: Path) -> Setup:
    """The setup in a file."""
    try:
        if path.stat().st_size > LARGEST:
            raise CannotStart(f"{path} is too large for a tournament.")
        text = path.read_text(encoding="utf-8")
        told = tomllib.loads(text) if path.suffix.lower() == ".toml" else yaml.safe_load(text)
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, yaml.YAMLError) as error:
        raise CannotStart(f"{path} is neither YAML nor TOML: {' '.join(str(error).split())[:300]}") from None
    if isinstance(told, dict) and any(isinstance(a, dict) and "remote" in a for a in told.get("agents") or ()):
        raise CannotStart(f"{path}: agents.remote is for the API; give a bot, a cmd or a model.")
    try:
        return parse(told)
    except Invalid as error:
        raise CannotStart(f"{path}: {error}") from None


def _with_text_seed(told: object) -> object:
    """A seed may be written as a number."""
    if isinstance(told, dict) and isinstance(told.get("seed"), int) and not isinstance(told["seed"], bool):
        return {**told, "seed": str(told["seed"])}
    return told


def _complain(error: ValidationError) -> str:
    issues = error.errors(include_url=False, include_context=False, include_input=False)
    issue = next(
        (issue for issue in issues if issue["type"] == "extra_forbidden"), None
    )  # what is missing may be misspelt
    if issue is None:
        return complaint(error).replace("Value error, ", "")
    *where, key = issue["loc"]
    blocks: dict[str, type[Part]] = {"agents": Agent, "budget": Budget}
    block = blocks.get(str(where[0]) if where else "", Setup)
    meant = close(str(key), block.model_fields)
    place = ".".join(map(str, where))
    return f"{place + ': ' if place else ''}there is no key {str(key)[:60]!r}" + (
        f"; did you mean {meant!r}?" if meant else f"; there are: {', '.join(block.model_fields)}"
    )
