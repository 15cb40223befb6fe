"""A pack in a few lines: what it is called, how it runs, how much of what it has."""

from typing import Any

from arena.packs.blocks import Bundle
from arena.packs.spec import normalise_spec
from arena.packs.stored import stored_cases


def summarise(bundle: Bundle) -> dict[str, Any]:
    """The numbers and names of a normalised bundle."""
    version, spec = bundle.version, normalise_spec(bundle.version.evaluation_spec)
    cases = stored_cases(bundle)
    return {
        "slug": bundle.pack.slug,
        "family": bundle.pack.family,
        "execution_mode": version.execution_mode,
        "version_number": version.number,
        "challenges": len(bundle.challenges),
        "input_sets": len(bundle.input_sets),
        "cases": len(cases),
        "legacy_cases": sum(case.legacy_payload_only for case in cases),
        "validators": len(spec.validators),
        "validator_types": sorted({validator.type for validator in spec.validators}),
        "metrics": len(spec.metrics),
        "judge_mode": spec.judge_mode,
        "judge_keys": [judge.key for judge in spec.llm_judges],
        "strategy": spec.scorecard.strategy,
        "dimensions": [dimension.key for dimension in spec.scorecard.dimensions],
        "post_execution_checks": len(spec.post_execution_checks),
        "custom_tools": len((bundle.tools or {}).get("custom") or ()),
        "has_sandbox": version.sandbox is not None,
        "is_security_pack": bundle.is_security_pack,
    }
