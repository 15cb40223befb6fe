"""Finds challenges and strategies by name: installed ones by entry point, and modules named for a single run."""

import hashlib
import importlib
import importlib.util
import inspect
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import yaml

from arena.bots import Bot
from arena.errors import UnknownChallengeType
from arena.models import ChallengeMetadata, Version
from arena.operator import NoOptions, Operator
from arena.scoring import GlobalStrategy, ScoringStrategy

logger = logging.getLogger(__name__)

CHALLENGES = "arena.challenges"
STRATEGIES = "arena.scoring_strategies"


@dataclass(frozen=True)
class ChallengeType:
    """A challenge that sessions can be created of."""

    name: str
    operator: type[Operator[Any, Any]]
    metadata: ChallengeMetadata
    version: Version

    @property
    def bots(self) -> dict[str, type[Bot]]:
        """The house bots in the module `bots` beside the rules."""
        package = self.operator.__module__.rpartition(".")[0]
        if not package or importlib.util.find_spec(f"{package}.bots") is None:
            return {}
        return cast(dict[str, type[Bot]], importlib.import_module(f"{package}.bots").BOTS)


@dataclass
class Catalog:
    """What this server has to offer, and what it could not load."""

    challenges: dict[str, ChallengeType] = field(default_factory=dict)
    strategies: dict[str, ScoringStrategy] = field(default_factory=dict)
    global_strategies: dict[str, GlobalStrategy] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)  # by name, and why

    def challenge(self, name: str) -> ChallengeType:
        """The challenge of that name."""
        try:
            return self.challenges[name]
        except KeyError:
            raise UnknownChallengeType(f"Unknown challenge type: {name}") from None

    def add(self, name: str, plugin: Any) -> None:
        """Take in a plugin, under the name it was registered with."""
        if isinstance(plugin, type) and issubclass(plugin, Operator):
            self.challenges[name] = describe(name, plugin)
            return
        strategy = plugin() if isinstance(plugin, type) else plugin
        if callable(getattr(strategy, "combine", None)):
            self.global_strategies[strategy.name] = strategy
        elif callable(getattr(strategy, "update", None)):
            self.strategies[strategy.name] = strategy
        else:
            raise TypeError(f"{plugin!r} is neither a challenge nor a scoring strategy")

    def _try(self, name: str, load: Callable[[], None]) -> None:
        try:
            load()
        except Exception as error:  # a plugin may raise anything, and the server goes on without it
            self.broken[name] = f"{type(error).__name__}: {error}"
            logger.error("plugin does not load name=%s reason=%s", name, self.broken[name])


def load(modules: Iterable[str] = ()) -> Catalog:
    """Everything that is installed, and what the named modules define."""
    catalog = Catalog()
    for group in (CHALLENGES, STRATEGIES):
        for point in entry_points(group=group):
            catalog._try(point.name, lambda point=point: catalog.add(point.name, point.load()))  # type: ignore[misc]
    for name in modules:
        catalog._try(name, lambda name=name: _load_module(catalog, name))  # type: ignore[misc]
    return catalog


def describe(name: str, operator: type[Operator[Any, Any]]) -> ChallengeType:
    """A challenge with the words from the file beside its rules, or failing that from its docstrings."""
    source = Path(inspect.getfile(operator))
    words = source.with_name("challenge.yaml")
    told = yaml.safe_load(words.read_text(encoding="utf-8")) if words.exists() else _from_docstrings(operator)
    digest = hashlib.sha256(source.read_bytes() + (words.read_bytes() if words.exists() else b""))
    metadata = ChallengeMetadata.model_validate(
        {
            **told,
            "players": operator().players,
            "methods": [action.method.wire() for action in operator.actions.values()],
            "options": None if operator.options_type is NoOptions else operator.options_type.model_json_schema(),
        }
    )
    return ChallengeType(name, operator, metadata, Version(version=operator.version, content_hash=digest.hexdigest()))


def _from_docstrings(operator: type[Operator[Any, Any]]) -> dict[str, str]:
    module = inspect.getmodule(operator)
    prompt = (module and inspect.getdoc(module)) or inspect.getdoc(operator) or operator.__name__
    return {"name": operator.__name__, "description": prompt.partition("\n")[0], "prompt": prompt}


def _load_module(catalog: Catalog, name: str) -> None:
    plugins = list(_plugins(importlib.import_module(name)))
    if not plugins:
        raise TypeError(f"module {name} defines no challenge and no scoring strategy")
    for plugin in plugins:
        catalog.add(getattr(plugin, "name", None) or _kebab(plugin.__name__), plugin)


def _plugins(module: ModuleType) -> Iterator[type]:
    """The challenges and strategies that a module itself defines."""
    for member in vars(module).values():
        if not isinstance(member, type) or member.__module__ != module.__name__ or inspect.isabstract(member):
            continue
        strategy = hasattr(member, "metrics") and (hasattr(member, "update") or hasattr(member, "combine"))
        if strategy or (issubclass(member, Operator) and member.actions):
            yield member


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
