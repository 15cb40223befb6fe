"""Bridge: any program as a player. It reads frames as lines of JSON on its input and writes its moves the same way.

The first line is the answer to `join`; then come `initial`, `new_message`, `state` and at last `game_ended`, after
which the input is closed. Lost connections are mended without the program's knowing.
"""

import asyncio
import os
import shlex
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import PurePath
from typing import Any, NamedTuple

import orjson

from arena.client import Ended, Frame, Game
from arena.client.connection import new_key
from arena.client.place import Place
from arena.errors import ArenaError, CannotStart, Invalid, Refused, TooLarge, UnknownType
from arena.wire import JSON

LINE = 1024 * 1024  # bytes of a line that a program may write
RESTARTS = 3
GRACE = 5.0  # seconds that a program may take to end after its game
FORFEIT = "resign"  # the move that every challenge understands
STALL = 60.0  # seconds that a program may read nothing while something waits for it
# What programs say; the first field may be left out, since there is one game.
SPOKEN = {"message": ("challengeId", "messageType", "content", "key"), "chat": ("channel", "content", "to", "key")}

Heard = Callable[[Frame], None]


class Played(NamedTuple):
    """How a game ended, and whether the program was there to the end or its seat had to be given up."""

    ended: Ended
    gave_up: bool


async def play(
    place: Place, command: Sequence[str], restarts: int = RESTARTS, heard: Heard | None = None, **more: Any
) -> Played:
    """Let a program play a seat to the end of the game.

    A program that fails is started again so many times and hears the game from its beginning; after that its seat is
    given up. One that ends without a fault has said what it had to say. What else is given is for its process.
    """
    return await Bridge(place, command, restarts, heard or (lambda frame: None), more).run()


def parse(command: str) -> list[str]:
    """The words of a command as a shell would see them."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CannotStart(f"The command {command!r} is not understood: {error}") from None
    if not words:
        raise CannotStart("A command is needed.")
    return words


def called(words: Sequence[str]) -> str:
    """What to call a program: its script if an interpreter runs one."""
    files = [word for word in words[1:] if PurePath(word).suffix and not word.startswith("-")]
    return PurePath((files or words)[0]).stem


class Bridge:
    """A seat on one side, a program on the other."""

    def __init__(
        self, place: Place, command: Sequence[str], restarts: int, heard: Heard, more: Mapping[str, Any]
    ) -> None:
        self.place = place
        self.command = command
        self.restarts = restarts
        self.heard = heard
        self.more = more
        self.gave_up = False
        self._is_over = False
        self._program: asyncio.subprocess.Process | None = None
        self._story: list[Frame] = []  # what a program that begins now has to be told
        self._state: list[Frame] = []  # the newest, since it says all that older ones said
        self._begun = asyncio.Event()
        self._active = asyncio.Event()
        self._speaking = asyncio.Lock()
        self.seat: asyncio.Future[Game] = asyncio.get_running_loop().create_future()

    async def run(self) -> Played:
        """Play until the game ends."""
        playing = asyncio.create_task(self._keep_playing(), name="program")
        playing.add_done_callback(lambda _: self._begun.set())
        try:
            await self._begun.wait()
            if playing.done():
                playing.result()  # raises if the program cannot even be started
            async with self.place.taken(raw=True) as game:
                self.seat.set_result(game)
                await self._pass_on({"type": "reply", "result": game.told})
                async for frame in game.frames():
                    await self._pass_on(frame)
                await self._finish(playing)
            assert game.ended is not None
            return Played(game.ended, self.gave_up)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)

    async def _pass_on(self, frame: Frame) -> None:
        self.heard(frame)
        match frame["type"]:
            case "state":
                self._state = [frame]
                if frame["state"]["status"] != "open":
                    self._active.set()
            case "game_ended":
                self._is_over = True
                self._active.set()
                await self._let_finish()
                self._story.append(frame)
            case _:
                self._story.append(frame)
        await self._tell(frame)

    async def _keep_playing(self) -> None:
        """Run the program, again if it fails; then give the seat up."""
        for attempt in range(self.restarts + 1):
            try:
                if await self._run() == 0 or self._is_over:
                    return
            except CannotStart:
                if attempt == 0:
                    raise
        game = await self.seat
        await self._active.wait()  # before that there is nothing to give up
        self.gave_up = not self._is_over
        with suppress(Refused):
            await game.act(FORFEIT)

    async def _run(self) -> int:
        """Run the program once, to its end."""
        async with started(self.command, **self.more) as program:
            self._program = program
            self._begun.set()
            await self._tell(*self._story, *self._state)
            await self._listen(program)
            return await program.wait()

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
            game = await self.seat
            type_, fields = _said(frame, game)
            result = await game.arena.play(game, type_, **fields)
        except ArenaError as refusal:
            await self._answer(frame, refusal)
        else:
            await self._tell({"type": "reply", "id": frame.get("id"), "result": result})

    async def _answer(self, frame: Frame, refusal: ArenaError) -> None:
        await self._tell({"type": "error", "id": frame.get("id"), "error": refusal.message, "code": refusal.code})

    async def _tell(self, *frames: Frame) -> None:
        """Hand the program some lines."""
        program = self._program
        if program is None or program.stdin is None or program.returncode is not None:
            return
        try:
            program.stdin.write(b"".join(map(_line, frames)))
            async with asyncio.timeout(STALL):
                await program.stdin.drain()
        except TimeoutError:
            program.kill()
        except ConnectionError:
            pass  # it has ended, or closed its input since it knows enough

    async def _finish(self, playing: asyncio.Task[None]) -> None:
        """Close the program's input and let it end by itself, if it does."""
        program = self._program
        if program is not None and program.stdin is not None:
            program.stdin.close()
        await asyncio.wait([playing], timeout=GRACE)


def _said(frame: Frame, game: Game) -> tuple[str, Frame]:
    """What a program means by a line."""
    type_ = frame["type"]
    if type_ not in SPOKEN:
        raise UnknownType(f"A program says {' or '.join(SPOKEN)}, and nothing else.")
    strange = frame.keys() - {"id", "type", *SPOKEN[type_]}
    if strange:
        raise Invalid(f"A {type_} has no field {min(strange)!r}.")
    given = {name: frame[name] for name in SPOKEN[type_] if name in frame}
    return type_, {SPOKEN[type_][0]: game.id, **given, "key": frame.get("key") or new_key()}


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
