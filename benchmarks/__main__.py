"""A first yardstick: whole games and committed chat messages per second, on this machine and over real sockets."""

import asyncio
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from arena import supervisor
from arena.client import Client, client, play
from challenges.psi.bots import HonestBot

SECONDS = 8.0  # of each measurement
TABLES = 8  # games at a time
TALKERS = 4  # connections that chat
WAITING = 16  # messages that each of them has under way

Work = Callable[[str, float], Awaitable[int]]

OFF = {
    "ARENA_LIMIT_FRAMES_PER_SECOND": "0",
    "ARENA_LIMIT_OPEN_SESSIONS_PER_ADDRESS": "0",
    "ARENA_LIMIT_CHANNEL_MESSAGES": "0",
    "ARENA_LIMIT_CHANNEL_BYTES": "0",
    "ARENA_LOG_LEVEL": "warning",
}


def main() -> None:
    """Measure, and say what the numbers are worth."""
    with server() as url:
        games, messages = asyncio.run(measure(url))
    table = Table(title=f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")
    for heading in ("measured", "how", "per second"):
        table.add_column(heading, justify="right" if heading == "per second" else "left")
    table.add_row("whole PSI games", f"{TABLES} tables, 2 honest bots each", f"{games:,.1f}")
    table.add_row(
        "committed chat messages", f"{TALKERS} connections, {WAITING} messages under way each", f"{messages:,.0f}"
    )
    console = Console()
    console.print(table)
    console.print(
        "A first yardstick, without baselines to compare it with: one worker on its own store (appendfsync everysec), "
        "rate limits off. All players live in one Python process on the same machine, so they are measured too."
    )


@contextmanager
def server() -> Iterator[str]:
    """`arena serve` in a process of its own, on an empty store."""
    with supervisor.bind("127.0.0.1", 0) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        command = [sys.executable, "-m", "arena", "serve", "--port", str(port), "--data", str(Path(folder) / "data")]
        process = subprocess.Popen(command, env={**os.environ, **OFF})
        try:
            yield f"ws://127.0.0.1:{port}/ws"
        finally:
            process.terminate()
            process.wait(30)


async def measure(url: str) -> tuple[float, float]:
    """Games and messages per second."""
    await ready(url)
    return await rate(url, TABLES, keep_playing), await rate(url, TALKERS, keep_talking)


async def ready(url: str) -> None:
    """Wait until the server answers."""
    async with asyncio.timeout(30):
        while True:
            try:
                async with client(url):
                    return
            except OSError:
                await asyncio.sleep(0.05)


async def rate(url: str, many: int, work: Work) -> float:
    """What so many that work side by side get done in a second."""
    begun = time.monotonic()
    done = await asyncio.gather(*(work(url, begun + SECONDS) for _ in range(many)))
    return sum(done) / (time.monotonic() - begun)


async def keep_playing(url: str, until: float) -> int:
    """One game after the other; returns how many."""
    games = 0
    async with client(url) as creator:
        while time.monotonic() < until:
            made = await creator.call("create", challengeType="psi")
            users = ("ada", "ben")
            seats = zip(made["invites"], users, strict=True)
            await asyncio.gather(*(play(url, invite, HonestBot(Random()), user) for invite, user in seats))
            games += 1
    return games


async def keep_talking(url: str, until: float) -> int:
    """Messages in a session of one's own, several under way; returns how many were answered."""
    async with client(url) as ada, client(url) as ben:
        made = await ada.call("create", challengeType="psi")
        for guest, invite in zip((ada, ben), made["invites"], strict=True):
            await guest.call("join", invite=invite)
        said = await asyncio.gather(*(talk(ada, made["id"], until) for _ in range(WAITING)))
    return sum(said)


async def talk(guest: Client, channel: str, until: float) -> int:
    """One message after the other; returns how many."""
    said = 0
    while time.monotonic() < until:
        await guest.call("chat", channel=channel, content="Is anybody there? " * 5)
        said += 1
    return said


if __name__ == "__main__":
    main()
