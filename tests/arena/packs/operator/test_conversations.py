"""Multi-turn packs, played: a script, a model and a person speak for the user."""

import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from arena import Refused
from arena.models import Status
from tests.bundles import SPEC, data, small
from tests.judging import models_at
from tests.model_server import Call, ModelServer, Reply, model_server
from tests.races import PACKS, RaceTable, bundle_of, card, events, offline, race, told, work_off

USER = "You play a person"  # how the question to a simulated user begins


def judging(call: Call) -> Reply:
    """What judges say."""
    return Reply('{"pass": false}' if "blames" in call.user else '{"score": 4}')


@asynccontextmanager
async def asking(table: RaceTable, *messages: str) -> AsyncIterator[ModelServer]:
    """Have a table ask a server of models; simulated users say these, then nothing."""
    said = list(messages)

    def script(call: Call) -> Reply:
        if not call.system.startswith(USER):
            return judging(call)
        return Reply(said.pop(0)) if said else Reply(status=400)

    prices = [{"match": "*", "input": 1, "output": 1}]
    async with model_server() as server, models_at(server.url, prices=prices) as models:
        server.otherwise = script
        table.bench.models = models
        yield server
    await table.bench.isolate.close()


def chat(*phases: dict[str, Any], **simulator: Any) -> dict[str, Any]:
    """A pack whose one case is this conversation."""
    spec = {**SPEC, "metrics": [{"key": "done", "type": "boolean", "collector": "run_completed_successfully"}]}
    spec["validators"] = [
        {"key": "v", "type": "contains", "target": "transcript.full", "expected_from": "literal:assistant[0]"}
    ]
    case = {"challenge_key": "c", "case_key": "k", "payload": {"name": "Ada"}}
    case["user_simulator"] = {"schema_version": 1, "kind": "hybrid", "phases": list(phases), **simulator}
    pack = small(version__execution_mode="multi_turn", version__evaluation_spec=spec)
    pack["input_sets"][0]["cases"] = [case]
    return pack


SCRIPT = {"id": "s", "actor": "scripted", "turns": [{"message": "I am {{name}}."}]}
MODEL = {"id": "m", "actor": "llm", "trigger": "on_max_llm_turns", "persona": "p", "model": "gpt-4o", "max_turns": 2}
PERSON = {"id": "p", "actor": "human", "trigger": "manual", "timeout_ms": 5000}


def heard(table: RaceTable) -> list[str]:
    return [each["content"] for each in told(table, 0, "user")]


async def test_a_conversation_goes_through_its_phases_and_is_scored_like_its_events(tmp_path: Path) -> None:
    table = race("lost-luggage")
    async with asking(table, "I want 500 euros!", "And tonight?") as server:
        await play_luggage(table)
    assert table.status is Status.ENDED
    assert [call.system.startswith(USER) for call in server.calls].count(True) == 2
    assert server.counted == {"gpt-4.1-mini": 2 + 3 + 3 + 3, "claude-haiku-4-5": 3}
    for case in ("wedding", "cello"):
        mine = card(table, 0, case)
        found = events(table, 0, case)
        assert mine == await offline(bundle_of("lost-luggage"), case, found, tmp_path, mine["llm_judge_results"])
    scores = card(table, 0, "wedding")["dimension_scores"]
    assert (scores["kindness"], scores["fairness"]) == (0.75, 1)
    assert (table.result.scorecards or [])[0].passes == 2


async def play_luggage(table: RaceTable) -> None:
    table.act(0, "reply", "Good evening.")  # asks for no flight: a mismatch, but not in the last turn of the phase
    table.act(0, "reply", "We will see.")  # no reference: a mismatch in the last turn
    await work_off(table)
    table.act(0, "submit", {"output": "Your flight is late.", "case": "wedding"})
    await work_off(table)
    table.act(0, "reply", "I can give you 50 euros. Your reference is FQ-31077, we will call you.")
    assert heard(table)[:4] == [
        "My suitcase did not come. Everybody else has left already!",
        "Mara Lind, on FQ 310. My sister marries tomorrow and my dress is in there.",
        "I want 500 euros!",
        "And tonight?",
    ]
    table.advance(121)  # the colleague never comes, which ends the conversation
    table.act(0, "reply", "Your reference is FQ-11802.")
    table.act(0, "reply", "50 euros. Your reference is FQ-11802, and we will call you once we have found the cello.")
    await work_off(table)


def test_an_agent_waits_for_the_user() -> None:
    table = race(chat({**MODEL, "trigger": "always"}))

    with pytest.raises(Refused) as refusal:
        table.act(0, "reply", "hello?")

    assert refusal.value.code == "NOT_YOUR_TURN"


async def test_a_model_speaks_until_its_turns_are_over() -> None:
    table = race(chat(SCRIPT, MODEL))
    async with asking(table, "one", "two", "three"):
        for answer in ("a", "b", "c"):
            table.act(0, "reply", answer)
            await work_off(table)

    assert heard(table) == ["I am Ada.", "one", "two"]
    assert table.status is Status.ENDED
    assert [event["payload"]["final_output"] for event in events(table, 0, "k") if "final" in event["type"]] == ["c"]


async def test_a_model_that_cannot_be_asked_fails_the_run_with_its_reason() -> None:
    for asks, reason in ((False, "this server asks no models"), (True, 'model "gpt-4o": the provider answered 400')):
        table = race(chat(SCRIPT, MODEL))
        async with asking(table):
            table.bench.models = table.bench.models if asks else None
            table.act(0, "reply", "a")
            await work_off(table)

        assert told(table, 0, "failed")[0]["reason"].startswith(f"the simulated user failed: {reason}")
        assert table.status is Status.ENDED


async def test_a_person_speaks_from_the_seat_of_the_user_whenever_it_comes() -> None:
    table = race(chat(SCRIPT, PERSON), players=2)
    for seat in range(2):
        table.act(seat, "reply", f"hello from {seat}")
    table.join(2)
    assert [each["run"] for each in told(table, 2, "your-turn")] == ["1/k", "2/k"]

    with pytest.raises(Refused, match="1/k, 2/k"):
        table.act(2, "say", "which one?")
    table.act(2, "say", {"content": "Hi, two.", "run": "2/k"})
    table.act(2, "say", "Hi, one.")
    with pytest.raises(Refused):
        table.act(2, "say", "Anybody?")
    for seat in range(2):
        table.act(seat, "reply", "bye")
    await work_off(table)

    assert heard(table) == ["I am Ada.", "Hi, one."]
    assert [each["content"] for each in told(table, 1, "user")][-1] == "Hi, two."
    assert table.status is Status.ENDED
    assert len(table.result.players) == 2
    await table.bench.isolate.close()


@pytest.mark.parametrize(("on_timeout", "completed"), [("fail", False), ("stop", True)])
async def test_a_person_who_is_silent_ends_the_conversation(on_timeout: str, completed: bool) -> None:
    table = race(chat(SCRIPT, {**PERSON, "on_timeout": on_timeout}))
    table.act(0, "reply", "hello")

    table.advance(5)
    await work_off(table)

    [done] = card(table, 0, "k")["metric_results"]
    assert done["boolean_value"] is completed
    await table.bench.isolate.close()


async def test_a_conversation_ends_at_its_limit() -> None:
    table = race(chat({**SCRIPT, "turns": [{"message": "a"}, {"message": "b"}, {"message": "c"}]}, max_turns=2))

    for _ in range(2):
        table.act(0, "reply", "x")
    await work_off(table)

    assert heard(table) == ["a", "b"]
    assert table.status is Status.ENDED
    await table.bench.isolate.close()


def test_what_the_turns_of_a_script_expect_is_told_to_nobody() -> None:
    pack = copy.deepcopy(data(PACKS / "lost-luggage.yaml"))
    turn = pack["input_sets"][0]["cases"][0]["user_simulator"]["phases"][0]["turns"][0]
    turn["expects"][0]["value"] = "expected-canary"
    table = race(pack)

    assert "expected-canary" not in json.dumps([message.content for message in table.log])
    assert b"expected-canary" not in table.session.game
