"""`arena scoring recompute`: the same games give the same numbers, on any store and beside a running server."""

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.client import client, play
from arena.store.embedded import embedded
from challenges.psi.bots import BOTS
from tests.commands import arena, call
from tests.servers import Process
from tests.valkeys import connect

PLAYERS = ("ada", "gus", "ben", "mia")
KINDS = ("honest", "greedy", "honest", "greedy")


async def play_some(url: str, games: int) -> None:
    async with client(url) as guest:
        for number in range(games):
            made = await guest.call("create", challengeType="psi")
            seats = [number % 4, (number + 1 + number // 4) % 4]
            await asyncio.gather(
                *(
                    play(url, invite, BOTS[KINDS[seat]](Random(number)), PLAYERS[seat])
                    for invite, seat in zip(made["invites"], seats, strict=True)
                )
            )


async def boards(url: str) -> list[list[dict[str, Any]]]:
    async with client(url) as guest:
        return [(await guest.call("leaderboard", challengeType=type_))["entries"] for type_ in ("psi", None)]


def test_beside_a_running_server_the_numbers_stay_and_the_server_goes_on_counting() -> None:
    with Process() as server:
        asyncio.run(play_some(server.ws, 9))
        before = asyncio.run(boards(server.ws))

        done = arena("scoring", "recompute", "--data", server.data)

        assert done.code == 0, done.err
        assert done.out.splitlines()[0] == "psi average: 9 games counted"
        assert done.err == ""
        assert "Nothing else has changed" in done.out
        assert asyncio.run(boards(server.ws)) == before
        asyncio.run(play_some(server.ws, 1))
        assert sum(entry["gamesPlayed"] for entry in asyncio.run(boards(server.ws))[0]) == 20


def test_without_a_server_the_store_is_started_for_as_long_as_it_takes() -> None:
    with Process() as server:
        asyncio.run(play_some(server.ws, 3))
        before = asyncio.run(boards(server.ws))
        server.stop()

        done = arena("scoring", "recompute", "--data", server.data, "--type", "psi", "--strategy", "average")

        assert done.code == 0, done.err
        assert "psi average: 3 games counted" in done.out
        assert not (server.data / "store.json").exists()
        server.start()
        assert asyncio.run(boards(server.ws)) == before


def test_numbers_that_were_wrong_are_put_right(store: str) -> None:
    with Process(store=store) as server, connect(store) as redis:
        asyncio.run(play_some(server.ws, 5))
        before = asyncio.run(boards(server.ws))
        spoiled = list(redis.scan_iter("{score:psi}:[sezo]:average:*"))
        assert spoiled
        redis.delete(*spoiled)
        assert asyncio.run(boards(server.ws))[0] == []

        done = call("scoring", "recompute", "--store", store)

        assert done.code == 0, done.err
        assert asyncio.run(boards(server.ws)) == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--type", "chess"], 2, "only psi"),
        (["--strategy", "luck"], 2, "only by average"),
        (["--store", "redis://127.0.0.1:1"], 1, "cannot be reached"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_told(arguments: list[str], code: int, words: str, tmp_path: Path) -> None:
    with embedded(tmp_path):
        pass

    done = call("scoring", "recompute", "--data", tmp_path, *arguments)

    assert done.code == code
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_directory_without_games_is_not_made_into_one(tmp_path: Path) -> None:
    done = call("scoring", "recompute", "--data", tmp_path / "nothing")

    assert done.code == 1
    assert "There are no games in" in done.err
    assert list(tmp_path.iterdir()) == []
