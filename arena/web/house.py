"""House bots that this server seats itself: guests like all others, but for the wire.

A bot's dice and the keys of its moves follow from its match. So when its worker dies, another plays its game again from
the first message, and what was done before is not done twice.
"""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import orjson

from arena import auth, backfill, wire
from arena.bots import Bot, Move, Talk
from arena.client.game import Game
from arena.client.house import sit
from arena.duties import attempt
from arena.errors import ArenaError, NotFound, RateLimited, Refused, StoreUnavailable, trace
from arena.matchmaker import House
from arena.models import Invite, SessionId
from arena.runtime import Arena
from arena.session import Session
from arena.store.queues import Match
from arena.web.desk import Desk
from arena.web.pump import Pump

logger = logging.getLogger(__name__)

RENEW = 1.0  # seconds between two signs that a match has its bots
LONGEST = 3600.0  # seconds after which a bot gives its game up
AWAY = 0.5  # seconds before a move is sent again to a store that is away
JOINING = "house"  # the key of a bot's join


class Seat:
    """A seat without a socket: a listener of the hub whose frames go to a bot."""

    codec = wire.JSON
    has_room = True

    def __init__(self, arena: Arena, invite: Invite) -> None:
        self.arena = arena
        self.invite = invite
        self.push: Callable[[bytes], None] = self._push
        self.desk = Desk(arena, self, "")
        self._game: Game | None = None
        self._pump = Pump(self._bring, copy_context())

    async def take(self, session: Session, match: Match, number: int) -> Game:
        """Sit down, again if a worker before us did."""
        place, arena = match.places[number], self.arena
        joined = await arena.engine.join(self.invite, place.user, JOINING, session.id)
        key = auth.session_key(arena.ring, session.id, joined.seat, self.invite)
        answer = await self.desk.handle(wire.Resume(type="resume", challenge_id=session.id, session_key=key))
        self._game = game = Game(self, dict(answer.result), self.invite)
        answer.then()
        return game

    async def play(self, game: Game, type: str, **fields: Any) -> dict[str, Any]:
        """Carry out a move, for as long as it takes until the store has it."""
        command = wire.parse({"type": type, **{name: value for name, value in fields.items() if value is not None}})
        while True:
            try:
                return dict((await self.desk.handle(command)).result)
            except (StoreUnavailable, RateLimited):
                await asyncio.sleep(AWAY)

    def leave(self) -> None:
        """Follow the game no more."""
        self._pump.stop()
        self.desk.clear()

    def _push(self, data: bytes) -> None:
        if self._game is not None:
            self._game.hear(orjson.loads(data))

    def lag(self) -> None:
        """Something waits in the log."""
        self._pump.start()

    def seated(self) -> None:
        """A bot has nothing to gather."""

    def removed(self, session: SessionId) -> None:
        """The game is gone."""
        if self._game is not None:
            self._game.lose(NotFound("The session was removed."))

    async def _bring(self) -> bool:
        moved = False
        for subscription in list(self.desk.following.values()):
            if subscription.lags:
                moved |= await self.arena.hub.bring(subscription)
        return moved


class Host(House):
    """Lets the bots of the catalog play where people wait for company."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._tables: dict[str, asyncio.Task[None]] = {}

    def has_bots(self, type: str) -> list[str]:
        """The bots that can play a challenge."""
        return sorted(self._bots(type))

    def _bots(self, type: str) -> dict[str, type[Bot]]:
        kind = self.arena.catalog.challenges.get(type)
        try:
            return {} if kind is None else kind.bots
        except Exception as error:  # a plugin may raise anything, and people wait for each other then
            logger.warning("bots do not load type=%s reason=%s", type, error.__class__.__name__)
            return {}

    def play(self, match: Match, session: Session) -> None:
        """Have the bots of a match play it, unless they do already."""
        if match.id not in self._tables:
            task = asyncio.create_task(self._keep(match, session), name="house table")
            self._tables[match.id] = task
            task.add_done_callback(lambda _: self._tables.pop(match.id, None))

    async def close(self) -> None:
        """Leave all tables; other workers go on."""
        tasks = list(self._tables.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, match: Match, session: Session) -> None:
        """Play to the end, and say all the while that somebody does; a store that is away leaves it to the next."""
        renewing = asyncio.create_task(self._renew(match), name="house claim")
        try:
            await self._introduce(match)
            seats = [number for number, place in enumerate(match.places) if place.bot is not None]
            ends = await asyncio.gather(*(self._sit(match, session, seat) for seat in seats), return_exceptions=True)
        except ArenaError as error:
            ends = [error]
        finally:
            renewing.cancel()
        faults = [end for end in ends if isinstance(end, BaseException)]
        for fault in faults:
            logger.info("house bot left type=%s %s", match.type, trace(fault))
        if not any(isinstance(fault, StoreUnavailable) for fault in faults):
            await attempt("house table", self.arena.matchmaker.queues.finish(match))

    async def _sit(self, match: Match, session: Session, number: int) -> None:
        """Have one bot play; one that fails, or takes for ever, resigns."""
        place, seat = match.places[number], Seat(self.arena, session.header.invites[number])
        try:
            game = await seat.take(session, match, number)
            try:
                bot = self._bots(match.type)[place.bot or ""](backfill.dice_of(self.arena.secret, match.id, number))
                async with asyncio.timeout(LONGEST):
                    await sit(game, bot, name=names())
            except ArenaError:
                raise
            except Exception as error:  # a bot may raise anything
                logger.error("house bot failed type=%s bot=%s %s", match.type, place.bot, trace(error))
                with suppress(Refused, NotFound):
                    await game.act("resign", key="house:resign")
        finally:
            seat.leave()

    async def _introduce(self, match: Match) -> None:
        """Say of the bots of a match what they are."""
        users, now = self.arena.users, self.arena.clock.now()
        for place in match.places:
            if place.bot is not None and place.user is not None:
                await users.update(place.user, {"username": f"{match.type}/{place.bot}", "model": "house bot"}, now)
                await users.mark(place.user, True, now)

    async def _renew(self, match: Match) -> None:
        while True:
            await asyncio.sleep(RENEW)
            await attempt("house claim", self.arena.matchmaker.queues.renew(match, self.arena.clock.now()))


def names() -> Callable[[Move | Talk], str]:
    """Names for the moves of a bot: the same for the same move made for the same time, in whatever order."""
    made: Counter[str] = Counter()

    def name(move: Move | Talk) -> str:
        said = [move.type, move.content] if isinstance(move, Move) else [move.content, move.to, 0]
        digest = hashlib.blake2b(orjson.dumps(said), digest_size=16).hexdigest()
        made[digest] += 1
        return f"house:{digest}:{made[digest]}"

    return name
