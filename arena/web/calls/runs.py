"""Runs of packs: how far they are, what happened in them, and the scorecards that they got."""

from typing import Any

import orjson

from arena import auth
from arena.auth import Signed, Viewer
from arena.errors import Forbidden, NotFound, Refused
from arena.models import SessionId, Status, UserId
from arena.packs.operator import views
from arena.packs.operator.referee import Referee
from arena.packs.operator.state import Race
from arena.runtime import Arena
from arena.session import Session
from arena.store.benches import StoredBlobs
from arena.web.calls.bodies import SignedVote, Vote, read, read_truthy

NOT_OVER = "The game is not over."


class Runs:
    """The runs of one session, for one viewer."""

    def __init__(self, arena: Arena, session: Session, referee: Referee, viewer: Viewer) -> None:
        self.arena = arena
        self.session = session
        self.pack = referee.pack
        self.race = Race.model_validate_json(session.game)
        self.viewer = viewer
        settings = arena.settings
        self.blobs = StoredBlobs(arena.nodes, session.id, settings.blob_bytes, settings.session_blob_bytes)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.session.standing.status is Status.ENDED

    @property
    def sees_all(self) -> bool:
        """Whether the viewer may see what was expected, and what was planted."""
        return self.viewer.admin

    def progress(self) -> dict[str, Any]:
        """How far the runs are, for everybody."""
        return {"challengeId": self.session.id, "runs": views.progress(self.race, over=self.is_over)}

    async def scorecards(self, *, whole: bool = False) -> dict[str, Any]:
        """The scorecards of all seats, once the game is over; whole with reasons, and with what was expected."""
        if not self.is_over and not self.sees_all:
            raise Forbidden(NOT_OVER)
        cards = self.session.standing.scorecards
        seats = []
        for seat, runs in enumerate(self.race.runs):
            told: dict[str, Any] = {"seat": seat, "player": self.session.handles[seat]}
            if cards is not None:
                told["card"] = cards[seat].wire()
            kept = {case: run.card.card for case, run in runs.items() if run.card is not None and run.card.card}
            found = {case: await self.blobs.get(name) for case, name in kept.items()}
            told["cases"] = [
                views.run_card(self.pack, run, case, found.get(case), whole=whole or self.sees_all)
                for case, run in runs.items()
            ]
            seats.append(told)
        return {"challengeId": self.session.id, "challengeType": self.session.header.type, "seats": seats}

    async def events(self, seat: str, case: str) -> bytes:
        """The events of a run, one JSON object per line: after the end for everybody, before for its own seat."""
        runs = self.race.runs[int(seat)] if seat.isdecimal() and int(seat) < len(self.race.runs) else {}
        if case not in runs:
            raise NotFound("There is no such run.")
        own = self.viewer.name is not None and self.session.seat_of(self.viewer.name) == int(seat)
        if not (self.is_over or own or self.sees_all):
            raise Forbidden(NOT_OVER)
        lines = await self.arena.sessions.notes(self.session.id, int(seat))
        found = [line["event"] for line in lines if line.get("case") == case and "event" in line]
        graded = runs[case].graded
        if graded and (self.is_over or self.sees_all):
            found += orjson.loads(await self.blobs.get(graded) or b"[]")
        shown = views.shown_events(self.pack, found, whole=self.sees_all)
        return b"".join(orjson.dumps(event) + b"\n" for event in shown)


async def runs_of(arena: Arena, viewer: Viewer, id_: str, type: str | None = None) -> Runs:
    """The runs of a session, if it is one of a pack."""
    session = await arena.engine.get(id_)
    await arena.catalog.fetch(session.header.type, session.header.version)
    rules = arena.engine.rules(session)
    if type not in {None, session.header.type} or not isinstance(rules, Referee):
        raise NotFound("Challenge not found")
    return Runs(arena, session, rules, viewer)


async def vote(arena: Arena, id_: SessionId, body: Any, origin: str) -> dict[str, Any]:
    """Take a vote: where keys are required it is signed, elsewhere the voter is who it says, or its address."""
    arena.leases.spend("joins", origin)
    if arena.ring.required:
        signed = read_truthy(SignedVote, body)
        purpose = f"vote:{id_}:{signed.ballot}:{signed.choice}"
        proof = Signed(signed.public_key, signed.signature, signed.timestamp)
        user: str = auth.sign_in(proof, purpose, arena.clock.now())
        return await _cast(arena, id_, user, user, signed)
    wish = read(Vote, body)
    voter = auth.origin(arena.secret, f"user:{wish.user_id}") if wish.user_id else origin
    return await _cast(arena, id_, voter, wish.user_id, wish)


async def _cast(arena: Arena, id_: SessionId, voter: str, user: str, wish: Vote) -> dict[str, Any]:
    session = await arena.engine.get(id_)
    if UserId(user) in session.standing.player_identities.values():
        raise Refused("SEATED", "Those who play do not vote.")
    await arena.engine.vote(session.id, voter, wish.ballot, wish.choice, wish.key)
    return {"ok": "Vote taken"}
