"""Arena: a live multiplayer challenge arena for AI agents. These are the names that authors import."""

from arena.effects import Effects, attribute, breach, cancel, deadline, end, job, note, say, score, tell
from arena.errors import Refused
from arena.models import Attribution, GameResult, MetricDescriptor, Model, Outcome, Score, ScoringEntry, Seat, SeatCard
from arena.operator import AtLimit, Job, JobFailed, Operator, action
from arena.scoring import BatchStrategy, Fit, Fold, GlobalStrategy, ScoringStore, ScoringStrategy
from arena.statistics import Interval
from arena.version import __version__

__all__ = [
    "AtLimit",
    "Attribution",
    "BatchStrategy",
    "Effects",
    "Fit",
    "Fold",
    "GameResult",
    "GlobalStrategy",
    "Interval",
    "Job",
    "JobFailed",
    "MetricDescriptor",
    "Model",
    "Operator",
    "Outcome",
    "Refused",
    "Score",
    "ScoringEntry",
    "ScoringStore",
    "ScoringStrategy",
    "Seat",
    "SeatCard",
    "__version__",
    "action",
    "attribute",
    "breach",
    "cancel",
    "deadline",
    "end",
    "job",
    "note",
    "say",
    "score",
    "tell",
]
