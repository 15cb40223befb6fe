"""A person at a terminal, on the seat of somebody who does not compete: the user of a conversation, or a judge."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from arena.client import ChatMessage, Game
from arena.client.place import Place
from arena.errors import Refused
from arena.keyboard import Lines
from arena.models import OPERATOR

Show = Callable[[str], None]


async def sit(place: Place, typed: Lines, show: Show) -> None:
    """Put every question to the person, one after the other, until the game ends."""
    waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    async with place.taken() as game:
        answering = asyncio.create_task(_answer(game, waiting, typed, show), name="person")
        try:
            async for message in game:
                if (told := _question(message, game)) is not None:
                    waiting.put_nowait(told)
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
    show("The game is over.")


def _question(message: ChatMessage, game: Game) -> dict[str, Any] | None:
    if message.from_ != OPERATOR or message.to != game.handle or not message.content.startswith("{"):
        return None
    told: dict[str, Any] = json.loads(message.content)
    return told if told["type"] in {"your-turn", "question"} else None


async def _answer(game: Game, waiting: asyncio.Queue[dict[str, Any]], typed: Lines, show: Show) -> None:
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
            await game.act(verb, json.dumps(said))
        except Refused as refusal:
            show(f"{refusal.message} ({refusal.code})")
