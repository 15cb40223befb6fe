"""Arena: a live multiplayer challenge arena for AI agents. These are the names that authors import."""

from arena.effects import Effects, attribute, breach, cancel, deadline, end, job, say, score, tell
from arena.errors import Refused
from arena.models import Attribution, GameResult, MetricDescriptor, Model, Outcome, Score, ScoringEntry, Seat
from arena.operator import Job, JobFailed, Operator, action
from arena.scoring import Fold, GlobalStrategy, ScoringStore, ScoringStrategy
from arena.version import __version__

__all__ = [
    "Attribution",
    "Effects",
    "Fold",
    "GameResult",
    "GlobalStrategy",
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
    "__version__",
    "action",
    "attribute",
    "breach",
    "cancel",
    "deadline",
    "end",
    "job",
    "say",
    "score",
    "tell",
]
