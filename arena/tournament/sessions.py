"""Sessions of a tournament: every game has an id and a deal that follow from its place in the plan."""

import asyncio
import hmac
from collections.abc import Sequence

from arena.deals import Deal
from arena.engine import Engine
from arena.errors import NotFound
from arena.models import BREACH, GameResult, Millis, Number, SessionId, Status
from arena.session import Session, result_of
from arena.store import keys
from arena.store.sessions import Conflict
from arena.tournament.entry import Entry
from arena.tournament.games import Game, State, Table, draw


class Desk:
    """Opens the sessions of one tournament, each once, and reads what came of them."""

    def __init__(self, engine: Engine, secret: bytes, entry: Entry) -> None:
        self.engine = engine
        self.head = entry.head
        self.setup = entry.setup
        self._secret = secret
        self._opening = asyncio.Lock()
        self._opened: set[str] = set()  # deals whose sessions are there

    def id_of(self, table: Table, attempt: int) -> SessionId:
        """The session of a game: the same whoever asks, and unknown to all others until it is there."""
        place = (self.head.id, table.key, str(attempt))
        return keys.session_id_of(self._digest("session", *place), self._digest("group", self.head.id, table.deal))

    def _digest(self, *parts: str) -> bytes:
        return hmac.digest(self._secret, "\x00".join(("arena:v1:tournament", *parts)).encode(), "sha256")

    def is_ours(self, table: Table) -> bool:
        """Whether all who sit there are bots of the house."""
        return all(self.setup.agent(name).is_ours for name in table.seats)

    async def open(self, table: Table, attempt: int, beside: Sequence[Table]) -> Session:
        """The session of a game, with those on the same deal: who knows one that is over may play in another."""
        async with self._opening:
            if attempt == 1 and table.deal not in self._opened:
                for other in beside:
                    await self._open(other, 1, beside)
                self._opened.add(table.deal)
            return await self._open(table, attempt, beside)

    async def _open(self, table: Table, attempt: int, beside: Sequence[Table]) -> Session:
        id_ = self.id_of(table, attempt)
        try:
            return self.engine.seen(id_) or await self.engine.get(id_)
        except NotFound:
            return await self._create(id_, self._deal(table, attempt, beside))

    async def _create(self, id_: SessionId, deal: Deal) -> Session:
        try:
            return await self.engine.create(self.setup.challenge, self.setup.options, private=True, deal=deal, id_=id_)
        except Conflict:  # another worker, which thinks that the tournament is its own
            return await self.engine.get(id_)

    def _deal(self, table: Table, attempt: int, beside: Sequence[Table]) -> Deal:
        # Programs may remember what they were dealt, so they get something new in place of a game that broke off.
        fresh = attempt > 1 and not self.is_ours(table)
        name = f"{table.key}#{attempt}" if fresh else table.deal
        secret = draw(self.head.seed, "deal", name).hex()
        twins = () if fresh else tuple(self.id_of(other, 1) for other in beside if other.key != table.key)
        pair = self._digest("pair", self.head.id, name).hex()[:32] if twins else None
        return Deal(
            secret,
            name,
            ranked=self.setup.ranked,
            pair=pair,
            twins=twins,
            swap=self.head.replayable and pair is not None,
        )

    def begun(self, table: Table, session: Session, attempt: int, run: int, now: Millis) -> Game:
        """The record of a game that begins."""
        return Game(
            key=table.key,
            round=table.round,
            match=table.match,
            deal=table.deal,
            seats=list(table.seats),
            session=session.id,
            attempt=attempt,
            run=run,
            started_at=now,
            commitment=session.header.commitment,
        )

    def ended(self, game: Game, session: Session) -> Game:
        """The record of a game that is over."""
        if session.standing.status is not Status.ENDED:
            raise ValueError("The game is not over.")
        decided_by = list(self.engine.catalog.challenge(self.setup.challenge).operator.decided_by)
        result = result_of(session).model_copy(update={"decided_by": decided_by})
        seats = {player: seat for seat, player in enumerate(result.players)}
        return game.model_copy(
            update={
                "state": State.VOID if result.is_void else State.DONE,
                "reason": "the referee called it off" if result.is_void else None,
                "ended_at": result.completed_at,
                "scores": result.scores,
                "places": result.places,
                "outcomes": result.outcomes,
                "costs": costs_of(result),
                "breaches": [(seats[a.from_], seats[a.to]) for a in result.attributions if a.type == BREACH],
            }
        )


def costs_of(result: GameResult) -> list[Number | None]:
    """What the seats of a game cost, by their scorecards or by their own word."""
    cards, told = result.scorecards or [], result.wire().get("reportedUsage") or {}
    costs = [card.cost_usd for card in cards] or [told.get(player, {}).get("costUsd") for player in result.players]
    return costs if any(cost is not None for cost in costs) else []


def void(game: Game, reason: str, now: Millis) -> Game:
    """The record of a game that never came to its end."""
    return game.model_copy(update={"state": State.VOID, "reason": reason, "ended_at": now})
