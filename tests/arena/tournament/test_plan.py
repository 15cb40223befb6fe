"""Plans: who meets whom, how often and on which seat, and that nothing depends on the order in which games end."""

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import Invalid
from arena.tournament.games import Rules
from arena.tournament.plan import Plan, check, most_games, plan
from arena.tournament.standings import standings
from tests.tourneys import TWO, ended, made, play

REPLAYABLE = Rules(2, True)


def met(now: Plan) -> Counter[frozenset[str]]:
    return Counter(frozenset(pair) for table in now.tables for pair in combinations(table.seats, 2))


@given(agents=st.integers(2, 17), each=st.integers(1, 4), replayable=st.booleans())
@settings(max_examples=40, deadline=None)
def test_in_a_round_robin_all_meet_equally_often_and_seats_are_fair(agents: int, each: int, replayable: bool) -> None:
    setup = made(agents, games_per_pair=each)

    now = plan(setup, Rules(2, replayable), {})

    assert set(met(now).values()) == {each}
    assert len(now.tables) == agents * (agents - 1) // 2 * each == most_games(setup, TWO)
    assert len({table.key for table in now.tables}) == len(now.tables)
    seats = Counter((name, seat) for table in now.tables for seat, name in enumerate(table.seats))
    assert all(abs(seats[name, 0] - seats[name, 1]) <= 2 for name in setup.names)
    if each % 2 == 0:
        assert all(seats[name, 0] == seats[name, 1] for name in setup.names)


def test_rivals_are_dealt_the_same_and_nobody_sits_twice_on_a_deal() -> None:
    now = plan(made(16, games_per_pair=4), TWO, {})

    sat = Counter((table.deal, name) for table in now.tables for name in table.seats)
    assert set(sat.values()) == {1}
    assert set(Counter(table.deal for table in now.tables).values()) == {8}


def test_where_seats_may_be_changed_both_sides_of_a_deal_are_played() -> None:
    now = plan(made(6, games_per_pair=2), REPLAYABLE, {})

    first, second = now.tables[:15], now.tables[15:]
    assert [(table.deal, table.seats) for table in second] == [(table.deal, table.seats[::-1]) for table in first]


def test_more_seats_make_every_group_of_agents_meet() -> None:
    setup = made(6)

    now = plan(setup, Rules(3, False), {})

    assert {frozenset(table.seats) for table in now.tables} == {frozenset(g) for g in combinations(setup.names, 3)}
    seats = Counter((name, seat) for table in now.tables for seat, name in enumerate(table.seats))
    assert {seats[name, seat] for name in setup.names for seat in range(3)} == {3, 4}


@pytest.mark.parametrize(("agents", "rounds"), [(8, 5), (9, 5), (16, 6), (6, 5)])
def test_a_swiss_tournament_has_no_rematch_and_everybody_rests_at_most_once(agents: int, rounds: int) -> None:
    setup = made(agents, format="swiss", rounds=rounds)

    now, done = play(setup)

    assert set(met(now).values()) == {1}
    assert len(done) == agents // 2 * rounds
    rests = Counter(name for _, name in now.byes)
    assert sum(rests.values()) == rounds * (agents % 2)
    assert set(rests.values()) <= {1}
    seats = Counter((name, seat) for table in now.tables for seat, name in enumerate(table.seats))
    assert all(abs(seats[name, 0] - seats[name, 1]) <= 2 for name in setup.names)


def test_a_swiss_tournament_with_too_many_rounds_has_rematches_rather_than_no_end() -> None:
    now, done = play(made(4, format="swiss", rounds=5))

    assert len(done) == 10
    assert max(met(now).values()) == 2


def test_a_swiss_tournament_with_more_seats_fills_its_tables() -> None:
    now, _ = play(made(10, format="swiss", rounds=4), Rules(3, False))

    assert all(len(set(table.seats)) == 3 for table in now.tables)
    assert Counter(number for number, _ in now.byes) == {1: 1, 2: 1, 3: 1, 4: 1}
    assert len({name for _, name in now.byes}) == 4


def test_in_a_knockout_the_best_seeds_rest_first_and_meet_last() -> None:
    setup = made(11, format="knockout", games_per_pair=2)
    certain = {name: -100.0 * at for at, name in enumerate(setup.names)}

    now, done = play(setup, strength=certain)

    byes = [match.agents[0] for match in now.matches if len(match.agents) == 1]
    assert set(byes) == {f"agent-{number}" for number in range(5)}
    assert now.matches[-1].agents == ("agent-0", "agent-1")
    assert now.matches[-1].winner == "agent-0"
    assert len(done) == 20
    ranks = {row.agent: row.rank for row in standings(setup, TWO, done)}
    assert (ranks["agent-0"], ranks["agent-1"]) == (1, 2)


def test_a_tied_match_goes_by_utility_and_then_to_the_better_seed() -> None:
    setup = made(2, format="knockout", games_per_pair=2)
    first, second = plan(setup, TWO, {}).tables

    even = plan(setup, TWO, {first.key: ended(first, [1, 0]), second.key: ended(second, [1, 0])})
    higher = plan(setup, TWO, {first.key: ended(first, [1, 0]), second.key: ended(second, [3, 0])})

    assert even.matches[0].winner == "agent-0"
    assert higher.matches[0].winner == "agent-1"


def test_a_climber_goes_up_as_long_as_it_wins_more_than_half() -> None:
    anchors = [{"name": f"rung-{number}", "bot": "honest", "anchor": True} for number in range(4)]
    climbers = [{"name": name, "bot": "greedy"} for name in ("low", "high")]
    setup = made(format="ladder", games_per_pair=4, agents=[*anchors, *climbers])
    strength = {"rung-0": 0.0, "rung-1": 100.0, "rung-2": 200.0, "rung-3": 300.0, "low": 50.0, "high": 250.0}

    now, done = play(setup, strength=strength)

    rows = standings(setup, TWO, done, now)
    assert [(row.agent, row.reached) for row in rows[:2]] == [("high", 3), ("low", 1)]
    assert all(row.anchor for row in rows[2:])
    assert len(done) == 4 * (2 + 4)
    assert not any(set(table.seats) <= {a["name"] for a in anchors} for table in now.tables)


@pytest.mark.parametrize(
    "more",
    [
        {"count": 7, "games_per_pair": 3},
        {"count": 9, "format": "swiss", "rounds": 4},
        {"count": 10, "format": "knockout"},
        {"count": 3, "games_per_pair": 300, "stop_when_decided": True},
    ],
)
def test_the_order_in_which_games_end_changes_nothing(more: dict[str, Any]) -> None:
    setup = made(**more)

    in_order, one = play(setup)
    mixed, other = play(setup, order=Random(3))

    assert in_order == mixed
    assert standings(setup, TWO, one) == standings(setup, TWO, dict(sorted(other.items(), reverse=True)))


def test_a_tournament_stops_when_its_ranking_is_decided_and_says_what_that_saved() -> None:
    setup = made(3, games_per_pair=300, stop_when_decided=True)

    now, done = play(setup)

    assert now.ending is not None
    assert now.ending.reason == "the ranking is decided"
    assert now.ending.saved == 900 - len(done) > 300
    assert [row.agent for row in standings(setup, TWO, done)] == setup.names


@pytest.mark.parametrize(
    ("more", "rules", "reason"),
    [
        ({"count": 2}, Rules(3, False), "3 seats"),
        ({"count": 2}, Rules(1, False), "two seats or more"),
        ({"count": 8, "format": "knockout"}, Rules(3, False), "3, 9, 27"),
        ({"count": 200, "games_per_pair": 10}, TWO, "20000 are the most"),
    ],
)
def test_what_a_challenge_cannot_have_is_refused(more: dict[str, Any], rules: Rules, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        check(made(**more), rules)
