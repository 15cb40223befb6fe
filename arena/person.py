"""A person at a terminal: what the game says as lines, and what is typed as moves and talk."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Iterable

from rich.text import Text

from arena.client import Ended, Frame, Game
from arena.errors import ArenaError
from arena.keyboard import Lines
from arena.terminal import Screen, harmless
from arena.transcript import WIDEST, Transcript
from arena.typed import Act, Ask, Say, Wrong, help_lines, understand


class Left(Exception):
    """The person has left the game."""


class Person:
    """A seat, a screen and a keyboard."""

    def __init__(self, game: Game, screen: Screen, typed: Lines, *, as_json: bool = False) -> None:
        self.game = game
        self.screen = screen
        self.typed = typed
        self.as_json = as_json
        self.transcript = Transcript(game.id, game.handle)
        self.transcript.name = game.info.name
        self._is_prompting = screen.is_terminal and sys.stdin.isatty() and not as_json
        self._active = asyncio.Event()

    async def sit(self) -> Ended:
        """Play to the end of the game; raises `Left` if the person goes before that."""
        self._hear({"type": "reply", "result": self.game.told}, self._heading())
        listening = asyncio.create_task(self._listen(), name="game")
        typing = asyncio.create_task(self._type(), name="keyboard")
        try:
            await asyncio.wait([listening, typing], return_when=asyncio.FIRST_COMPLETED)
            if typing.done() and not listening.done():
                typing.result()
            await listening
        finally:
            for task in (listening, typing):
                task.cancel()
            await asyncio.gather(listening, typing, return_exceptions=True)
        assert self.game.ended is not None
        return self.game.ended

    async def _listen(self) -> None:
        async for frame in self.game.frames():
            if self.screen.is_deserted:
                raise Left
            if frame["type"] == "game_ended":
                self._is_prompting = False
            self._hear(frame, self.transcript.hear(frame, time.time()))
            if frame["type"] == "game_ended" or frame.get("state", {}).get("status", "open") != "open":
                self._active.set()

    async def _type(self) -> None:
        """Do what is typed, one line after the other; who types no more listens on."""
        while (line := await self.typed.get()) is not None:
            match understand(line, self.game.info.methods):
                case Act(type_, content):
                    await self._begin()
                    await self._send(self.game.act(type_, content))
                case Say(content, None):
                    await self._send(self.game.say(content))
                case Say(content, int(player)):
                    await self._begin()
                    await self._tell_player(player, content)
                case Ask(what, about):
                    self._answer(what, about)
                case Wrong(why):
                    self._tell([why])
            self._prompt()

    async def _begin(self) -> None:
        """Wait for the game: a script cannot know when it begins."""
        if not sys.stdin.isatty():
            await self._active.wait()

    async def _tell_player(self, player: int, content: str) -> None:
        players = self.transcript.players
        if 1 <= player <= len(players):
            await self._send(self.game.say(content, players[player - 1]))
        else:
            self._tell([f"There is no player {player} yet. Nothing was sent."])

    async def _send(self, doing: Awaitable[None]) -> None:
        try:
            await doing
        except ArenaError as refusal:
            self._tell([f"{refusal.message} ({refusal.code})"])

    def _answer(self, what: str, about: str) -> None:
        match what:
            case "help":
                self._tell(help_lines(self.game.info.methods, about))
            case "rules":
                self._tell(self.game.info.prompt.splitlines())
            case "status":
                self._show([self.transcript.status(time.time())])
            case "quit":
                raise Left

    def _heading(self) -> Iterable[Text]:
        info = self.game.info
        yield Text.assemble((harmless(info.name), "bold"), f"   {self.game.id}")
        for line in (*info.prompt.splitlines(), "", *help_lines(info.methods), ""):
            yield Text(_kept(line))

    def _hear(self, frame: Frame, lines: Iterable[Text]) -> None:
        shown = list(lines)
        if self.as_json:
            self.screen.print(json.dumps(frame), soft_wrap=True)
        elif shown:
            self._show(shown)

    def _tell(self, lines: Iterable[str]) -> None:
        """Say something that is not of the game: beside it, where programs read."""
        if self.as_json:
            sys.stderr.write("".join(f"{harmless(line, WIDEST)}\n" for line in lines))
        else:
            self._show([Text(_kept(line), "yellow") for line in lines])

    def _show(self, lines: Iterable[Text]) -> None:
        if self._is_prompting:
            self.screen.file.write("\r\x1b[K")
        for line in lines:
            self.screen.print(line, soft_wrap=True)
        self._prompt()

    def _prompt(self) -> None:
        if self._is_prompting:
            clock = self.transcript.clock(self.game.handle, time.time())
            self.screen.file.write(f"{clock}> " if clock else "> ")
            self.screen.file.flush()


def _kept(line: str) -> str:
    """A line without anything that could move a cursor, and with its indent."""
    indent = len(line) - len(line.lstrip(" "))
    return " " * min(indent, 20) + harmless(line, WIDEST)
