"""Director: has one tournament played, on the worker that holds it. All that it knows can be read from the store."""

import asyncio
import logging
import time
from collections import deque

from arena.engine import Engine
from arena.errors import Invalid, NotFound, Refused
from arena.models import Status, UserId
from arena.session import Session
from arena.store.tournaments import Tournaments
from arena.tournament import lockstep
from arena.tournament.entry import Entry, Phase
from arena.tournament.games import Game, Table, rng_of
from arena.tournament.plan import Ending, due, plan
from arena.tournament.sessions import Desk, void

logger = logging.getLogger(__name__)

LOOK = 1.0  # seconds between looks at whether it was paused
POLL = 0.25  # seconds between looks at a game that others play


class Director:
    """One tournament, from wherever it stands to its end, a pause or the end of its budget."""

    def __init__(self, engine: Engine, store: Tournaments, secret: bytes, entry: Entry) -> None:
        self.engine = engine
        self.store = store
        self.head = entry.head
        self.setup = entry.setup
        self.standing = entry.standing
        self.games = dict(entry.games)
        self.desk = Desk(engine, secret, entry)
        self._run = entry.standing.run
        self._waiting: deque[Table] = deque()
        self._beside: dict[str, list[Table]] = {}  # tables by deal
        self._playing: dict[asyncio.Task[None], Table] = {}
        self._counted = time.monotonic()

    async def run(self) -> None:
        """Play what there is to play."""
        try:
            while await self._goes_on():
                ending = self._fill()
                if ending is not None:
                    await self._close(Phase.FINISHED, ending.reason, ending.saved)
                    return
                spent = self._spent()
                if spent is None:
                    self._start()
                elif not self._playing:
                    await self._close(Phase.STOPPED, spent)
                    return
                await self._wait()
        except (Invalid, Refused) as error:  # the challenge is not offered any more, or not here
            await self._close(Phase.STOPPED, f"it cannot be played: {error}")
        finally:
            await self._leave()

    async def _goes_on(self) -> bool:
        """Whether nobody has stopped it meanwhile, or begun it anew; adds up the time."""
        now = time.monotonic()
        if now - self._counted >= LOOK:
            before = await self.store.standing(self.head.id)
            self.standing = before.model_copy(update={"seconds": before.seconds + now - self._counted})
            self._counted = now
            await self.store.change(self.head.id, before, self.standing)  # what was changed meanwhile is seen next time
        return self.standing.phase is Phase.RUNNING and self.standing.run == self._run

    def _fill(self) -> Ending | None:
        """Ask the plan for more games when the last are over; the reason if there are none."""
        if self._waiting or self._playing:
            return None
        done = {key: game for key, game in self.games.items() if game.is_over}
        made = plan(self.setup, self.head.rules, done)
        self._waiting.extend(due(made, done))
        self._beside = {}
        for table in made.tables:
            self._beside.setdefault(table.deal, []).append(table)
        return None if self._waiting else made.ending

    def _spent(self) -> str | None:
        """What part of the budget is used up."""
        budget, played = self.setup.budget, sum(game.is_over for game in self.games.values())
        if budget.games is not None and played + len(self._playing) >= budget.games:
            return f"the budget of {budget.games} games is used up"
        cost = sum(cost for game in self.games.values() for cost in game.costs if cost is not None)
        if budget.cost is not None and cost >= budget.cost:
            return f"the budget of {budget.cost:g} US dollars is used up"
        if budget.seconds is not None and self.standing.seconds >= budget.seconds:
            return f"the budget of {budget.seconds:g} seconds is used up"
        return None

    def _start(self) -> None:
        budget = self.setup.budget.games
        played = sum(game.is_over for game in self.games.values())
        room = self.setup.concurrency if budget is None else min(self.setup.concurrency, budget - played)
        while self._waiting and len(self._playing) < room:
            table = self._waiting.popleft()
            task = asyncio.create_task(self._play(table), name=f"game {table.key}")
            self._playing[task] = table

    async def _wait(self) -> None:
        done, _ = await asyncio.wait(self._playing, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            self._playing.pop(task)
            task.result()

    async def _leave(self) -> None:
        """Play no more; whoever comes next begins the unfinished games again."""
        for task in self._playing:
            task.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)

    async def _close(self, phase: Phase, reason: str, saved: int = 0) -> None:
        now = time.monotonic()
        while True:
            before = await self.store.standing(self.head.id)
            if before.phase is not Phase.RUNNING:
                break
            seconds = before.seconds + now - self._counted
            told = {"phase": phase, "reason": reason, "saved": saved, "seconds": seconds}
            told["ended_at"] = self.engine.clock.now()
            if await self.store.change(self.head.id, before, before.model_copy(update=told)):
                break
        logger.info("tournament over id=%s phase=%s games=%d", self.head.id, phase, len(self.games))

    # One game

    async def _play(self, table: Table) -> None:
        seen = self.games.get(table.key)
        session, attempt = await self._seat(table, seen)
        game = seen
        if game is None or game.session != session.id or not session.standing.players:
            game = self.desk.begun(table, session, attempt, self.standing.run, self.engine.clock.now())
            await self._record(seen, game)
        over = await self._finish(table, session, game)
        await self._record(game, over)

    async def _record(self, before: Game | None, after: Game) -> None:
        if not await self.store.record(self.head.id, before, after):
            raise Overtaken
        self.games[after.key] = after

    async def _seat(self, table: Table, seen: Game | None) -> tuple[Session, int]:
        """A session that nobody has played in, or one that can still be counted; one that broke off is removed."""
        attempt = 1 if seen is None else seen.attempt
        while True:
            session = await self.desk.open(table, attempt, self._beside[table.deal])
            status = session.standing.status
            outlives = not self.desk.is_ours(table) and seen is not None and seen.run == self.standing.run
            if status is Status.ENDED or not session.standing.players or outlives:
                return session, attempt
            left = await self.engine.abandon(session.id)
            if left is not None:
                return left, attempt
            attempt += 1

    async def _finish(self, table: Table, session: Session, game: Game) -> Game:
        """What came of a game: played now, or found to be over."""
        try:
            async with asyncio.timeout(self.setup.budget.game_seconds):
                if session.standing.status is not Status.ENDED:
                    ours = self.desk.is_ours(table)
                    session = await (self._lockstep(table, session) if ours else self._follow(session))
                return self.desk.ended(game, session)
        except lockstep.Silent as error:
            reason = str(error)
        except NotFound:
            reason = "nobody came to play it"
        except TimeoutError:
            reason = f"not over after {self.setup.budget.game_seconds:g} seconds"
        left = await self.engine.abandon(session.id)
        return void(game, reason, self.engine.clock.now()) if left is None else self.desk.ended(game, left)

    async def _lockstep(self, table: Table, session: Session) -> Session:
        kinds = self.engine.catalog.challenge(self.setup.challenge).bots
        bots = [
            lockstep.made(
                kinds[self.setup.agent(name).bot_of(self.setup.challenge)], rng_of(self.head.seed, table.key, seat)
            )
            for seat, name in enumerate(table.seats)
        ]
        return await lockstep.play(self.engine, session, bots, [UserId(name) for name in table.seats])

    async def _follow(self, session: Session) -> Session:
        while session.standing.status is not Status.ENDED:
            await asyncio.sleep(POLL)
            session = await self.engine.get(session.id)
        return session


class Overtaken(Exception):
    """Another worker has gone on with this tournament."""
