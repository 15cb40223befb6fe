"""The author's side of a challenge: an operator deals a state, then answers inputs by yielding effects.

Handlers are plain synchronous generators. Beside the state (and the seat) a handler may ask by name for `rng`, the
generator of this input, `now`, its time, `handles`, the invite codes of the seats, and `roles`, what they are here for:
nothing else in the world may touch a game, so a game can be played again from its inputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, JsonValue, RootModel, ValidationError, create_model
from pydantic_core import to_json
from typing_extensions import TypeVar as TypeVarWithDefault

from arena.clocks import OPTION, Limits
from arena.effects import Effect, Effects
from arena.errors import CannotStart, Invalid, Refused, UnknownMethod
from arena.models import DECIDED_BY, PLAYER, Decider, Method, Millis, Seat, complaint
from arena.workbench import Parts, Workbench

Value = TypeVar("Value")
Handler = TypeVar("Handler", bound=Callable[..., Effects | None])
INJECTED = frozenset({"rng", "now", "handles", "roles"})


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

    def __init__(
        self,
        now: Millis,
        handles: Sequence[str],
        source: Callable[[], Random],
        roles: Callable[[str], str] | None = None,
    ) -> None:
        self.now = now
        self.handles = handles
        self._role = roles
        self._source = source

    @cached_property
    def rng(self) -> Random:
        """The generator of this input, made when somebody asks for it."""
        return self._source()

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """What each seat is here for; one that waits for its player is a player's."""
        return tuple(self._role(handle) if self._role and handle else PLAYER for handle in self.handles)

    def asked(self, wanted: Collection[str]) -> dict[str, Any]:
        """The parts that a handler names."""
        return {name: getattr(self, name) for name in wanted} if wanted else {}


@overload
def action(handler: Handler) -> Handler: ...
@overload
def action(*, name: str = ..., role: str = ...) -> Callable[[Handler], Handler]: ...
def action(
    handler: Handler | None = None, *, name: str | None = None, role: str = PLAYER
) -> Handler | Callable[[Handler], Handler]:
    """Make a method a move that players may send, or those of a role, under its own name or the one given."""

    def mark(method: Handler) -> Handler:
        method.__arena_action__ = name or method.__name__  # type: ignore[attr-defined]
        method.__arena_role__ = role  # type: ignore[attr-defined]
        return method

    return mark if handler is None else mark(handler)


class Alone(RootModel[Value]):
    """An argument that is the whole content."""

    model_config = ConfigDict(allow_inf_nan=False)


class Action:
    """A move of a challenge: how its arguments are read from text, and what it is called with."""

    def __init__(self, name: str, handler: Callable[..., Effects | None]) -> None:
        self.name = name
        self.handler = handler
        self.role: str = getattr(handler, "__arena_role__", PLAYER)
        self.description = inspect.getdoc(handler) or ""
        hints = get_type_hints(handler, include_extras=True)
        named = list(inspect.signature(handler).parameters.values())[3:]  # after self, state and seat
        self.injected = frozenset(p.name for p in named) & INJECTED
        self.asked = asked = [p for p in named if p.name not in INJECTED]
        self.alone = asked[0].name if len(asked) == 1 else None
        self.raw = self.alone is not None and hints.get(self.alone, str) is str
        fields: dict[str, Any] = {
            p.name: (hints.get(p.name, str), ... if p.default is inspect.Parameter.empty else p.default) for p in asked
        }
        config = ConfigDict(extra="forbid", allow_inf_nan=False)
        self.model = create_model(f"{name} arguments", __config__=config, **fields)
        self.root: Any = cast(Any, Alone)[hints[self.alone]] if self.alone and not self.raw else None

    def read(self, content: str) -> dict[str, Any]:
        """The arguments that a message's content stands for; `Invalid` if it does not."""
        if self.raw:
            return {cast(str, self.alone): content}
        if not self.asked:
            return {}
        if not content and not any(field.is_required() for field in self.model.model_fields.values()):
            content = "{}"
        if self.root is not None and (value := self._read_alone(content)):
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
        for read in (self.root.model_validate, self.root.model_validate_json):
            try:
                return {cast(str, self.alone): read(content).root}
            except ValidationError:
                continue
        return None

    @property
    def method(self) -> Method:
        """As the metadata tells it."""
        role = None if self.role == PLAYER else self.role
        schema = self.model.model_json_schema()
        return Method(name=self.name, description=self.description, arguments=schema, role=role)


class AtLimit(StrEnum):
    """What happens to a seat whose time is up; `resign` is a forfeit where this is void, and the same otherwise."""

    FORFEIT = "forfeit"  # it has lost, and the game ends
    DEFAULT = "default"  # its default move is made for it, and the game goes on
    VOID = "void"  # the game ends and counts nowhere


class Operator(Generic[State, Options]):
    """The referee of one type of game. Subclass it, name the type of the state, write `deal` and some actions."""

    players: int = 2
    version: ClassVar[str] = "1"
    decided_by: ClassVar[tuple[Decider, ...]] = DECIDED_BY  # the scores that say who is ahead, the first one first
    has_winner: ClassVar[bool] = True  # False: all may gain together, so payoffs come before ratings
    utility: tuple[float, float] = (-1, 1)  # the least and the greatest score there can be
    security: tuple[float, float] = (-1, 1)
    at_limit: ClassVar[AtLimit] = AtLimit.FORFEIT
    lingers: ClassVar[bool] = False  # goes on when nobody plays any more, since it ends by itself
    replayable: ClassVar[bool] = False  # nothing private is learned on one seat that would help on another
    scoring: ClassVar[tuple[str, ...]] = ()  # strategies that count its games beside those of the server
    sealed: ClassVar[bool] = False  # what was told in private stays so after the end, and the state is never shown
    told_as: ClassVar[Mapping[str, str] | None] = None  # name, description and prompt, if no challenge.yaml has them
    made_of: ClassVar[tuple[Path, ...]] = ()  # files beside its own that its rules are made of
    actions: ClassVar[Mapping[str, Action]] = {}
    state_type: ClassVar[type[BaseModel]]
    options_type: ClassVar[type[BaseModel]] = NoOptions
    options: Options

    _limited = False  # whether limits were given, be it as none
    _wanted: ClassVar[dict[str, frozenset[str]]] = {}

    def __init__(self, options: Options | Mapping[str, Any] | None = None) -> None:
        self.limits: Limits | None = None
        if isinstance(options, BaseModel):
            self.options = options
        else:
            given = dict(options or {})
            if OPTION in given and OPTION not in self.options_type.model_fields:
                self._limited = True
                self.limits = self._read_limits(given.pop(OPTION))
            try:
                # As JSON, since that is where options come from: a strict model takes a list for a tuple only there.
                read = self.options_type.model_validate_json(to_json(given), by_alias=True, by_name=False)
                self.options = cast(Options, read)
            except ValidationError as error:
                raise Invalid(f"options: {complaint(error)}") from None
        self.players = getattr(self.options, "players", type(self).players)

    def _read_limits(self, clock: Any) -> Limits | None:
        if clock is None:
            return None
        try:
            limits = Limits.model_validate_json(to_json(clock), by_alias=True, by_name=False)
        except ValidationError as error:
            raise Invalid(f"options: {OPTION}: {complaint(error)}") from None
        if limits.is_per_seat and type(self).to_move is Operator.to_move:
            raise Invalid("options: clock: this challenge does not say who is to move; only `game` can be limited.")
        return limits

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """The options in full, those that were not chosen included; limits only if somebody spoke of them."""
        dumped = self.options.model_dump(mode="json", by_alias=True)
        return {**dumped, OPTION: self.limits and self.limits.wire()} if self._limited else dumped

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
            for hook in ("deal", "joined", "start", "expired", "worked", "voted", "default_move")
        }
        cls._wanted["work"] = frozenset(inspect.signature(cls.work).parameters) & {"bench"}

    def roles(self) -> Sequence[str]:
        """What each invite is for: the players first, then those who sit at the table without competing."""
        return (PLAYER,) * self.players

    def lacks(self, parts: Parts) -> str:
        """Why this cannot be played on a server with these parts; nothing if it can."""
        return ""

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

    def voted(self, state: State, voter: str, ballot: str, choice: str, *_: Any, **moment: Any) -> Effects | None:
        """Somebody without a seat votes; raise `Refused` where nothing is put to the vote."""
        raise Refused("NO_VOTE", "Nothing is put to the vote here.")

    def to_move(self, state: State) -> Collection[Seat] | None:
        """The seats that a running game waits for: their clocks run. None if that cannot be told."""
        return None

    def default_move(self, state: State, seat: Seat, *_: Any, **moment: Any) -> Effects | None:
        """Move for a seat that is to move and has run out of time or resigned; called where `at_limit` is default."""
        raise NotImplementedError(f"{type(self).__name__} does not say what is done for a seat that does nothing.")

    async def work(self, kind: str, payload: JsonValue, *_: Any, **bench: Any) -> JsonValue:
        """Do a job, on any worker and outside of the game: the only place that may await, or use a `bench`."""
        raise JobFailed(f"{type(self).__name__} has no jobs of kind {kind!r}.")

    def worked(self, state: State, job: Job, result: JsonValue | JobFailed, *_: Any, **moment: Any) -> Effects | None:
        """A job is done, or has failed for good."""

    def hook(self, name: str, state: State, moment: Moment, *arguments: Any) -> list[Effect]:
        """Call a hook with the parts of the moment it names, and collect what it yields."""
        return list(getattr(self, name)(state, *arguments, **moment.asked(self._wanted[name])) or ())

    async def labour(self, kind: str, payload: JsonValue, bench: Workbench) -> JsonValue:
        """Do a job, with the workbench if `work` names it."""
        return await self.work(kind, payload, **({"bench": bench} if self._wanted["work"] else {}))

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
