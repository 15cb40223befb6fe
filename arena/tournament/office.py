"""Office: the tournaments of one worker: made, changed, shown, and played if no other worker does so."""

import asyncio
import logging
import secrets
from collections.abc import Mapping
from typing import Any

from arena.catalog import Catalog
from arena.duties import again, attempt
from arena.engine import Engine
from arena.errors import Invalid, Refused
from arena.models import Millis
from arena.packs.guesses import close
from arena.store.tournaments import Tournaments
from arena.tournament.director import Director, Overtaken
from arena.tournament.entry import Entry, Head, Phase, Standing
from arena.tournament.games import Rules
from arena.tournament.plan import check
from arena.tournament.setup import Setup, parse
from arena.tournament.shown import Shown
from arena.version import __version__

logger = logging.getLogger(__name__)

PAUSE = 1.0  # seconds between looks for tournaments that nobody plays
SPAN = Millis(6_000)  # for how long a worker has a tournament without saying so again
RENEW = 2.0  # seconds after which it says so


class Office:
    """What one worker does about tournaments."""

    def __init__(self, engine: Engine, store: Tournaments, secret: bytes, worker: str) -> None:
        self.engine = engine
        self.store = store
        self.shown = Shown(store)
        self._secret = secret
        self._worker = worker
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()

    @property
    def catalog(self) -> Catalog:
        """What can be played here."""
        return self.engine.catalog

    async def create(self, told: object, key: str = "") -> Entry:
        """Begin a tournament; raises `Invalid` if it cannot be played. The same key gives the same tournament."""
        setup = parse(told)
        for agent in setup.agents:
            if agent.cmd is not None or agent.model is not None:
                raise Invalid(
                    f"agents: {agent.name} is a program or a model, which the server does not start; say `remote` and "
                    "take its invites, as `arena tournament run` does."
                )
        head = await self._head(setup)
        return await self.store.load(await self.store.create(head, Standing(), key))

    async def _head(self, setup: Setup) -> Head:
        kind, options, version = await self.catalog.offer(setup.challenge, setup.options)
        operator = kind.operator(options)
        rules = Rules(operator.players, bool(operator.replayable))
        check(setup, rules)
        for agent in setup.agents:
            _check_bot(setup, agent.name, kind.bots)
        return Head(
            id=secrets.token_hex(8),
            created_at=self.engine.clock.now(),
            setup=setup.plain(),
            seed=setup.seed or secrets.token_hex(16),
            seats=rules.seats,
            replayable=rules.replayable,
            options=operator.canonical,
            version=version,
            arena=__version__,
        )

    async def load(self, id_: str) -> Entry:
        """A tournament as it stands."""
        return await self.store.load(id_)

    async def pause(self, id_: str) -> Entry:
        """Play no more for now; games that are under way are begun again later."""
        await self._change(id_, {"phase": Phase.PAUSED, "reason": None})
        return await self.load(id_)

    async def resume(
        self, id_: str, *, budget: Mapping[str, Any] | None = None, concurrency: int | None = None
    ) -> Entry:
        """Go on, also after the budget was used up, if there is more of it now."""
        told: dict[str, Any] = {"phase": Phase.RUNNING, "reason": None, "ended_at": None}
        if budget is not None:
            told["budget"] = dict(budget)
        if concurrency is not None:
            told["concurrency"] = concurrency
        entry = await self.load(id_)
        changed: dict[str, Any] = {name: told[name] for name in ("budget", "concurrency") if name in told}
        parse(entry.head.setup | changed)
        await self._change(id_, told)
        await self.store.set_played(id_, True)
        self._wake.set()
        return await self.load(id_)

    async def _change(self, id_: str, told: Mapping[str, Any]) -> None:
        while True:
            before = await self.store.standing(id_)
            if before.phase is Phase.FINISHED:
                raise Refused("TOURNAMENT_OVER", "This tournament is finished.")
            after = before.model_copy(update={**told, "run": before.run + (told["phase"] is Phase.RUNNING)})
            if await self.store.change(id_, before, after):
                self.shown.forget(id_)
                return

    def nudge(self) -> None:
        """Look for tournaments at once."""
        self._wake.set()

    # The work of a worker

    async def run(self) -> None:
        """Play whatever nobody plays, for as long as the server lives."""
        try:
            await again("tournaments", 0, self._look)
        finally:
            for task in self._playing.values():
                task.cancel()
            await asyncio.gather(*self._playing.values(), return_exceptions=True)

    async def _look(self) -> None:
        for id_ in await self.store.played():
            if id_ not in self._playing and await self.store.hold(id_, self._worker, SPAN):
                task = self._playing[id_] = asyncio.create_task(self._keep(id_), name=f"tournament {id_}")
                task.add_done_callback(lambda _, id_=id_: self._playing.pop(id_, None))  # type: ignore[misc]
        try:
            async with asyncio.timeout(PAUSE):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _keep(self, id_: str) -> None:
        """Have a tournament played for as long as it is ours."""
        playing = asyncio.create_task(self._direct(id_), name=f"director {id_}")
        try:
            while not playing.done():
                await asyncio.wait([playing], timeout=RENEW)
                if not playing.done() and not await self.store.hold(id_, self._worker, SPAN):
                    return
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            await attempt("tournament", self.store.hold(id_, self._worker, Millis(0)))

    async def _direct(self, id_: str) -> None:
        await attempt("tournament", self._played(id_))

    async def _played(self, id_: str) -> None:
        entry = await self.load(id_)
        if entry.standing.phase is Phase.RUNNING:
            try:
                await Director(self.engine, self.store, self._secret, entry).run()
            except Overtaken:
                logger.info("another worker plays on id=%s", id_)
        if (await self.store.standing(id_)).phase is not Phase.RUNNING:
            await self.store.set_played(id_, False)
            if (await self.store.standing(id_)).phase is Phase.RUNNING:  # resumed at this very moment
                await self.store.set_played(id_, True)


def _check_bot(setup: Setup, name: str, known: Mapping[str, Any]) -> None:
    agent = setup.agent(name)
    if agent.is_ours and agent.bot_of(setup.challenge) not in known:
        meant = close(agent.bot_of(setup.challenge), known)
        hint = f"did you mean {meant!r}?" if meant else f"there are: {', '.join(known) or 'none'}."
        raise Invalid(f"agents: {setup.challenge} has no bot {agent.bot_of(setup.challenge)[:60]!r}; {hint}")
