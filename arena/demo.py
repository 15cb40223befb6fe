"""Demo: everything in one process and one command, with house bots that play until somebody has seen enough."""

import asyncio
import logging
import os
import signal
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import cast

import uvloop
from rich.live import Live
from starlette.applications import Starlette
from websockets.exceptions import WebSocketException

from arena import server, supervisor
from arena.catalog import Catalog, ChallengeType
from arena.client import client
from arena.errors import ArenaError, CannotStart, trace
from arena.house import House, Result
from arena.logs import set_up_logging
from arena.runtime import Arena
from arena.settings import Settings
from arena.store.embedded import embedded
from arena.terminal import Notes, Scene, Screen, harmless, leaderboard, told

logger = logging.getLogger(__name__)

LAST_MOVES = 3.0  # seconds that games get to end when the demo ends
SILENCE = 5  # unanswered pings, one a second, after which the store is given up
REDRAW = 0.25


@dataclass(frozen=True)
class Wishes:
    """How the demo is to run."""

    seconds: float | None = None
    tables: int = 3
    pause: float = 0.8
    browser: bool = True
    any_port: bool = False  # whatever is free, if the port is taken
    challenges: tuple[str, ...] = ()  # to be played; all that have bots if there are none


def run(settings: Settings, data: Path | None, wishes: Wishes) -> int:
    """Run the demo until it has been long enough or a signal comes; returns its exit code."""
    server.check(settings)
    if settings.must_sign:
        raise CannotStart("The bots of the demo have no keys; it plays in open mode only.")
    set_up_logging("warning")
    with ExitStack() as stack:
        try:
            signalled = stack.enter_context(terminable())
            listener = stack.enter_context(find_port(settings, wishes))
            folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-demo-")))
            store = stack.enter_context(embedded(folder, settings.fsync))
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                return runner.run(Demo(settings, wishes, listener).run(store, signalled))
        except KeyboardInterrupt:  # somebody is in a hurry
            return 0


@contextmanager
def terminable() -> Iterator[threading.Event]:
    """Remember a signal until the event loop takes them over; a second one interrupts.

    The first does not, since what a handler raises in the middle of a fork ends nothing and prints a traceback.
    """
    signalled = threading.Event()

    def interrupt(*_: object) -> None:
        if signalled.is_set():
            raise KeyboardInterrupt
        signalled.set()

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signalled
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def find_port(settings: Settings, wishes: Wishes) -> socket:
    """Listen where we were told; anywhere if nobody told us and the usual place is taken."""
    try:
        return supervisor.bind(settings.host, settings.port)
    except CannotStart:
        if not wishes.any_port:
            raise
        listener = supervisor.bind(settings.host, 0)
        Screen().print(f"Port {settings.port} is taken; taking {listener.getsockname()[1]} instead.")
        return listener


class Demo:
    """One run: a server in this event loop, the house playing on it, and somebody who watches."""

    def __init__(self, settings: Settings, wishes: Wishes, listener: socket) -> None:
        self.settings = settings
        self.wishes = wishes
        self.listener = listener
        self.screen = Screen()
        self.is_live = self.screen.is_terminal and not self.screen.is_dumb_terminal
        self.scene = Scene(page_of(listener))
        self.ended = asyncio.Event()
        self.fault: str | None = None

    async def run(self, store: str, signalled: threading.Event) -> int:
        """Serve and play until the end, which may have come already."""
        self._take_signals()
        if signalled.is_set():
            return 0
        await server.probe(self.settings, store)
        running = server.make_server(self.settings, store)
        serving = asyncio.create_task(running.serve(sockets=[self.listener]), name="server")
        while not running.started and not serving.done():
            await asyncio.wait([serving], timeout=0.01)
        if not running.started:
            self.give_up("The server did not start.")
        self._take_signals(running)  # back from uvicorn
        serving.add_done_callback(lambda _: self.give_up("The server has ended by itself."))
        try:
            if running.started and not running.should_exit:
                await self._play(cast(Starlette, running.config.app).state.arena)
        finally:
            running.should_exit = True
            await serving
        self._sum_up()
        return 0 if self.fault is None else 1

    def _take_signals(self, running: server.Server | None = None) -> None:
        def stop() -> None:
            if running is not None and self.ended.is_set():
                running.should_exit = running.force_exit = True  # the second time it is meant
            self.ended.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                asyncio.get_running_loop().add_signal_handler(number, stop)

    async def _play(self, arena: Arena) -> None:
        ws = self.scene.address.replace("http", "ws", 1) + "ws"
        challenges = with_bots(arena.catalog, self.wishes.challenges)
        house = House(ws, challenges, pause=self.wishes.pause, ended=self._count, failed=self._count_failed)
        self.screen.print(f"Watch the arena at {self.scene.address} (Ctrl-C ends it)", soft_wrap=True)
        if self.wishes.browser:
            open_page(self.scene.address)
        with self._view() as view:
            playing = asyncio.create_task(house.run(self.wishes.tables), name="house")
            duties = [
                asyncio.create_task(duty, name=name)
                for name, duty in {
                    "spectator": self._watch(ws),
                    "store watch": self._watch_store(arena),
                    "view": self._draw(view),
                }.items()
            ]
            for task in (playing, *duties):
                task.add_done_callback(self._notice)
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.ended.wait(), self.wishes.seconds)
                self.ended.set()
                house.close()
                await asyncio.wait([playing], timeout=0 if self.fault else LAST_MOVES)
                with suppress(ArenaError):
                    _, _, entries = await arena.scorer.board(None, None)
                    self.scene.board = [entry.wire() for entry in entries]
            finally:
                for task in (playing, *duties):
                    task.cancel()
                await asyncio.gather(playing, *duties, return_exceptions=True)

    def give_up(self, reason: str) -> None:
        """End the demo because of a fault, unless it is ending anyway."""
        if not self.ended.is_set():
            self.fault = reason
            self.ended.set()

    def _notice(self, task: "asyncio.Task[None]") -> None:
        """A part of the demo has ended; by itself only if it failed."""
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("demo failed task=%s %s", task.get_name(), trace(error))
            self.give_up(f"The {task.get_name()} has failed.")

    @contextmanager
    def _view(self) -> Iterator[Live | None]:
        """A live view in a terminal; log lines are shown in it, since on top of it they would tear it."""
        if not self.is_live:
            yield None
            return
        logging.getLogger().handlers[:] = [Notes(self.scene)]
        try:
            with Live(console=self.screen, auto_refresh=False, transient=True, vertical_overflow="crop") as live:
                yield live
        finally:
            set_up_logging("warning")

    async def _draw(self, view: Live | None) -> None:
        while view is not None:
            view.update(self.scene, refresh=True)
            await asyncio.sleep(REDRAW)

    async def _watch(self, ws: str) -> None:
        """Follow the lobby and the global board like any page, and come back when the connection is lost."""
        while True:
            try:
                async with client(ws) as guest:
                    self.scene.enter(await guest.call("lobby"), await guest.call("leaderboard"))
                    while True:
                        self.scene.hear(await guest.hear())
            except (ArenaError, OSError, WebSocketException) as error:
                logger.warning("spectator lost its connection reason=%s", type(error).__name__)
                await asyncio.sleep(1)

    async def _watch_store(self, arena: Arena) -> None:
        silent = 0
        while silent < SILENCE:
            await asyncio.sleep(1)
            silent = silent + 1 if await arena.nodes.ping() else 0
        self.give_up("The store does not answer any more.")

    def _count(self, result: Result) -> None:
        self.scene.add(result)
        if not self.is_live:
            self._say(f"game {self.scene.played} {told(result)}")

    def _count_failed(self, type_: str, error: Exception) -> None:
        self.scene.failed += 1
        reason = harmless(f"a game of {type_} failed: {type(error).__name__}: {error}", 200)
        self.scene.notes.append(reason)
        if not self.is_live:
            self._say(reason)

    def _say(self, line: str) -> None:
        self.screen.print(f"{time.strftime('%H:%M:%S')} {line}", soft_wrap=True)
        if self.screen.is_deserted:
            self.ended.set()

    def _sum_up(self) -> None:
        self.screen.print(f"\n{self.scene.tally}")
        if self.scene.board:
            self.screen.print(leaderboard(self.scene.board))
        if self.fault:
            self.screen.print(f"The demo had to end: {self.fault}")


def with_bots(catalog: Catalog, wanted: Sequence[str] = ()) -> list[ChallengeType]:
    """The challenges that the house can play, or those of them that are wanted."""
    found = []
    for challenge in map(catalog.challenge, wanted or catalog.challenges):
        try:
            bots = challenge.bots
        except Exception as error:  # a plugin may raise anything, and the others are played
            logger.warning("bots do not load type=%s reason=%s", challenge.name, type(error).__name__)
            continue
        if bots:
            found.append(challenge)
    if not found:
        raise CannotStart("None of the challenges that load has bots, so there is nothing to show.")
    return found


def page_of(listener: socket) -> str:
    """The address of the page, for somebody at this machine."""
    return server.address_of(listener).replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]") + "/"


def open_page(address: str) -> None:
    """Show the page where there is a display; a browser that takes its time does not keep the demo waiting."""
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        threading.Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True).start()
