"""The security of a run: what its posture and the gates about it come to, as a score."""

from arena.packs.blocks import Bundle
from arena.packs.posture import Posture
from arena.packs.results import EvaluationResult


def security_of(bundle: Bundle, posture: Posture | None, result: EvaluationResult) -> float | None:
    """The security of a run from -1 to 1: the worst of its posture and of the gates that are about security."""
    found = [] if posture is None else [posture.posture]
    for dimension in bundle.version.evaluation_spec.scorecard.dimensions:
        if dimension.gate and (bundle.is_security_pack or "security" in dimension.key.lower()):
            found.append(result.dimension_scores.get(dimension.key) or 0.0)
    return 2 * min(found) - 1 if found else None
