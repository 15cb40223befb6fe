"""Deals that can be checked, and seeds that somebody chose."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena import catalog, deals
from arena.models import Challenge
from arena.session import challenge_view
from arena.testing import Table
from challenges.psi.rules import PrivateSetIntersection
from tests.callers import Caller
from tests.commands import arena as command
from tests.guests import sit_down, visit
from tests.servers import Served


async def ended(caller: Caller, **body: Any) -> dict[str, Any]:
    """A game of psi that is over, as everybody sees it."""
    session = await caller.sit_down("ada", "ben", **body)
    await session.end()
    [shown] = (await caller.get("/challenges/psi", status="ended"))["challenges"]
    assert isinstance(shown, dict)
    return shown


async def test_an_ended_session_shows_all_that_is_needed_to_check_its_deal(caller: Caller) -> None:
    shown = Challenge.from_json(json.dumps(await ended(caller, options={"setSize": 5})))

    findings = deals.check(shown, catalog.load(), shown.seed_commitment)

    assert [finding.is_right for finding in findings] == [True, True]
    assert "userSets" in findings[1].words
    assert shown.seeded is None
    assert shown.ranked is None


@pytest.mark.parametrize("part", ["secret", "seed", "options", "version", "challengeType", "seedCommitment"])
async def test_whatever_is_changed_afterwards_is_noticed(caller: Caller, part: str) -> None:
    shown = await ended(caller)
    changed: dict[str, Any] = {
        "secret": "11" * 32,
        "seed": "another",
        "options": {**shown["reveal"]["options"], "setSize": 9},
        "version": {**shown["reveal"]["version"], "version": "2"},
    }
    if part in changed:
        shown["reveal"][part] = changed[part]
    else:
        shown[part] = "millionaire" if part == "challengeType" else "0" * 64

    assert not deals.check(Challenge.from_json(json.dumps(shown)), catalog.load())[0].is_right


async def test_a_promise_that_was_noted_is_compared_too(caller: Caller) -> None:
    shown = Challenge.from_json(json.dumps(await ended(caller)))

    assert not deals.check(shown, catalog.load(), "0" * 64)[0].is_right


async def test_a_state_that_was_not_dealt_is_noticed(caller: Caller) -> None:
    shown = await ended(caller)
    shown["gameState"] = {"userSets": [[1], [2]], "intersectionSet": [], "guesses": [[1], [1]]}

    assert [f.is_right for f in deals.check(Challenge.from_json(json.dumps(shown)), catalog.load())] == [True, False]


async def test_a_chosen_seed_deals_the_same_everywhere_and_is_not_ranked(arena: Served, caller: Caller) -> None:
    shown = await ended(caller, seed="7")

    assert shown["seeded"] is True
    assert shown["ranked"] is False
    assert shown["gameState"]["userSets"] == Table(PrivateSetIntersection(), seed=7).state.user_sets
    [result] = await arena.arena.boards.results("psi", 0, 10)
    assert (result.seeded, result.ranked, result.counts) == (True, False, False)
    assert await caller.get("/scoring/psi") == {}


async def test_a_seed_can_be_chosen_over_a_socket(arena: Served) -> None:
    guest = await visit(arena)
    made = await guest.get("create", challengeType="psi", seed="7")

    assert made["seeded"] is True
    assert "reveal" not in made
    for seed in ("", "x" * 65, "\u2603", 7):
        assert await guest.refusal("create", challengeType="psi", seed=seed) == "VALIDATION"


async def test_who_may_choose_a_ranked_seed_keeps_its_secret(arena: Served) -> None:
    engine = arena.arena.engine
    first, second = [await engine.create("psi", deal=deals.draw("7", ranked=True, secret="ab" * 32)) for _ in range(2)]

    assert first.game == second.game
    assert first.header.seeded
    assert first.header.ranked
    assert first.game != (await engine.create("psi", deal=deals.draw("7"))).game


def test_nothing_can_be_checked_before_the_end() -> None:
    table = Table(PrivateSetIntersection())

    [finding] = deals.check(challenge_view(table.session), catalog.load())

    assert finding == (False, "Nothing is revealed yet: the game is not over.")


async def test_the_command_checks_a_list_of_sessions(caller: Caller, tmp_path: Path) -> None:
    shown = await ended(caller)
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"challenges": [shown]}))
    shown["reveal"]["seed"] = "another"
    bad.write_text(json.dumps(shown))

    fine, wrong, promised = (
        command("seed", "check", good),
        command("seed", "check", bad),
        command("seed", "check", good, "--commitment", "0" * 64),
    )

    assert (fine.code, wrong.code, promised.code) == (0, 1, 1)
    assert fine.out.count("right:") == 2
    assert "WRONG" in wrong.out


@pytest.mark.parametrize("text", ["", "{}", "[]", "5", '{"challenges": []}', '{"challenges": [{"id": 5}]}'])
def test_the_command_says_in_a_line_what_it_cannot_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)

    done = command("seed", "check", tmp_path / "x.json")

    assert done.code == 1
    assert done.err.startswith("arena: ")
    assert "Traceback" not in done.err


async def test_a_session_that_nobody_seeded_is_dealt_by_chance(arena: Served) -> None:
    games = [await sit_down(arena) for _ in range(2)]
    dealt = {(await arena.arena.engine.get(game.id)).game for game in games}

    assert len(dealt) == 2
