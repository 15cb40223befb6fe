"""A visitor: somebody at one door of a server. What it may do and what it sees are said in the same words at each."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Literal, NamedTuple

from arena.identity import Identity
from tests.callers import Body
from tests.servers import Served

Talk = Literal["operator", "players"]  # the two channels of a session
FIELDS = {"index", "from", "to", "content", "type", "redacted", "channel", "timestamp"}


class Line(NamedTuple):
    """A message as somebody sees it; of its time only the order is kept."""

    place: int  # in its channel
    sender: str
    to: str | None
    content: str
    type: str | None = None
    redacted: bool = False


class Told(NamedTuple):
    """The answer to a wish: nothing, or what is wrong with it; not every door has a code for everything."""

    error: str = ""
    code: str | None = None


FINE = Told()


class Standing(NamedTuple):
    """How a session stands."""

    status: str
    players: tuple[str, ...]
    scores: tuple[tuple[float, float], ...] = ()  # security and utility
    identities: Mapping[str, str] = {}
    attributions: tuple[tuple[str, str, str], ...] = ()


Board = Mapping[str, tuple[int, Mapping[str, float]]]  # by player: games and metrics


class Visitor(ABC):
    """Somebody at a door, who plays or watches one session."""

    is_heard_early = True  # whether the operator answers a move while no game is on; else the door refuses it
    is_told_live = False  # whether messages come by themselves, and so in the view of their time

    def __init__(self, arena: Served, who: Identity, room: AsyncExitStack) -> None:
        self.arena = arena
        self.who = who
        self.room = room  # what it opens is closed with it
        self.session = ""
        self.name = ""  # the invite of its seat

    @property
    def is_guarded(self) -> bool:
        """Whether the server wants signatures and keys."""
        return self.arena.arena.ring.required

    def proof(self, invite: str) -> Body:
        """What says who wants to join: a signature, or a mere claim."""
        return self.who.sign(f"join:{invite}") if self.is_guarded else {"userId": self.who.user}

    def channel(self, talk: Talk) -> str:
        """The name of a channel of its session."""
        return f"challenge_{self.session}" if talk == "operator" else self.session

    def sat(self, session: str, invite: str) -> None:
        """Remember a seat."""
        self.session, self.name = session, invite

    @abstractmethod
    async def enter(self) -> None:
        """Come to the door."""

    @abstractmethod
    async def join(self, invite: str) -> Told:
        """Take a seat."""

    @abstractmethod
    async def watch(self, session: str) -> None:
        """Look at a session without a seat."""

    @abstractmethod
    async def act(self, method: str, content: str) -> Told:
        """Make a move."""

    @abstractmethod
    async def say(self, content: str, to: str | None = None) -> Told:
        """Talk to all players, or to one."""

    @abstractmethod
    async def hear(self, talk: Talk, count: int) -> list[Line]:
        """All that has come so far, once there are so many: waiting, and asking for nothing twice."""

    @abstractmethod
    async def read(self, talk: Talk, index: int = 1) -> list[Line]:
        """Look up what was said, from an index on."""

    @abstractmethod
    async def standing(self) -> Standing:
        """How the session stands."""

    @abstractmethod
    async def ending(self) -> Standing:
        """What is told when the game has ended, in the way of this door."""

    @abstractmethod
    async def board(self, type: str | None) -> Board:
        """Who leads in a challenge, or over all."""


def line(message: Body) -> Line:
    """A message as the protocol has it: absent fields are absent, and only `True` says that it is redacted."""
    assert message.keys() <= FIELDS, message
    assert message.get("redacted", True) is True
    assert None not in message.values()
    return Line(
        message["index"],
        message["from"],
        message.get("to"),
        message["content"],
        message.get("type"),
        "redacted" in message,
    )


def lines(messages: Iterable[Body]) -> list[Line]:
    """Messages as the protocol has them."""
    return [line(message) for message in messages]


def standing_of(state: Body) -> Standing:
    """The state of a session as the protocol has it."""
    return Standing(
        state["status"],
        tuple(state["players"]),
        tuple((score["security"], score["utility"]) for score in state["scores"]),
        state["playerIdentities"],
        tuple((one["from"], one["to"], one["type"]) for one in state.get("attributions", ())),
    )


def board_of(entries: Iterable[Body]) -> Board:
    """A board as the protocol has it."""
    return {entry["playerId"]: (entry["gamesPlayed"], entry["metrics"]) for entry in entries}


def told(body: Body) -> Told:
    """An error as most doors tell it; what is no error is fine."""
    error: Any = body.get("error", "")
    return Told(error, body.get("code")) if error else FINE
