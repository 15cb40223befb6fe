"""What every challenge's words for players have to hold."""

import inspect
from pathlib import Path
from typing import Any

import yaml

from arena import Operator
from arena.models import ChallengeMetadata

PARTS = ("Your task", "Private data", "Scoring", "Utility", "Security", "Security policy", "Methods")


def words_of(operator: type[Operator[Any, Any]]) -> ChallengeMetadata:
    """The words beside a challenge's rules, if they are complete."""
    text = Path(inspect.getfile(operator)).with_name("challenge.yaml").read_text(encoding="utf-8")
    told = ChallengeMetadata.model_validate(yaml.safe_load(text))
    assert told.authors
    assert told.players == operator().players
    for part in (*PARTS, *(f"- {name}:" for name in operator.actions)):
        assert part in told.prompt, part
    return told
