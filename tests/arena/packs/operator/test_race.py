"""Packs without tools, played: cases, answers, limits, cards."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena import Outcome, Refused
from arena.errors import ArenaError, Invalid
from arena.models import Status
from arena.packs.isolate import Isolate
from arena.packs.release import prepare
from tests.bundles import SPEC, small
from tests.races import PACKS, RaceTable, bundle_of, card, events, offline, race, said, told, work_off

RICE, COFFEE = "0.30 Hilltop rice", "0.99 Harbour roast"


def pantry(**options: Any) -> RaceTable:
    return race("unit-prices", input_set="pantry", **options)


async def test_a_seat_gets_its_cases_one_after_the_other_and_a_card_for_all(tmp_path: Path) -> None:
    table = pantry()
    first = told(table, 0, "case")
    table.act(0, "report", input_tokens=90, output_tokens=40, model="gpt-4.1-mini")
    table.advance(3)
    table.act(0, "submit", RICE)
    table.act(0, "submit", {"output": COFFEE, "case": "coffee"})
    await work_off(table)

    assert [case["case"] for case in first] == ["rice"]
    assert "Riverside rice: 500 g for 1.4 euros" in first[0]["instructions"]
    assert table.status is Status.ENDED
    for case in ("rice", "coffee"):
        mine = card(table, 0, case)
        assert mine == await offline(bundle_of("unit-prices"), case, events(table, 0, case), tmp_path)
    assert card(table, 0, "rice")["passed"] is True
    [seat] = table.result.scorecards or []
    assert (seat.cases, seat.passes, seat.tokens, seat.latency_ms) == (2, 2, 130, 3000)
    assert table.scores[0].utility == pytest.approx(2 * seat.overall - 1)
    assert table.again() == table.session
    await table.bench.isolate.close()


async def test_several_seats_race_on_the_same_cases_and_hear_nothing_of_each_other() -> None:
    table = pantry(players=3, order="at-once")
    for seat in range(3):
        assert [case["case"] for case in told(table, seat, "case")] == ["rice", "coffee"]
    with pytest.raises(Refused) as refusal:
        table.act(0, "submit", RICE)
    answers = {0: "secret-of-0", 1: "secret-of-1", 2: RICE}
    for seat, answer in answers.items():
        for case in ("coffee", "rice"):
            table.act(seat, "submit", {"output": answer, "case": case})
    before = [message.content for message in table.log if message.to is None]
    heard = [message.content for message in table.log if message.to == "inv_0"]
    await work_off(table)

    assert refusal.value.code == "WHICH_CASE"
    assert not [text for text in before if "secret-of" in text or RICE in text]
    assert not [text for text in heard if "secret-of-1" in text]
    assert [each["done"] for each in said(table, "progress")] == [1, 2] * 3
    utilities = [score.utility for score in table.scores]
    assert utilities[2] > utilities[0] == utilities[1]
    assert table.result.places == [2, 2, 1]
    await table.bench.isolate.close()


def test_what_is_expected_is_told_to_nobody_and_is_no_part_of_the_state() -> None:
    table = race("tide-tables")
    everything = json.dumps([message.content for message in table.log]) + table.session.game.decode()

    for case in bundle_of("tide-tables").input_sets[0].cases:
        for expected in case.expectations:
            assert json.dumps(str(expected.value))[1:-1] not in everything


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        ({"input_tokens": 20_001}, "max_total_tokens exceeded"),
        ({"input_tokens": 10_000, "output_tokens": 10_000, "cost_usd": 0.06}, "max_cost_usd exceeded"),
        ({"total_tokens": 20_000}, None),
    ],
)
def test_budgets_are_enforced_while_the_run_goes_on(report: dict[str, int], reason: str | None) -> None:
    table = race("tide-tables")
    case = told(table, 0, "case")[0]["case"]

    table.act(0, "report", **report)

    run = table.state.runs[0][case]
    assert run.failed == (reason or "")
    assert [each["reason"] for each in told(table, 0, "failed")] == ([reason] if reason else [])


@pytest.mark.parametrize(
    "report",
    [
        {"cost_usd": -1}, {"cost_usd": "nan"}, {"cost_usd": "inf"}, {"latency_ms": -1}, {"latency_ms": "nan"},
        {"input_tokens": -1}, {"output_tokens": 10**400}, {"total_tokens": 10**13},
    ],
)  # fmt: skip
def test_no_report_gives_back_what_was_used_or_breaks_the_count(report: dict[str, Any]) -> None:
    table = race("tide-tables")
    before = table.state

    with pytest.raises(ArenaError) as refusal:
        table.act(0, "report", json.dumps(report))

    assert refusal.value.code == "VALIDATION"
    assert table.state == before


def test_tokens_count_whatever_their_sum_is_said_to_be() -> None:
    table = race("tide-tables")
    table.act(0, "report", {"input_tokens": 20_000, "output_tokens": 1, "total_tokens": 0})

    assert [each["reason"] for each in told(table, 0, "failed")] == ["max_total_tokens exceeded"]


async def test_a_case_whose_time_is_up_fails_and_is_evaluated_all_the_same() -> None:
    table = race("tide-tables")
    cases = [case.effective_key for case in bundle_of("tide-tables").input_sets[0].cases]

    for _ in cases:
        table.advance(60)
    await work_off(table)

    assert table.status is Status.ENDED
    assert [run.failed for run in table.state.runs[0].values()] == ["the time of this case is up"] * len(cases)
    assert card(table, 0, cases[0])["passed"] is False
    assert (table.result.scorecards or [])[0].passes == 0
    await table.bench.isolate.close()


async def test_a_seat_that_resigns_forfeits_and_the_others_go_on() -> None:
    table = pantry(players=2)
    table.resign(0)
    table.act(1, "submit", RICE)
    table.act(1, "submit", COFFEE)
    await work_off(table)

    assert table.result.outcomes == [Outcome.FORFEIT, Outcome.PLAYED]
    assert table.scores[0].utility < table.scores[1].utility
    await table.bench.isolate.close()


async def test_who_is_alone_and_resigns_gets_a_card_that_says_so(tmp_path: Path) -> None:
    table = pantry()
    table.resign(0)
    await work_off(table)

    assert (table.status, table.result.outcomes) == (Status.ENDED, [Outcome.FORFEIT])
    assert [run.failed for run in table.state.runs[0].values()] == ["the seat gave up, or its time was up"] * 2
    assert card(table, 0, "rice") == await offline(bundle_of("unit-prices"), "rice", events(table, 0, "rice"), tmp_path)
    [seat] = table.result.scorecards or []
    assert (seat.cases, seat.passes) == (2, 0)
    await table.bench.isolate.close()


async def test_nobody_escapes_a_card_by_resigning_after_the_last_answer() -> None:
    table = pantry(players=2, order="at-once")
    for seat in (0, 1):
        for case in ("rice", "coffee"):
            table.act(seat, "submit", {"output": "no\nidea", "case": case})
    for seat in (0, 1):
        table.resign(seat)
    await work_off(table)

    assert [each.passes for each in table.result.scorecards or []] == [0, 0]
    assert card(table, 1, "coffee")["passed"] is False
    await table.bench.isolate.close()


@pytest.mark.parametrize("clock", [{"game": 5}, {"move": 5}, {"bank": 5}])
async def test_a_session_whose_time_is_up_ends_with_cards(clock: dict[str, int]) -> None:
    table = pantry(players=2, clock=clock)
    table.act(0, "submit", RICE)
    for _ in range(4):
        table.advance(6)
    waiting = table.status
    await work_off(table)

    assert (waiting, table.status) == (Status.ACTIVE, Status.ENDED)
    assert table.result.outcomes == [Outcome.TIMEOUT, Outcome.TIMEOUT]
    assert [(each.cases, each.passes) for each in table.result.scorecards or []] == [(2, 1), (2, 0)]
    await table.bench.isolate.close()


def test_the_input_set_is_chosen_as_the_contract_says() -> None:
    with pytest.raises(Refused) as missing:
        race("unit-prices")
    with pytest.raises(Refused) as unknown:
        race("unit-prices", input_set="cellar")
    by_other_name = race("unit-prices", challenge_input_set_id="market")
    published = prepare((PACKS / "unit-prices.yaml").read_bytes()).release
    by_id = race("unit-prices", input_set=published.input_set_ids[1])

    assert missing.value.code == "missing_challenge_input_set_id"
    assert unknown.value.code == "invalid_challenge_input_set_id"
    assert list(by_other_name.state.runs[0]) == list(by_id.state.runs[0]) == ["olives"]
    with pytest.raises(Invalid):
        race("unit-prices", input_set="market", players=17)


def test_the_options_of_a_session_name_the_version_that_is_played() -> None:
    assert pantry(seats=2).session.header.options["version"] == 1


def test_there_are_moves_that_a_case_does_not_know() -> None:
    table = pantry()

    for name, content, code in (
        ("tool", {"name": "exec"}, "NO_TOOLS"),
        ("reply", "hello", "NO_CONVERSATION"),
        ("submit", {"output": "x", "case": "tea"}, "NO_SUCH_CASE"),
        ("submit", {"output": "x", "case": "coffee"}, "NOT_RUNNING"),
        ("artifact", {"path": "a", "content": "x", "base64": "eA=="}, "VALIDATION"),
        ("artifact", {"path": "a", "base64": "?"}, "VALIDATION"),
    ):
        with pytest.raises(Refused) as refusal:
            table.act(0, name, content)  # type: ignore[arg-type]
        assert refusal.value.code == code


async def test_outputs_are_shown_when_nobody_can_make_use_of_them() -> None:
    alone, many = pantry(show_outputs=True), pantry(show_outputs=True, players=2)
    alone.act(0, "submit", RICE)
    assert [each["output"] for each in said(alone, "output")] == [RICE]

    for seat in range(2):
        many.act(seat, "submit", RICE)
        assert not said(many, "output")
        many.act(seat, "submit", COFFEE)
    await work_off(many)

    shown = [(each["case"], each["player"], each["output"]) for each in said(many, "output")]
    assert shown == [("rice", 1, RICE), ("rice", 2, RICE), ("coffee", 1, COFFEE), ("coffee", 2, COFFEE)]
    await many.bench.isolate.close()


async def test_files_that_are_handed_in_are_captured_for_the_evaluation(tmp_path: Path) -> None:
    checks = [
        {"key": "notes", "type": "file_capture", "path": "/workspace/notes.txt"},
        {"key": "gone", "type": "file_capture", "path": "gone.txt"},
        {"key": "all", "type": "directory_listing", "path": "/workspace"},
    ]
    validators = [
        {"key": "v", "type": "file_content_match", "target": "file:notes", "expected_from": "literal:second"},
        {"key": "w", "type": "file_exists", "target": "file:gone", "config": {"must_exist": False}},
        {"key": "x", "type": "directory_structure", "target": "file:all", "config": {"required_files": ["notes.txt"]}},
    ]
    pack = small(
        version__execution_mode="responses",
        version__evaluation_spec={**SPEC, "validators": validators, "post_execution_checks": checks},
    )
    table = race(pack)
    table.act(0, "artifact", {"path": "notes.txt", "content": "first"})
    table.act(0, "artifact", {"path": "notes.txt", "base64": "c2Vjb25k"})
    table.act(0, "submit", "done")
    await work_off(table)

    mine = card(table, 0, "k")
    assert mine == await offline(bundle_of(pack), "k", events(table, 0, "k"), tmp_path)
    assert [each["verdict"] for each in mine["validator_results"]] == ["pass"] * 3
    await table.bench.isolate.close()


async def test_an_evaluation_that_cannot_be_done_counts_as_nothing_and_says_why() -> None:
    table = race("unit-prices", input_set="market")
    table.act(0, "submit", "x")
    table.bench.isolate = Isolate(seconds=0)  # an idle machine does much within a millisecond
    await work_off(table)

    made = table.state.runs[0]["olives"].card
    assert made is not None
    assert made.reason.startswith("the work was stopped")
    assert table.scores[0].utility == -1
    await table.bench.isolate.close()
