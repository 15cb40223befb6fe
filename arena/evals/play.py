"""Evaluations as they are played: a session per repetition, a seat per agent, and the scorecards that come of it."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena import remote
from arena.client import Disconnected, Frame
from arena.client.place import Place
from arena.errors import ArenaError, CannotStart
from arena.evals.agents import Agent
from arena.evals.runs import PackRef, Run, Trial, trial_of
from arena.identity import Identity
from arena.models import OPERATOR, PLAYER, Millis

FORESEEN = (ArenaError, CannotStart, Disconnected)


class Progress(NamedTuple):
    """How far an agent is in a repetition: cases done, or the end of it."""

    repetition: int
    agent: str
    done: int
    of: int
    trial: Trial | None = None
    event: str = ""  # what has just happened, in a few words


@dataclass(frozen=True)
class Server:
    """A server, and what opens it."""

    url: str
    token: str | None = None

    @property
    def ws(self) -> str:
        """Where agents connect."""
        return self.url.replace("http", "ws", 1).rstrip("/") + "/ws"

    async def ask(self, method: str, *path: str, body: Any = None) -> Any:
        """JSON from a route; what is refused is raised."""
        raw = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = await asyncio.to_thread(remote.ask, method, self.url, path, body=raw, token=self.token)
        if not answer.ok:
            told = answer.json
            raise CannotStart(f"{told.get('error', told)}" + (f" ({told['code']})" if "code" in told else ""))
        return answer.json

    async def must_sign(self) -> bool:
        """Whether players have to show who they are."""
        answer = await asyncio.to_thread(remote.fetch, self.url, "openapi.json")
        return bool(answer.json.get("info", {}).get("x-auth-mode") == "required")


@dataclass(frozen=True)
class Wish:
    """What is to be evaluated, and how."""

    pack: PackRef
    agents: Sequence[Agent]
    repetitions: int = 1
    parallel: int = 1
    seconds: float = 3_600.0  # for one repetition
    restarts: int = 0
    private: bool = False
    attendants: Mapping[str, Agent] = field(default_factory=dict)  # who sits there as judge or user, by role
    options: dict[str, Any] = field(default_factory=dict)


async def start(server: Server, wish: Wish, news: Callable[[Progress], None]) -> list[Run]:
    """Let agents play a pack; a run for each of them."""
    signs = await server.must_sign()
    identities = {agent.name: Identity.new() for agent in wish.agents} if signs else {}
    free, now = asyncio.Semaphore(wish.parallel), Millis(round(time.time() * 1000))

    async def repeat(number: int) -> list[Trial]:
        async with free:
            trials = await _attempt(server, wish, number, identities, news)
        for agent, trial in zip(wish.agents, trials, strict=True):
            news(Progress(number, agent.name, len(trial.cases), len(trial.cases), trial))
        return trials

    rounds = await asyncio.gather(*(repeat(number) for number in range(1, wish.repetitions + 1)))
    stamp = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now / 1000))}-{secrets.token_hex(3)}"
    return [
        Run(
            id=f"{stamp}-{seat + 1}",
            created_at=now,
            pack=wish.pack,
            agent=agent.name,
            trials=[row[seat] for row in rounds],
        )
        for seat, agent in enumerate(wish.agents)
    ]


async def _attempt(
    server: Server, wish: Wish, number: int, identities: dict[str, Identity], news: Callable[[Progress], None]
) -> list[Trial]:
    """One repetition; what keeps it from its end is told by every trial of it."""
    try:
        async with asyncio.timeout(wish.seconds):
            return await _play(server, wish, number, identities, news)
    except TimeoutError:
        reason = f"not over after {wish.seconds:g} s"
    except FORESEEN as error:
        reason = str(error)
    except ExceptionGroup as group:
        told, strange = group.split(FORESEEN)
        if told is None or strange is not None:
            raise
        reason = str(told.exceptions[0])
    return [Trial(error=reason) for _ in wish.agents]


async def _play(
    server: Server, wish: Wish, number: int, identities: dict[str, Identity], news: Callable[[Progress], None]
) -> list[Trial]:
    pack = wish.pack
    chosen = {**wish.options, "players": len(wish.agents), "version": pack.version, "input_set": pack.input_set}
    options = {name: value for name, value in chosen.items() if value is not None}
    made = await server.ask("POST", "challenges", pack.slug, body={"options": options, "private": wish.private})
    reporters = [
        Reporter(number, agent, invite, news)
        for agent, invite in zip(wish.agents, made["invites"], strict=False)  # other roles have invites, too
    ]
    others = {invite: role for invite, role in (made.get("roles") or {}).items() if role != PLAYER}
    if missing := wish.attendants.keys() - others.values():
        raise CannotStart(f"This pack has no seat for a {min(missing)}.")
    async with asyncio.TaskGroup() as playing:
        for invite, role in others.items():
            if (attendant := wish.attendants.get(role)) is not None:
                place = Place(invite, server.ws, attendant.name, Identity.new() if identities else None)
                playing.create_task(attendant.play(place, wish.restarts, lambda frame: None), name=role)
            else:
                news(Progress(number, role, 0, 0, event=f"this seat is free: arena eval sit {invite}"))
        for reporter in reporters:
            agent = reporter.agent
            place = Place(reporter.invite, server.ws, agent.name, identities.get(agent.name))
            playing.create_task(agent.play(place, wish.restarts, reporter), name=agent.name)
    told = await server.ask("GET", "challenges", pack.slug, made["id"], "scorecards")
    seats = {each["seat"]: each for each in told["seats"]}
    return [trial_of(seats[reporter.seat], made["id"]) for reporter in reporters]


def _told(message: Frame, invite: str) -> str:
    """What a message of the operator's channel is about, in a few words: a case, the user's, a move."""
    if message["from"] == invite:
        return str(message.get("type") or "")
    if message["from"] != OPERATOR or message.get("to") != invite or not message["content"].startswith("{"):
        return ""
    told = json.loads(message["content"])
    words = (told["type"], told.get("name"), told.get("case"), told.get("reason"))
    return " ".join(str(word) for word in words if word)


@dataclass
class Reporter:
    """Tells how far an agent is whenever the operator says so."""

    number: int
    agent: Agent
    invite: str
    news: Callable[[Progress], None]
    seat: int = -1  # once it is taken

    def __call__(self, frame: Frame) -> None:
        """Hear a frame of the agent's seat."""
        if frame["type"] == "reply":
            self.seat = frame["result"]["playerIndex"]
        for message in frame.get("messages") or [frame.get("message")]:
            if message:
                self._tell(message)

    def _tell(self, message: Frame) -> None:
        if event := _told(message, self.invite):
            self.news(Progress(self.number, self.agent.name, 0, 0, event=event))
        if message["from"] == OPERATOR and message["content"].startswith('{"type": "progress"'):
            told = json.loads(message["content"])
            if told["player"] == self.seat + 1:
                self.news(Progress(self.number, self.agent.name, told["done"], told["of"]))
