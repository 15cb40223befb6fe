"""Match: one game in memory with as little around it as the rules allow. What simulations are made of.

It plays what `Table` plays, draw for draw, but keeps the state as an object instead of writing it down after each move.
A handler that raises may have changed it; then it is made again from the moves that were taken.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

import orjson

from arena.bots import Bot, Move, Moves
from arena.effects import Attribute, Effect, End, Mark, Note, Say, SetScore, StartJob, Tell
from arena.errors import ArenaError, GameNotRunning, Internal, Refused
from arena.models import OPERATOR, Channel, ChatMessage, Invite, Outcome, Score, Seat
from arena.operator import Job, JobFailed, Moment, Operator
from arena.session import rng_of
from arena.testing import START, Bench

SECRET = "00" * 32
OPERATORS, PLAYERS = Channel("challenge_"), Channel("")

AnyOperator = Operator[Any, Any]
MESSAGE = ChatMessage.__pydantic_validator__.validate_python  # without the way there, which costs as much again
Step = tuple[str, tuple[Any, ...], int]  # a hook or `act`, its arguments, and the number of the input


class Match:
    """A game with all its seats taken. Time stands still, so no deadline passes."""

    def __init__(self, operator: AnyOperator, seed: str) -> None:
        self.operator = operator
        self.seed = seed
        self.handles = [Invite(f"inv_{seat}") for seat in range(operator.players)]
        self.log: list[ChatMessage] = []
        self.talk: list[ChatMessage] = []
        self.scores = [Score()] * operator.players
        self.outcomes = [Outcome.PLAYED] * operator.players
        self.attributions: list[tuple[Seat, Seat, str]] = []
        self.is_over = False
        self._inputs = 0
        self._steps: list[Step] = []
        self._jobs: deque[StartJob] = deque()
        self._bench = Bench()
        self.state = operator.begin(self._moment(0))
        for seat in range(operator.players):
            self._inputs += 1
            self._happen("joined", (seat,))
        self._happen("start", ())

    def act(self, seat: Seat, type: str, content: str) -> None:
        """Make a move; raises what the player would be told."""
        if self.is_over:
            raise GameNotRunning("The game is not running.")
        said = f"({type}) {content}" if type else content
        self._inputs += 1
        self._append(self.log, OPERATORS, self.handles[seat], said, OPERATOR)
        try:
            self._happen("act", (type, seat, content))
        except Refused:
            self._restore()
            raise
        except Exception:
            self.log.pop()
            self._inputs -= 1
            self._restore()
            raise

    def chat(self, seat: Seat, content: str, to: Seat | None) -> None:
        """Say something in the players' channel."""
        self._append(self.talk, PLAYERS, self.handles[seat], content, None if to is None else self.handles[to])

    def _moment(self, number: int) -> Moment:
        return Moment(START, self.handles, lambda: rng_of(SECRET, self.seed, number))

    def _happen(self, hook: str, arguments: tuple[Any, ...]) -> None:
        made = self._call(self.state, hook, arguments, self._inputs)
        self._steps.append((hook, arguments, self._inputs))
        for effect in made:
            self._carry_out(effect)
        while self._jobs and not self.is_over:
            self._work(self._jobs.popleft())

    def _call(self, state: Any, hook: str, arguments: tuple[Any, ...], number: int) -> list[Effect]:
        moment = self._moment(number)
        if hook == "act":
            type_, seat, content = arguments
            return self.operator.act(type_, state, seat, content, moment)
        return self.operator.hook(hook, state, moment, *arguments)

    def _restore(self) -> None:
        """The state as it was before something was refused."""
        self.state = self.operator.begin(self._moment(0))
        for hook, arguments, number in self._steps:
            self._call(self.state, hook, arguments, number)

    def _work(self, wish: StartJob) -> None:
        """Do a job at once."""
        self._inputs += 1
        try:
            result: Any = asyncio.run(self.operator.labour(wish.kind, wish.payload, self._bench))
        except Exception as error:  # as on a server, where nobody waits for it
            result = JobFailed(str(error))
        self._happen("worked", (Job(f"{self.seed}:{self._inputs}", wish.kind, wish.payload), result))

    def _carry_out(self, effect: Effect) -> None:
        if self.is_over:
            raise Internal("A handler yielded effects after the end of the game.")
        match effect:
            case Say(content):
                self._append(self.log, OPERATORS, OPERATOR, content, None)
            case Tell(seat, content):
                self._append(self.log, OPERATORS, OPERATOR, content, self.handles[seat])
            case SetScore(seat, score):
                self.scores[seat] = score
            case Attribute(by, of, type_):
                self.attributions.append((by, of, type_))
            case Note(_, line):
                self._bench.log.append(orjson.loads(line))
            case StartJob():
                self._jobs.append(effect)
            case End(scores, outcomes):
                self.is_over = True
                self.scores = self.scores if scores is None else list(scores)
                self.outcomes = self.outcomes if outcomes is None else list(outcomes)
            case Mark():
                raise Internal("Only the arena marks seats.")
            case _:
                pass  # deadlines, which never come

    def _append(self, log: list[ChatMessage], channel: Channel, sender: str, content: str, to: str | None) -> None:
        log.append(
            MESSAGE(
                {
                    "channel": channel,
                    "from": sender,
                    "to": to,
                    "content": content,
                    "timestamp": START,
                    "index": len(log) + 1,
                }
            )
        )


def play(match: Match, bots: Sequence[Bot], limit: int = 10_000) -> None:
    """Let bots play a match: each hears what it may read, and their moves are taken in turn, as at a `Table`."""
    handles = match.handles
    waiting: deque[tuple[Seat, Moves]] = deque()
    for seat, bot in enumerate(bots):
        waiting.append((seat, bot.begin(handles[seat], handles)))
    heard = [0, 0]
    for _ in range(limit):
        if heard[0] < len(match.log) or heard[1] < len(match.talk):
            _tell(match, bots, heard, waiting)
        if not waiting or match.is_over:
            return
        seat, moves = waiting.popleft()
        for move in moves:
            if isinstance(move, Move):
                try:
                    match.act(seat, move.type, move.content)
                except ArenaError as refusal:
                    waiting.append((seat, bots[seat].refused(move, refusal.code)))
            else:
                match.chat(seat, move.content, None if move.to is None else handles.index(Invite(move.to)))
    raise TimeoutError("The bots never came to an end.")


def _tell(match: Match, bots: Sequence[Bot], heard: list[int], waiting: deque[tuple[Seat, Moves]]) -> None:
    """Let every bot hear what is new to it."""
    news = [*match.log[heard[0] :], *match.talk[heard[1] :]]
    heard[:] = len(match.log), len(match.talk)
    for seat, bot in enumerate(bots):
        me = match.handles[seat]
        for message in news:
            if not message.to or me in (message.to, message.from_):
                waiting.append((seat, bot.hear(message)))
