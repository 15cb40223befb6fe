"""Table: play a challenge in memory, without a server, a store or a clock. For authors' tests, and for ours."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, cast

import orjson
from pydantic import JsonValue

from arena import adjudication, chat, turn
from arena.bots import Bot, Move, Moves
from arena.errors import ArenaError
from arena.llm.talk import Asks
from arena.models import (
    Attribution,
    ChatMessage,
    GameResult,
    Invite,
    Millis,
    Score,
    Seat,
    SessionId,
    Status,
    UserId,
    Version,
)
from arena.operator import Job, JobFailed, Operator, Options, State
from arena.packs.isolate import Isolate
from arena.session import Act, Expire, Finish, Header, Input, Join, Session, Vote, commit_to, result_of
from arena.version import __version__

ID = SessionId("00000000-0000-4000-8000-000000000000")
START = Millis(1_700_000_000_000)


@dataclass
class Bench:
    """A workbench in memory."""

    log: list[dict[str, Any]] = field(default_factory=list)  # the run log
    job_id: str = ""
    sandbox: Any = None
    models: Asks | None = None
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    isolate: Isolate = field(default_factory=Isolate)
    memory: dict[str, JsonValue] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)

    @property
    def blobs(self) -> "Bench":
        """It is its own keeper of bytes."""
        return self

    async def notes(self, seat: Seat | None = None) -> list[dict[str, Any]]:
        """The run log, or what it says of one seat."""
        return [line for line in self.log if seat in {None, line["seat"]}]

    async def recall(self, name: str) -> JsonValue:
        """What was remembered under this name."""
        return self.memory.get(name)

    async def remember(self, name: str, value: JsonValue) -> None:
        """Keep a partial result."""
        self.memory[name] = value

    async def get(self, name: str) -> bytes | None:
        """The bytes of that name."""
        return self.kept.get(name)

    async def put(self, name: str, data: bytes) -> None:
        """Keep bytes."""
        self.kept[name] = data

    async def drop(self, name: str) -> None:
        """Forget bytes."""
        self.kept.pop(name, None)


class Table(Generic[State, Options]):
    """One game. All seats are taken unless `seated` says otherwise; time stands still until `advance`."""

    def __init__(self, operator: Operator[State, Options], seed: int | str = 0, *, seated: int | None = None) -> None:
        self.operator = operator
        self.now = START
        self.talk: list[ChatMessage] = []
        self.log: list[ChatMessage] = []
        self.inputs: list[Input] = []
        self.bench = Bench()  # of its jobs
        self.faults: list[Exception] = []  # of handlers that nobody waited for
        version = Version(version=operator.version, content_hash="")
        options = operator.canonical
        secret = "00" * 32
        header = Header(
            id=ID,
            type=type(operator).__name__,
            name=type(operator).__name__,
            created_at=self.now,
            invites=[Invite(f"inv_{seat}") for seat in range(len(operator.roles()))],
            roles=list(operator.roles()) if len(operator.roles()) > operator.players else [],
            options=options,
            secret=secret,
            seed=str(seed),
            commitment=commit_to(secret, str(seed), type(operator).__name__, version, options),
            version=version,
            arena=__version__,
        )
        self.session = turn.open_session(header, operator)
        for seat in range(operator.players if seated is None else seated):
            self.join(seat)

    @property
    def state(self) -> State:
        """The private state of the game, as the operator would get it."""
        return cast(State, self.operator.state_type.model_validate_json(self.session.game))

    @property
    def handles(self) -> list[Invite]:
        """The invite codes of those who sit, in seat order."""
        return self.session.handles

    @property
    def status(self) -> Status:
        """Where the game is in its life."""
        return self.session.standing.status

    @property
    def scores(self) -> list[Score]:
        """The scores, interim ones included."""
        return self.session.standing.scores

    @property
    def attributions(self) -> list[tuple[int, int, str]]:
        """Who did what to whom, by seat."""
        seats = self.handles.index
        made: Sequence[Attribution] = self.session.standing.attributions or ()
        return [(seats(a.from_), seats(a.to), a.type) for a in made]

    @property
    def notes(self) -> list[dict[str, Any]]:
        """The run log."""
        return self.bench.log

    @property
    def jobs(self) -> list[Job]:
        """The jobs that the game waits for."""
        return [Job(id_, job.kind, job.payload) for id_, job in self.session.standing.jobs.items()]

    @property
    def result(self) -> GameResult:
        """What scoring would get, once the game has ended."""
        return result_of(self.session)

    def join(self, seat: int, user: str | None = None) -> None:
        """Take the next seat with an invite."""
        known = None if user is None else UserId(user)
        self._apply(Join(invite=Invite(f"inv_{seat}"), user=known, at=self.now))

    def act(self, seat: int, name: str, content: JsonValue = None, /, **arguments: JsonValue) -> None:
        """Send a move, as text or by its arguments; raises what the player would be told."""
        move = self.operator.actions.get(name)
        if move is not None and list(arguments) == [move.alone]:
            content = next(iter(arguments.values()))
        elif arguments:
            content = cast(JsonValue, arguments)
        text = content if isinstance(content, str) else "" if content is None else orjson.dumps(content).decode()
        self._apply(Act(seat=Seat(seat), type=name, content=text, at=self.now))

    def resign(self, seat: int) -> None:
        """Give up, for a seat."""
        self.act(seat, adjudication.RESIGN)

    def chat(self, seat: int, content: str, to: int | None = None) -> None:
        """Say something in the players' channel."""
        whom = None if to is None else self.handles[to]
        made = chat.entry(chat.player_channel(ID), self.handles[seat], content, self.now, to=whom)
        self.talk.append(made.message(len(self.talk) + 1))

    def vote(self, voter: str, ballot: str, choice: str) -> None:
        """Vote, as somebody without a seat."""
        self._apply(Vote(voter=voter, ballot=ballot, choice=choice, at=self.now))

    def advance(self, seconds: float) -> None:
        """Let time pass; deadlines on the way fire in their order."""
        until = Millis(self.now + round(seconds * 1000))
        while (due := self.session.due) and due[1] <= until:
            self.now = due[1]
            self._apply(Expire(name=due[0], at=due[1]))
        self.now = until

    def finish(self, job: Job, result: JsonValue | JobFailed) -> None:
        """Hand in the result of a job."""
        failed = str(result) if isinstance(result, JobFailed) else None
        value = None if isinstance(result, JobFailed) else result
        self._apply(Finish(id=job.id, result=value, failed=failed, at=self.now))

    async def work(self, job: Job | None = None) -> None:
        """Do a job, the oldest that waits unless one is named, and hand in what comes of it."""
        job = job or self.jobs[0]
        self.bench.job_id, self.bench.memory = job.id, {}
        try:
            result: JsonValue | JobFailed = await self.operator.labour(job.kind, job.payload, self.bench)
        except JobFailed as failure:
            result = failure
        self.finish(job, result)

    def told(self, seat: int) -> list[str]:
        """What the operator said to this seat alone."""
        return [m.content for m in self.log if m.from_ == "operator" and m.to == self.handles[seat]]

    @property
    def said(self) -> list[str]:
        """What the operator said to everybody."""
        return [m.content for m in self.log if m.from_ == "operator" and m.to is None]

    def _apply(self, change: Input) -> None:
        made = turn.apply(self.operator, self.session, change)
        self.inputs.append(change)
        self.log += [e.message(index) for index, e in enumerate(made.entries, len(self.log) + 1)]
        self.notes.extend(map(orjson.loads, made.notes))
        self.session = turn.after(made, tag="")
        if made.fault is not None:
            self.faults.append(made.fault)
        if made.refusal is not None:
            raise made.refusal

    def again(self) -> Session:
        """The session that comes out when the same inputs are played once more from the start."""
        session = turn.open_session(self.session.header, self.operator)
        for change in self.inputs:
            session = turn.after(turn.apply(self.operator, session, change), tag="")
        return session


def play(table: Table[Any, Any], bots: Sequence[Bot], limit: int = 10_000) -> None:
    """Let bots play a table to its end: each hears what it may read, and their moves are taken in turn."""
    waiting: deque[tuple[int, Moves]] = deque()
    for seat, bot in enumerate(bots):
        waiting.append((seat, bot.begin(table.handles[seat], table.handles)))
    heard = [[0, 0] for _ in bots]
    for _ in range(limit):
        for seat, bot in enumerate(bots):
            for which, log in enumerate((table.log, table.talk)):
                for message in log[heard[seat][which] :]:
                    if chat.may_read(message.from_, message.to, table.handles[seat]):
                        waiting.append((seat, bot.hear(message)))
                heard[seat][which] = len(log)
        if not waiting or table.status is Status.ENDED:
            return
        seat, moves = waiting.popleft()
        for move in moves:
            if isinstance(move, Move):
                try:
                    table.act(seat, move.type, move.content)
                except ArenaError as refusal:
                    waiting.append((seat, bots[seat].refused(move, refusal.code)))
            else:
                table.chat(seat, move.content, None if move.to is None else table.handles.index(Invite(move.to)))
    raise TimeoutError("The bots never came to an end.")
