"""Texts scored by what they have in common: token F1, BLEU, ROUGE and chrF."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import LCSseq, Postfix, Prefix

from arena.packs.text import fields, squeeze, trim
from arena.packs.validators.configs import BleuConfig, ChrfConfig, RougeConfig, TokenConfig
from arena.packs.validators.normalized import run_pipeline
from arena.packs.validators.outcome import Outcome, PackFault, graded
from arena.packs.validators.texts import prepared, read_config
from arena.packs.values import NotJson, parse_json

_LOW = "the score is below the threshold"


def token_f1(actual: str, expected: str, raw: Any) -> Outcome:
    """The harmonic mean of precision and recall over tokens."""
    config = read_config(TokenConfig, raw, "token_f1")
    steps = _token_steps(config)
    said, wanted = (fields(run_pipeline(text, steps)) for text in (actual, expected))
    overlap = _common(Counter(said), Counter(wanted))
    empty = 1.0 if not said and not wanted else 0.0
    precision, recall = (overlap / len(side) if side else empty for side in (said, wanted))
    return graded(
        f_score(precision, recall, 1),
        config.threshold,
        _LOW,
        precision=precision,
        recall=recall,
        overlap_token_count=overlap,
        prediction_token_count=len(said),
        reference_token_count=len(wanted),
        normalize=config.normalize,
        remove_articles=config.remove_articles,
        remove_punctuation=config.remove_punctuation,
    )


def _token_steps(config: TokenConfig) -> list[str]:
    steps = ["trim", "lowercase", "collapse_whitespace"] if config.normalize else []
    steps += ["strip_punctuation"] if config.remove_punctuation else []
    steps += ["remove_articles"] if config.remove_articles else []
    return [*steps, "collapse_whitespace", "trim"] if steps else []


def f_score(precision: float, recall: float, beta: float) -> float:
    """The weighted harmonic mean of precision and recall; nothing in common scores 0."""
    weight = beta * beta
    below = weight * precision + recall
    return (1 + weight) * precision * recall / below if below > 0 else 0.0


def references(expected: str, type: str) -> list[str]:
    """The reference texts: a JSON array of them, or the one text itself."""
    text = trim(expected)
    if not text:
        return [""]
    if not text.startswith("["):
        return [expected]
    try:
        items = parse_json(text)
    except NotJson:
        return [expected]
    if not items:
        raise PackFault(f"parse {type} references: at least one reference is required")
    if not all(item is None or isinstance(item, str) for item in items):
        raise PackFault(f"parse {type} references: a JSON array of texts is expected", {"expected_raw": expected[:200]})
    return [item or "" for item in items]


def bleu_score(actual: str, expected: str, raw: Any) -> Outcome:
    """N-gram precision against several references, with a penalty for being short."""
    config = read_config(BleuConfig, raw, "bleu_score")
    if config.max_ngram <= 0 or trim(config.smoothing) not in {"", "none", "method1"}:
        raise PackFault("parse bleu_score config: max_ngram or smoothing cannot be used")
    wanted = [fields(prepared(text, config)) for text in references(expected, "bleu_score")]
    said = fields(prepared(actual, config))
    lengths = [len(reference) for reference in wanted]
    closest = min(lengths, key=lambda length: (abs(length - len(said)), length))
    precisions = _precisions(said, wanted, config)
    penalty = 1.0 if len(said) >= closest else math.exp(1 - closest / len(said)) if said else 0.0
    score = penalty * _geometric_mean(precisions) if said else float(lengths == [0])
    return graded(
        score,
        config.threshold,
        _LOW,
        candidate_length=len(said),
        reference_length=closest,
        reference_lengths=lengths,
        computed_orders=len(precisions),
        precisions=precisions,
        brevity_penalty=penalty,
        max_ngram=config.max_ngram,
        smoothing=trim(config.smoothing) or "none",
    )


def _precisions(said: list[str], wanted: list[list[str]], config: BleuConfig) -> list[float]:
    """Clipped precision per order; an order without a match leaves none to any higher one."""
    found: list[float] = []
    smooth, matched = trim(config.smoothing) == "method1", True
    for order in range(1, min(config.max_ngram, len(said)) + 1):
        total = len(said) - order + 1
        hits = _clipped(said, wanted, order) if matched else 0
        matched = hits > 0
        found.append(hits / total if hits else 1 / (total + 1) if smooth and order > 1 else 0.0)
    return found


def _clipped(said: list[str], wanted: list[list[str]], order: int) -> int:
    most, *others = [Counter(_grams(reference, order)) for reference in wanted]
    for other in others:
        most |= other
    return _common(Counter(_grams(said, order)), most)


def _grams(tokens: Sequence[str], order: int) -> Iterable[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def _common(one: Counter[Any], other: Counter[Any]) -> int:
    """How many items two counts share; where nothing occurs twice, it is enough to count what both know."""
    shared = one.keys() & other.keys()
    if len(one) == one.total() or len(other) == other.total():
        return len(shared)
    return sum(map(min, map(one.__getitem__, shared), map(other.__getitem__, shared)))


def _geometric_mean(values: list[float]) -> float:
    if not values or min(values) <= 0:
        return 0.0
    return math.exp(sum(map(math.log, values)) / len(values))


def rouge_score(actual: str, expected: str, raw: Any) -> Outcome:
    """Recall-minded overlap of n-grams, or of the longest common subsequence."""
    config = read_config(RougeConfig, raw, "rouge_score")
    variant = trim(config.variant) or "rouge-l"
    if variant not in {"rouge-1", "rouge-2", "rouge-l"} or config.beta <= 0:
        raise PackFault("parse rouge_score config: variant or beta cannot be used")
    said = fields(prepared(actual, config))
    rows = []
    for wanted in (fields(prepared(text, config)) for text in references(expected, "rouge_score")):
        precision, recall = _rouge(said, wanted, variant)
        rows.append(_Row(f_score(precision, recall, config.beta), precision, recall, len(said), len(wanted)))
    return _best(rows, config.threshold, variant=variant, beta=config.beta)


def _rouge(said: list[str], wanted: list[str], variant: str) -> tuple[float, float]:
    if variant == "rouge-l":
        return _shares(_longest_common(said, wanted), len(said), len(wanted))
    order = int(variant[-1])
    one, other = Counter(_grams(said, order)), Counter(_grams(wanted, order))
    return _shares(_common(one, other), one.total(), other.total())


def _longest_common(one: list[str], other: list[str]) -> int:
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(token, len(numbers)) for token in side] for side in (one, other))
    return int(LCSseq.similarity(first, second))


def _shares(common: int, said: int, wanted: int) -> tuple[float, float]:
    return common / said if said else 0.0, common / wanted if wanted else 0.0


class _Row(NamedTuple):
    """How a text did against one reference."""

    f_score: float
    precision: float
    recall: float
    candidate_length: int
    reference_length: int


def _best(rows: list[_Row], threshold: float, **details: Any) -> Outcome:
    """The row with the highest score, the first of equals."""
    best = max(rows, key=lambda row: row.f_score)
    return graded(best.f_score, threshold, _LOW, reference_count=len(rows), **best._asdict(), **details)


def chrf_score(actual: str, expected: str, raw: Any) -> Outcome:
    """Overlap of character n-grams, white space aside."""
    config = read_config(ChrfConfig, raw, "chrf_score")
    if config.char_order <= 0 or config.beta <= 0:
        raise PackFault("parse chrf_score config: char_order and beta must be greater than 0")
    said = squeeze(prepared(actual, config))
    rows = [
        _chrf(said, squeeze(prepared(text, config)), config.char_order, config.beta)
        for text in references(expected, "chrf_score")
    ]
    return _best(rows, config.threshold, char_order=config.char_order, beta=config.beta)


def _chrf(said: str, wanted: str, char_order: int, beta: float) -> _Row:
    lengths = len(said), len(wanted)
    if not said or not wanted:
        same = float(said == wanted)
        return _Row(same, same, same, *lengths)
    start = Prefix.similarity(said, wanted)
    ends = start, Postfix.similarity(said[start:], wanted[start:])
    orders = range(1, min(char_order, len(said), len(wanted)) + 1)
    shares = [_shares(_common_grams(said, wanted, n, ends), len(said) - n + 1, len(wanted) - n + 1) for n in orders]
    precision, recall = (sum(side) / len(shares) for side in zip(*shares, strict=True))
    return _Row(f_score(precision, recall, beta), precision, recall, *lengths)


def _common_grams(one: str, other: str, order: int, ends: tuple[int, int]) -> int:
    """How many n-grams two texts share; those inside what both begin and end with need not be looked at."""
    before, after = (max(0, length - order + 1) for length in ends)
    rest = (text[before : len(text) - after] for text in (one, other))
    return before + after + _common(*(Counter(_slices(text, order)) for text in rest))


def _slices(text: str, order: int) -> list[str]:
    return [text[at : at + order] for at in range(len(text) - order + 1)]
