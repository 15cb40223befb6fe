"""Reports: what players say of their models is kept and shown as said, and touches nothing else."""

import pytest
from pydantic import JsonValue

from arena import Refused
from arena.errors import GameNotRunning, Invalid, TooLarge
from arena.models import ReportedUsage
from arena.reports import MOST, Report, plus
from arena.session import challenge_view, state_view
from arena.testing import Table
from challenges.psi.rules import PrivateSetIntersection
from challenges.ultimatum.rules import Ultimatum
from tests.callers import Caller

CALL: dict[str, JsonValue] = {
    "model": "gpt-5",
    "input_tokens": 100,
    "output_tokens": 10,
    "cost_usd": 0.25,
    "latency_ms": 800,
}


def test_reports_add_up_and_are_shown_when_the_game_is_over() -> None:
    table = Table(PrivateSetIntersection(), seed=3)
    table.act(0, "report", **CALL)
    table.act(0, "report", model="gpt-6", total_tokens=50)
    during = state_view(table.session).reported_usage, challenge_view(table.session).wire()["state"]

    table.resign(1)

    told = ReportedUsage(
        calls=2,
        input_tokens=100,
        output_tokens=10,
        total_tokens=160,
        cost_usd=0.25,
        latency_ms=800,
        models=["gpt-5", "gpt-6"],
    )
    assert during[0] is None
    assert "reportedUsage" not in during[1]
    assert table.result.reported_usage == state_view(table.session).reported_usage == {table.handles[0]: told}
    assert table.again().standing == table.session.standing


def test_a_report_leaves_no_message_takes_no_turn_and_stops_no_clock() -> None:
    table = Table(Ultimatum({"clock": {"move": 10}}))
    before, messages = table.session.standing, len(table.log)
    table.advance(4)

    table.act(0, "report", **CALL)

    after = table.session.standing
    assert len(table.log) == messages == after.messages
    assert (after.clocks, after.deadlines, after.awaited, after.times, after.spoken) == (
        before.clocks,
        before.deadlines,
        before.awaited,
        before.times,
        before.spoken,
    )
    assert table.state.total_turns == 0
    table.advance(6.1)
    assert table.state.total_turns == 1  # the default move was made in time


@pytest.mark.parametrize(
    "content",
    ["", "many", '{"input_tokens": -1}', '{"cost_usd": 1e99}', '{"tokens": 4}', '{"output_tokens": 1.5}', "[]"],
)
def test_what_is_no_report_changes_nothing(content: str) -> None:
    table = Table(PrivateSetIntersection())
    before = table.session

    with pytest.raises(Invalid, match="report: "):
        table.act(0, "report", content)

    assert table.session == before


def test_nobody_reports_without_a_game_or_without_end() -> None:
    table = Table(PrivateSetIntersection(), seated=1)
    with pytest.raises(GameNotRunning):
        table.act(0, "report", **CALL)

    with pytest.raises(TooLarge):
        plus(ReportedUsage(calls=MOST), Report())

    many = None
    for number in range(20):
        many = plus(many, Report(model=f"{number}" * 200))
    assert many is not None
    assert (len(many.models), max(map(len, many.models))) == (8, 128)


def test_who_has_resigned_may_still_say_what_it_took() -> None:
    table = Table(Ultimatum())
    table.resign(0)

    table.act(0, "report", **CALL)

    with pytest.raises(Refused, match="resigned"):
        table.act(0, "pass")
    assert table.session.standing.reported_usage is not None


async def test_everybody_reads_it_after_the_end_at_every_door(caller: Caller) -> None:
    made = await caller.post("/challenges/psi")
    for invite in made["invites"]:
        await caller.post("/arena/join", invite=invite)
    ada, ben = made["invites"]
    move = {"challengeId": made["id"], "from": ada, "content": '{"input_tokens": 7, "output_tokens": 3}'}

    assert await caller.post("/arena/message", **move, messageType="report") == {"ok": "Message sent"}
    before = await caller.get("/arena/sync", **{"channel": made["id"], "from": ben})
    await caller.post("/arena/message", **{**move, "from": ben, "messageType": "resign", "content": ""})

    assert before["count"] == 2  # what each was dealt
    [shown] = (await caller.get("/challenges/psi"))["challenges"]
    assert shown["state"]["reportedUsage"][ada]["totalTokens"] == 10
