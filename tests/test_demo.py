"""The demo: everything in one command, and a clean end however it comes."""

import asyncio
import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from arena.catalog import load
from arena.client import client
from arena.house import Result, roster
from arena.models import Score
from arena.terminal import Scene, harmless, leaderboard, told
from challenges.psi.bots import BOTS
from tests.commands import COMMAND, arena, environment
from tests.valkeys import eventually

DEMO = ("demo", "--port", "0", "--no-browser")


def games_played(output: str) -> int:
    found = re.search(r"^(\d+) games? played", output, re.MULTILINE)
    assert found, output
    return int(found[1])


@contextmanager
def running(*options: str) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """A demo that has played its first game; yields the process and the file with what it says."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as out:
            command = [*COMMAND, *DEMO, *options]
            process = subprocess.Popen(command, stdout=out, stderr=out, env=environment(), start_new_session=True)
        try:
            eventually(lambda: " game 1 " in log.read_text() or process.poll() is not None, "the demo plays")
            yield process, log
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(20)


def address_in(text: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+/", text)
    assert found, text
    return found[0]


def store_of(process: "subprocess.Popen[bytes]") -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return next(int(pid) for pid in children if b"valkey" in Path(f"/proc/{pid}/cmdline").read_bytes())


def is_alive(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return False


def test_it_plays_for_a_while_and_sums_up() -> None:
    done = arena(*DEMO, "--seconds", "4", "--challenge", "psi")

    assert done.code == 0
    assert games_played(done.out) >= 1
    assert "failed" not in done.out
    assert "\x1b" not in done.out + done.err
    assert len(re.findall(r" game \d+ psi: ", done.out)) == games_played(done.out)
    assert re.search(r"\d │ (honest|greedy)-", done.out)
    assert done.err == ""


def test_the_board_of_the_summary_counts_every_game() -> None:
    done = arena(*DEMO, "--seconds", "2", "--pause", "0", "--tables", "2", "--challenge", "psi")

    games = re.findall(r"│ +\d+ │ [a-z]+-[a-z]+ +│ +(\d+) │", done.out)
    assert games_played(done.out) > 0
    assert sum(map(int, games)) == 2 * games_played(done.out)


def test_every_challenge_of_ours_is_played() -> None:
    done = arena(*DEMO, "--seconds", "12", "--pause", "0", "--tables", "4")

    assert set(re.findall(r" game \d+ ([a-z-]+): ", done.out)) == set(load().challenges)
    assert "failed" not in done.out


def test_a_challenge_that_is_not_there_cannot_be_shown() -> None:
    done = arena(*DEMO, "--challenge", "chess")

    assert done.code == 1
    assert "arena: Unknown challenge type: chess" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with running("--pause", "0.1") as (process, log):
        store = store_of(process)

        process.send_signal(number)

        assert process.wait(20) == 0
        assert games_played(log.read_text()) >= 1
        assert "Traceback" not in log.read_text()
        assert "WARNING" not in log.read_text()
        assert not is_alive(store)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_while_it_starts_ends_it_as_cleanly(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*COMMAND, *DEMO], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), text=True
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    eventually(children.read_text, "its store is about to start")

    process.send_signal(number)

    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in said


def test_it_leaves_nothing_behind(tmp_path: Path) -> None:
    done = arena(*DEMO, "--seconds", "1", env={"TMPDIR": str(tmp_path)})

    assert done.code == 0
    assert list(tmp_path.iterdir()) == []


def test_with_a_data_directory_the_games_stay(tmp_path: Path) -> None:
    first = arena(*DEMO, "--seconds", "2", "--pause", "0", "--data", tmp_path, "--challenge", "psi")
    recounted = arena("scoring", "recompute", "--data", tmp_path)

    assert f"psi average: {games_played(first.out)} games counted" in recounted.out


def test_the_page_and_the_socket_can_be_reached_while_it_plays() -> None:
    with running() as (_, log):
        address = address_in(log.read_text())

        assert "<html" in httpx.get(address).text
        assert asyncio.run(sessions_at(address))


async def sessions_at(address: str) -> list[object]:
    async with client(address.replace("http", "ws", 1) + "ws") as guest:
        found: list[object] = (await guest.call("lobby"))["challenges"]
        return found


def test_it_ends_with_a_reason_when_its_store_dies() -> None:
    with running("--pause", "0.1") as (process, log):
        os.kill(store_of(process), signal.SIGKILL)

        assert process.wait(40) == 1
        assert "The store does not answer any more" in log.read_text()
        assert games_played(log.read_text()) >= 1
        assert "Traceback" not in log.read_text()


def test_it_ends_quietly_when_nobody_reads_any_more() -> None:
    process = subprocess.Popen(
        [*COMMAND, *DEMO, "--pause", "0.1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()

    assert process.wait(30) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_it_takes_another_port_when_the_usual_one_is_taken_and_nobody_asked_for_it() -> None:
    options = ("demo", "--no-browser", "--seconds", "1")
    with ExitStack() as stack:
        with suppress(OSError):  # then somebody else has it, which is as good
            stack.enter_context(socket.create_server(("127.0.0.1", 3001)))

        done = arena(*options)
        asked = arena(*options, env={"ARENA_PORT": "3001"})

    assert done.code == 0
    assert "Port 3001 is taken; taking " in done.out
    assert asked.code == 1
    assert "Port 3001 on 127.0.0.1 is in use" in asked.err


def test_games_that_fail_are_shown_and_counted_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "clumsy").mkdir()
    (tmp_path / "clumsy/rules.py").write_text(
        "from arena import *\n"
        "class Clumsy(Operator[Model]):\n"
        "    def deal(self, rng): return Model()\n"
        "    @action\n"
        "    def go(self, state, seat): yield end()\n"
    )
    (tmp_path / "clumsy/bots.py").write_text(
        "from arena.bots import Bot\n"
        "class Oaf(Bot):\n"
        "    def begin(self, me, players): raise ValueError('\\x1b[31m[bold]oops')\n"
        "BOTS = {'oaf': Oaf}\n"
    )

    both = ("--challenge", "psi", "--challenge", "clumsy")
    done = arena(*DEMO, "--seconds", "8", "--pause", "0", *both, "--load", "clumsy.rules", cwd=tmp_path)

    assert done.code == 0
    assert games_played(done.out) >= 1
    assert re.search(r"played, \d+ failed", done.out)
    assert "a game of clumsy failed: ValueError: [31m[bold]oops" in done.out
    assert "\x1b" not in done.out


def test_in_a_terminal_it_draws_a_live_view_and_then_the_summary() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(COMMAND[0], [*COMMAND, *DEMO, "--pause", "0.2"], environment(TERM="xterm-256color", NO_COLOR=""))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 110, 0, 0))
    seen = b""
    until = time.monotonic() + 30
    while not re.search(rb"Arena .*[1-9]\d* games? played", seen) and time.monotonic() < until:
        seen += read(terminal)
    os.write(terminal, b"\x03")  # Ctrl-C, as the terminal driver passes it on
    end = b""
    while chunk := read(terminal, 20):
        end += chunk
    _, status = os.waitpid(pid, 0)
    os.close(terminal)

    live = seen.decode(errors="replace")
    assert "Sessions (" in live
    assert "Latest results" in live
    assert "Leaderboard" in live
    assert "\x1b[1A" in live  # drawn over and over in the same place
    assert os.waitstatus_to_exitcode(status) == 0
    assert b"\x1b[?25h" in end  # the cursor is back
    assert re.search(r"^\d+ games? played", end.decode(errors="replace").replace("\x1b[2K", "\n"), re.MULTILINE)
    assert b"Traceback" not in seen + end


def read(terminal: int, patience: float = 0.5) -> bytes:
    ready, _, _ = select.select([terminal], [], [], patience)
    if not ready:
        return b""
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


EVIL = ("\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\r\nb", "\u202eevil\u2066", "x" * 10_000, "[red]hi[/red][/]", "\ud800")


@pytest.mark.parametrize("text", EVIL, ids=range(len(EVIL)))
def test_what_players_say_cannot_touch_the_terminal(text: str) -> None:
    scene = Scene("http://127.0.0.1:1/")
    board = [{"playerId": text, "gamesPlayed": 1, "metrics": {f"a:{text}": 1.0}}]
    challenge = {"id": text, "challengeType": text, "state": {"status": "active"}}
    scene.hear({"type": "session", "event": "changed", "challenge": challenge, "lastLine": {"content": text}})
    scene.hear({"type": "leaderboard", "entries": board})
    scene.add(Result(text, [text], [Score(utility=1, security=1)], 1, 0.1))
    console = Console(width=100, force_terminal=False)

    with console.capture() as captured:
        console.print(scene, leaderboard(board), told(scene.results[0][1]), markup=False)

    shown = captured.get()
    assert not set(shown) & {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2066", "\ud800"}
    assert len(shown.splitlines()) < 40
    if "[red]" in text:
        assert "[red]hi[/red][/]" in shown


def test_harmless_text_is_one_short_line() -> None:
    assert harmless("  two\n words\t") == "two words"
    assert harmless("naïve 漢字 👋") == "naïve 漢字 👋"
    assert harmless("y" * 100, 10) == "yyyyyyyyy…"


def test_the_house_has_several_players_of_each_kind() -> None:
    names = [player.user for player in roster(BOTS.items(), 2)]

    assert names[:4] == ["honest-ada", "honest-ben", "greedy-gus", "greedy-mia"]
    assert len(names) == len(set(names)) == 8
    assert len({player.user for player in roster(BOTS.items(), 20)}) == 40
