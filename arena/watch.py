"""`arena watch`: a game in the terminal, live, and again from where it was after a lost connection."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from rich.live import Live
from rich.text import Text

from arena.chat import operator_channel
from arena.client import Client, Frame, client
from arena.client.connection import LOST
from arena.errors import CannotStart, Refused, StoreUnavailable
from arena.models import SessionId
from arena.terminal import Screen
from arena.transcript import Transcript

CHANNELS = 2
LONGEST = 15.0  # seconds between two tries
PASSING = {StoreUnavailable.code, "RATE_LIMITED"}


def run(url: str, id_: SessionId, *, as_json: bool) -> int:
    """Follow a game to its end; the exit code."""
    watch = Watch(f"{url.rstrip('/').replace('http', 'ws', 1)}/ws", id_, Screen(), as_json=as_json)
    try:
        asyncio.run(watch.follow())
    except KeyboardInterrupt:
        return 0
    return 0


class Watch:
    """A game that is followed over one connection after the other."""

    def __init__(self, address: str, id_: SessionId, screen: Screen, *, as_json: bool = False) -> None:
        self.address = address
        self.id = id_
        self.screen = screen
        self.as_json = as_json
        self.transcript = Transcript(id_)
        self.cursors: dict[str, Frame] = {}
        self._failures = 0
        self._was_there = False

    async def follow(self) -> None:
        """Show everything until the game is over, however often the connection is lost."""
        with ExitStack() as stack:
            if self.screen.is_terminal and not self.as_json:
                shown = Live(console=self.screen, get_renderable=self._status, refresh_per_second=4, transient=True)
                stack.enter_context(shown)
            while not self.screen.is_deserted:
                try:
                    async with client(self.address) as guest:
                        await self._listen(guest)
                    return
                except Refused as refusal:
                    if refusal.code not in PASSING:
                        raise CannotStart(f"{refusal} ({refusal.code})") from None
                except LOST as error:
                    if not self._was_there:
                        raise CannotStart(f"No arena answers at {self.address}: {error}") from None
                await self._wait()

    async def _listen(self, guest: Client) -> None:
        challenge = await guest.call("watch", challengeId=self.id, cursors=self.cursors or None)
        if not self._was_there:
            self._show(self.transcript.begin(challenge), {"type": "challenge", "challenge": challenge})
        self._was_there, self._failures = True, 0
        first: list[Frame] = []  # the two channels so far, which are shown by time
        while not self.screen.is_deserted:
            frame = await guest.hear()
            if frame["type"] == "error" and frame.get("challengeId") == self.id:
                raise Refused(frame["code"], frame["error"])
            self._note(frame)
            if frame["type"] == "initial" and len(first) < CHANNELS:
                first.append(frame)
                if len(first) == CHANNELS:
                    self._begin(first)
                continue
            self._show(self.transcript.hear(frame, time.time()), frame)
            if frame["type"] == "game_ended":
                self._show(self.transcript.reveal(await self._operators(guest)))
                return

    def _begin(self, first: list[Frame]) -> None:
        if self.as_json:
            for frame in first:
                self._show((), frame)
            return
        messages = sorted((m for frame in first for m in frame["messages"]), key=lambda message: message["timestamp"])
        self._show(self.transcript.say(messages))

    async def _operators(self, guest: Client) -> list[Frame]:
        """The operator channel, as everybody may see it now."""
        messages: list[Frame] = []
        at = 1
        while True:
            page = await guest.call("sync", channel=operator_channel(self.id), index=at)
            messages += page["messages"]
            if not page["count"] or page["next"] <= at:
                return messages
            at = page["next"]

    def _note(self, frame: Frame) -> None:
        """Remember where to go on."""
        if frame["type"] == "initial":
            self.cursors[frame["channel"]] = {"index": frame["next"], "epoch": frame["epoch"]}
        elif frame["type"] == "new_message":
            message = frame["message"]
            self.cursors[message["channel"]] = {"index": message["index"] + 1, "epoch": frame["epoch"]}

    def _show(self, lines: Iterator[Text] | tuple[()], frame: Any = None) -> None:
        told = list(lines)
        if self.as_json:
            told = [] if frame is None else [Text(json.dumps(frame))]
        for line in told:
            self.screen.print(line, soft_wrap=True)

    def _status(self) -> Text:
        return self.transcript.status(time.time())

    async def _wait(self) -> None:
        wait = min(LONGEST, 0.5 * 2**self._failures)
        self._failures += 1
        if not self.as_json:
            self.screen.print(Text(f"The connection is lost; next try in {wait:g} s.", "yellow"))
        await asyncio.sleep(wait)
