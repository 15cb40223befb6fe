"""Finds challenges and strategies by name: installed ones by entry point, and modules named for a single run."""

import copy
import hashlib
import importlib
import importlib.util
import inspect
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

import yaml
from pydantic import BaseModel, JsonValue

from arena import config
from arena.bots import Bot
from arena.clocks import OPTION, Limits
from arena.config import ArenaConfig, ScoringConfig
from arena.errors import CannotStart, Invalid, UnknownChallengeType
from arena.llm.routes import ModelsConfig
from arena.models import ChallengeMetadata, Version
from arena.operator import Operator
from arena.scoring import GlobalStrategy, Strategy

logger = logging.getLogger(__name__)

CHALLENGES = "arena.challenges"
STRATEGIES = "arena.scoring_strategies"
GLOBAL = "global"  # a name that the boards over all challenges have


@dataclass(frozen=True)
class ChallengeType:
    """A challenge that sessions can be created of."""

    name: str
    operator: type[Operator[Any, Any]]
    metadata: ChallengeMetadata
    version: Version

    @cached_property
    def words(self) -> dict[str, Any]:
        """The metadata as plain data, which is given to every player."""
        return self.metadata.wire()

    @property
    def bots(self) -> dict[str, type[Bot]]:
        """The house bots in the module `bots` beside the rules."""
        package = self.operator.__module__.rpartition(".")[0]
        if not package or importlib.util.find_spec(f"{package}.bots") is None:
            return {}
        return cast(dict[str, type[Bot]], importlib.import_module(f"{package}.bots").BOTS)


class Offer(NamedTuple):
    """What a new session is made of."""

    kind: ChallengeType
    options: Mapping[str, JsonValue] | None
    version: Version


class Shelf(Protocol):
    """Challenges that come and go while the server runs, and of which sessions keep the version they began with."""

    def __contains__(self, name: object) -> bool: ...

    def has(self, name: str, version: Version) -> bool:
        """Whether the rules of a session are at hand."""

    async def offer(self, name: str, options: Mapping[str, JsonValue] | None) -> Offer:
        """What a new session is made of."""

    async def fetch(self, name: str, version: Version) -> None:
        """Get the rules of a session."""

    async def refresh(self) -> None:
        """Look whether something came or went."""


@dataclass
class Catalog:
    """What this server has to offer, and what it could not load."""

    challenges: dict[str, ChallengeType] = field(default_factory=dict)
    strategies: dict[str, Strategy] = field(default_factory=dict)
    global_strategies: dict[str, GlobalStrategy] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)  # by name, and why
    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    wishes: dict[str, Mapping[str, JsonValue]] = field(default_factory=dict)  # options in place of challenges' own
    shelf: Shelf | None = None  # published packs
    models: ModelsConfig = field(default_factory=ModelsConfig)  # where language models are asked

    async def offer(self, name: str, options: Mapping[str, JsonValue] | None) -> Offer:
        """What a new session of a challenge is made of."""
        if self.shelf is not None and (name in self.shelf or name not in self.challenges):
            return await self.shelf.offer(name, options)
        kind = self.challenge(name)
        return Offer(kind, options, kind.version)

    async def fetch(self, name: str, version: Version) -> None:
        """Have the rules of a session at hand, although another worker may have published them a moment ago."""
        if self.shelf is not None and not self.shelf.has(name, version):
            await self.shelf.fetch(name, version)

    async def look_for(self, name: str) -> ChallengeType | None:
        """The challenge of that name, also if another worker has published it a moment ago."""
        if self.shelf is not None and name not in self.challenges:
            await self.shelf.refresh()
        return self.challenges.get(name)

    def register(self, kind: ChallengeType) -> None:
        """Offer a challenge from now on; whoever goes through the others meanwhile is not disturbed."""
        wish = self.wishes.get(kind.name)
        self.challenges = {**self.challenges, kind.name: with_options(kind, wish) if wish else kind}

    def challenge(self, name: str) -> ChallengeType:
        """The challenge of that name."""
        try:
            return self.challenges[name]
        except KeyError:
            raise UnknownChallengeType(f"Unknown challenge type: {name}") from None

    def add(self, name: str, plugin: Any) -> None:
        """Take in a plugin, under the name it was registered with."""
        if isinstance(plugin, type) and issubclass(plugin, Operator):
            if name == GLOBAL:
                raise ValueError(f"a challenge cannot be called {GLOBAL}, as the boards over all challenges are")
            self.challenges[name] = describe(name, plugin)
            return
        strategy = plugin() if isinstance(plugin, type) else plugin
        if callable(getattr(strategy, "combine", None)):
            self.global_strategies[strategy.name] = strategy
        elif callable(getattr(strategy, "update", None)) or callable(getattr(strategy, "fit", None)):
            self.strategies[strategy.name] = strategy
        else:
            raise TypeError(f"{plugin!r} is neither a challenge nor a scoring strategy")

    def configure(self, told: ArenaConfig, quiet: bool = False) -> None:
        """Offer challenges in the order and with the options of a configuration, and count and judge as it says."""
        self.scoring, self.models = told.scoring_config(), told.models
        self.wishes = {wish.name: wish.options for wish in told.challenges if wish.options}
        for wish in told.challenges:
            if wish.name in self.challenges and wish.options:
                self.challenges[wish.name] = with_options(self.challenges[wish.name], wish.options)
        listed = [wish.name for wish in told.challenges if wish.name in self.challenges]
        self.challenges = {name: self.challenges[name] for name in dict.fromkeys([*listed, *self.challenges])}
        if not quiet:
            for name in sorted({wish.name for wish in told.challenges} - set(self.challenges)):
                logger.warning("configured challenge is not installed, left out name=%s", name)
            for name in sorted(self.scoring.names - set(self.strategies)):
                logger.warning("configured strategy is not installed, left out name=%s", name)

    def _try(self, name: str, load: Callable[[], None]) -> None:
        try:
            load()
        except Exception as error:  # a plugin may raise anything, and the server goes on without it
            self.broken[name] = f"{type(error).__name__}: {error}"
            logger.error("plugin does not load name=%s reason=%s", name, self.broken[name])


def load(modules: Iterable[str] = (), path: Path | None = None) -> Catalog:
    """Everything that is installed, and what the named modules define, as a file configures it."""
    catalog, installed = Catalog(), entry_points()
    for group in (CHALLENGES, STRATEGIES):
        for point in installed.select(group=group):
            catalog._try(point.name, lambda point=point: catalog.add(point.name, point.load()))  # type: ignore[misc]
    for name in modules:
        catalog._try(name, lambda name=name: _load_module(catalog, name))  # type: ignore[misc]
    catalog.configure(config.read(path), quiet=path is None)
    return catalog


def with_options(challenge: ChallengeType, options: Mapping[str, JsonValue]) -> ChallengeType:
    """A challenge with other defaults."""
    base: Any = challenge.operator

    def start(self: Any, given: BaseModel | Mapping[str, Any] | None = None) -> None:
        base.__init__(self, given if isinstance(given, BaseModel) else {**options, **(given or {})})

    operator = type(base.__name__, (base,), {"__init__": start, "__module__": base.__module__, "__doc__": base.__doc__})
    try:
        players = operator().players
    except Invalid as error:
        raise CannotStart(f"The configuration of {challenge.name} is not valid: {error}") from None
    schema = copy.deepcopy(challenge.metadata.options)
    for name, value in options.items():
        cast(dict[str, Any], (schema or {}).get("properties", {})).setdefault(name, {})["default"] = value
    metadata = challenge.metadata.model_copy(update={"players": players, "options": schema})
    return replace(challenge, operator=operator, metadata=metadata)


def describe(name: str, operator: type[Operator[Any, Any]]) -> ChallengeType:
    """A challenge with the words from the file beside its rules, or failing that from its docstrings."""
    source = Path(inspect.getfile(operator))
    file = source.with_name("challenge.yaml")
    words = file.read_bytes() if file.exists() else b""
    digest = hashlib.sha256(b"".join([source.read_bytes(), words, *(each.read_bytes() for each in operator.made_of)]))
    version = Version(version=operator.version, content_hash=digest.hexdigest())
    metadata = _metadata(operator, words)  # type: ignore[arg-type] # classes have a hash
    return ChallengeType(name, operator, metadata, version)


@cache
def _metadata(operator: type[Operator[Any, Any]], words: bytes) -> ChallengeMetadata:
    """What is told about a challenge; the same for every server of a process, and slow to put together."""
    sample = operator()
    return ChallengeMetadata.model_validate(
        {
            **(yaml.safe_load(words.decode()) if words else _from_docstrings(operator)),
            "players": sample.players,
            "methods": [action.method.wire() for action in operator.actions.values()],
            "options": options_schema(operator),
            "utility": sample.utility,
            "security": sample.security,
            "at_limit": str(operator.at_limit),
            "replayable": operator.replayable,
        }
    )


def options_schema(operator: type[Operator[Any, Any]]) -> dict[str, Any]:
    """The schema of the options, with the limits of time that every challenge has."""
    schema = operator.options_type.model_json_schema()
    if OPTION not in operator.options_type.model_fields:
        schema["properties"] = {**schema.get("properties", {}), OPTION: Limits.model_json_schema()}
    return schema


def _from_docstrings(operator: type[Operator[Any, Any]]) -> dict[str, str]:
    if operator.told_as is not None:
        return dict(operator.told_as)
    module = inspect.getmodule(operator)
    prompt = (module and inspect.getdoc(module)) or inspect.getdoc(operator) or operator.__name__
    return {"name": operator.__name__, "description": prompt.partition("\n")[0], "prompt": prompt}


def _load_module(catalog: Catalog, name: str) -> None:
    """Take in what a module defines, or has made: of `module:name` what its `challenges` makes of that name."""
    place, _, wanted = name.partition(":")
    module = importlib.import_module(place)
    if hasattr(module, "challenges"):
        for type_, operator in module.challenges([wanted] if wanted else []).items():
            catalog.add(type_, operator)
        return
    if wanted:
        raise TypeError(f"module {place} makes no challenges by name")
    plugins = list(_plugins(module))
    if not plugins:
        raise TypeError(f"module {name} defines no challenge and no scoring strategy")
    for plugin in plugins:
        catalog.add(getattr(plugin, "name", None) or _kebab(plugin.__name__), plugin)


def _plugins(module: ModuleType) -> Iterator[type]:
    """The challenges and strategies that a module itself defines."""
    for member in vars(module).values():
        if not isinstance(member, type) or member.__module__ != module.__name__ or inspect.isabstract(member):
            continue
        strategy = hasattr(member, "metrics") and any(hasattr(member, verb) for verb in ("update", "combine", "fit"))
        if strategy or (issubclass(member, Operator) and member.actions):
            yield member


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
