"""Lockstep: bots of the house at a table of this server, heard and answered in an order that no timing can change.

Over sockets two bots hear each other a moment earlier or later, and may end differently for it. Here everything that
was said is handed to all seats before the next of them moves, as at a `Match` in memory.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from arena import chat
from arena.bots import Bot, Move, Moves, Talk
from arena.bridge import FORFEIT
from arena.engine import Engine
from arena.errors import ArenaError, StoreUnavailable, trace
from arena.models import ChatMessage, Invite, Seat, SessionId, Status, UserId
from arena.session import Session

logger = logging.getLogger(__name__)

PAGE = 1024 * 1024  # bytes that are read of a channel at a time
LIMIT = 10_000  # turns after which bots are taken not to come to an end
PAUSE = 0.05  # seconds between looks at a game that waits for something else than its bots


class Silent(Exception):
    """Nobody will move any more, and the game is not over."""


class Absent(Bot):
    """Sits in for a bot that could not be made."""

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Give up."""
        yield Move(FORFEIT, "")


def made(kind: type[Bot], rng: Random) -> Bot:
    """A bot of a kind; one that cannot be made loses its game."""
    try:
        bot = kind(rng)
        bot.rehearse()  # nobody listens: what they say in private goes from one object to the other
        return bot
    except Exception as error:  # a bot may raise anything
        logger.warning("a bot cannot be made kind=%s %s", kind.__name__, trace(error))
        return Absent(rng)


async def play(engine: Engine, session: Session, bots: Sequence[Bot], users: Sequence[UserId]) -> Session:
    """Let bots play a session that nobody has joined yet; the session as it stands at its end comes back."""
    id_, invites = session.id, session.header.invites
    for invite, user in zip(invites, users, strict=False):
        await engine.join(invite, user, id_=id_)
    table = Lockstep(engine, id_, bots, invites[: len(bots)])
    await table.run()
    return await engine.get(id_)


class Lockstep:
    """A game all of whose players are objects in here."""

    def __init__(self, engine: Engine, id_: SessionId, bots: Sequence[Bot], handles: Sequence[Invite]) -> None:
        self.engine = engine
        self.id = id_
        self.bots = bots
        self.handles = handles
        self.channels = (chat.operator_channel(id_), chat.player_channel(id_))
        self.heard = [1, 1]  # the next message of each channel
        self.lost: set[Seat] = set()  # seats whose bot failed
        self.waiting: deque[tuple[Seat, Moves]] = deque()
        self._news = True

    async def run(self) -> None:
        """Play until the game ends; raises `Silent` if it never will."""
        for seat, bot in enumerate(self.bots):
            self.waiting.append((seat, self._asked(seat, bot.begin, self.handles[seat], self.handles)))
        for _ in range(LIMIT):
            if self._news:
                await self._listen()
            if await self._is_over():
                return
            if self.waiting:
                await self._move(*self.waiting.popleft())
            else:
                await self._wait()
        raise Silent("The bots never came to an end.")

    async def _is_over(self) -> bool:
        session = self.engine.seen(self.id) or await self.engine.get(self.id)
        return session.standing.status is Status.ENDED

    async def _listen(self) -> None:
        """Hand every bot what is new to it, channel by channel and in the order of the log."""
        self._news = False
        pages = await asyncio.gather(
            *(
                self.engine.sessions.slice(channel, index, PAGE)
                for channel, index in zip(self.channels, self.heard, strict=True)
            )
        )
        for at, page in enumerate(pages):
            self.heard[at] = page.next
            self._news |= page.next <= page.length
        for seat, bot in enumerate(self.bots):
            for page in pages:
                for told in chat.read(page.entries, page.first, self.handles[seat], revealed=False):
                    if "redacted" not in told:
                        self.waiting.append((seat, self._asked(seat, bot.hear, ChatMessage.from_wire(told))))

    async def _wait(self) -> None:
        """Nobody has anything to say: a deadline or a job may go on with the game."""
        session = await self.engine.get(self.id)
        if session.standing.status is Status.ENDED:
            return
        while session.standing.deadlines or session.standing.jobs:
            await asyncio.sleep(PAUSE)
            later = await self.engine.get(self.id)
            if later.tag != session.tag:
                self._news = True
                return
            session = later
        raise Silent("The bots have nothing more to say.")

    def _asked(self, seat: Seat, ask: Callable[..., Moves], *about: object) -> Moves:
        """What a bot answers; whatever it raises costs it the game and nobody else anything."""
        if seat in self.lost:
            return
        try:
            yield from ask(*about)
        except Exception as error:  # a bot may raise anything
            logger.warning("a bot failed session=%s seat=%d %s", self.id, seat, trace(error))
            self.lost.add(seat)
            yield Move(FORFEIT, "")

    async def _move(self, seat: Seat, moves: Moves) -> None:
        for move in moves:
            self._news = True
            try:
                await self._carry_out(seat, move)
            except StoreUnavailable:
                raise
            except ArenaError as refusal:
                self.waiting.append((seat, self._asked(seat, self.bots[seat].refused, move, refusal.code)))

    async def _carry_out(self, seat: Seat, move: Move | Talk) -> None:
        me = self.handles[seat]
        if isinstance(move, Move):
            await self.engine.act(self.id, me, move.type, move.content)
        else:
            await self.engine.chat(self.id, me, move.content, move.to)
