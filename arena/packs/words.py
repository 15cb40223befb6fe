"""What the fields of the evaluation spec mean, for the reference and for editors."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.packs.spec import SIGNALS, VALIDATOR_TYPES
from arena.packs.spec.judges import AGGREGATIONS, MODES
from arena.packs.spec.scorecard import SOURCES, STRATEGIES
from arena.packs.spec.validate import JUDGE_MODES


class Words(NamedTuple):
    """A field in words: what it is, whether it is needed, and what it may be."""

    text: str
    needed: bool = False
    among: Sequence[str] = ()


def _needed(text: str, among: Sequence[str] = ()) -> Words:
    return Words(text, needed=True, among=among)


SPEC_WORDS: dict[str, dict[str, Words]] = {
    "EvaluationSpec": {
        "name": _needed("Name of the spec."),
        "version_number": _needed("Number of the spec, from 1."),
        "judge_mode": _needed("Whether language models judge: not at all, alone or beside validators.", JUDGE_MODES),
        "validators": _needed("The checks, one at least in every mode."),
        "metrics": Words("What is measured about a run."),
        "behavioral": Words("How behavior is scored; needed by a dimension with that source."),
        "llm_judges": Words("The judges; none for `deterministic`, one at least otherwise."),
        "post_execution_checks": Words("Files and directories captured before the sandbox goes."),
        "runtime_limits": Words("What a run may use up."),
        "pricing": Words("What models cost, for the metric `run_model_cost_usd`."),
        "scorecard": _needed("The dimensions, and how they become one score."),
    },
    "Validator": {
        "key": _needed("Name of the validator, unique; results and dimensions use it."),
        "type": _needed("What kind of check it is.", VALIDATOR_TYPES),
        "target": _needed("Evidence that is checked, such as `final_output` or `file:<check key>`."),
        "expected_from": Words("Evidence that it is compared with, such as `case.expectations.answer`."),
        "config": Words("Settings of the type."),
    },
    "Metric": {
        "key": _needed("Name of the metric, unique, and not that of a validator."),
        "type": _needed("What it yields.", ("numeric", "text", "boolean")),
        "collector": _needed("What is measured, such as `run_total_latency_ms`."),
        "unit": Words("Unit, for people."),
    },
    "Behavioral": {"signals": _needed("The signals, one at least.")},
    "Signal": {
        "key": _needed("Which signal.", SIGNALS),
        "weight": _needed("How much it counts, above 0."),
        "gate": Words("Whether the dimension is 0 when this signal is below its threshold."),
        "pass_threshold": Words("The threshold, from 0 to 1; needed for a gate."),
    },
    "Judge": {
        "mode": _needed("What the judge does.", MODES),
        "key": _needed("Name of the judge, unique among judges, validators and metrics."),
        "model": Words("The model that judges; either this or `models`."),
        "models": Words("Several models; `consensus` says how they agree."),
        "samples": Words("Answers asked of each model, up to 10; 0 is 3."),
        "context_from": Words("Evidence that the judge reads."),
        "output_schema": Words("JSON Schema that each answer must meet."),
        "score_scale": Words("Range of the grades, 1 to 5 if unset."),
        "rubric": Words("How to grade; needed for `rubric` and `reference`."),
        "assertion": Words("What should be true; needed for `assertion`."),
        "expect": Words("`false` turns an assertion around."),
        "prompt": Words("How to rank; needed for `n_wise`."),
        "position_debiasing": Words("Whether each sample shows the candidates in another order."),
        "reference_from": Words("Evidence with the model answer; needed for `reference`."),
        "consensus": Words("How several models agree; needed for `models`, forbidden otherwise."),
        "anti_gaming_clauses": Words("Warnings to the judge, added to the usual ones."),
        "timeout_ms": Words("Time for one answer; a minute if unset."),
    },
    "ScoreScale": {"min": _needed("Lowest grade."), "max": _needed("Highest grade.")},
    "Consensus": {
        "aggregation": _needed("How scores become one; `majority_vote` only for assertions.", AGGREGATIONS),
        "min_agreement_threshold": Words("Spread above which models disagree, from 0 to 1."),
        "flag_on_disagreement": Words("Whether disagreement adds a warning."),
    },
    "PostExecutionCheck": {
        "key": _needed("Name of the check, unique; targets name it as `file:<key>`."),
        "type": _needed("What is captured.", ("file_capture", "directory_listing")),
        "path": _needed("Path in the sandbox."),
        "recursive": Words("Whether a listing goes into directories."),
        "max_size_bytes": Words("Bytes kept of a file; 0 is 1 MiB."),
    },
    "RuntimeLimits": {
        "max_total_tokens": Words("Tokens of a run."),
        "max_cost_usd": Words("Cost of a run in US dollars; also the worst value of the `cost` dimension."),
        "max_duration_ms": Words("Duration of a run; also the worst value of the `latency` dimension."),
        "max_iterations": Words("Rounds of a run, from 1 to 1000."),
    },
    "Pricing": {"models": Words("Prices, one entry per model.")},
    "PricingModel": {
        "provider_key": _needed("Provider, such as `openai`."),
        "provider_model_id": _needed("Model; a date at the end of the name used is ignored."),
        "input_cost_per_million_tokens": Words("US dollars for a million input tokens."),
        "output_cost_per_million_tokens": Words("US dollars for a million output tokens."),
    },
    "Scorecard": {
        "dimensions": _needed("The dimensions, one at least; the built-in ones by their key alone."),
        "normalization": Words("Scales of the built-in dimensions `latency` and `cost`."),
        "strategy": Words("How dimensions become one score; `weighted` if unset.", among=("", *STRATEGIES)),
        "pass_threshold": Words("Score from which a run passes; not for `binary`."),
        "judge_limits": Words("What all judges of a run may use up."),
    },
    "ScorecardNormalization": {"latency": Words("Scale of latency."), "cost": Words("Scale of cost.")},
    "LatencyNormalization": {
        "target_ms": Words("Latency that scores 1."),
        "max_ms": Words("Latency that scores 0; `runtime_limits.max_duration_ms` if unset."),
    },
    "CostNormalization": {
        "target_usd": Words("Cost that scores 1."),
        "max_usd": Words("Cost that scores 0; `runtime_limits.max_cost_usd` if unset."),
    },
    "Dimension": {
        "key": _needed("Name of the dimension, unique."),
        "source": Words(
            "Where its score comes from; `correctness`, `reliability`, `latency`, `cost` and `behavioral` know it.",
            among=("", *SOURCES),
        ),
        "validators": Words("Validators that count, for source `validators`; all if empty."),
        "metric": Words("Metric that counts, for source `metric`."),
        "better_direction": Words("Whether more is better.", among=("", "higher", "lower")),
        "normalization": Words("Scale; needed for sources `metric`, `latency` and `cost`."),
        "weight": Words("How much it counts; 1 if unset."),
        "judge_key": Words("Judge that counts, for source `llm_judge`."),
        "gate": Words("Whether the run fails when this is below its threshold."),
        "pass_threshold": Words("The threshold, from 0 to 1; needed for gates and for `binary`."),
    },
    "Normalization": {
        "target": _needed("Value that scores 1."),
        "max": _needed("Value that scores 0."),
    },
    "JudgeLimits": {
        "max_samples_per_judge": Words("Samples of a judge at most, up to 10; 0 is no limit of its own."),
        "max_calls_usd": Words("Cost of all calls."),
        "max_tokens": Words("Tokens of all calls."),
    },
}
