"""The evaluation spec as authors write it: strict about keys and types, null means unset."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _filled(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_filled)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class Part(BaseModel):
    """A part of the spec: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
    kept: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _unset(cls, raw: Any) -> Any:
        if raw is None:
            return {}
        return {key: value for key, value in raw.items() if value is not None} if isinstance(raw, Mapping) else raw

    def document(self) -> dict[str, Any]:
        """The part as plain JSON: what is empty is left out, unless the contract keeps it."""
        fields = type(self).model_fields
        return {
            name: _plain(value) if name in self.model_fields_set or not isinstance(value, list) else None
            for name, value in self
            if name in self.kept or value != fields[name].get_default(call_default_factory=True)
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.document()
    return [_plain(item) for item in value] if isinstance(value, list) else value


class Validator(Part):
    """A check that turns evidence into a verdict."""

    kept = frozenset({"key", "type", "target"})

    key: Text = ""
    type: Text = ""
    target: Text = ""
    expected_from: Text = ""
    config: Any = None


class Metric(Part):
    """A number, text or flag collected from the run."""

    kept = frozenset({"key", "type", "collector"})

    key: Text = ""
    type: Text = ""
    collector: Text = ""
    unit: Text = ""


class Signal(Part):
    """A behavioral signal and what it weighs."""

    kept = frozenset({"key", "weight"})

    key: Text = ""
    weight: float = 0
    gate: bool = False
    pass_threshold: float | None = None


class Behavioral(Part):
    """How the behavior of an agent is scored."""

    kept = frozenset({"signals"})

    signals: list[Signal] = []


class ScoreScale(Part):
    """The range in which a judge grades."""

    kept = frozenset({"min", "max"})

    min: float = 0
    max: float = 0


class Consensus(Part):
    """How the scores of several judge models become one."""

    kept = frozenset({"aggregation"})

    aggregation: Text = ""
    min_agreement_threshold: float = 0
    flag_on_disagreement: bool = False


class Judge(Part):
    """A language model, or several, asked for a grade."""

    kept = frozenset({"mode", "key"})

    mode: Text = ""
    key: Text = ""
    model: Text = ""
    models: list[Text] = []
    samples: Whole = 0
    context_from: list[Text] = []
    output_schema: Any = None
    score_scale: ScoreScale | None = None
    rubric: Text = ""
    assertion: Text = ""
    expect: bool | None = None
    prompt: Text = ""
    position_debiasing: bool = False
    reference_from: Text = ""
    consensus: Consensus | None = None
    anti_gaming_clauses: list[Text] = []
    timeout_ms: Whole | None = None


class PostExecutionCheck(Part):
    """A file or directory that is captured before the sandbox goes."""

    kept = frozenset({"key", "type", "path"})

    key: Text = ""
    type: Text = ""
    path: Text = ""
    recursive: bool = False
    max_size_bytes: Whole = 0


class RuntimeLimits(Part):
    """What a run may use up."""

    max_total_tokens: Whole | None = None
    max_cost_usd: float | None = None
    max_duration_ms: Whole | None = None
    max_iterations: Whole | None = None


class PricingModel(Part):
    """What the tokens of one model cost."""

    kept = frozenset(
        {"provider_key", "provider_model_id", "input_cost_per_million_tokens", "output_cost_per_million_tokens"}
    )

    provider_key: Text = ""
    provider_model_id: Text = ""
    input_cost_per_million_tokens: float = 0
    output_cost_per_million_tokens: float = 0


class Pricing(Part):
    """The price list of a pack."""

    models: list[PricingModel] = []


class LatencyNormalization(Part):
    """The scale of the built-in latency dimension."""

    target_ms: float | None = None
    max_ms: float | None = None


class CostNormalization(Part):
    """The scale of the built-in cost dimension."""

    target_usd: float | None = None
    max_usd: float | None = None


class ScorecardNormalization(Part):
    """Scales shared by the built-in dimensions."""

    latency: LatencyNormalization | None = None
    cost: CostNormalization | None = None


class Normalization(Part):
    """The value that scores 1 and the value that scores 0."""

    target: float | None = None
    max: float | None = None


class Dimension(Part):
    """One score of the scorecard, written as its key alone or in full."""

    kept = frozenset({"key", "source"})

    key: Text = ""
    source: Text = ""
    validators: list[Text] = []
    metric: Text = ""
    better_direction: Text = ""
    normalization: Normalization | None = None
    weight: float | None = None
    judge_key: Text = ""
    gate: bool = False
    pass_threshold: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, raw: Any) -> Any:
        return {"key": raw} if isinstance(raw, str) else raw


class JudgeLimits(Part):
    """What all judges of one run may use up together."""

    max_samples_per_judge: Whole = 0
    max_calls_usd: float | None = None
    max_tokens: Whole | None = None


class Scorecard(Part):
    """How dimensions become one result."""

    kept = frozenset({"dimensions", "normalization"})

    dimensions: list[Dimension] = []
    normalization: ScorecardNormalization = ScorecardNormalization()
    strategy: Text = ""
    pass_threshold: float | None = None
    judge_limits: JudgeLimits | None = None


class EvaluationSpec(Part):
    """What is checked, measured and judged about a run, and how that becomes a score."""

    kept = frozenset(
        {"name", "version_number", "judge_mode", "validators", "metrics", "runtime_limits", "pricing", "scorecard"}
    )

    name: Text = ""
    version_number: Int32 = 0
    judge_mode: Text = ""
    validators: list[Validator] = []
    metrics: list[Metric] = []
    behavioral: Behavioral | None = None
    llm_judges: list[Judge] = []
    post_execution_checks: list[PostExecutionCheck] = []
    runtime_limits: RuntimeLimits = RuntimeLimits()
    pricing: Pricing = Pricing()
    scorecard: Scorecard = Scorecard()
