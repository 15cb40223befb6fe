"""`arena scoring …` against a running server and its store."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.callers import Caller
from tests.commands import Done, arena, call
from tests.servers import Process


async def play(url: str, *tables: tuple[str, str]) -> None:
    async with httpx.AsyncClient(base_url=url) as client:
        caller = Caller(client)
        await caller.post("/users", userId="ada", username="Ada\x1b[31m")
        for users in tables:
            await (await caller.sit_down(*users)).end()


async def told(url: str, path: str) -> object:
    async with httpx.AsyncClient(base_url=url) as client:
        return await Caller(client).get(path)


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with Process() as running:
        asyncio.run(play(running.url, ("ada", "ben"), ("ben", "cyd")))
        yield running


def ask(server: Process, *arguments: str | Path) -> Done:
    return call("scoring", *arguments, "--url", server.url)


def test_scoring_prints_the_protocols_json(server: Process) -> None:
    overall, psi = ask(server), ask(server, "psi")
    by_root = arena("--url", server.url, "scoring", "psi")
    by_variable = arena("scoring", "psi", env={"ARENA_URL": server.url})

    assert json.loads(overall.out) == asyncio.run(told(server.url, "/scoring"))
    assert json.loads(psi.out) == asyncio.run(told(server.url, "/scoring/psi"))
    assert psi.out == by_root.out == by_variable.out
    assert psi.out.startswith("{\n  ")


def test_what_the_server_refuses_is_printed_and_fails(server: Process) -> None:
    unknown, board = ask(server, "chess"), ask(server, "board", "psi", "luck")

    assert (unknown.code, json.loads(unknown.out)) == (1, {"error": "Unknown challenge type"})
    assert (board.code, json.loads(board.out)) == (1, {"error": "There is no such board."})


def test_a_server_that_is_not_there_is_told_in_a_line() -> None:
    gone, wrong = call("scoring", "--url", "http://127.0.0.1:1"), call("scoring", "--url", "ftp://x")

    assert gone.code == wrong.code == 1
    assert gone.err.startswith("arena: No arena answers at http://127.0.0.1:1")
    assert "begins with http://" in wrong.err


def test_boards_are_shown_as_tables_and_names_cannot_colour_the_terminal(server: Process) -> None:
    boards, board = ask(server, "boards"), ask(server, "board", "psi", "win-rate")

    assert "red-team" in boards.out
    assert "rank" in board.out
    assert "2 games" in board.out
    assert "provisional" in board.out
    assert "\x1b" not in board.out


def test_a_player_is_shown_on_all_boards_or_on_one(server: Process) -> None:
    everywhere = ask(server, "player", "ben")
    on_one = ask(server, "player", "ben", "psi", "average")
    half = ask(server, "player", "ben", "psi")

    assert "global-average" in everywhere.out
    assert "consecutive" in everywhere.out
    assert "after a game at" in on_one.out
    assert half.code == 2


def test_head_to_head_shows_who_met_whom(server: Process) -> None:
    matrix = ask(server, "head-to-head", "psi", "average")
    pair = ask(server, "head-to-head", "psi", "average", "ben", "cyd", "--json")

    assert "wins-ties-losses" in matrix.out
    assert [met["games"] for met in json.loads(pair.out)["meetings"]] == [1]


def test_every_view_has_json_for_programs(server: Process) -> None:
    for arguments, path in (
        (["boards"], "/leaderboards"),
        (["board", "psi", "average", "--limit", "50"], "/leaderboards/psi/average"),
        (["player", "ada"], "/users/ada/leaderboards"),
        (["player", "ada", "psi", "average"], "/leaderboards/psi/average/players/ada"),
    ):
        assert json.loads(ask(server, *arguments, "--json").out) == asyncio.run(told(server.url, path))


def test_a_frozen_board_stays_while_games_end_and_goes_on_afterwards() -> None:
    with Process() as server:
        asyncio.run(play(server.url, ("ada", "ben")))
        frozen = call("scoring", "freeze", "psi", "win-rate", "--data", server.data)
        asyncio.run(play(server.url, ("ada", "ben"), ("cyd", "ben")))

        assert frozen.out == "psi win-rate is frozen: games that end from now on do not move it.\n"
        board = json.loads(ask(server, "board", "psi", "win-rate", "--json").out)
        free = json.loads(ask(server, "board", "psi", "average", "--json").out)
        assert (board["games"], board["players"], free["games"]) == (1, 2, 3)
        assert board["frozenAt"] > 0
        thawed = call("scoring", "unfreeze", "psi", "win-rate", "--data", server.data)
        assert thawed.out == "psi win-rate goes on, with all games that it has missed.\n"
        assert json.loads(ask(server, "board", "psi", "win-rate", "--json").out)["games"] == 3
        assert "was not frozen" in call("scoring", "unfreeze", "psi", "win-rate", "--data", server.data).out
        assert call("scoring", "freeze", "psi", "luck", "--data", server.data).err == "arena: There is no such board.\n"
