"""Every game is counted once and in one order, whoever dies, races or counts anew."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from math import nan
from statistics import fmean
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from arena import Fold, GameResult, MetricDescriptor, ScoringEntry, catalog
from arena.catalog import Catalog
from arena.config import ScoringConfig
from arena.errors import NotFound
from arena.models import Outcome, UserId
from arena.scorer import Scorer
from arena.scoring import ScoringStore, ScoringStrategy
from arena.store.boards import Boards, Counted, Place, Seen, Written
from arena.store.nodes import Nodes
from arena.store.sessions import Sessions
from scoring_strategies.average import Average
from scoring_strategies.global_average import GlobalAverage
from tests.valkeys import connect


def game(*users: str | None, utility: float = 1, type: str = "psi", **fields: Any) -> GameResult:
    """A game of these players, who all got the same score; None is a player without identity."""
    invites = [f"inv_{seat}" for seat in range(len(users))]
    wire = {
        "gameId": str(uuid.uuid4()),
        "challengeType": type,
        "createdAt": 1,
        "startedAt": 2,
        "completedAt": 3,
        "players": invites,
        "playerIdentities": {i: user for i, user in zip(invites, users, strict=True) if user},
        "scores": [{"security": 0, "utility": utility}] * len(users),
        "outcomes": ["played"] * len(users),
        "seedCommitment": "",
        "challengeVersion": {"version": "1", "contentHash": ""},
        **fields,
    }
    return GameResult.from_json(orjson.dumps(wire))


class Count(BaseModel):
    games: int = 0


class Picky(Fold[Count]):
    """Counts games, and falls over one with a utility of 13."""

    name = "picky"
    metrics = (MetricDescriptor(key="picky:games", label="Games"),)
    afraid = True

    def fold(self, tallies: list[Count], result: GameResult) -> list[Count]:
        if self.afraid and result.scores[0].utility == 13:
            raise ZeroDivisionError("of all numbers")
        return [Count(games=tally.games + 1) for tally in tallies]

    def read(self, tally: Count) -> dict[str, float]:
        return {"picky:games": tally.games}


class Best(BaseModel):
    best: float


class Changed(Fold[Best]):
    """Another strategy under the name of the average: its tallies do not fit, and it does without `cyd`."""

    name = "average"
    metrics = Average.metrics

    async def update(self, result: GameResult, store: Any) -> None:
        for user in result.users:
            known = await store.get(user)
            best = max(Best.model_validate(known or {"best": -100}).best, result.scores[0].utility)
            if user != "cyd":
                metrics = {"average:security": 0.0, "average:utility": best}
                store.put(user, {"best": best}, ScoringEntry(player_id=user, games_played=1, metrics=metrics))

    def fold(self, tallies: list[Best], result: GameResult) -> list[Best]:
        raise NotImplementedError

    def read(self, tally: Best) -> dict[str, float]:
        raise NotImplementedError


@asynccontextmanager
async def scorers(store: str, *strategies: ScoringStrategy, count: int = 1) -> AsyncIterator[list[Scorer]]:
    """Scorers of as many workers, each with its own connections."""
    offered = {strategy.name: strategy for strategy in strategies or (Average(),)}
    known = Catalog(catalog.load().challenges, dict(offered), {"global-average": GlobalAverage()})
    nodes = [Nodes(store, timeout=5, patience=3) for _ in range(count)]
    config = ScoringConfig(default=tuple(offered))
    try:
        for each in nodes:
            await each.connect()
        yield [Scorer(Boards(each), Sessions(each), known, config) for each in nodes]
    finally:
        for each in nodes:
            await each.close()


async def lines(scorer: Scorer, type: str = "psi", strategy: str = "average") -> dict[str, tuple[int, float]]:
    """Games and mean utility, by player."""
    metric = f"{strategy}:{'games' if strategy == 'picky' else 'utility'}"
    entries = await scorer.boards.entries(type, strategy)
    return {entry.player_id: (entry.games_played, entry.metrics[metric]) for entry in entries}


async def overall(scorer: Scorer) -> dict[str, tuple[int, float]]:
    return await lines(scorer, "global", "global-average")


async def test_a_game_that_is_delivered_again_and_again_counts_once(store: str) -> None:
    async with scorers(store, count=3) as several:
        played = [game("ada", "ben", utility=n) for n in range(20)]

        await asyncio.gather(*(scorer.count(result) for result in played for scorer in several))
        await several[0].count(played[3])

        assert await several[0].boards.games("psi") == 20
        assert await lines(several[1]) == await overall(several[1]) == {"ada": (20, 9.5), "ben": (20, 9.5)}


async def test_whoever_waited_for_a_game_finds_it_on_both_boards_however_many_end_together(store: str) -> None:
    async with scorers(store) as (scorer,):

        async def end(user: str) -> tuple[bool, bool]:
            await scorer.count(game(user, "ben"))
            return user in await lines(scorer), user in await overall(scorer)

        found = await asyncio.gather(*(end(f"user {number}") for number in range(50)))

        assert set(found) == {(True, True)}


async def test_a_round_that_fails_is_told_to_those_who_waited_and_stands_in_nobodys_way(store: str) -> None:
    async with scorers(store) as (scorer,):
        with connect(store) as redis:
            redis.set("{score:psi}:cur", "no hash")
        broken = await asyncio.gather(*(scorer.catch_up("psi") for _ in range(3)), return_exceptions=True)
        with connect(store) as redis:
            redis.delete("{score:psi}:cur")

        await scorer.count(game("ada", "ben"))

        assert all(isinstance(error, Exception) for error in broken)
        assert set(await lines(scorer)) == {"ada", "ben"}


async def test_the_order_of_the_result_log_is_the_order_of_counting_and_of_the_board(store: str) -> None:
    async with scorers(store) as (scorer,):
        for users in (("cyd", "ben"), ("ada", "ben"), ("ada", "cyd")):
            await scorer.boards.append(game(*users))

        await scorer.catch_up("psi")

        assert list(await lines(scorer)) == ["cyd", "ben", "ada"]
        assert await scorer.boards.place("psi", "average") == Place(1, 3)


async def test_more_results_than_fit_a_batch_are_all_counted(store: str) -> None:
    async with scorers(store) as (scorer,):
        for n in range(250):
            await scorer.boards.append(game("ada", f"u{n}"))

        await scorer.catch_up("psi")

        counted = await lines(scorer)
        assert counted["ada"] == (250, 1)
        assert len(counted) == len(await overall(scorer)) == 251


async def test_what_counts_for_nobody_moves_the_cursor_too(store: str) -> None:
    void: dict[str, Any] = {"outcomes": [Outcome.VOID, Outcome.PLAYED]}
    async with scorers(store, Average(), Picky()) as (scorer,):
        for result in (game("ada", "ada"), game("ada", "ben", **void), game("ada", "ben", ranked=False)):
            await scorer.count(result)

        assert await lines(scorer) == await overall(scorer) == {}
        assert [(await scorer.boards.place("psi", name)).cursor for name in ("average", "picky")] == [3, 3]
        await scorer.count(game("ada", None))
        assert await lines(scorer) == await overall(scorer) == {"ada": (1, 1)}


# A strategy that fails


async def test_a_strategy_that_raises_stops_its_own_board_there_and_says_so(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    picky = Picky()
    async with scorers(store, picky, Average()) as (scorer,):
        for utility in (1, 2, 13, 4):
            await scorer.count(game("ada", "ben", utility=utility))
        await scorer.catch_up("psi")

        assert await lines(scorer, strategy="picky") == {"ada": (2, 2), "ben": (2, 2)}
        assert await scorer.boards.place("psi", "picky") == Place(1, 2)
        assert await lines(scorer) == await overall(scorer) == {"ada": (4, 5), "ben": (4, 5)}
        assert await scorer.boards.faults("psi") == {"picky": "2:the strategy raised ZeroDivisionError"}
        assert len([r for r in caplog.records if "board stopped" in r.message]) == 1
        assert "of all numbers" not in caplog.text

        picky.afraid = False
        await scorer.catch_up("psi")
        assert await lines(scorer, strategy="picky") == {"ada": (4, 4), "ben": (4, 4)}
        assert await scorer.boards.faults("psi") == {}


async def test_games_before_the_one_that_fails_are_kept_although_they_came_in_one_batch(store: str) -> None:
    async with scorers(store, Picky()) as (scorer,):
        for utility in (1, 2, 13, 4):
            await scorer.boards.append(game("ada", "ben", utility=utility))

        await scorer.catch_up("psi")

        assert await lines(scorer, strategy="picky") == {"ada": (2, 2), "ben": (2, 2)}


class Sloppy:
    """Counts games, and puts what cannot be written when a utility is 13."""

    name = "picky"
    metrics = Picky.metrics

    def __init__(self, mistake: str) -> None:
        self.mistake = mistake

    async def update(self, result: GameResult, store: ScoringStore) -> None:
        for user in result.users:
            kept: Any = await store.get(user) or {"games": 0}
            kept["games"] += 1
            entry: Any = ScoringEntry(player_id=user, games_played=1, metrics={"picky:games": kept["games"]})
            if result.scores[0].utility == 13:
                kept, entry = self.spoil(kept, entry)
            store.put(user, kept, entry)

    def spoil(self, kept: Any, entry: Any) -> tuple[Any, Any]:
        match self.mistake:
            case "a set":
                kept["seen"] = {1, 2}
            case "nan":
                kept["share"] = nan
            case "half a character":
                kept["name"] = "\ud83d"
            case "a metric that is nan":
                entry.metrics["picky:games"] = nan
            case "no entry":
                entry = 5
            case "raises":
                raise ZeroDivisionError
        return kept, entry


@pytest.mark.parametrize("mistake", ["a set", "nan", "half a character", "a metric that is nan", "no entry", "raises"])
async def test_a_strategy_that_puts_what_cannot_be_written_stops_its_own_board_there(store: str, mistake: str) -> None:
    async with scorers(store, Sloppy(mistake), Average()) as (scorer,):
        for utility in (1, 2, 13, 4):
            await scorer.boards.append(game("ada", "ben", utility=utility))

        await scorer.catch_up("psi")

        assert await lines(scorer, strategy="picky") == {"ada": (1, 2), "ben": (1, 2)}
        assert set(await scorer.boards.faults("psi")) == {"picky"}
        kept = await scorer.boards.kept("psi", "picky", 1, [UserId("ada")])
        assert orjson.loads(kept[UserId("ada")]) == {"games": 2}
        assert await lines(scorer) == await overall(scorer) == {"ada": (4, 5), "ben": (4, 5)}


async def test_a_tally_that_cannot_be_read_stops_the_board_it_is_of(store: str) -> None:
    async with scorers(store, Picky(), Average()) as (scorer,):
        await scorer.count(game("ada", "ben"))
        with connect(store) as redis:
            redis.hset("{score:psi}:s:picky:1", "ada", b"not to be read")

        await scorer.count(game("ben", "cyd"))
        await scorer.count(game("cyd", "ada"))

        assert await lines(scorer, strategy="picky") == {"ada": (1, 1), "ben": (2, 2), "cyd": (1, 1)}
        assert await scorer.boards.faults("psi") == {"picky": "2:the strategy raised ValueError"}
        assert await lines(scorer) == await overall(scorer) == {"ada": (2, 1), "ben": (2, 1), "cyd": (2, 1)}


async def test_a_line_that_cannot_be_read_is_missing_on_its_board_until_it_is_written_anew(store: str) -> None:
    async with scorers(store) as (scorer,):
        await scorer.count(game("ada", "ben"))
        with connect(store) as redis:
            redis.hset("{score:psi}:e:average:1", "ada", b'{"a secret": 1}')
            redis.hset("{score:global}:src:ben", "t:other", b'1:1:{"a secret": 1}')

        shown = (await scorer.board("psi", None))[2]
        await scorer.count(game("ben", "cyd"))
        without = await lines(scorer)
        await scorer.count(game("ada", "cyd"))

        assert [entry.player_id for entry in shown] == ["ben"]
        assert without == {"ben": (2, 1), "cyd": (1, 1)}
        assert await lines(scorer) == await overall(scorer) == {"ada": (2, 1), "ben": (2, 1), "cyd": (2, 1)}


async def test_a_recompute_that_fails_leaves_the_old_board_and_nothing_else(store: str) -> None:
    picky = Picky()
    picky.afraid = False
    async with scorers(store, picky) as (scorer,):
        for utility in (1, 13):
            await scorer.count(game("ada", "ben", utility=utility))
        before, kept = await lines(scorer, strategy="picky"), _keys(store)

        picky.afraid = True
        with pytest.raises(NotFound, match="cannot count game 2"):
            await scorer.recompute("psi", picky)

        assert await lines(scorer, strategy="picky") == before
        assert await scorer.boards.faults("psi") == {}
        assert _keys(store) - kept == {b"{score:psi}:gen"}  # the number that was used up


def _keys(store: str) -> set[bytes]:
    with connect(store) as redis:
        return set(redis.keys("{score:*"))


# Counting anew


async def test_a_recount_gives_the_same_numbers_in_the_same_order_while_games_keep_ending(store: str) -> None:
    async with scorers(store, count=2) as (one, two):
        users = ["ada", "ben", "cyd", "dan"]
        played = [game(users[n % 4], users[(n + 1 + n % 3) % 4], utility=n) for n in range(100)]

        async def go_on() -> None:
            for result in played:
                await two.count(result)

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            playing = group.create_task(go_on())
            recounts = 0
            while not playing.done():
                await one.recompute("psi", Average())
                recounts += 1

        expected: dict[str, Any] = {
            user: (len(mine), pytest.approx(fmean(mine)))
            for user in users
            if (mine := [r.scores[0].utility for r in played if user in r.users])
        }
        assert recounts > 1
        for scorer in (one, two):
            assert await lines(scorer) == await overall(scorer) == expected
        order = list(await lines(one))
        await two.recompute("psi", Average())
        assert list(await lines(one)) == order == list(dict.fromkeys(u for r in played for u in r.users))
        assert await one.boards.place("psi", "average") == Place(recounts + 2, 100)


async def test_a_changed_strategy_takes_over_although_the_old_board_cannot_go_on(store: str) -> None:
    async with scorers(store, Average(), count=1) as (before,):
        for users in (("ada", "ben"), ("ada", "cyd"), ("cyd", "cyd")):
            await before.count(game(*users, utility=2))
        assert set(await overall(before)) == {"ada", "ben", "cyd"}
    changed = Changed()
    async with scorers(store, changed) as (scorer,):
        await scorer.count(game("ada", "dan", utility=7))
        assert await scorer.boards.faults("psi") == {"average": "3:the strategy raised ValidationError"}

        async with asyncio.timeout(60):
            counted = await scorer.recompute("psi", changed)

        assert counted == 4
        assert await lines(scorer) == {"ada": (1, 7), "ben": (1, 2), "dan": (1, 7)}
        assert await overall(scorer) == {"ada": (1, 7), "ben": (1, 2), "dan": (1, 7)}
        assert await scorer.boards.faults("psi") == {}
        await scorer.count(game("ben", "dan", utility=9))
        assert await lines(scorer) == await overall(scorer) == {"ada": (1, 7), "ben": (1, 9), "dan": (1, 9)}


async def test_of_two_recounts_at_the_same_time_one_wins_and_the_other_says_so(store: str) -> None:
    async with scorers(store, count=2) as (one, two):
        for n in range(120):
            await one.count(game("ada", "ben", utility=n))
        before = await lines(one)

        ends = await asyncio.gather(*(s.recompute("psi", Average()) for s in (one, two)), return_exceptions=True)

        assert 120 in ends
        assert all(end == 120 or isinstance(end, NotFound) for end in ends)
        assert await lines(two) == before
        await two.count(game("ada", "ben", utility=0))
        assert (await lines(one))["ada"][0] == 121


@pytest.mark.parametrize("steps", ["counting", "switched"])
async def test_what_a_recount_left_when_it_died_is_cleared_by_the_next(store: str, steps: str) -> None:
    async with scorers(store) as (scorer,):
        for n in range(5):
            await scorer.count(game("ada", "ben", utility=n))
        clean, before = len(_keys(store)), await lines(scorer)
        new = await scorer.boards.new_generation("psi", "average")
        await scorer._fold("psi", Average(), new)
        if steps == "switched":
            assert await scorer.boards.switch("psi", "average", 1, new) == 1
        assert len(_keys(store)) > clean
        assert await lines(scorer) == before

        await scorer.recompute("psi", Average())

        assert await lines(scorer) == await overall(scorer) == before
        assert len(_keys(store)) == clean + 1  # the number of the generation


async def test_a_generation_does_not_take_over_before_it_has_counted_what_the_old_one_has(store: str) -> None:
    async with scorers(store) as (scorer,):
        await scorer.count(game("ada", "ben"))
        new = await scorer.boards.new_generation("psi", "average")

        assert await scorer.boards.switch("psi", "average", 1, new) == 0
        await scorer._fold("psi", Average(), new)
        assert await scorer.boards.switch("psi", "average", 1, new) == 1
        assert await scorer.boards.switch("psi", "average", 1, new) == 1  # sent again
        assert await scorer.boards.switch("psi", "average", 1, new + 1) == -1


# Deaths between two steps


async def test_a_fold_whose_cursor_has_moved_on_writes_nothing(store: str) -> None:
    async with scorers(store, count=2) as (slow, quick):
        await slow.boards.append(game("ada", "ben"))
        place = await slow.boards.place("psi", "average")
        await quick.catch_up("psi")
        entry = ScoringEntry(player_id=UserId("ada"), games_played=99, metrics={"average:utility": 99})

        done = await slow.boards.fold(
            "psi", "average", place, Average.metrics, Counted(1, Seen(), {UserId("ada"): _written(entry)})
        )

        assert not done
        assert await lines(slow) == {"ada": (1, 1), "ben": (1, 1)}


def _written(entry: ScoringEntry) -> Written:
    return Written(b"{}", entry)


async def spread(scorer: Scorer, place: Place, entry: ScoringEntry) -> None:
    """Hand one entry to the global board."""
    await scorer._combine(GlobalAverage(), await scorer.boards.source("psi", place, {entry.player_id: entry}))


@pytest.mark.parametrize("died", ["before the fold", "before the spread", "in a source", "between players", "unsent"])
async def test_a_worker_may_die_between_any_two_steps_and_the_next_one_makes_it_good(store: str, died: str) -> None:
    async with scorers(store, count=2) as (dead, alive):
        await dead.count(game("ada", "ben", utility=3))
        boards = dead.boards
        await boards.append(game("ada", "ben", utility=5))
        if died != "before the fold":
            await dead._fold("psi", Average())
            entries = {e.player_id: e for e in await boards.entries("psi", "average")}
            place = await boards.place("psi", "average")
            if died == "in a source":
                await boards.source("psi", place, {UserId("ada"): entries[UserId("ada")]})
            if died in {"between players", "unsent"}:
                await spread(dead, place, entries[UserId("ada")])
            if died == "unsent":
                await spread(dead, place, entries[UserId("ben")])

        await alive.catch_up("psi")

        assert await lines(alive) == await overall(alive) == {"ada": (2, 4), "ben": (2, 4)}
        assert await boards.sent("psi", "average") == Place(1, 2)


async def test_an_older_entry_never_takes_the_place_of_a_newer_one_on_the_global_board(store: str) -> None:
    async with scorers(store) as (scorer,):
        await scorer.count(game("ada", "ben", utility=1))
        [old, _] = await scorer.boards.entries("psi", "average")
        stale = await scorer.boards.place("psi", "average")
        await scorer.count(game("ada", "ben", utility=3))

        await spread(scorer, stale, old)
        await scorer.boards.set_sent("psi", "average", stale)

        assert await overall(scorer) == {"ada": (2, 2), "ben": (2, 2)}
        assert await scorer.boards.sent("psi", "average") == Place(1, 2)


async def test_the_global_board_is_made_of_all_types(store: str) -> None:
    async with scorers(store, count=2) as (one, two):
        await asyncio.gather(
            *(one.count(game("ada", "ben", utility=n)) for n in range(30)),
            *(two.count(game("ada", "cyd", utility=100, type="other")) for _ in range(30)),
        )

        assert await overall(one) == {"ada": (60, 57.25), "ben": (30, 14.5), "cyd": (30, 100)}
        mapping: Mapping[str, Any] = await lines(two, "other")
        assert mapping == {"ada": (30, 100), "cyd": (30, 100)}
