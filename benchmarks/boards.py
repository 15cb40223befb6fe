"""`python -m benchmarks.boards`: a large leaderboard beside the bare commands it needs, and how fast games count."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated, Any

import orjson
import typer
import uvloop

from arena import GameResult, catalog
from arena.leaderboards import Leaderboards
from arena.models import UserId
from arena.scorer import Scorer
from arena.store.boards import Boards, key_of
from arena.store.embedded import embedded
from arena.store.nodes import Nodes
from arena.store.sessions import Sessions

STRATEGY, METRIC = "win-rate", "win-rate:security"
CHUNK = 5000
TIMES = 400

Call = Callable[[], Awaitable[Any]]


def main(
    players: Annotated[int, typer.Option(help="On the large board.")] = 1_000_000,
    games: Annotated[int, typer.Option(help="That are counted.")] = 10_000,
) -> None:
    """Measure this machine; the store is embedded, with appendfsync everysec."""
    with tempfile.TemporaryDirectory() as folder, embedded(Path(folder)) as store:
        uvloop.run(count(store, games))
    with tempfile.TemporaryDirectory() as folder, embedded(Path(folder)) as store:
        uvloop.run(look(store, players))


@asynccontextmanager
async def boards_of(store: str) -> AsyncIterator[Leaderboards]:
    """All that a server has of scoring, on a store."""
    nodes = Nodes(store, timeout=30, patience=30)
    await nodes.connect()
    try:
        known = catalog.load()
        yield Leaderboards(Scorer(Boards(nodes), Sessions(nodes), known, known.scoring))
    finally:
        await nodes.close()


def game(rng: Random, number: int, players: int) -> GameResult:
    """A game of psi between two of these players."""
    users = [f"player-{one}" for one in rng.sample(range(players), 2)]
    invites = ["inv_0", "inv_1"]
    wire: dict[str, Any] = {
        "gameId": f"game-{number}",
        "challengeType": "psi",
        "createdAt": 1,
        "startedAt": 1,
        "completedAt": number + 1,
        "players": invites,
        "playerIdentities": dict(zip(invites, users, strict=True)),
        "scores": [{"security": rng.choice([-1, 1]), "utility": rng.choice([-1, 0, 1])} for _ in users],
        "attributions": [{"from": "inv_0", "to": "inv_1", "type": "security_breach"}] if rng.random() < 0.3 else [],
        "outcomes": ["played", "played"],
        "seedCommitment": "0" * 64,
        "challengeVersion": {"version": "1", "contentHash": "0" * 64},
    }
    return GameResult.from_json(orjson.dumps(wire))


async def count(store: str, games: int) -> None:
    """How many games of a log all strategies of the protocol count in a second, the global board included."""
    async with boards_of(store) as shown:
        rng = Random(1)
        for number in range(games):
            await shown.boards.append(game(rng, number, 1000))
        begun, used = time.perf_counter(), time.process_time()
        await shown.scorer.catch_up("psi")
        took, cpu = time.perf_counter() - begun, time.process_time() - used
        names = ", ".join(strategy.name for strategy in shown.scorer.strategies("psi"))
        print(f"counted {games} games by {names}, global-average and the record:")
        print(
            f"  {games / took:,.0f} games/s; {games / cpu:,.0f} per second of our own CPU, the store has another core"
        )


async def look(store: str, players: int) -> None:
    """Top 100 and the rank of a player, and what a game costs, on a small and on a large board."""
    async with boards_of(store) as shown:
        await fill(shown, 0, 1000)
        small = await cost_of_a_game(shown, 0)
        begun = time.perf_counter()
        await fill(shown, 1000, players)
        print(f"board of {players:,} players filled in {time.perf_counter() - begun:.0f} s")
        await calm(shown)
        large = await cost_of_a_game(shown, 10_000_000)
        print(f"  a game counted alone: {small:.2f} ms with 1,000 players, {large:.2f} ms with {players:,}")
        await compare(shown, players)


async def calm(shown: Leaderboards) -> None:
    """Wait until the store has rewritten its file, which so many writes at once make it do."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        told = await shown.boards.nodes.run("psi", "INFO", "persistence")
        if b"aof_rewrite_in_progress:0" in told and b"aof_rewrite_scheduled:0" in told:
            return
        await asyncio.sleep(0.5)


async def fill(shown: Leaderboards, first: int, players: int) -> None:
    """Put players on a board as folds would have, many at a time."""
    rng, names = Random(first), {kind: key_of("psi", kind, STRATEGY, 1) for kind in "seoz"}
    for at in range(first, players, CHUNK):
        rows = {kind: list[Any]() for kind in ("s", "e", "o", "z")}
        for number in range(at, min(at + CHUNK, players)):
            user, value = f"filler-{number}", rng.random()
            tally = {"games": 20, "security": round(20 * value), "utility": 10}
            metrics = {METRIC: value, "win-rate:utility": 0.5}
            rows["s"] += [user, orjson.dumps({"games": 20, "tally": tally})]
            rows["e"] += [user, orjson.dumps({"playerId": user, "gamesPlayed": 20, "metrics": metrics})]
            rows["o"] += [number, user]
            rows["z"] += [value, user]
        keys = {**names, "z": f"{names['z']}:{METRIC}"}
        verbs = {"s": "HSET", "e": "HSET", "o": "ZADD", "z": "ZADD"}
        await shown.boards.nodes.run_all([(keys[kind], (verbs[kind], keys[kind], *rows[kind])) for kind in rows])


async def cost_of_a_game(shown: Leaderboards, number: int) -> float:
    """Milliseconds of a game that ends alone, from its result to all boards."""
    rng = Random(number)
    games = [game(rng, number + one, 1000) for one in range(TIMES)]
    await shown.scorer.count(games.pop())
    [cost] = await timed([[partial(shown.scorer.count, one)] for one in games])
    return cost


async def compare(shown: Leaderboards, players: int) -> None:
    """What is asked for, beside the bare commands that it needs, in turns."""
    nodes, rng = shown.boards.nodes, Random(3)
    ranks, entries = key_of("psi", "z", STRATEGY, 1, METRIC), key_of("psi", "e", STRATEGY, 1)
    someone = [UserId(f"filler-{rng.randrange(players)}") for _ in range(TIMES)]

    async def bare_top() -> None:
        names = await nodes.run(ranks, "ZREVRANGE", ranks, 0, 99)
        await nodes.run(entries, "HMGET", entries, *names)

    (top, bare) = await timed(
        [[lambda: shown.rankings.top("psi", STRATEGY, METRIC, 0, 100), bare_top] for _ in range(TIMES)]
    )
    position = shown.rankings.position
    (rank, bare_rank) = await timed(
        [
            [partial(position, "psi", STRATEGY, METRIC, one), partial(nodes.run, ranks, "ZREVRANK", ranks, one)]
            for one in someone
        ]
    )
    [whole] = await timed([[lambda: shown.board("psi", STRATEGY, limit=100)]] * 50)
    print(f"  top 100: {top:.3f} ms, bare ZREVRANGE and HMGET {bare:.3f} ms: {top / bare:.1f} times")
    print(f"  rank of a player: {rank:.3f} ms, bare ZREVRANK {bare_rank:.3f} ms: {rank / bare_rank:.1f} times")
    print(f"  the whole page of 100 rows with intervals, facts and profiles: {whole:.2f} ms")


async def timed(turns: list[list[Call]]) -> list[float]:
    """The medians of calls that take turns, in milliseconds."""
    times: list[list[float]] = [[] for _ in turns[0]]
    for turn in turns:
        for call, mine in zip(turn, times, strict=True):
            begun = time.perf_counter()
            await call()
            mine.append(time.perf_counter() - begun)
            await asyncio.sleep(0)
    return [statistics.median(mine) * 1000 for mine in times]


if __name__ == "__main__":
    typer.run(main)
