"""`arena play` as a person runs it: at the terminal, with a program or a bot, signed in, and left in the middle."""

import asyncio
import json
import os
import re
import signal
import sys
import textwrap
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arena.client import Arena, Game, Identity
from arena.models import OPERATOR, ChatMessage
from tests.commands import COMMAND, environment
from tests.sandboxes import linux_only
from tests.servers import Served, served

PYTHON = Path(sys.executable).resolve()
GUESS = """
    import json, sys
    for line in sys.stdin:
        frame = json.loads(line)
        if frame["type"] == "state" and frame["state"]["status"] == "active":
            BEFORE
            print(json.dumps({"type": "message", "messageType": "guess", "content": "50"}), flush=True)
            break
    sys.stdin.read()
"""


async def begin(arena: Served, *words: str | Path, cwd: Path | None = None, **env: str) -> Process:
    """The command beside the test, whose input is ours."""
    return await asyncio.create_subprocess_exec(
        *COMMAND,
        "play",
        *map(str, words),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=cwd,
        env=environment(ARENA_URL=arena.url, **env),
    )


async def finish(running: Process, typed: str = "") -> tuple[int, str, str]:
    """Type something, and wait for the end; nobody is shown a traceback."""
    out, err = await running.communicate(typed.encode())
    assert b"Traceback" not in out + err, err.decode()
    assert running.returncode is not None
    return running.returncode, out.decode(), err.decode()


def program(folder: Path, before: str = "pass") -> str:
    path = folder / "agent.py"
    path.write_text(textwrap.dedent(GUESS).replace("BEFORE", before))
    return f"{sys.executable} {path}"


async def test_a_person_plays_with_what_is_typed_and_sees_what_may_be_seen(arena: Served) -> None:
    async with Arena(arena.url) as link:
        invites = (await link.create("millionaire")).invites
        rival = await link.join(invites[1], "ben")
        running = await begin(arena, invites[0], "--user", "ada")
        assert running.stdin is not None
        running.stdin.write(b"gues 7\n/dance\n/say good day\n/tell 1 psst\n/tell 9 hm\nguess nothing\n/help guess\n")
        async for message in rival:
            if message.content == "psst":
                break
        await rival.say("\x1b[2J\x1b]0;pwned\x07 \u202eevil\r\n\x9b1mbold")
        await rival.act("guess", "50")
        code, out, err = await finish(running, "guess 50\n")

    assert (code, err) == (0, "")
    assert "Your wealth is $" in out
    assert "Nothing was sent. Moves: guess" in out
    assert "There is no /dance" in out
    assert "There is no player 9" in out
    assert "(INVALID_GUESS)" in out
    assert "You  good day" in out
    assert "→ You" in out
    assert "ada (you)" in out
    assert "security" in out
    assert "evil" in out
    assert not [sign for sign in out if sign != "\n" and not sign.isprintable()]


async def test_a_program_that_fails_too_often_gives_up_and_the_command_says_so(arena: Served, tmp_path: Path) -> None:
    async with Arena(arena.url) as link:
        invites = (await link.create("millionaire")).invites
        rival = await link.join(invites[1], "ben")
        command = program(tmp_path, "sys.exit(1)")
        running = await begin(arena, invites[0], "--cmd", command, "--restarts", "1", "--json")
        code, out, err = await finish(running)
        await rival.play_out()

    told = json.loads(out)
    assert code == 3
    assert "given up" in err
    assert told["gaveUp"]
    assert told["state"]["status"] == "ended"
    assert told["score"] == told["state"]["scores"][told["playerIndex"]]


@linux_only
async def test_a_program_in_a_sandbox_plays_and_reaches_nothing_else(arena: Served, tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    key = folder / "me.key"
    key.write_text(Identity.new().private_key)
    port = arena.url.rpartition(":")[2]
    look = (
        "import os, socket, subprocess; "
        f"found = [os.path.exists({str(tmp_path / 'secret')!r}), "
        "subprocess.run(['cat', 'me.key'], capture_output=True).stdout != b'', "
        f"'ARENA_URL' in os.environ, socket.socket().connect_ex(('127.0.0.1', {port})) == 0, "
        "os.access('.', os.W_OK)]; "
        "print(json.dumps({'type': 'chat', 'content': json.dumps(found)}), flush=True)"
    )
    program(folder, look)
    async with Arena(arena.url) as link:
        invites = (await link.create("millionaire")).invites
        rival = await link.join(invites[1], "ben")
        words = ("--cmd", f"{PYTHON} agent.py", "--sandbox", "--readable", sys.base_prefix, "--key", "me.key")
        running = await begin(arena, invites[0], *words, cwd=folder)
        ended, (code, out, err) = await asyncio.gather(guessed(rival), finish(running))

    assert code == 0, err
    assert "agent (player" in out
    assert json.loads(ended) == [False] * 5


async def guessed(rival: Game) -> str:
    """Guess when the other one has said something, and tell what it was."""
    said = ""
    async for message in rival:
        if message.from_ != OPERATOR and not said:
            said = message.content
            await rival.act("guess", "50")
    return said


async def test_who_leaves_can_come_back_with_the_session_key(arena: Served) -> None:
    async with Arena(arena.url) as link:
        invites = (await link.create("millionaire")).invites
        rival = await link.join(invites[1], "ben")
        async with Arena(arena.url) as other:
            key = (await other.join(invites[0], "ada")).session_key
        running = await begin(arena, rival.id, "--json", ARENA_AUTH=key)
        assert running.stdout is not None
        told = json.loads(await running.stdout.readline())
        running.send_signal(signal.SIGINT)
        left = await finish(running)
        again = await begin(arena, rival.id, ARENA_AUTH=key)
        await rival.act("guess", "50")
        code, out, _ = await finish(again, "guess 50\n")

    assert told["result"]["playerIndex"] == 1
    assert left[0] == 130
    assert "goes on without you" in left[2]
    assert key not in left[2]
    assert code == 0
    assert "ada (you)" in out


async def test_at_a_terminal_there_is_a_prompt_with_the_clock_and_a_way_back(arena: Served) -> None:
    async with Arena(arena.url) as link:
        invites = (await link.create("millionaire", {"clock": {"game": 600}})).invites
        rival = await link.join(invites[1])
        ours, theirs = os.openpty()
        running = await asyncio.create_subprocess_exec(
            *(*COMMAND, "play", invites[0], "--url", arena.url),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(TERM="xterm"),
        )
        os.close(theirs)
        shown = await asyncio.to_thread(read_until, ours, r"began.*\n▸?\d+:\d\d> ")
        os.write(ours, b"/say hello\n")
        heard = [message.content async for message in until(rival, "hello")]
        running.send_signal(signal.SIGINT)
        left = await asyncio.to_thread(read_until, ours, "goes on without you")
        code = await running.wait()
        os.close(ours)

    assert "/help [MOVE]" in shown
    assert "Your wealth is $" in shown
    assert heard[-1] == "hello"
    assert re.search(rf"ARENA_AUTH=s_1\.[0-9a-f]{{64}} arena play {rival.id} --url {re.escape(arena.url)}", left)
    assert code == 130


def read_until(terminal: int, pattern: str) -> str:
    """What a terminal shows, up to what is looked for."""
    shown = ""
    while not re.search(pattern, shown, re.DOTALL):
        shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


async def until(game: Game, last: str) -> AsyncIterator[ChatMessage]:
    async for message in game:
        yield message
        if message.content == last:
            return


async def test_players_sign_in_where_they_have_to(store: str, tmp_path: Path) -> None:
    ada, ben = Identity.new(), Identity.new()
    ada.save(tmp_path)
    async with (
        served(store, auth="required", auth_secret="long enough to be a secret") as arena,
        Arena(arena.url, identity=ben) as link,
    ):
        invites = (await link.create("psi")).invites
        bot = ("--bot", "psi/greedy")
        strangers = await finish(await begin(arena, invites[0], *bot))
        rival = await link.join(invites[1])
        running = await begin(arena, invites[0], *bot, "--json", "--key", tmp_path / f"{ada.user}.key", "--seed", "7")
        await rival.wait_for_start()
        await rival.act("guess", "50")
        code, out, _ = await finish(running)

    assert strangers[0] == 1
    assert "give --key FILE" in strangers[2]
    assert code == 0
    assert ada.user in json.loads(out)["state"]["playerIdentities"].values()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["inv_x", "--cmd", "x", "--bot", "psi/honest"], 2, "one player"),
        (["inv_x", "--bot", "psi/nobody"], 1, "psi/honest, psi/greedy"),
        (["inv_x", "--cmd", "/no/such/program"], 1, "cannot be started"),
        (["inv_x"], 1, "INVITE_NOT_FOUND"),
        (["inv_x", "--url", "localhost:3001"], 1, "begins with http://"),
        (["inv_x", "--url", "http://127.0.0.1:99999"], 1, "Port out of range"),
    ],
)
async def test_what_cannot_be_played_is_told_in_a_line(arena: Served, words: list[str], code: int, told: str) -> None:
    done = await finish(await begin(arena, *words))

    assert done[0] == code
    assert told in done[2]
