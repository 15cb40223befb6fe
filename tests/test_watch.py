"""`arena watch`: a game as it reads in a terminal."""

import asyncio
import json

from tests.commands import arena as command
from tests.guests import Game, sit_down
from tests.servers import Served

SECRET = "the-secret-is-4711"
HOSTILE = "\x1b[2J\x1b]0;owned\x07hello"


async def played(arena: Served) -> Game:
    game = await sit_down(arena, users=("ada", "ben"))
    await game.say(0, HOSTILE)
    await game.say(0, SECRET, to=game.invites[1])
    await game.end()
    return game


async def test_a_game_that_is_over_reads_from_its_first_line_to_its_scores(arena: Served) -> None:
    game = await played(arena)

    done = await asyncio.to_thread(command, "watch", game.id, "--url", arena.url)

    assert done.code == 0, done.err
    lines = [line.split("  ", 1)[-1] for line in done.out.splitlines()]
    assert lines.index("● ada joined") < lines.index("The game began") < lines.index("The game ended")
    assert "● ada  [2J ]0;owned hello" in lines
    assert "● ada  security" in done.out
    assert "\x1b" not in done.out
    assert SECRET not in done.out


async def test_a_live_game_is_followed_to_its_end_and_then_opened(arena: Served) -> None:
    game = await sit_down(arena)
    watching = asyncio.create_task(asyncio.to_thread(command, "watch", game.id, "--url", arena.url))
    await game.players[0].until(
        lambda: next((f for f in game.players[0].of("state") if f["spectators"] == 1), None), "a spectator"
    )

    await game.say(1, "said while it is on")
    await game.end()
    done = await watching

    assert done.code == 0, done.err
    assert "▲ Player 2  said while it is on" in done.out
    live, opened = done.out.split("Formerly private:")
    assert "Your private set is" not in live
    assert opened.count("Your private set is") == 2


async def test_frames_come_as_json_for_programs(arena: Served) -> None:
    game = await played(arena)

    done = await asyncio.to_thread(command, "watch", game.id, "--json", "--url", arena.url)

    frames = [json.loads(line) for line in done.out.splitlines()]
    assert [frame["type"] for frame in frames if frame["type"] != "state"] == [
        "challenge", "initial", "initial", "game_ended",
    ]  # fmt: skip


async def test_what_is_not_there_is_said_in_one_line(arena: Served) -> None:
    missing = await asyncio.to_thread(command, "watch", "nope", "--url", arena.url)
    silent = await asyncio.to_thread(command, "watch", "nope", "--url", "http://127.0.0.1:9")

    assert (missing.code, missing.err) == (1, "arena: Challenge not found (NOT_FOUND)\n")
    assert silent.code == 1
    assert silent.err.startswith("arena: No arena answers at ws://127.0.0.1:9/ws")
