"""Expressions: read with exact rationals, brought into canonical form, or worked out as a float."""

import math
import re
from fractions import Fraction
from functools import reduce
from operator import add
from typing import NamedTuple

from arena.packs.validators.latex import BadExpression

_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+|\.)(?:[eE][+-]?[0-9]*)?%?")
_MAX_SCALE = 1_000_000  # a number of more digits is nobody's answer
_MAX_POWER = 32
_MAX_BITS = 256


class Number(NamedTuple):
    """An exact rational."""

    value: Fraction

    @property
    def key(self) -> str:
        """The number as a key."""
        large = max(self.value.numerator.bit_length(), self.value.denominator.bit_length()) > 10_000
        return f"num:{self.value.numerator:x}/{self.value.denominator:x}" if large else f"num:{self.value}"


class Symbol(NamedTuple):
    """A name without a value."""

    name: str

    @property
    def key(self) -> str:
        """The name as a key."""
        return f"sym:{self.name}"


class Sum(NamedTuple):
    """Terms added up."""

    parts: tuple["Node", ...]

    @property
    def key(self) -> str:
        """The terms as a key."""
        return f"add({','.join(part.key for part in self.parts)})"


class Product(NamedTuple):
    """Factors multiplied."""

    parts: tuple["Node", ...]

    @property
    def key(self) -> str:
        """The factors as a key."""
        return f"mul({','.join(part.key for part in self.parts)})"


class Power(NamedTuple):
    """A base and its exponent."""

    base: "Node"
    exponent: "Node"

    @property
    def key(self) -> str:
        """Both as a key."""
        return f"pow({self.base.key},{self.exponent.key})"


Node = Number | Symbol | Sum | Product | Power
ONE, ZERO, MINUS_ONE = Number(Fraction(1)), Number(Fraction(0)), Number(Fraction(-1))


def parse(text: str) -> Node:
    """Read an expression; there is no implicit multiplication."""
    reader = _Reader(_tokens(text))
    node = reader.sum()
    if reader.ahead is not None:
        raise BadExpression(f"unexpected token {reader.ahead!r:.40}")
    return node


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text):
        char = text[at]
        if char == " ":
            at += 1
            continue
        token = _token(text, at)
        tokens.append(token)
        at += len(token)
    return tokens


def _token(text: str, at: int) -> str:
    char = text[at]
    if char in "+-*/^()":
        return char
    found = _NUMBER.match(text, at)
    if found is not None:
        return found[0]
    if not (char.isalpha() or char == "_"):
        raise BadExpression(f"unexpected character {char!r}")
    end = at + 1
    while end < len(text) and (text[end].isalpha() or text[end].isdecimal() or text[end] == "_"):
        end += 1
    return text[at:end]


class _Reader:
    """A recursive descent over the tokens of an expression."""

    def __init__(self, tokens: list[str]) -> None:
        self.aheads = tokens
        self.at = 0

    @property
    def ahead(self) -> str | None:
        return self.aheads[self.at] if self.at < len(self.aheads) else None

    def take(self) -> str:
        lexeme = self.ahead
        if lexeme is None:
            raise BadExpression("the expression ends too early")
        self.at += 1
        return lexeme

    def sum(self) -> Node:
        node = self.product()
        while self.ahead in {"+", "-"}:
            minus = self.take() == "-"
            term = self.product()
            node = Sum((node, negated(term) if minus else term))
        return node

    def product(self) -> Node:
        node = self.power()
        while self.ahead in {"*", "/"}:
            divided = self.take() == "/"
            factor = self.power()
            node = Product((node, inverted(factor) if divided else factor))
        return node

    def power(self) -> Node:
        base = self.unary()
        if self.ahead != "^":
            return base
        self.take()
        return Power(base, self.power())

    def unary(self) -> Node:
        if self.ahead not in {"+", "-"}:
            return self.operand()
        minus = self.take() == "-"
        node = self.unary()
        return negated(node) if minus else node

    def operand(self) -> Node:
        lexeme = self.take()
        if lexeme == "(":
            return self.closed()
        if lexeme[0] in ".0123456789":
            return Number(_rational(lexeme))
        if lexeme in {"+", "-", "*", "/", "^", ")"}:
            raise BadExpression(f"unexpected token {lexeme!r}")
        if self.ahead != "(":
            return Symbol(lexeme)
        if lexeme != "sqrt":
            raise BadExpression(f"unsupported function {lexeme!r:.40}")
        self.take()
        return Power(self.closed(), Number(Fraction(1, 2)))

    def closed(self) -> Node:
        node = self.sum()
        if self.ahead != ")":
            raise BadExpression("a closing parenthesis is missing")
        self.take()
        return node


def negated(node: Node) -> Node:
    """Minus the node."""
    return Number(-node.value) if isinstance(node, Number) else Product((MINUS_ONE, node))


def inverted(node: Node) -> Node:
    """One over the node."""
    if isinstance(node, Number):
        return Number(1 / node.value) if node.value else _divided_by_zero()
    return Power(node, MINUS_ONE)


def _divided_by_zero() -> Node:
    raise BadExpression("division by zero")


def _rational(token: str) -> Fraction:
    digits, percent = token.removesuffix("%"), token.endswith("%")
    mantissa, mark, exponent = digits.lower().partition("e")
    if mantissa == "." or (mark and not exponent.lstrip("+-")):
        raise BadExpression(f"invalid number {token!r:.40}")
    whole, _, part = mantissa.partition(".")
    scale = (int(exponent) if len(exponent) < 10 else _MAX_SCALE * 10) if exponent else 0
    scale -= len(part)
    if abs(scale) > _MAX_SCALE or len(whole) > _MAX_SCALE:
        raise BadExpression(f"the number {token!r:.40} is too long")
    value = Fraction(_integer(whole + part)) * (Fraction(10) ** scale)
    return value / 100 if percent else value


def _integer(digits: str) -> int:
    """An integer of any length; int() alone stops at some thousand digits."""
    if len(digits) <= 4000:
        return int(digits or "0")
    middle = len(digits) // 2
    shift: int = 10**middle
    return _integer(digits[:-middle]) * shift + _integer(digits[-middle:])


def canonical(node: Node) -> Node:
    """One form for expressions that differ only in order, grouping and direct constants."""
    match node:
        case Sum(parts):
            return _canonical_sum([canonical(part) for part in parts])
        case Product(parts):
            return _canonical_product([canonical(part) for part in parts])
        case Power(base, exponent):
            return _canonical_power(canonical(base), canonical(exponent))
        case _:
            return node


def _canonical_sum(parts: list[Node]) -> Node:
    total = sum((part.value for part in parts if isinstance(part, Number)), Fraction(0))
    rest = [inner for part in parts if not isinstance(part, Number) for inner in _spliced(part, Sum)]
    if total or not rest:
        rest.append(Number(total))
    return _arranged(rest, Sum)


def _canonical_product(parts: list[Node]) -> Node:
    total = math.prod((part.value for part in parts if isinstance(part, Number)), start=Fraction(1))
    if not total:
        return ZERO
    rest = [inner for part in parts if not isinstance(part, Number) for inner in _spliced(part, Product)]
    if total != 1 or not rest:
        rest.append(Number(total))
    return _arranged(rest, Product)


def _spliced(part: Node, kind: type[Sum] | type[Product]) -> tuple[Node, ...]:
    return part.parts if isinstance(part, kind) else (part,)


def _arranged(parts: list[Node], kind: type[Sum] | type[Product]) -> Node:
    return parts[0] if len(parts) == 1 else kind(tuple(sorted(parts, key=lambda part: part.key)))


def _canonical_power(base: Node, exponent: Node) -> Node:
    if exponent == ZERO:
        return ONE
    if exponent == ONE:
        return base
    if isinstance(base, Number) and isinstance(exponent, Number) and exponent.value.denominator == 1:
        times = exponent.value.numerator
        if times < 0 and not base.value:
            return _divided_by_zero()
        bits = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
        if abs(times) <= _MAX_POWER and bits <= _MAX_BITS:
            return Number(base.value**times)
    return Power(base, exponent)


def worked_out(node: Node) -> float:
    """The value of an expression as a float; a symbol has none."""
    match node:
        case Number(value):
            return _float(value)
        case Symbol(name):
            raise BadExpression(f"the symbol {name!r:.40} has no value")
        case Sum(parts):
            return reduce(add, map(worked_out, parts))
        case Product(parts):
            return math.prod(map(worked_out, parts))
        case Power(base, exponent):
            return _raised(worked_out(base), worked_out(exponent))


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _raised(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        if base == 0:
            raise BadExpression("division by zero") from None
        return math.nan
