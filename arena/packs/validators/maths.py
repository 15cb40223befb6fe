"""Mathematical equivalence: the same canonical form, or the same value."""

from typing import Any, NamedTuple

from arena.packs.text import trim
from arena.packs.validators.algebra import Node, canonical, parse, worked_out
from arena.packs.validators.configs import MathConfig
from arena.packs.validators.latex import BadExpression, prepare
from arena.packs.validators.outcome import Fault, Outcome, PackFault, verdict
from arena.packs.validators.texts import read_config


class _Side(NamedTuple):
    text: str
    node: Node | None
    problem: str

    @property
    def value(self) -> float | None:
        try:
            return None if self.node is None else worked_out(self.node)
        except BadExpression:
            return None


def math_equivalence(actual: str, expected: str, raw: Any) -> Outcome:
    """Equal by form, or within a tolerance by value."""
    config = read_config(MathConfig, raw, "math_equivalence")
    mode = trim(config.comparison_mode) or "symbolic"
    if mode not in {"symbolic", "numeric"}:
        raise PackFault(f"parse math_equivalence config: unknown comparison_mode {mode!r:.60}")
    said, wanted = _read(actual, config, "actual"), _read(expected, config, "expected")
    details = _details(said, wanted, mode, config)
    if mode == "symbolic" and said.node and wanted.node and said.node.key == wanted.node.key:
        return verdict(True, mode_used="symbolic", **details)
    if mode == "numeric" or config.numeric_fallback:
        one, other = said.value, wanted.value
        if one is not None and other is not None:
            used = "numeric" if mode == "numeric" else "numeric_fallback"
            return _close(one, other, {"mode_used": used, "numeric_actual": one, "numeric_expected": other, **details})
    problem = said.problem or wanted.problem
    if mode == "numeric" or problem:
        raise Fault(f"evaluate math_equivalence expressions: {problem or 'a symbol has no value'}", details)
    return verdict(False, "the symbolic forms are not equivalent", **details)


def _read(text: str, config: MathConfig, side: str) -> _Side:
    delimiter = (
        (config.answer_delimiter if trim(config.answer_delimiter) else "####") if config.extract_answer else None
    )
    try:
        prepared = prepare(text, delimiter)
    except BadExpression as error:
        raise Fault(f"normalize {side} math expression: {error}") from None
    try:
        return _Side(prepared, canonical(parse(prepared)), "")
    except BadExpression as error:
        return _Side(prepared, None, str(error))


def _close(one: float, other: float, details: dict[str, Any]) -> Outcome:
    apart, tolerance = abs(one - other), details["tolerance"]
    return verdict(apart <= tolerance, f"the values differ by {apart:.10g}, more than {tolerance:g}", **details)


def _details(said: _Side, wanted: _Side, mode: str, config: MathConfig) -> dict[str, Any]:
    return {
        "comparison_mode": mode,
        "numeric_fallback": config.numeric_fallback,
        "tolerance": config.tolerance,
        "extract_answer": config.extract_answer,
        "normalized_actual": said.text,
        "normalized_expected": wanted.text,
        "canonical_actual": said.node.key[:2000] if said.node else None,
        "canonical_expected": wanted.node.key[:2000] if wanted.node else None,
    }
