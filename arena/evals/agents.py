"""Agents of an evaluation: a program behind the bridge, or an address that answers over HTTP."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from arena import bridge
from arena.client import Frame, Game
from arena.client.place import Place
from arena.errors import CannotStart, Refused
from arena.models import OPERATOR

logger = logging.getLogger(__name__)

PATIENCE = 300.0  # seconds that an address may think about a message
LARGEST = 1024 * 1024  # bytes of its answer


class Agent(NamedTuple):
    """Who is evaluated: under which name, and a command or an address."""

    name: str
    told: str

    @property
    def is_address(self) -> bool:
        """Whether it is asked over HTTP."""
        return urlsplit(self.told).scheme in {"http", "https"}

    async def play(self, place: Place, restarts: int, heard: Callable[[Frame], None]) -> None:
        """Play a seat to the end of the game."""
        if self.is_address:
            await ask(place, self.told, restarts, heard)
        else:
            await bridge.play(place, bridge.parse(self.told), restarts, heard)


def named(told: Iterable[str], names: Iterable[str] = ()) -> list[Agent]:
    """Agents with names of their own: those given, or what the programs and hosts are called."""
    commands, given = list(told), list(names)
    if given and len(given) != len(commands):
        raise CannotStart("Give a name to every agent, or to none.")
    found = given or [_called(each) for each in commands]
    twice = {name for name in found if found.count(name) > 1}
    if given and twice:
        raise CannotStart(f"Two agents are called {min(twice)}.")
    unique = [f"{name}-{found[: n + 1].count(name)}" if name in twice else name for n, name in enumerate(found)]
    return [Agent(*pair) for pair in zip(unique, commands, strict=True)]


def _called(told: str) -> str:
    if urlsplit(told).scheme in {"http", "https"}:
        return urlsplit(told).hostname or told
    return bridge.called(bridge.parse(told))


async def ask(place: Place, url: str, restarts: int, heard: Callable[[Frame], None]) -> None:
    """Play a seat by asking an address what to do about each message of the operator to it."""
    asking: list[asyncio.Task[None]] = []
    try:
        async with place.taken(raw=True) as game:
            heard({"type": "reply", "result": game.told})
            async for frame in game.frames():
                heard(frame)
                for message in told_to(frame, game.handle):
                    asking.append(asyncio.create_task(_answer(game, url, restarts, message), name="agent"))
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


def told_to(frame: Frame, invite: str) -> Iterator[dict[str, Any]]:
    """What the operator has told this seat alone."""
    for message in frame.get("messages") or [frame.get("message")]:
        if message and message["from"] == OPERATOR and message.get("to") == invite and not message.get("redacted"):
            yield message


async def _answer(game: Game, url: str, restarts: int, message: dict[str, Any]) -> None:
    """Do what the address says; if it says nothing however often it is asked, the seat is given up."""
    try:
        told = json.loads(message["content"])
    except ValueError:
        told = {"type": "text", "content": message["content"]}
    body = {"session": game.id, "message": told}
    made = [(bridge.FORFEIT, "")]
    for _ in range(restarts + 1):
        try:
            made = moves(await asyncio.to_thread(_post, url, body), told)
            break
        except (URLError, OSError, ValueError, KeyError, TypeError) as error:
            logger.warning("the agent does not answer url=%s reason=%s", url, type(error).__name__)
    for type_, content in made:
        with suppress(Refused):
            await game.act(type_, content)


def _post(url: str, body: dict[str, Any]) -> bytes:
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST")  # noqa: S310
    with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
        found: bytes = answer.read(LARGEST)
        return found


def moves(answer: bytes, asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The moves that an answer stands for: none, a text, an output with a report, or a list of moves."""
    text = answer.decode(errors="replace")
    if not text.strip():
        return []
    if asked.get("type") == "question":
        return [("verdict", json.dumps({"id": asked["id"], "answer": text}))]
    if asked.get("type") == "your-turn":
        return [("say", json.dumps({"run": asked["run"], "content": text}))]
    verb = "reply" if asked.get("type") == "user" else "submit"
    case = {"case": asked["case"]} if isinstance(asked.get("case"), str) else {}
    try:
        told = json.loads(text)
    except ValueError:
        told = None
    if isinstance(told, dict) and isinstance(told.get("moves"), list):
        return [(str(each["messageType"]), _content(each.get("content", ""))) for each in told["moves"]]
    if not isinstance(told, dict) or "output" not in told:
        return [(verb, json.dumps({_field(verb): text, **case}))]
    made = [("report", json.dumps({**told["report"], **case}))] if isinstance(told.get("report"), dict) else []
    return [*made, (verb, json.dumps({_field(verb): told["output"], **case}))]


def _field(verb: str) -> str:
    return "content" if verb == "reply" else "output"


def _content(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)
