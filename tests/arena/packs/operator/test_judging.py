"""Judges of packs: models, somebody at the table, rankings, and votes of those who watch."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena import Refused
from arena.models import Status
from arena.testing import Table
from tests.bundles import SPEC, small
from tests.judging import models_at
from tests.model_server import Call, Reply, model_server
from tests.races import RaceTable, bundle_of, card, events, offline, race, said, told, work_off

RUBRIC = {"key": "r", "mode": "rubric", "model": "gpt-4o", "rubric": "Is it good?", "context_from": ["final_output"]}
REFERENCE = {**RUBRIC, "key": "ref", "mode": "reference", "reference_from": "case.expectations.best"}
NWISE = {"key": "n", "mode": "n_wise", "model": "gpt-4o", "prompt": "Which?", "context_from": ["final_output"]}


def judged(*judges: dict[str, Any], cases: int = 1, preference: bool = False) -> dict[str, Any]:
    dimensions: list[Any] = ["correctness"]
    dimensions += [{"key": each["key"], "source": "llm_judge", "judge_key": each["key"]} for each in judges]
    dimensions += [{"key": "liked", "source": "human_preference"}] if preference else []
    spec = {**SPEC, "judge_mode": "hybrid" if judges else "deterministic", "llm_judges": list(judges)}
    pack = small(version__execution_mode="prompt_eval", version__evaluation_spec=spec)
    spec["scorecard"] = {"dimensions": dimensions}
    expected = [{"key": "best", "kind": "text", "value": "expected-canary"}]
    pack["input_sets"][0]["cases"] = [
        {"challenge_key": "c", "case_key": f"k{n}", "expectations": expected} for n in range(cases)
    ]
    return pack


async def equal_offline(table: RaceTable, pack: dict[str, Any], folder: Path, case: str = "k0", **more: Any) -> None:
    for seat in range(table.operator.players):
        mine = card(table, seat, case)
        found = await offline(
            bundle_of(pack), case, events(table, seat, case), folder, mine["llm_judge_results"], **more
        )
        assert mine == found


async def test_models_judge_each_run_and_rank_all(tmp_path: Path) -> None:
    pack = judged(RUBRIC, NWISE)
    table = race(pack, players=3)
    for seat, output in enumerate(("short", "the longest", "longer")):
        table.act(seat, "submit", output)

    def script(call: Call) -> Reply:
        ranking = '{"ranking": ["candidate-2", "candidate-3", "candidate-1"]}'
        return Reply(ranking if "candidate-1" in call.user else '{"score": 3}')

    async with model_server() as server, models_at(server.url) as models:
        server.otherwise = script
        table.bench.models = models
        await work_off(table)

    assert [card(table, seat, "k0")["dimension_scores"]["n"] for seat in range(3)] == [0, 1, 0.5]
    assert [card(table, seat, "k0")["dimension_scores"]["r"] for seat in range(3)] == [0.5] * 3
    assert server.counted == {"gpt-4o": 3 * 3 + 3}
    await equal_offline(table, pack, tmp_path)
    await table.bench.isolate.close()


@pytest.mark.parametrize("players", [1, 2])
async def test_without_models_judges_are_unavailable_and_the_card_says_so(players: int) -> None:
    table = race(judged(RUBRIC, NWISE), players=players)
    for seat in range(players):
        table.act(seat, "submit", "x")
    await work_off(table)

    reasons = {each["judge_key"]: each["reason"] for each in card(table, 0, "k0")["llm_judge_results"]}
    alone = "a ranking needs two candidates at least"
    nobody = "no judge sample has a score: this server asks no models"
    assert reasons == {"r": nobody, "n": alone if players == 1 else nobody}
    assert card(table, 0, "k0")["validity"] == "degraded"
    await table.bench.isolate.close()


async def test_a_judge_at_the_table_is_asked_in_place_of_models(tmp_path: Path) -> None:
    pack = judged(RUBRIC, REFERENCE, NWISE)
    table = race(pack, players=2, judge_seat=True)
    table.act(0, "submit", "a")
    table.act(1, "submit", "b")
    await work_off(table)
    table.join(2)
    await work_off(table)
    questions = told(table, 2, "question")
    assert len(questions) == 5

    with pytest.raises(Refused) as unknown:
        table.act(2, "verdict", {"id": "q9", "answer": "{}"})
    for question in questions:
        ranking = "candidate-1" in question["user"]
        answer: Any = {"ranking": ["candidate-2", "candidate-1"]} if ranking else {"score": 5}
        table.act(2, "verdict", {"id": question["id"], "answer": answer})
        await work_off(table)

    assert unknown.value.code == "NO_SUCH_QUESTION"
    assert len(table.result.response_times or []) == 2
    assert table.status is Status.ENDED
    assert [card(table, seat, "k0")["dimension_scores"]["n"] for seat in range(2)] == [0, 1]
    assert card(table, 0, "k0")["dimension_scores"]["ref"] == 1
    await equal_offline(table, pack, tmp_path)
    await table.bench.isolate.close()


async def test_a_judge_at_the_table_knows_what_is_expected_and_tells_nobody() -> None:
    table = race(judged(REFERENCE), judge_seat=True)
    table.join(1)
    table.act(0, "submit", "a")
    await work_off(table)

    knows = {message.to for message in table.log if "expected-canary" in message.content}
    assert knows == {table.handles[1]}
    assert b"expected-canary" not in table.session.game


@pytest.mark.parametrize("present", [True, False])
async def test_a_judge_who_is_late_leaves_no_verdict(present: bool) -> None:
    table = race(judged(RUBRIC, NWISE), players=2, judge_seat=True, judge_seconds=10)
    if present:
        table.join(2)
    for seat in range(2):
        table.act(seat, "submit", "a")
    await work_off(table)

    table.advance(10)
    await work_off(table)

    assert table.status is Status.ENDED
    reasons = {each["reason"] for each in card(table, 0, "k0")["llm_judge_results"]}
    assert reasons == {"no judge sample has a score: the judge in the arena gave no verdict"}
    await table.bench.isolate.close()


async def test_spectators_vote_on_outputs_without_names_once_each(tmp_path: Path) -> None:
    pack = judged(cases=2, preference=True)
    table = race(pack, players=4, votes={"seconds": 60})
    for seat in range(4):
        for case in range(2):
            table.act(seat, "submit", f"output {case} of {seat}")
    await work_off(table)
    ballots = said(table, "ballot")
    assert len(ballots) == 4
    assert table.status is Status.ACTIVE

    for ballot in ballots:
        liked = min("AB", key=lambda side: ballot[side])  # the one of the lower seat
        other = "AB".replace(liked, "")
        for voter, choice in (("ann", liked), ("bob", liked), ("cid", other)):
            table.vote(voter, ballot["ballot"], choice)
    refusals = []
    for vote in (("ann", "b1", "A"), ("ann", "b9", "A"), ("dee", "b1", "C")):
        with pytest.raises(Refused) as refusal:
            table.vote(*vote)
        refusals.append(refusal.value.code)
    table.advance(60)
    with pytest.raises(Refused):
        table.vote("eve", "b1", "A")
    await work_off(table)

    assert refusals == ["VOTED", "NO_SUCH_BALLOT", "NO_SUCH_CHOICE"]
    likes = [card(table, seat, "k1")["dimension_scores"]["liked"] for seat in range(4)]
    assert likes == [pytest.approx(2 / 3), pytest.approx(1 / 3)] * 2
    mine = card(table, 0, "k0")
    found = events(table, 0, "k0")
    assert mine == await offline(bundle_of(pack), "k0", found, tmp_path, human_preference=2 / 3)
    assert {tuple(ballot.sides) for ballot in table.state.ballots.values()} == {("A", "B")}
    await table.bench.isolate.close()


async def test_the_order_of_a_ballot_is_drawn() -> None:
    orders = set()
    for seed in range(12):
        table: RaceTable = Table(race(judged(), players=2, votes={}).operator, seed=seed)
        for seat in range(2):
            table.act(seat, "submit", f"of {seat}")
        await work_off(table)
        orders.add(said(table, "ballot")[0]["A"])

    assert orders == {"of 0", "of 1"}


async def test_where_nobody_votes_the_dimension_is_unavailable() -> None:
    table = race(judged(preference=True), players=2, votes={"seconds": 1})
    for seat in range(2):
        table.act(seat, "submit", json.dumps({"seat": seat}))
    await work_off(table)
    table.advance(1)
    await work_off(table)

    assert card(table, 0, "k0")["dimension_scores"]["liked"] is None
    await table.bench.isolate.close()


async def test_a_tie_is_half_a_vote_for_each() -> None:
    table = race(judged(preference=True), players=2, votes={"seconds": 60})
    for seat in range(2):
        table.act(seat, "submit", f"output of {seat}")
    await work_off(table)
    [ballot] = said(table, "ballot")

    table.vote("ann", ballot["ballot"], "tie")
    table.vote("bob", ballot["ballot"], min("AB", key=lambda side: ballot[side]))

    assert [table.state.preference(seat, ballot["case"]) for seat in range(2)] == [0.75, 0.25]
    await table.bench.isolate.close()


async def test_a_question_says_what_its_answer_is_made_of_and_when_it_is_late() -> None:
    table = race(judged(RUBRIC, NWISE), players=2, judge_seat=True)
    table.join(2)
    for seat in range(2):
        table.act(seat, "submit", "a")
    await work_off(table)

    asked = {each["form"]["mode"]: each for each in told(table, 2, "question")}

    assert asked["rubric"]["form"] == {"mode": "rubric", "min": 1, "max": 5}
    assert sorted(asked["n_wise"]["form"]["candidates"]) == ["candidate-1", "candidate-2"]
    assert all(each["until"] == table.now + 3_600_000 for each in asked.values())
    await table.bench.isolate.close()
