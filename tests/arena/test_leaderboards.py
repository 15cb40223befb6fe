"""Leaderboards: ranks, intervals, facts, history, the past and freezing, on a real store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from random import Random
from typing import Any

import pytest

from arena import GameResult, catalog
from arena.config import ScoringConfig
from arena.errors import Invalid, NotFound
from arena.leaderboards import Leaderboards
from arena.models import Millis, UserId
from arena.scorer import Scorer
from arena.scoring import BatchStrategy
from arena.standing import BoardRow
from arena.statistics import confidence_among, rank_intervals, wilson
from arena.store.boards import Boards
from arena.store.nodes import Nodes
from arena.store.sessions import Sessions
from tests.results import game, won

SAID = {"inv_0": {"calls": 2, "totalTokens": 300, "costUsd": 0.5}}
EVERY = ("average", "win-rate", "elo", "glicko2", "bradley-terry")


@asynccontextmanager
async def boards(store: str, *strategies: str) -> AsyncIterator[Leaderboards]:
    nodes = Nodes(store, timeout=5, patience=3)
    await nodes.connect()
    try:
        config = ScoringConfig(default=strategies or EVERY)
        yield Leaderboards(Scorer(Boards(nodes), Sessions(nodes), catalog.load(), config))
    finally:
        await nodes.close()


async def played(shown: Leaderboards, *games: GameResult) -> None:
    for number, one in enumerate(games):
        await shown.scorer.append(one.model_copy(update={"game_id": f"{one.completed_at}-{number}-{id(one)}"}))
    await shown.scorer.catch_up("psi")


async def rows(shown: Leaderboards, strategy: str, **more: Any) -> list[BoardRow]:
    return (await shown.board("psi", strategy, **more)).rows


def ids(some: list[BoardRow]) -> list[str]:
    return [str(row.player_id) for row in some]


def season(count: int, seed: int = 1) -> list[GameResult]:
    rng, users = Random(seed), ["ada", "ben", "cyd", "dan"]
    made = []
    for number in range(count):
        one, other = rng.sample(range(4), 2)
        better = rng.random() < 0.5 + (other - one) * 0.15
        winner, loser = (one, other) if better else (other, one)
        made.append(won(users[winner], users[loser], completedAt=1000 + number))
    return made


async def test_a_board_is_sorted_by_any_metric_and_equal_values_share_a_rank(store: str) -> None:
    async with boards(store) as shown:
        await played(
            shown,
            game(["ada", "ben"], [(1, 0), (0, 1)]),
            game(["cyd", "dan"], [(1, 0.5), (-1, 0.25)]),
        )

        security, utility = await rows(shown, "average"), await rows(shown, "average", metric="average:utility")

        assert [row.rank for row in security] == [1, 1, 3, 4]
        assert set(ids(security)[:2]) == {"ada", "cyd"}
        assert ids(utility) == ["ben", "cyd", "dan", "ada"]
        part = await shown.board("psi", "average", offset=1, limit=2)
        assert [row.rank for row in part.rows] == [1, 3]
        assert part.players == 4


async def test_players_who_never_met_are_not_ranked_against_each_other(store: str) -> None:
    async with boards(store, "bradley-terry") as shown:
        often = [(won("ada", "ben"), won("cyd", "dan"))] * 25
        await played(shown, *(one for both in often for one in both), won("ben", "ada"), won("dan", "cyd"))
        await shown.scorer.recompute("psi", shown.scorer.catalog.strategies["bradley-terry"])

        board = await shown.board("psi", "bradley-terry")

        ranks = {str(row.player_id): row.rank_interval for row in board.rows}
        assert ranks == {"ada": (1, 3), "cyd": (1, 3), "ben": (2, 4), "dan": (2, 4)}
        assert all(row.tied for row in board.rows)
        assert board.notes["components"] == 2


async def test_a_row_shows_what_it_is_made_of(store: str) -> None:
    async with boards(store) as shown:
        await played(
            shown,
            won("ada", "ben", completedAt=5, responseTimes=[[2_000], []], reportedUsage=SAID),
            won("cyd", "ada", outcomes=["played", "timeout"], completedAt=9),
            won("ada", "ben", outcomes=["void", "void"]),
        )
        await shown.scorer.sessions.nodes.run("u:ada", "HSET", "u:ada", "username", "Ada")

        [row] = [row for row in await rows(shown, "win-rate") if row.player_id == "ada"]

        wire = row.wire()
        facts = {key: wire[key] for key in ("wins", "ties", "losses", "forfeits", "timeouts", "voids", "opponents")}
        assert facts == {
            "wins": 1,
            "ties": 0,
            "losses": 1,
            "forfeits": 0,
            "timeouts": 1,
            "voids": 1,
            "opponents": 2,
        }
        assert wire["seats"] == [
            {"games": 1, "wins": 1, "ties": 0, "losses": 0},
            {"games": 1, "wins": 0, "ties": 0, "losses": 1},
        ]
        assert wire["lastPlayed"] == 9
        assert wire["medianResponse"] == wire["p95Response"] == pytest.approx(2_000, rel=0.06)
        assert (
            "medianResponse" not in next(row for row in await rows(shown, "win-rate") if row.player_id == "ben").wire()
        )
        assert (wire["reportedTokens"], wire["reportedCostUsd"]) == (300, 0.5)
        assert wire["gamesPlayed"] == 2
        assert wire["provisional"] is True


async def test_a_line_is_provisional_below_ten_games_or_while_its_deviation_is_large(store: str) -> None:
    async with boards(store) as shown:
        await played(shown, *[won("ada", "ben", completedAt=n) for n in range(9)])
        assert all(row.provisional for row in await rows(shown, "average"))

        await played(shown, won("ada", "ben", completedAt=9))

        assert not any(row.provisional for row in await rows(shown, "average"))
        assert all(row.provisional for row in await rows(shown, "glicko2"))


async def test_ranks_have_the_intervals_that_those_of_all_players_give(store: str) -> None:
    async with boards(store) as shown:
        for n in range(40):  # ada wins all, ben and cyd half, dan none
            await shown.scorer.append(game(["ada", "dan"], [(0, 1), (0, 0)], gameId=f"a{n}"))
            await shown.scorer.append(game(["ben", "cyd"], [(0, n % 2), (0, (n + 1) % 2)], gameId=f"b{n}"))
        await shown.scorer.catch_up("psi")

        found = await rows(shown, "win-rate", metric="win-rate:utility")

        wide = [wilson(row.metrics["win-rate:utility"] * 40, 40, confidence_among(4)) for row in found]
        assert [row.rank_interval for row in found] == rank_intervals(wide) == [(1, 1), (2, 3), (2, 3), (4, 4)]
        assert [row.tied for row in found] == [False, True, True, False]
        assert [row.rank for row in found] == [1, 2, 2, 4]
        narrow = found[1].intervals["win-rate:utility"]
        assert narrow == pytest.approx(wilson(20, 40))


async def test_a_player_is_shown_with_its_neighbours_and_its_history(store: str) -> None:
    async with boards(store) as shown:
        for n in range(12):
            score = (0, float(n))
            await shown.scorer.append(game([f"u{n:02d}", None], [score, (0, 0)], gameId=f"g{n}", completedAt=n))
        await played(shown, game(["u05", None], [(0, 0), (0, 0)], completedAt=50))

        found = await shown.player("psi", "average", UserId("u05"), "average:utility")

        assert found.row.rank == 9
        assert found.players == 12
        assert ids(found.neighbours) == ["u06", "u04", "u03", "u02", "u01", "u00"]
        assert [(point.at, point.metrics["average:utility"]) for point in found.history] == [(5, 5), (50, 2.5)]
        with pytest.raises(NotFound, match="not on that board"):
            await shown.player("psi", "average", UserId("nobody"))


async def test_a_player_is_found_on_all_its_boards(store: str) -> None:
    async with boards(store) as shown:
        await played(shown, *season(30))
        await shown.scorer.refit()

        found = await shown.everywhere(UserId("ada"))

        assert {(line.challenge_type, line.strategy) for line in found.boards} == {
            ("global", "global-average"),
            ("global", "bradley-terry"),
            *(("psi", name) for name in EVERY),
        }
        assert (await shown.everywhere(UserId("nobody"))).boards == []


async def test_head_to_head_counts_the_games_of_pairs_from_the_side_of_the_first(store: str) -> None:
    async with boards(store) as shown:
        await played(shown, won("ada", "ben"), won("ben", "ada"), won("ben", "ada"), won("cyd", "ada"))

        matrix = await shown.head_to_head("psi", "average", [], 20)
        pair = await shown.head_to_head("psi", "elo", [UserId("ben"), UserId("ada")], 20)
        overall = await shown.head_to_head("global", "global-average", [UserId("ben"), UserId("ada")], 20)

        assert set(matrix.players) == {"ada", "ben", "cyd"}
        assert len(matrix.meetings) == 2
        assert [met.wire() for met in pair.meetings] == [
            {"player": "ben", "opponent": "ada", "games": 3, "wins": 2, "ties": 0, "losses": 1}
        ]
        assert overall.meetings == pair.meetings
        with pytest.raises(Invalid, match="At most 50"):
            await shown.head_to_head("psi", "elo", [UserId(str(n)) for n in range(51)], 20)


@pytest.mark.parametrize("strategy", ["average", "elo", "glicko2"])
async def test_a_board_of_the_past_is_the_board_that_was(store: str, strategy: str) -> None:
    games = season(40)
    async with boards(store, strategy) as shown:
        await played(shown, *games[:25])
        before = [(row.player_id, row.rank, row.metrics) for row in await rows(shown, strategy)]
        await played(shown, *games[25:])

        then = await rows(shown, strategy, at=Millis(1024))

        assert [(row.player_id, row.rank, row.metrics) for row in then] == before
        assert await rows(shown, strategy, at=Millis(999)) == []
        assert (await rows(shown, strategy, at=Millis(2000)))[0].metrics == (await rows(shown, strategy))[0].metrics


async def test_a_fitted_board_has_a_past_and_a_history_of_fits(store: str) -> None:
    async with boards(store, "average", "bradley-terry") as shown:
        [strategy] = [one for one in shown.scorer.strategies("psi") if isinstance(one, BatchStrategy)]
        hour = 3_600_000
        await played(shown, *[won("ada", "ben", completedAt=n) for n in range(3)], won("ben", "ada", completedAt=4))
        await shown.scorer.fits.fit("psi", strategy, ["psi"])
        first = [(row.player_id, row.metrics) for row in await rows(shown, "bradley-terry")]
        await played(shown, *[won("ben", "ada", completedAt=2 * hour + n) for n in range(9)])
        await shown.scorer.fits.fit("psi", strategy, ["psi"])

        now = await shown.board("psi", "bradley-terry")
        then = await rows(shown, "bradley-terry", at=Millis(hour))

        assert ids(now.rows) == ["ben", "ada"]
        assert now.games == 13
        assert now.notes == {"components": 1, "componentSizes": [2]}
        assert now.parameters["bootstraps"] == 1000
        assert [(row.player_id, row.metrics) for row in then] == first
        history = (await shown.player("psi", "bradley-terry", UserId("ada"))).history
        assert [point.at for point in history] == [4, 2 * hour + 8]
        await shown.scorer.recompute("psi", strategy)
        assert len((await shown.player("psi", "bradley-terry", UserId("ada"))).history) == 1
        assert (await shown.board("psi", "bradley-terry")).rows == now.rows


async def test_the_hash_tells_whether_two_boards_were_made_of_the_same_games(store: str) -> None:
    async with boards(store) as shown:
        await played(shown, *season(5))
        one, other = await shown.board("psi", "average"), await shown.board("psi", "elo")
        await played(shown, won("ada", "ben"))

        later = await shown.board("psi", "average")

        assert one.results_hash == other.results_hash
        assert one.results_hash is not None
        assert later.results_hash not in {None, one.results_hash}
        await shown.scorer.refit()
        assert (await shown.board("psi", "bradley-terry")).results_hash == later.results_hash


# Freezing


async def test_a_frozen_board_shows_what_it_showed_and_unfreezing_applies_all(store: str) -> None:
    games = season(60)
    async with boards(store, "average", "elo") as shown:
        await played(shown, *games[:30])
        elo = next(one for one in shown.scorer.online("psi") if one.name == "elo")
        await shown.scorer.freeze("psi", elo)
        before, met = await shown.board("psi", "elo"), await shown.head_to_head("psi", "elo", [], 9)
        free = await rows(shown, "average")

        await played(shown, *games[30:])

        assert before.frozen_at is not None
        assert await shown.board("psi", "elo") == before
        assert await shown.head_to_head("psi", "elo", [], 9) == met
        assert await rows(shown, "average") != free
        await shown.scorer.recompute("psi", elo)
        assert (await shown.board("psi", "elo")).rows == before.rows
        assert await shown.scorer.thaw("psi", elo)
        thawed = await shown.board("psi", "elo")
        assert thawed.games == 60
        assert thawed.frozen_at is None
        assert thawed.rows != before.rows
        assert not await shown.scorer.thaw("psi", elo)
    async with boards(store, "average", "elo") as fresh:
        await fresh.boards.nodes.run("x", "FLUSHALL")
        await played(fresh, *games)
        assert [(row.player_id, row.metrics) for row in await rows(fresh, "elo")] == [
            (row.player_id, row.metrics) for row in thawed.rows
        ]


async def test_a_frozen_fit_takes_no_later_games(store: str) -> None:
    async with boards(store, "bradley-terry") as shown:
        [strategy] = [one for one in shown.scorer.strategies("psi") if isinstance(one, BatchStrategy)]
        await played(shown, *season(20))
        await shown.scorer.freeze("psi", strategy)
        await played(shown, won("dan", "ada"))
        await shown.scorer.refit()

        assert (await shown.board("psi", "bradley-terry")).games == 20
        await shown.scorer.thaw("psi", strategy)
        await shown.scorer.fits.fit("psi", strategy, ["psi"])
        assert (await shown.board("psi", "bradley-terry")).games == 21


async def test_a_frozen_global_board_stays_and_catches_up(store: str) -> None:
    async with boards(store, "average") as shown:
        await played(shown, game(["ada", "ben"], [(0, 1), (0, 0)]))
        overall = shown.scorer.overall
        assert overall is not None
        await shown.scorer.freeze("global", overall)
        before = (await shown.board("global", "global-average")).rows
        await played(shown, game(["ben", "cyd"], [(0, 1), (0, 1)], completedAt=8))

        assert [(row.player_id, row.metrics) for row in (await shown.board("global", "global-average")).rows] == [
            (row.player_id, row.metrics) for row in before
        ]
        await shown.scorer.thaw("global", overall)
        after = (await shown.board("global", "global-average", "global-average:utility")).rows
        assert {row.player_id: row.metrics["global-average:utility"] for row in after} == {
            "ada": 1,
            "ben": 0.5,
            "cyd": 1,
        }


# What there is not


async def test_boards_and_metrics_that_there_are_not_are_told(store: str) -> None:
    async with boards(store, "average") as shown:
        for type_, strategy in (("chess", "average"), ("psi", "elo"), ("global", "average")):
            with pytest.raises(NotFound, match="no such board"):
                await shown.board(type_, strategy)
        with pytest.raises(Invalid, match="only average:security, average:utility"):
            await shown.board("psi", "average", "average:luck")
        empty = await shown.board("psi", "average")
        assert (empty.rows, empty.players, empty.games, empty.results_hash) == ([], 0, 0, None)


async def test_what_is_kept_by_another_version_of_a_strategy_costs_the_interval_and_not_the_board(store: str) -> None:
    async with boards(store, "win-rate") as shown:
        await played(shown, *season(30))
        key = "{score:psi}:s:win-rate:1"
        await shown.boards.nodes.run(key, "HSET", key, "ada", b'{"of": "tomorrow"}')

        found = {row.player_id: row for row in await rows(shown, "win-rate")}

        assert found[UserId("ada")].intervals == {}
        assert found[UserId("ada")].rank_interval == (1, 4)
        assert found[UserId("ben")].intervals != {}
        assert all(-inf < value < inf for row in found.values() for value in row.metrics.values())
