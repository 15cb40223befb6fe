"""How a race stands: one run per seat and case. What happened in the runs is in the run log, not in here."""

from typing import Any, Literal

from pydantic import BaseModel

from arena.models import Millis, Number, Seat

Stage = Literal["waiting", "running", "finished", "scored"]
TIE = "tie"  # the choice of a voter who likes both the same: half a vote for each


class Talk(BaseModel):
    """How far the conversation of a run has come."""

    phase: int = 0
    said: int = 0  # turns of this phase
    turn: int = 0  # turns altogether
    message: str = ""  # the user's last words
    answer: str = ""  # the agent's
    mismatch: bool = False  # whether the last answer missed what was expected of it
    waits_for: Literal["user", "agent"] = "user"
    until: Millis = Millis(0)  # when a person who is waited for is late


class Summary(BaseModel):
    """What the evaluation of a run came to; the whole of it is kept as a blob."""

    overall: float | None = None
    passed: bool | None = None
    dimensions: dict[str, float] = {}
    cost_usd: float | None = None
    latency_ms: float | None = None
    tokens: float | None = None
    security: float | None = None  # -1 to 1, where security was at stake
    card: str = ""  # name of the blob
    reason: str = ""  # why there is no card


class Run(BaseModel):
    """One seat on one case."""

    stage: Stage = "waiting"
    started: Millis = Millis(0)
    events: int = 0  # noted so far
    calls: int = 0  # of tools
    tokens: Number = 0
    cost_usd: Number = 0
    job: str = ""  # the kind of job that it waits for
    snapshot: str = ""  # blob of its work directory
    stale: str = ""  # blob of the one before
    uploads: int = 0
    prompts: list[str] = []  # adversarial prompts that were answered
    talk: Talk | None = None
    failed: str = ""  # why it did not complete
    graded: str | None = None  # blob of what the graders found; none before they looked, empty if there is nothing
    asked: list[str] | None = None  # questions to the judge that wait for a verdict; none before it was asked
    card: Summary | None = None


class Ballot(BaseModel):
    """Two outputs without names, and who likes which better."""

    case: str
    sides: dict[str, Seat]  # A and B
    votes: dict[str, str] = {}  # side by voter, or a tie


class Race(BaseModel):
    """All runs of a session."""

    runs: list[dict[str, Run]]  # by seat and case
    begun: bool = False
    judges: list[Seat] = []
    users: list[Seat] = []  # those who speak for the human of a conversation
    questions: dict[str, dict[str, Any]] = {}  # to the judge: whose run, or which case
    rankings: dict[str, str] = {}  # blob of what ranking judges said, by case; empty while they think
    ranked: dict[str, list[str]] = {}  # questions about a ranking that wait for a verdict, by case
    judge_called: bool = False  # its time runs
    judged: bool = False  # its time is up
    polls: Literal["", "counting", "open", "closed"] = ""
    ballots: dict[str, Ballot] = {}

    def all_at(self, *stages: Stage) -> bool:
        """Whether no run is at another stage."""
        return all(run.stage in stages for runs in self.runs for run in runs.values())

    def preference(self, seat: Seat, case: str) -> float | None:
        """The share of the votes on a seat's output that were for it."""
        sides = [(ballot, side) for ballot in self.ballots.values() for side, at in ballot.sides.items() if at == seat]
        votes = [
            0.5 if choice == TIE else float(choice == side)
            for ballot, side in sides
            if ballot.case == case
            for choice in ballot.votes.values()
        ]
        return sum(votes) / len(votes) if votes else None
