"""Table: play a challenge in memory, without a server, a store or a clock. For authors' tests, and for ours."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Generic, cast

import orjson
from pydantic import JsonValue

from arena import chat, turn
from arena.bots import Bot, Move, Moves
from arena.errors import ArenaError
from arena.models import Attribution, ChatMessage, GameResult, Invite, Millis, Score, Seat, SessionId, Status, Version
from arena.operator import Job, JobFailed, Operator, Options, State
from arena.session import Act, Expire, Finish, Header, Input, Join, Session, commit_to, result_of
from arena.version import __version__

ID = SessionId("00000000-0000-4000-8000-000000000000")
START = Millis(1_700_000_000_000)


class Table(Generic[State, Options]):
    """One game. All seats are taken unless `seated` says otherwise; time stands still until `advance`."""

    def __init__(self, operator: Operator[State, Options], seed: int | str = 0, *, seated: int | None = None) -> None:
        self.operator = operator
        self.now = START
        self.talk: list[ChatMessage] = []
        self.log: list[ChatMessage] = []
        self.inputs: list[Input] = []
        version = Version(version=operator.version, content_hash="")
        options = operator.options.model_dump(mode="json", by_alias=True)
        secret = "00" * 32
        header = Header(
            id=ID,
            type=type(operator).__name__,
            name=type(operator).__name__,
            created_at=self.now,
            invites=[Invite(f"inv_{seat}") for seat in range(operator.players)],
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
        return self.session.standing.players

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
    def jobs(self) -> list[Job]:
        """The jobs that the game waits for."""
        return [Job(id_, job.kind, job.payload) for id_, job in self.session.standing.jobs.items()]

    @property
    def result(self) -> GameResult:
        """What scoring would get, once the game has ended."""
        return result_of(self.session)

    def join(self, seat: int, user: str | None = None) -> None:
        """Take the next seat with an invite."""
        change = {"invite": f"inv_{seat}", "user": user, "at": self.now}
        self._apply(Join.model_validate(change))

    def act(self, seat: int, name: str, content: JsonValue = None, **arguments: JsonValue) -> None:
        """Send a move, as text or by its arguments; raises what the player would be told."""
        move = self.operator.actions.get(name)
        if move is not None and list(arguments) == [move.alone]:
            content = next(iter(arguments.values()))
        elif arguments:
            content = cast(JsonValue, arguments)
        text = content if isinstance(content, str) else "" if content is None else orjson.dumps(content).decode()
        self._apply(Act(seat=Seat(seat), type=name, content=text, at=self.now))

    def chat(self, seat: int, content: str, to: int | None = None) -> None:
        """Say something in the players' channel."""
        whom = None if to is None else self.handles[to]
        made = chat.entry(chat.player_channel(ID), self.handles[seat], content, self.now, to=whom)
        self.talk.append(made.message(len(self.talk) + 1))

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
        self.session = turn.after(made, tag="")
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
