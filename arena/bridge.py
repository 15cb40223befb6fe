"""Bridge: any program as a player. It reads frames as lines of JSON on its input and writes its moves the same way.

The first line is the answer to `join`; then come `initial`, `new_message`, `state` and at last `game_ended`, after
which the input is closed. Lost connections are mended without the program's knowing.
"""

import asyncio
import os
import shlex
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

import orjson

from arena.client import Frame
from arena.errors import ArenaError, CannotStart, Invalid, Refused, TooLarge, UnknownType
from arena.guest import Guest
from arena.wire import JSON

LINE = 1024 * 1024  # bytes of a line that a program may write
RESTARTS = 3
GRACE = 5.0  # seconds that a program may take to end after its game
FORFEIT = "resign"  # the move that every challenge understands
STALL = 60.0  # seconds that a program may read nothing while something waits for it
# What programs say; the first field may be left out, since there is one game.
SPOKEN = {"message": ("challengeId", "messageType", "content", "key"), "chat": ("channel", "content", "to", "key")}

Heard = Callable[[Frame], None]


async def play(guest: Guest, command: Sequence[str], restarts: int = RESTARTS, heard: Heard | None = None) -> Frame:
    """Let a program play a seat to the end of the game; returns what `game_ended` said.

    A program that fails is started again so many times and hears the game from its beginning; after that its seat is
    given up. One that ends without a fault has said what it had to say.
    """
    bridge = Bridge(guest, command, restarts, heard or (lambda frame: None))
    return await bridge.run()


def parse(command: str) -> list[str]:
    """The words of a command as a shell would see them."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CannotStart(f"The command {command!r} is not understood: {error}") from None
    if not words:
        raise CannotStart("A command is needed.")
    return words


class Bridge:
    """A seat on one side, a program on the other."""

    def __init__(self, guest: Guest, command: Sequence[str], restarts: int, heard: Heard) -> None:
        self.guest = guest
        self.command = command
        self.restarts = restarts
        self.heard = heard
        self._program: asyncio.subprocess.Process | None = None
        self._told = False  # whether the program of now was told who it is
        self._begun = asyncio.Event()
        self._active = asyncio.Event()
        self._speaking = asyncio.Lock()

    async def run(self) -> Frame:
        """Play until the game ends."""
        playing = asyncio.create_task(self._keep_playing(), name="program")
        playing.add_done_callback(lambda _: self._begun.set())
        try:
            await self._begun.wait()
            if playing.done():
                playing.result()  # raises if the program cannot even be started
            async with aclosing(self.guest.frames()) as frames:
                async for frame in frames:
                    self.heard(frame)
                    await self._pass_on(frame)
            data: Frame = frame["data"]
            return data
        finally:
            await self._finish(playing)

    async def _pass_on(self, frame: Frame) -> None:
        match frame["type"]:
            case "state" if frame["state"]["status"] != "open":
                self._active.set()
            case "game_ended":
                await self._let_finish()
        await self._tell(frame)

    async def _keep_playing(self) -> None:
        """Run the program, again if it fails; then give the seat up."""
        for attempt in range(self.restarts + 1):
            async with started(self.command) as program:
                self._program, self._told = program, False
                self._begun.set()
                if attempt:
                    await self.guest.rewind()
                await self._listen(program)
                code = await program.wait()
            if code == 0:
                return
        await self._active.wait()  # before that there is nothing to give up
        with suppress(Refused):
            await self.guest.send("message", challengeId=self.guest.session, messageType=FORFEIT, content="")

    async def _listen(self, program: asyncio.subprocess.Process) -> None:
        """Carry out what the program says, one thing after the other."""
        assert program.stdout is not None
        while True:
            try:
                line = await program.stdout.readline()
            except ValueError:
                await self._answer({}, TooLarge(f"A line may have at most {LINE} bytes."))
                continue
            if not line:
                return
            if line.strip():
                async with self._speaking:
                    await self._carry_out(line)

    async def _let_finish(self) -> None:
        """Have the move that ended the game answered before the end is told."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE), self._speaking:
                pass

    async def _carry_out(self, line: bytes) -> None:
        frame: Frame = {}
        try:
            frame = JSON.decode(line)
            type_, fields = self._said(frame)
            result = await self.guest.send(type_, **fields)
        except ArenaError as refusal:
            await self._answer(frame, refusal)
        else:
            await self._tell({"type": "reply", "id": frame.get("id"), "result": result})

    def _said(self, frame: Frame) -> tuple[str, Frame]:
        type_ = frame["type"]
        if type_ not in SPOKEN:
            raise UnknownType(f"A program says {' or '.join(SPOKEN)}, and nothing else.")
        strange = frame.keys() - {"id", "type", *SPOKEN[type_]}
        if strange:
            raise Invalid(f"A {type_} has no field {min(strange)!r}.")
        given = {name: frame[name] for name in SPOKEN[type_] if name in frame}
        return type_, {SPOKEN[type_][0]: self.guest.session, **given}

    async def _answer(self, frame: Frame, refusal: ArenaError) -> None:
        await self._tell({"type": "error", "id": frame.get("id"), "error": refusal.message, "code": refusal.code})

    async def _tell(self, frame: Frame) -> None:
        """Hand the program a line; one that has just been started is told first who it is."""
        program = self._program
        if program is None or program.stdin is None or program.returncode is not None:
            return
        lines = [] if self._told or frame["type"] == "reply" else [{"type": "reply", "result": self.guest.joined}]
        self._told = True
        try:
            program.stdin.write(b"".join(_line(each) for each in (*lines, frame)))
            async with asyncio.timeout(STALL):
                await program.stdin.drain()
        except TimeoutError:
            program.kill()
        except ConnectionError:
            pass  # it has ended, or closed its input since it knows enough

    async def _finish(self, playing: asyncio.Task[None]) -> None:
        program = self._program
        if program is not None and program.stdin is not None:
            program.stdin.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await program.wait()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


def _line(frame: Frame) -> bytes:
    return orjson.dumps({name: value for name, value in frame.items() if name != "id" or value is not None}) + b"\n"


@asynccontextmanager
async def started(command: Sequence[str], **more: Any) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program of its own process group, of which nothing is left afterwards; its standard error is its own."""
    try:
        program = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE,
            start_new_session=True,
            **more,
        )
    except OSError as error:
        raise CannotStart(f"{command[0]} cannot be started: {error.strerror or error}") from None
    try:
        yield program
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        await asyncio.shield(program.wait())
