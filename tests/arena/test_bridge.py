"""Programs as players: what they read and write, and what becomes of those that fail."""

import asyncio
import json
import os
import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from arena import bridge
from arena.client import Game, Started
from arena.client.place import Place
from arena.errors import CannotStart, Refused
from tests.guests import comes_true
from tests.servers import Served

Frame = dict[str, Any]

LISTEN = """
    import json, os, sys
    notes = open(sys.argv[1], "a")
    def say(**frame):
        print(json.dumps(frame), flush=True)
    def frames():
        for line in sys.stdin:
            notes.write(line)
            notes.flush()
            yield json.loads(line)
        notes.write('{"type": "closed"}\\n')
        notes.flush()
"""
GUESS = """
    guessed = False
    for frame in frames():
        if frame["type"] == "state" and frame["state"]["status"] == "active" and not guessed:
            guessed = True
            say(type="message", messageType="guess", content="1", id=7)
"""
GUESS_WHEN_TOLD = """
    for frame in frames():
        if frame["type"] == "new_message" and frame["message"]["content"] == "now":
            say(type="message", messageType="guess", content="1")
"""


def program(folder: Path, code: str, name: str = "ada") -> list[str]:
    """A program that notes what it reads, and where."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(LISTEN) + textwrap.dedent(code))
    return [sys.executable, str(path), str(folder / f"{name}.jsonl")]


def read(folder: Path, name: str = "ada") -> list[Frame]:
    """What a program has read so far."""
    path = folder / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def table(arena: Served) -> tuple[Place, Place]:
    """The two seats of a game."""
    session = await arena.arena.engine.create("psi")
    ada, ben = session.header.invites
    return Place(ada, arena.ws, "ada"), Place(ben, arena.ws, "ben")


async def rival(place: Place, ready: asyncio.Event | None = None, seated: asyncio.Future[Game] | None = None) -> None:
    """Somebody who guesses as soon as the game is on, or when told to."""
    async with place.taken() as game:
        if seated is not None:
            seated.set_result(game)
        async for event in game.events():
            if isinstance(event, Started):
                break
        if ready is not None:
            await ready.wait()
        with suppress(Refused):  # the game may end before its answer comes
            await game.act("guess", "1")
        await game.play_out()


async def test_two_programs_play_a_game_and_read_the_frames_of_the_protocol(arena: Served, tmp_path: Path) -> None:
    ada, ben = await table(arena)
    heard: list[str] = []

    ends = await asyncio.gather(
        bridge.play(ada, program(tmp_path, GUESS), heard=lambda frame: heard.append(frame["type"])),
        bridge.play(ben, program(tmp_path, GUESS, "ben")),
    )

    assert ends[0] == ends[1]
    assert (ends[0].ended.state.status, ends[0].gave_up) == ("ended", False)
    assert {read(tmp_path, name)[0]["result"]["playerIndex"] for name in ("ada", "ben")} == {0, 1}
    for name in ("ada", "ben"):
        frames = read(tmp_path, name)
        types = [frame["type"] for frame in frames]
        assert (types[0], types[1], types[-2:]) == ("reply", "initial", ["game_ended", "closed"])
        assert [frame["result"] for frame in frames if frame.get("id") == 7] == [{"ok": "Message sent"}]
        assert "welcome" not in types
    assert heard == [frame["type"] for frame in read(tmp_path) if "id" not in frame][:-1]


async def test_a_lost_connection_does_not_show(arena: Served, tmp_path: Path) -> None:
    ada, ben = await table(arena)
    seated: asyncio.Future[Game] = asyncio.get_running_loop().create_future()
    bridged = bridge.Bridge(ada, program(tmp_path, GUESS_WHEN_TOLD), 0, lambda frame: None, {})
    ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(bridged.run())
        group.create_task(rival(ben, ready, seated))
        await comes_true(lambda: any(frame["type"] == "state" for frame in read(tmp_path)), "the program has begun")
        talker, game = await seated, await bridged.seat
        for round_ in range(3):
            assert game.carrier is not None
            game.carrier.socket.transport.abort()
            for word in "abc":
                await talker.say(f"{word}{round_}")
        await talker.say("now")
        ready.set()

    frames = read(tmp_path)
    told = [message for frame in frames for message in frame.get("messages", [frame.get("message")]) if message]
    for channel in (game.id, f"challenge_{game.id}"):
        indexes = [message["index"] for message in told if message["channel"] == channel]
        assert indexes == list(range(1, len(indexes) + 1))
    chat = [message["content"] for message in told if message["channel"] == game.id]
    assert chat == [f"{word}{n}" for n in range(3) for word in "abc"] + ["now"]
    assert [frame["type"] for frame in frames].count("initial") == 2
    assert not playing.result().gave_up


async def test_a_program_that_fails_is_started_again_and_hears_the_game_from_its_beginning(
    arena: Served, tmp_path: Path
) -> None:
    ada, ben = await table(arena)
    stumble = """
        tries = sum(1 for line in open(sys.argv[1]) if '"playerIndex"' in line)
        for frame in frames():
            if frame["type"] == "state" and frame["state"]["status"] == "active":
                if tries < 2:
                    sys.exit(3)
                say(type="message", messageType="guess", content="1", key="once")
    """

    played, _ = await asyncio.gather(bridge.play(ada, program(tmp_path, stumble), restarts=2), rival(ben))

    types = [frame["type"] for frame in read(tmp_path)]
    starts = [n for n, type_ in enumerate(types) if type_ == "reply" and types[n + 1] == "initial"]
    assert len(starts) == 3
    assert not played.gave_up
    results = await arena.arena.boards.results("psi", 0, 10)
    assert [str(outcome) for outcome in results[0].outcomes or []] == ["played", "played"]


async def test_a_program_that_fails_too_often_gives_its_seat_up(arena: Served, tmp_path: Path) -> None:
    ada, ben = await table(arena)
    waiting = asyncio.Event()

    async with asyncio.TaskGroup() as group:
        group.create_task(rival(ben, waiting))
        crash = "for frame in frames():\n    if frame['type'] == 'state': sys.exit(1)"
        playing = group.create_task(bridge.play(ada, program(tmp_path, crash), restarts=0))
        assert (await playing).gave_up
        waiting.set()

    results = await arena.arena.boards.results("psi", 0, 10)
    assert sorted(str(outcome) for outcome in results[0].outcomes or []) == ["forfeit", "played"]


async def test_a_program_that_ends_without_a_fault_has_said_all_it_had_to_say(arena: Served, tmp_path: Path) -> None:
    ada, ben = await table(arena)
    leave = """
        for frame in frames():
            if frame["type"] == "state" and frame["state"]["status"] == "active":
                say(type="message", messageType="guess", content="1")
            elif "result" in frame and "ok" in frame["result"]:
                sys.exit(0)
    """
    ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(bridge.play(ada, program(tmp_path, leave)))
        group.create_task(rival(ben, ready))
        await comes_true(lambda: any("ok" in frame.get("result", {}) for frame in read(tmp_path)), "a move is made")
        ready.set()

    assert playing.result().ended.state.status == "ended"
    assert sum("playerIndex" in frame.get("result", {}) for frame in read(tmp_path)) == 1


async def test_what_a_program_says_wrong_is_answered_and_the_game_goes_on(arena: Served, tmp_path: Path) -> None:
    ada, ben = await table(arena)
    babble = """
        for frame in frames():
            if frame["type"] == "state" and frame["state"]["status"] == "active":
                break
        print("no json")
        print("[1]")
        print('{"no": "type"}')
        print()
        say(type="create", challengeType="psi", id=1)
        say(type="message", content="1", self="me", id=2)
        say(type="message", content=5, id=3)
        say(type="message", messageType="dance", content="1", id=4)
        print("x" * 3_000_000)
        for frame in frames():
            if frame["type"] == "error" and frame["code"] == "TOO_LARGE":
                say(type="message", messageType="guess", content="1", id=5)
    """
    async with asyncio.TaskGroup() as group:
        seated: asyncio.Future[Game] = asyncio.get_running_loop().create_future()
        group.create_task(rival(ben, seated=seated))
        await seated
        playing = group.create_task(bridge.play(ada, program(tmp_path, babble)))

    frames = read(tmp_path)
    errors = [(frame.get("id"), frame["code"]) for frame in frames if frame["type"] == "error"]
    assert errors[:3] == [(None, "BAD_FRAME")] * 3
    assert [code for id_, code in errors if id_] == ["UNKNOWN_TYPE", "VALIDATION", "VALIDATION", "UNKNOWN_METHOD"]
    assert "TOO_LARGE" in {code for _, code in errors}
    assert any(frame.get("id") == 5 and "result" in frame for frame in frames)
    assert playing.result().ended.state.status == "ended"


async def test_a_program_that_cannot_be_started_takes_no_seat(arena: Served) -> None:
    ada, _ = await table(arena)

    with pytest.raises(CannotStart, match="no-such-program cannot be started"):
        await bridge.play(ada, ["/no-such-program"])

    assert (await arena.arena.engine.get(await arena.arena.engine.session_of(ada.invite))).standing.players == []


async def test_nothing_that_a_program_has_started_is_left_after_the_game(arena: Served, tmp_path: Path) -> None:
    ada, ben = await table(arena)
    spawn = """
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open(sys.argv[1] + ".pid", "w").write(str(child.pid))
    """

    await asyncio.gather(
        bridge.play(ada, program(tmp_path, textwrap.dedent(spawn) + textwrap.dedent(GUESS))), rival(ben)
    )

    pid = int((tmp_path / "ada.jsonl.pid").read_text())
    await comes_true(lambda: not _runs(pid), "the child is gone")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("command", ["", "  ", "python 'half a quote"])
def test_a_command_that_makes_no_sense_is_told(command: str) -> None:
    with pytest.raises(CannotStart):
        bridge.parse(command)
