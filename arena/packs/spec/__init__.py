"""The evaluation spec: decoded strictly, normalised, and checked as a whole.

Three steps, in this order: `decode_spec` stops at the first key or type that is wrong, `normalise_spec` brings every
spelling into one form, `validate_spec` lists every rule that is broken.
"""

from arena.packs.spec.decode import SpecDecodeError, decode_spec
from arena.packs.spec.models import (
    Behavioral,
    Dimension,
    EvaluationSpec,
    Judge,
    JudgeLimits,
    Metric,
    PostExecutionCheck,
    Pricing,
    PricingModel,
    RuntimeLimits,
    Scorecard,
    Signal,
    Validator,
)
from arena.packs.spec.normalise import normalise_spec
from arena.packs.spec.validate import SIGNALS, VALIDATOR_TYPES, validate_spec

__all__ = [
    "SIGNALS",
    "VALIDATOR_TYPES",
    "Behavioral",
    "Dimension",
    "EvaluationSpec",
    "Judge",
    "JudgeLimits",
    "Metric",
    "PostExecutionCheck",
    "Pricing",
    "PricingModel",
    "RuntimeLimits",
    "Scorecard",
    "Signal",
    "SpecDecodeError",
    "Validator",
    "decode_spec",
    "normalise_spec",
    "validate_spec",
]
