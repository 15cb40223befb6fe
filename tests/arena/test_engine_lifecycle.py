"""The life of a session and what everybody sees of it, whatever happens in whatever order: on an engine with its store.

Every wish may carry a key, and is carried out once however often it is sent.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from arena import catalog, turn
from arena.auth import Viewer
from arena.chat import operator_channel, player_channel
from arena.errors import ArenaError
from arena.models import Invite, Millis
from arena.runtime import Arena, open_arena
from arena.session import challenge_view
from arena.settings import Settings
from arena.store import keys
from arena.web.calls import moves
from tests.parleys import Parley

SEATS = st.integers(0, 3)
WORDS = st.text(max_size=12)
KEPT = {None, "NOT_NOW", "UNKNOWN_METHOD"}  # outcomes that hold for whoever sends the key again
SETTINGS = Settings(page_bytes=700, open_seconds=10**8, keep_days=0)


class Sent(NamedTuple):
    """A wish under a key, and what came of it."""

    send: Callable[..., Awaitable[Any]]
    words: dict[str, Any]
    outcome: Any


class EngineLifecycle(RuleBasedStateMachine):
    """A game in a store, and the same game foreseen."""

    def __init__(self, arena: Arena, runner: asyncio.Runner) -> None:
        super().__init__()
        self.arena = arena
        self.runner = runner
        self.sent: list[Sent] = []

    def run(self, wish: Awaitable[Any]) -> Any:
        """What a wish brings: its answer, or the code of its error."""

        async def carry_out() -> Any:
            try:
                return await wish
            except ArenaError as error:
                return error.code

        return self.runner.run(carry_out())

    @initialize(players=st.integers(1, 3), seated=st.integers(0, 3))
    def open(self, players: int, seated: int) -> None:
        self.games = self.run(self.arena.boards.games("parley"))
        session = self.run(self.arena.engine.create("parley", {"players": players}))
        self.id, self.header = session.id, session.header
        cards = json.loads(session.game)["cards"]
        self.model = Parley(self.id, [*session.header.invites], cards, session.header.created_at)
        self.arena.clock.now = lambda: Millis(self.model.now)  # type: ignore[method-assign]
        for seat in range(min(players, seated)):
            self.join(seat, None, True)

    @rule(seat=SEATS, user=st.sampled_from([None, "ada", "ben"]), keyed=st.booleans())
    def join(self, seat: int, user: str | None, keyed: bool) -> None:
        invite = [*self.model.invites, *[str(keys.new_invite(self.id))] * 4][seat]
        words: dict[str, Any] = {
            "invite": Invite(invite),
            "user": user,
            "key": f"join {len(self.sent)}" if keyed else None,
        }
        seat_taken, wrong = len(self.model.players), self.model.join(invite, user)
        answer = self.run(self.arena.engine.join(**words))
        assert answer == wrong if wrong else answer.seat == seat_taken
        if keyed and not wrong:
            self.sent.append(Sent(self.arena.engine.join, words, answer))

    @precondition(lambda self: self.model.players)
    @rule(
        seat=SEATS,
        type=st.sampled_from(["note", "grumble", "stumble", "nonsense", "add", "unwind"]),
        words=WORDS,
        keyed=st.booleans(),
        knocks=st.booleans(),
    )
    def act(self, seat: int, type: str, words: str, keyed: bool, knocks: bool) -> None:
        self.move(seat, type, "3" if type == "add" else words, keyed, knocks)

    @precondition(lambda self: self.model.status == "active")
    @rule(seat=SEATS, name=st.sampled_from(["bell", "curfew", "crash"]), after=st.sampled_from([0.001, 0.5, 7.25]))
    def wind(self, seat: int, name: str, after: float) -> None:
        self.move(seat, "wind", json.dumps({"name": name, "after": after}), True, False)

    @precondition(lambda self: self.model.status == "active" and len(self.model.operator) > 7)
    @rule(seat=SEATS)
    def stop(self, seat: int) -> None:
        self.move(seat, "stop", "", True, False)

    def move(self, seat: int, type: str, content: str, keyed: bool, knocks: bool) -> None:
        player = self.model.players[seat % len(self.model.players)]
        idle = self.model.status != "active"
        words = {"id_": self.id, "player": Invite(player), "type": type, "content": content, "knock": knocks}
        words["key"] = f"move {len(self.sent)}" if keyed else None
        if knocks and idle:
            self.model.knock(player, type, content)
            expected: Any = {"ok": "Message sent"}
        else:
            expected = self.model.act(player, type, content) or {"ok": "Message sent"}
        assert self.run(self.arena.engine.act(**words)) == expected
        if keyed and (isinstance(expected, dict) or expected in KEPT):
            self.sent.append(Sent(self.arena.engine.act, words, expected))

    @rule(seat=SEATS, to=st.none() | SEATS, content=WORDS, keyed=st.booleans())
    def chat(self, seat: int, to: int | None, content: str, keyed: bool) -> None:
        everybody = [*self.model.invites, "inv_nobody"]
        player, whom = everybody[seat % len(everybody)], None if to is None else everybody[to % len(everybody)]
        words = {"id_": self.id, "player": Invite(player), "content": content, "to": whom}
        words["key"] = f"talk {len(self.sent)}" if keyed else None
        expected = self.model.chat(player, content, whom) or len(self.model.talk)
        assert self.run(self.arena.engine.chat(**words)) == expected
        if keyed and isinstance(expected, int):
            self.sent.append(Sent(self.arena.engine.chat, words, expected))

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 99), times=st.integers(1, 3))
    def again(self, which: int, times: int) -> None:
        """The same key with the same words, perhaps several times at once: nothing happens, the answer is the same."""
        send, words, outcome = self.sent[which % len(self.sent)]

        async def all_at_once() -> list[Any]:
            return await asyncio.gather(*(send(**words) for _ in range(times)), return_exceptions=True)

        for answer in self.run(all_at_once()):
            assert (answer.code if isinstance(answer, ArenaError) else answer) == outcome

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 99))
    def otherwise(self, which: int) -> None:
        """The same key with other words is refused, and nothing happens."""
        send, words, _ = self.sent[which % len(self.sent)]
        changed = {"user": "somebody else"} if "invite" in words else {"content": words["content"] + "!"}
        assert self.run(send(**{**words, **changed})) == "KEY_REUSED"

    @rule(seconds=st.sampled_from([0.001, 0.5, 7.25, 400.0]))
    def advance(self, seconds: float) -> None:
        self.model.advance(self.model.now + round(seconds * 1000))
        self.run(self.arena.engine.wake(self.id))

    @rule()
    def forget(self) -> None:
        """Another worker would know no more than the store does."""
        self.arena.engine.forget()

    @invariant()
    def everybody_sees_what_they_may(self) -> None:
        session = self.run(self.arena.engine.get(self.id))
        shown = challenge_view(session).wire()
        assert shown["state"] == self.model.state
        assert shown["invites"] == self.model.shown_invites()
        for viewer in (*self.model.invites, None, "operator"):
            for channel in (operator_channel(self.id), player_channel(self.id)):
                seen = self.run(self.read(viewer, channel))
                assert seen == self.model.views(channel, viewer)
                assert not any(card in str(seen) + str(shown) for card in self.model.secrets(viewer))

    async def read(self, viewer: str | None, channel: Any) -> list[dict[str, Any]]:
        """All of a channel, page by page."""
        found: list[dict[str, Any]] = []
        while (page := await moves.sync(self.arena, Viewer(viewer), channel, len(found) + 1))["count"]:
            found += page["messages"]
            assert page["next"] == len(found) + 1
        return found

    def teardown(self) -> None:
        """An ended game is counted once, and the inputs in the store bring the same game about again."""
        assert self.run(self.arena.boards.games("parley")) == self.games + (self.model.status == "ended")
        operator = self.arena.catalog.challenge("parley").operator(self.header.options)
        session = turn.open_session(self.header, operator)
        for change in self.run(self.arena.sessions.inputs(self.id)):
            session = turn.after(turn.apply(operator, session, change), "")
        stored = self.run(self.arena.engine.get(self.id))
        played = session.standing.model_copy(update={"category": stored.standing.category})  # of profiles, not of play
        assert (played, session.game, session.version) == (stored.standing, stored.game, stored.version)


@pytest.mark.timeout(60)
def test_a_session_lives_as_the_protocol_says_and_shows_no_more(store: str) -> None:
    with asyncio.Runner() as runner:
        arenas = open_arena(SETTINGS, catalog.load(["tests.plugins.parley"]), store)
        arena = runner.run(arenas.__aenter__())
        try:
            run_state_machine_as_test(
                cast(Any, lambda: EngineLifecycle(arena, runner)),
                settings=settings(
                    max_examples=25,
                    stateful_step_count=25,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(arenas.__aexit__(None, None, None))
