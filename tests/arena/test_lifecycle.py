"""The life of a session and what everybody sees of it, whatever happens in whatever order: on the rules alone."""

import json
from typing import Any

import orjson
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from arena import chat
from arena.errors import ArenaError
from arena.models import Invite
from arena.session import challenge_view, state_view
from arena.testing import ID, START, Table
from tests.parleys import Parley
from tests.plugins import parley

SEATS = st.integers(0, 4)
WORDS = st.text(max_size=12)
NAMES = st.sampled_from(["bell", "gong", "curfew", "crash"])
SECONDS = st.sampled_from([0.001, 0.5, 1.0, 7.25])
METHODS = ("note", "grumble", "stumble", "nonsense", "unwind")
ORDER = ["open", "active", "ended"]


class Lifecycle(RuleBasedStateMachine):
    """A game on a table, and the same game foreseen."""

    table: Table[Any, Any]
    model: Parley

    @initialize(players=st.integers(1, 4), seed=st.integers(0, 99))
    def open(self, players: int, seed: int) -> None:
        operator = parley.Parley(parley.ParleyOptions(players=players))
        self.table = Table(operator, seed, seated=0)
        invites = [str(invite) for invite in self.table.session.header.invites]
        self.model = Parley(ID, invites, self.table.state.cards, START)
        self.statuses = ["open"]

    @rule(seat=SEATS, user=st.sampled_from([None, "ada", "ben"]))
    def join(self, seat: int, user: str | None) -> None:
        wrong = self.model.join(f"inv_{seat}", user)
        assert self.told(lambda: self.table.join(seat, user)) == wrong

    @precondition(lambda self: self.model.players)
    @rule(seat=SEATS, type=st.sampled_from(METHODS), words=WORDS)
    def act(self, seat: int, type: str, words: str) -> None:
        self.move(seat, type, words)

    @precondition(lambda self: self.model.players)
    @rule(seat=SEATS, amount=st.sampled_from(["1", "20", "", "much", "1.5"]))
    def add(self, seat: int, amount: str) -> None:
        self.move(seat, "add", amount)

    @precondition(lambda self: self.model.status == "active")
    @rule(seat=SEATS, name=NAMES, after=SECONDS)
    def wind(self, seat: int, name: str, after: float) -> None:
        self.move(seat, "wind", json.dumps({"name": name, "after": after}))

    @precondition(lambda self: self.model.status == "active" and len(self.model.operator) > 12)
    @rule(seat=SEATS)
    def stop(self, seat: int) -> None:
        self.move(seat, "stop", "")

    @precondition(lambda self: self.model.players)
    @rule(seat=SEATS, to=st.none() | SEATS, words=WORDS)
    def chat(self, seat: int, to: int | None, words: str) -> None:
        seats = len(self.model.players)
        whom = None if to is None else to % seats
        self.model.chat(self.model.players[seat % seats], words, None if whom is None else self.model.players[whom])
        self.table.chat(seat % seats, words, whom)

    @rule(seconds=SECONDS)
    def advance(self, seconds: float) -> None:
        self.model.advance(self.model.now + round(seconds * 1000))
        self.table.advance(seconds)

    def move(self, seat: int, type: str, content: str) -> None:
        seat %= len(self.model.players)
        before = self.table.session
        wrong = self.model.act(self.model.players[seat], type, content)
        assert self.told(lambda: self.table.act(seat, type, content)) == wrong
        if wrong in {"VALIDATION", "INTERNAL", "GAME_NOT_RUNNING"}:
            assert self.table.session is before

    def told(self, wish: Any) -> str | None:
        """The code of the error that a wish ends with; what a challenge raises is a fault of its own."""
        try:
            wish()
        except ArenaError as error:
            return error.code
        except RuntimeError:
            return "INTERNAL"
        return None

    @invariant()
    def everybody_sees_of_the_channels_what_they_may(self) -> None:
        for channel, log in ((f"challenge_{ID}", self.table.log), (ID, self.table.talk)):
            whole = [message.wire() for message in log]
            revealed = self.table.session.standing.revealed and channel.startswith("challenge_")
            for viewer in self.model.viewers:
                seen = [chat.view(fields, viewer, revealed=revealed) for fields in whole]
                assert seen == self.model.views(channel, viewer)
                assert not any(card in str(seen) for card in self.model.secrets(viewer))

    @invariant()
    def everybody_sees_of_the_session_what_they_may(self) -> None:
        session = self.table.session
        assert state_view(session).wire() == self.model.state
        for presented in (None, *self.model.invites):
            shown = challenge_view(session, None if presented is None else Invite(presented)).wire()
            assert shown["state"] == self.model.state
            assert shown["invites"] == self.model.shown_invites(presented)
            hidden = [*self.model.cards, session.header.secret] if self.model.status != "ended" else []
            assert not any(secret in str(shown) for secret in hidden)
            assert bool(shown["gameState"]) == ("reveal" in shown) == (self.model.status == "ended")

    @invariant()
    def a_session_only_goes_on(self) -> None:
        self.statuses.append(str(self.table.status))
        assert [ORDER.index(status) for status in self.statuses] == sorted(map(ORDER.index, self.statuses))
        assert len(self.table.scores) in {0, len(self.model.invites)}

    def teardown(self) -> None:
        """The inputs alone bring the same game about again."""
        again, session = self.table.again(), self.table.session
        assert (again.standing, orjson.loads(again.game)) == (session.standing, orjson.loads(session.game))
        assert again.version == session.version


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(max_examples=60, stateful_step_count=40, deadline=None, database=None)
