"""What an author may have meant: a word close to what is written, among those that a field may have."""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import islice

from arena.packs.blocks import Bundle
from arena.packs.errors import FieldError
from arena.packs.text import trim

_CHOICES = re.compile(r"\bone of ([\w, -]+)$")
_LONGEST = 60  # characters of a word that may be misspelt
_MOST = 1_000  # names that it is compared with

_DECLARED: dict[str, Callable[[Bundle], Iterable[str]]] = {
    "challenge_key": lambda bundle: (challenge.key for challenge in bundle.challenges),
    "artifact_key": lambda bundle: (asset.key for asset in bundle.version.assets),
    "metric": lambda bundle: (metric.key for metric in bundle.version.evaluation_spec.metrics),
    "judge_key": lambda bundle: (judge.key for judge in bundle.version.evaluation_spec.llm_judges),
}


def guess(error: FieldError, written: str, bundle: Bundle) -> str | None:
    """The word that was meant, if the field is told what it may be, or names something of the pack."""
    choices = _CHOICES.search(error.message)
    declared = _DECLARED.get(error.path.rpartition(".")[2])
    return close(written, choices[1].split(", ") if choices else declared(bundle) if declared else ())


def close(written: str, known: Iterable[str]) -> str | None:
    """The known word that is closest to a written one, if any is close; none for what is right."""
    word = trim(written).lower()
    near = get_close_matches(word, islice(known, _MOST), n=1) if 0 < len(word) <= _LONGEST else []
    return near[0] if near and near[0] != written else None
