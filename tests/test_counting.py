"""Whatever happens while games are counted, the boards say what the games say: for every strategy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from arena import GameResult, catalog
from arena.config import ScoringConfig
from arena.models import UserId
from arena.record import Facts, Record
from arena.scorer import Scorer
from arena.store.boards import Boards
from arena.store.nodes import Nodes
from arena.store.sessions import Sessions
from tests.results import game

ONLINE = ("average", "win-rate", "red-team", "consecutive", "elo", "glicko2", "openskill")
USERS = [f"user {number}" for number in range(40)]


def random_game(rng: Random, number: int) -> GameResult:
    seats = rng.choice([2, 2, 2, 3])
    users: list[str | None] = list(rng.sample(USERS, seats))
    if rng.random() < 0.05:
        users[rng.randrange(seats)] = None
    if rng.random() < 0.02:
        users[1] = users[0]
    scores = [(float(rng.choice([-1, 0, 1])), rng.choice([-1, 0, 0.25, 1])) for _ in users]
    breaches = [(0, 1)] if rng.random() < 0.3 else []
    outcomes = (
        ["void"] * seats
        if rng.random() < 0.02
        else ["played"] * (seats - 1) + [rng.choice(["played"] * 9 + ["forfeit"])]
    )
    more: dict[str, Any] = {"gameId": f"g{number:05d}", "completedAt": number * 600_000, "outcomes": outcomes}
    if rng.random() < 0.2:
        more["pair"] = f"pair {number // 4}"
    return game(users, scores, breaches, **more)


@asynccontextmanager
async def scorers(store: str, *strategies: str, count: int = 1) -> AsyncIterator[list[Scorer]]:
    nodes = [Nodes(store, timeout=5, patience=3) for _ in range(count)]
    known, config = catalog.load(), ScoringConfig(default=strategies)
    try:
        for each in nodes:
            await each.connect()
        yield [Scorer(Boards(each), Sessions(each), known, config) for each in nodes]
    finally:
        for each in nodes:
            await each.close()


async def everything(scorer: Scorer, *strategies: str) -> dict[str, Any]:
    """Lines, what is kept, ranks and the hash of the results, by strategy."""
    found: dict[str, Any] = {}
    for name in strategies:
        entries = await scorer.boards.entries("psi", name)
        place, seen, _ = await scorer.boards.stand("psi", name)
        players = [entry.player_id for entry in entries]
        kept = await scorer.boards.kept("psi", name, place.generation, players)
        metric = scorer.catalog.strategies[name].metrics[0].key
        best = [entry.player_id for entry in await scorer.boards.top("psi", name, metric, 0, 100)]
        found[name] = (entries, kept, best, place.cursor, seen.digest, seen.notes)
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_ten_thousand_games_counted_one_after_the_other_and_anew_give_the_same_numbers(store: str) -> None:
    rng = Random(8)
    every = (*ONLINE, "bradley-terry")
    async with scorers(store, *every) as (scorer,):
        number = 0
        while number < 10_000:
            games = [random_game(rng, number + more) for more in range(rng.choice([1, 3, 40, 250]))]
            await asyncio.gather(*map(scorer.append, games))
            number += len(games)
            await scorer.catch_up("psi")
        await scorer.refit()
        before = await everything(scorer, *every)
        overall = await scorer.boards.entries("global", "global-average")

        for name in every:
            await scorer.recompute("psi", scorer.catalog.strategies[name])

        after = await everything(scorer, *every)
        assert await scorer.boards.entries("global", "global-average") == overall
        assert len(overall) == len(USERS)
        for name in every:
            assert after[name] == before[name], name
            assert len(before[name][0]) == len(USERS)


@pytest.mark.parametrize("strategy", ONLINE)
async def test_duplicates_and_workers_that_race_count_each_game_once(store: str, strategy: str) -> None:
    rng = Random(5)
    games = [random_game(rng, number) for number in range(60)]
    async with scorers(store, strategy, count=3) as several:
        await asyncio.gather(*(scorer.count(one) for one in games for scorer in several))

        raced = (await everything(several[0], strategy))[strategy]
        order = await several[0].boards.results("psi", 0, 1000)
    assert sorted(one.game_id for one in order) == sorted(one.game_id for one in games)
    async with fresh(store, order, strategy) as alone:
        assert (await everything(alone, strategy))[strategy] == raced


@asynccontextmanager
async def fresh(store: str, games: list[GameResult], strategy: str) -> AsyncIterator[Scorer]:
    """A scorer that counted these games on an empty store, all at once."""
    async with scorers(store, strategy) as (scorer,):
        await scorer.boards.nodes.run("x", "FLUSHALL")
        for one in games:
            await scorer.boards.append(one)
        await scorer.catch_up("psi")
        yield scorer


@pytest.mark.parametrize("strategy", ONLINE)
async def test_a_worker_that_dies_before_or_after_any_write_leaves_nothing_half_counted(
    store: str, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(6)
    games = [random_game(rng, number) for number in range(30)]
    async with scorers(store, strategy, count=2) as (mortal, next_one):
        write = mortal.boards.nodes.script
        for number, one in enumerate(games):
            lives = iter(range(rng.randrange(8)))

            async def die(name: str, *given: Any, lives: Any = lives, late: bool = number % 2 == 0) -> Any:
                if next(lives, None) is not None:
                    return await write(name, *given)
                if late:
                    await write(name, *given)
                raise ConnectionError

            monkeypatch.setattr(mortal.boards.nodes, "script", die)
            await asyncio.gather(mortal.count(one), return_exceptions=True)
            await next_one.count(one)

        survived = (await everything(next_one, strategy))[strategy]
        facts = await next_one.records.facts("psi", [UserId(user) for user in USERS])
    async with fresh(store, games, strategy) as alone:
        assert (await everything(alone, strategy))[strategy] == survived
    assert facts == record_of(games)


def record_of(games: list[GameResult]) -> dict[UserId, Facts]:
    record = Record({}, {})
    for one in games:
        record.add(one)
    return record.facts


async def test_a_strategy_that_comes_later_is_filled_from_the_past(store: str) -> None:
    rng = Random(2)
    games = [random_game(rng, number) for number in range(150)]
    async with scorers(store, "average") as (before,):
        for one in games:
            await before.count(one)
    async with scorers(store, "average", "elo") as (after,):
        await after.catch_up("psi")

        late = (await everything(after, "elo"))["elo"]
    async with fresh(store, games, "elo") as alone:
        assert (await everything(alone, "elo"))["elo"] == late
        assert late[3] == 150
