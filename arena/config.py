"""Configuration of an arena as a file: which challenges are offered how, what counts them, where models are asked."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, RootModel, ValidationError

from arena.errors import CannotStart
from arena.llm.routes import ModelsConfig
from arena.models import Model, complaint

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True)
class ScoringConfig:
    """Which strategies count which games."""

    default: Sequence[str] = ("average",)
    by_type: Mapping[str, Sequence[str]] = field(default_factory=dict)
    overall: str = "global-average"
    source: str = "average"

    @property
    def names(self) -> set[str]:
        """All strategies that are asked for."""
        return {*self.default, *(name for names in self.by_type.values() for name in names)}


class ChallengeConfig(Model):
    """How one challenge is offered."""

    name: str
    options: dict[str, JsonValue] = {}  # in place of the challenge's own defaults
    scoring: list[str] = []  # beside the default strategies


class Strategies(Model):
    """What counts all games."""

    default: list[str] = ["average"]
    global_: str = Field(default="global-average", alias="global")
    global_source: str | None = None  # none is the first default strategy


class ArenaConfig(Model):
    """The whole file."""

    challenges: list[ChallengeConfig] = []
    scoring: Strategies = Strategies()
    models: ModelsConfig = ModelsConfig()  # which judge, simulate users and play

    def scoring_config(self) -> ScoringConfig:
        """As the scorer wants it."""
        told = self.scoring
        return ScoringConfig(
            default=tuple(told.default),
            by_type={challenge.name: tuple(challenge.scoring) for challenge in self.challenges},
            overall=told.global_,
            source=told.global_source or next(iter(told.default), ""),
        )


PLAYED_FOR = ["win-rate", "red-team", "consecutive"]
DEFAULT = ArenaConfig(
    challenges=[
        *(ChallengeConfig(name=name, scoring=PLAYED_FOR) for name in ("psi", "ultimatum", "millionaire")),
        ChallengeConfig(name="dining-cryptographers", scoring=["win-rate", "consecutive"]),
    ]
)


class Secrets(RootModel[dict[str, str]]):
    """Values that packs name and never see."""

    model_config = ConfigDict(hide_input_in_errors=True)


def read(path: Path | None) -> ArenaConfig:
    """The configuration in a file of JSON or TOML, or what an arena does without one."""
    return DEFAULT if path is None else _read(ArenaConfig, path)


def read_secrets(path: Path | None) -> dict[str, str]:
    """The secrets in a file of JSON or TOML."""
    return {} if path is None else _read(Secrets, path).root


def _read(shape: type[Shape], path: Path) -> Shape:
    try:
        text = path.read_text(encoding="utf-8")
        told: Any = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
        return shape.model_validate_json(json.dumps(told))
    except OSError as error:
        raise CannotStart(f"The configuration {path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        raise CannotStart(f"The configuration {path} is not valid: {complaint(error)}") from None
    except (ValueError, TypeError) as error:  # neither JSON nor TOML, not even text, or a date in it
        raise CannotStart(f"The configuration {path} is not valid: {error}") from None
