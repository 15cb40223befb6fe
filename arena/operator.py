"""The author's side of a challenge: an operator deals a state, then answers inputs by yielding effects.

Handlers are plain synchronous generators. Beside the state (and the seat) a handler may ask by name for `rng`, the
generator of this input, `now`, its time, and `handles`, the invite codes of the seats: nothing else in the world may
touch a game, so a game can be played again from its inputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError, create_model
from pydantic_core import to_json
from typing_extensions import TypeVar as TypeVarWithDefault

from arena.effects import Effect, Effects
from arena.errors import CannotStart, Invalid, UnknownMethod
from arena.models import Method, Millis, Seat, complaint

Handler = TypeVar("Handler", bound=Callable[..., Effects | None])
INJECTED = frozenset({"rng", "now", "handles"})


class NoOptions(BaseModel):
    """The options of a challenge that has none."""

    model_config = ConfigDict(extra="forbid")


State = TypeVar("State", bound=BaseModel)
Options = TypeVarWithDefault("Options", bound=BaseModel, default=NoOptions)


class JobFailed(Exception):
    """What `worked` gets in place of a result when a job died too often or raised."""


@dataclass(frozen=True, slots=True)
class Job:
    """Slow work that an operator started."""

    id: str
    kind: str
    payload: JsonValue


class Moment:
    """What the world looks like to one input."""

    def __init__(self, now: Millis, handles: Sequence[str], source: Callable[[], Random]) -> None:
        self.now = now
        self.handles = handles
        self._source = source

    @cached_property
    def rng(self) -> Random:
        """The generator of this input, made when somebody asks for it."""
        return self._source()

    def asked(self, wanted: Iterable[str]) -> dict[str, Any]:
        """The parts that a handler names."""
        return {name: getattr(self, name) for name in wanted}


@overload
def action(handler: Handler) -> Handler: ...
@overload
def action(*, name: str) -> Callable[[Handler], Handler]: ...
def action(handler: Handler | None = None, *, name: str | None = None) -> Handler | Callable[[Handler], Handler]:
    """Make a method a move that players may send, under its own name or the one given."""

    def mark(method: Handler) -> Handler:
        method.__arena_action__ = name or method.__name__  # type: ignore[attr-defined]
        return method

    return mark if handler is None else mark(handler)


class Action:
    """A move of a challenge: how its arguments are read from text, and what it is called with."""

    def __init__(self, name: str, handler: Callable[..., Effects | None]) -> None:
        self.name = name
        self.handler = handler
        self.description = inspect.getdoc(handler) or ""
        hints = get_type_hints(handler, include_extras=True)
        named = list(inspect.signature(handler).parameters.values())[3:]  # after self, state and seat
        self.injected = frozenset(p.name for p in named) & INJECTED
        asked = [p for p in named if p.name not in INJECTED]
        self.alone = asked[0].name if len(asked) == 1 else None
        self.raw = self.alone is not None and hints.get(self.alone, str) is str
        fields: dict[str, Any] = {
            p.name: (hints.get(p.name, str), ... if p.default is inspect.Parameter.empty else p.default) for p in asked
        }
        self.model = create_model(f"{name} arguments", __config__=ConfigDict(extra="forbid"), **fields)
        self.adapter: TypeAdapter[Any] | None = TypeAdapter(hints[self.alone]) if self.alone and not self.raw else None

    def read(self, content: str) -> dict[str, Any]:
        """The arguments that a message's content stands for; `Invalid` if it does not."""
        if not self.model.model_fields:
            return {}
        if self.raw:
            return {cast(str, self.alone): content}
        if not content and not any(field.is_required() for field in self.model.model_fields.values()):
            content = "{}"
        if self.adapter is not None and (value := self._read_alone(content)):
            return value
        try:
            if self.alone and not content.lstrip().startswith("{"):
                arguments = self.model.model_validate({self.alone: content})  # for the words of its complaint
            else:
                arguments = self.model.model_validate_json(content)
        except ValidationError as error:
            raise Invalid(f"{self.name}: {complaint(error)}") from None
        return {name: getattr(arguments, name) for name in self.model.model_fields}

    def _read_alone(self, content: str) -> dict[str, Any] | None:
        adapter = cast(TypeAdapter[Any], self.adapter)
        for read in (adapter.validate_python, adapter.validate_json):
            try:
                return {cast(str, self.alone): read(content)}
            except ValidationError:
                continue
        return None

    @property
    def method(self) -> Method:
        """As the metadata tells it."""
        return Method(name=self.name, description=self.description, arguments=self.model.model_json_schema())


class Operator(Generic[State, Options]):
    """The referee of one type of game. Subclass it, name the type of the state, write `deal` and some actions."""

    players: int = 2
    version: ClassVar[str] = "1"
    actions: ClassVar[Mapping[str, Action]] = {}
    state_type: ClassVar[type[BaseModel]]
    options_type: ClassVar[type[BaseModel]] = NoOptions
    options: Options

    _wanted: ClassVar[dict[str, frozenset[str]]] = {}

    def __init__(self, options: Options | Mapping[str, Any] | None = None) -> None:
        if isinstance(options, BaseModel):
            self.options = options
        else:
            try:
                # As JSON, since that is where options come from: a strict model takes a list for a tuple only there.
                given = to_json(options or {})
                read = self.options_type.model_validate_json(given, by_alias=True, by_name=False)
                self.options = cast(Options, read)
            except ValidationError as error:
                raise Invalid(f"options: {complaint(error)}") from None
        self.players = getattr(self.options, "players", type(self).players)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is not None and issubclass(get_origin(base), Operator):
                for part, given in zip(("state_type", "options_type"), get_args(base), strict=False):
                    if isinstance(given, type):
                        setattr(cls, part, given)
        cls.actions = _find_actions(cls)
        cls._wanted = {
            hook: frozenset(inspect.signature(getattr(cls, hook)).parameters) & INJECTED
            for hook in ("deal", "joined", "start", "expired", "worked")
        }

    # The hooks end in `*_, **moment` so that a type checker lets an author add the parts of the moment by name.

    def deal(self, rng: Random, *_: Any, **moment: Any) -> State:
        """Draw the private data of a new game."""
        raise CannotStart(f"{type(self).__name__} does not say how to deal a game.")

    def joined(self, state: State, seat: Seat, *_: Any, **moment: Any) -> Effects | None:
        """A player took a seat: the place for its private message."""

    def start(self, state: State, *_: Any, **moment: Any) -> Effects | None:
        """All seats are taken."""

    def expired(self, state: State, name: str, *_: Any, **moment: Any) -> Effects | None:
        """A deadline passed."""

    async def work(self, kind: str, payload: JsonValue) -> JsonValue:
        """Do a job, on any worker and outside of the game: the only place that may await."""
        raise JobFailed(f"{type(self).__name__} has no jobs of kind {kind!r}.")

    def worked(self, state: State, job: Job, result: JsonValue | JobFailed, *_: Any, **moment: Any) -> Effects | None:
        """A job is done, or has failed for good."""

    def hook(self, name: str, state: State, moment: Moment, *arguments: Any) -> list[Effect]:
        """Call a hook with the parts of the moment it names, and collect what it yields."""
        return list(getattr(self, name)(state, *arguments, **moment.asked(self._wanted[name])) or ())

    def begin(self, moment: Moment) -> State:
        """Deal, with the parts of the moment that `deal` names."""
        return self.deal(**moment.asked(self._wanted["deal"]))

    def act(self, name: str, state: State, seat: Seat, content: str, moment: Moment) -> list[Effect]:
        """Carry out a move on this state, or raise `Refused`."""
        move = self.actions.get(name)
        if move is None:
            raise UnknownMethod(f"Unknown challenge method: {name}")
        arguments = move.read(content)
        return list(move.handler(self, state, seat, **arguments, **moment.asked(move.injected)) or ())


def _find_actions(operator: type[Operator[Any, Any]]) -> dict[str, Action]:
    """The moves of a challenge in the order of its source; one that is overridden stays a move."""
    marked = {
        attribute: name
        for base in reversed(operator.__mro__)
        for attribute, member in vars(base).items()
        if (name := getattr(member, "__arena_action__", None))
    }
    return {name: Action(name, getattr(operator, attribute)) for attribute, name in marked.items()}
