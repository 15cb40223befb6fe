"""A person at a terminal, on the seat of somebody who does not compete: the user of a conversation, or a judge."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

from arena.client import Frame
from arena.errors import Refused
from arena.evals.agents import told_to
from arena.guest import Guest

Lines = asyncio.Queue[str | None]  # what a person types; None when there will be no more
Show = Callable[[str], None]


async def sit(guest: Guest, typed: Lines, show: Show) -> None:
    """Put every question to the person, one after the other, until the game ends."""
    waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    answering = asyncio.create_task(_answer(guest, waiting, typed, show), name="person")
    try:
        async with aclosing(guest.frames()) as frames:
            async for frame in frames:
                for told in _questions(frame, guest.invite):
                    waiting.put_nowait(told)
    finally:
        answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering
    show("The game is over.")


def typed_lines() -> Lines:
    """The lines of the standard input, read beside the event loop."""
    loop, lines = asyncio.get_running_loop(), Lines()

    def read() -> None:
        # Unbuffered: a thread that waits in a buffer keeps the interpreter from ending.
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as keyboard:
            for line in keyboard:
                loop.call_soon_threadsafe(lines.put_nowait, line.decode(errors="replace").rstrip("\r\n"))
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="keyboard", daemon=True).start()
    return lines


def _questions(frame: Frame, invite: str) -> list[dict[str, Any]]:
    found = [json.loads(message["content"]) for message in told_to(frame, invite) if message["content"][:1] == "{"]
    return [told for told in found if told["type"] in {"your-turn", "question"}]


async def _answer(guest: Guest, waiting: asyncio.Queue[dict[str, Any]], typed: Lines, show: Show) -> None:
    while True:
        told = await waiting.get()
        is_question = told["type"] == "question"
        shown = f"{told['system']}\n{told['user']}" if is_question else f"{told['run']} agent: {told['answer']}"
        show(f"{shown}\n{'Your verdict' if is_question else 'You speak for the user'}, in one line:")
        line = await typed.get()
        if line is None:
            return
        said = {"id": told["id"], "answer": line} if is_question else {"run": told["run"], "content": line}
        verb = "verdict" if is_question else "say"
        try:
            await guest.send("message", challengeId=guest.session, messageType=verb, content=json.dumps(said))
        except Refused as refusal:
            show(f"{refusal.message} ({refusal.code})")
