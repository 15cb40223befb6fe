"""Judges for tests: what they are asked to judge, and a process that judges until it is killed."""

import asyncio
import sys
from typing import Any

from arena.llm.models import Models
from arena.llm.routes import ModelsConfig
from arena.packs.evaluate import checked_spec
from arena.packs.evidence import Evidence
from arena.packs.judges.run import run_judges
from arena.packs.spec.models import EvaluationSpec
from tests.memories import Stored

KEY = "sk-very-secret-0123456789"
VALIDATOR = {"key": "v", "type": "contains", "target": "final_output", "expected_from": "literal:a"}
RUN = Evidence(final_output="Paris is the capital of France.")


def models_at(url: str, **more: Any) -> Models:
    """Whoever asks a server of models."""
    told = {
        "routes": [
            {"match": "gpt-*", "api": "openai", "baseUrl": f"{url}/v1", "keyEnv": "KEY"},
            {"match": "claude-*", "api": "anthropic", "baseUrl": url, "keyEnv": "KEY"},
        ],
        "backoffSeconds": 0,
        **more,
    }
    return Models(ModelsConfig.model_validate(told), {"KEY": KEY})


def spec_of(*judges: dict[str, Any], limits: dict[str, Any] | None = None, **more: Any) -> EvaluationSpec:
    """A spec with these judges, each a dimension of its own."""
    told = [
        {"key": f"j{at}", "model": "gpt-5", "context_from": ["final_output"], **each} for at, each in enumerate(judges)
    ]
    return checked_spec(
        EvaluationSpec.model_validate(
            {
                "name": "judged",
                "version_number": 1,
                "judge_mode": "hybrid",
                "validators": [
                    {"key": "v", "type": "contains", "target": "final_output", "expected_from": "literal:a"}
                ],
                "llm_judges": told,
                "scorecard": {
                    "strategy": "weighted",
                    "dimensions": [
                        {"key": each["key"], "source": "llm_judge", "judge_key": each["key"]} for each in told
                    ],
                    **({"judge_limits": limits} if limits else {}),
                },
                **more,
            }
        )
    )


RUBRIC = {"mode": "rubric", "rubric": "Is it right?"}
ASSERTION = {"mode": "assertion", "assertion": "It names a city."}
REFERENCE = {"mode": "reference", "rubric": "As good?", "reference_from": "literal:Paris"}
RANKING = {"mode": "n_wise", "prompt": "Rank them.", "samples": 3}
TWO_JUDGES = spec_of(RUBRIC, {**RUBRIC, "model": "claude-5"})


class Telling(Stored):
    """A memory that tells when something is safe."""

    async def remember(self, name: str, value: Any) -> None:
        """Keep it and say so."""
        await super().remember(name, value)
        print("stored", flush=True)  # noqa: T201


async def judge(url: str, store: str) -> None:
    """Judge a run."""
    async with models_at(url) as models:
        await run_judges(TWO_JUDGES, RUN, models, Telling(store))


if __name__ == "__main__":
    asyncio.run(judge(sys.argv[1], sys.argv[2]))
