"""Texts compared as they are, by pattern, by meaning yes or no, by likeness, and after normalisation."""

from typing import Any, TypeVar

from rapidfuzz.distance import Levenshtein

from arena.packs.patterns import BadPattern, matches
from arena.packs.text import collapse, trim
from arena.packs.validators.configs import BadConfig, Config, FuzzyConfig, NormalizedConfig
from arena.packs.validators.normalized import STEPS, run_pipeline
from arena.packs.validators.outcome import Fault, Outcome, PackFault, graded, verdict

MAX_FUZZY = 100_000
_YES = frozenset({"true", "1", "yes"})
_NO = frozenset({"false", "0", "no"})


C = TypeVar("C", bound=Config)


def read_config(shape: type[C], raw: Any, type: str) -> C:
    """The config of a validator; a bad one is the fault of the pack."""
    try:
        return shape.read(raw)
    except BadConfig as error:
        raise PackFault(f"parse {type} config: {error}", {"error": str(error)}) from None


def exact_match(actual: str, expected: str, _config: Any) -> Outcome:
    """Equal to the last character."""
    return verdict(actual == expected)


def contains(actual: str, expected: str, _config: Any) -> Outcome:
    """The expected text is somewhere in the actual one."""
    return verdict(expected in actual)


def regex_match(actual: str, expected: str, _config: Any) -> Outcome:
    """The expected pattern matches somewhere."""
    return verdict(search(expected, actual))


def search(pattern: str, text: str) -> bool:
    """Search an author's pattern; a bad one is the fault of the pack."""
    try:
        return matches(pattern, text)
    except BadPattern as error:
        raise PackFault(f"invalid regex pattern: {error}", {"error": str(error)}) from None


def boolean_assert(actual: str, expected: str, _config: Any) -> Outcome:
    """Both mean yes, or both mean no."""
    said = _boolean(actual)
    if said is None:
        raise Fault(f"parse actual boolean assertion value: unsupported boolean value {actual!r:.80}")
    wanted = _boolean(expected)
    if wanted is None:
        raise PackFault(f"parse expected boolean assertion value: unsupported boolean value {expected!r:.80}")
    return verdict(said is wanted, f"is {said}, not {wanted}", actual=said, expected=wanted)


def _boolean(text: str) -> bool | None:
    word = trim(text).lower()
    return True if word in _YES else False if word in _NO else None


def fuzzy_match(actual: str, expected: str, raw: Any) -> Outcome:
    """Alike by the edits that lead from one to the other."""
    config = read_config(FuzzyConfig, raw, "fuzzy_match")
    one, other = (prepared(text, config) for text in (actual, expected))
    if max(len(one), len(other)) > MAX_FUZZY:
        raise Fault(f"fuzzy_match input is longer than {MAX_FUZZY} characters")
    length = len(one) + len(other)
    distance = Levenshtein.distance(one, other)
    likeness = (length - distance) / length if length else 1.0
    seen = {"distance": distance, "sum_length": length, **_flags(config)}
    return graded(likeness, config.threshold, "the texts are not alike enough", similarity=likeness, **seen)


def prepared(text: str, config: Any) -> str:
    """A text with white space and case evened out, as far as the config asks for it."""
    if config.normalize:
        text = collapse(trim(text))
    return text.casefold() if config.case_insensitive else text


def _flags(config: FuzzyConfig) -> dict[str, bool]:
    return {"case_insensitive": config.case_insensitive, "normalize": config.normalize}


def normalized_match(actual: str, expected: str, raw: Any) -> Outcome:
    """Equal after a pipeline of steps."""
    steps = read_config(NormalizedConfig, raw, "normalized_match").steps
    unknown = next((step for step in steps if step not in STEPS), None)
    if unknown is not None:
        raise Fault(f"normalise: {unknown!r:.80} is not a supported step", {"pipeline": steps})
    one, other = run_pipeline(actual, steps), run_pipeline(expected, steps)
    seen = {"normalized_actual": one, "normalized_expected": other, "pipeline": steps}
    return verdict(one == other, "the normalised texts differ", **seen)
