"""The other side of a fit: `python -m arena.fitting` reads a wish and results, and writes the board that comes out.

A fit may take seconds of a whole core, so it has a process of its own. It knows no store: results come line by line on
its input, and if whoever started it is gone, it ends with what it was given and is heard by nobody.
"""

import os
import sys
from collections.abc import Iterable
from typing import Any

import orjson

from arena import catalog
from arena.models import GameResult, Model, strict_json
from arena.scoring import BatchStrategy

NICE = 10  # players come first


class Wish(Model):
    """What is to be fitted."""

    strategy: str
    load: list[str] = []


def answer(lines: Iterable[bytes]) -> dict[str, Any]:
    """Fit what the lines ask for: a wish, then a result per line."""
    rest = iter(lines)
    wish = Wish.from_json(next(rest))
    strategy = catalog.load(wish.load).strategies[wish.strategy]
    if not isinstance(strategy, BatchStrategy):
        raise TypeError(f"{wish.strategy} counts game by game")
    results: dict[str, list[GameResult]] = {}
    for line in rest:
        result = GameResult.from_json(line)
        results.setdefault(result.challenge_type, []).append(result)
    fit = strategy.fit(results)
    return {"lines": [[line.entry.wire(), line.kept] for line in fit.lines], "notes": dict(fit.notes)}


def main() -> int:
    """Fit once."""
    os.nice(NICE)
    try:
        told, code = strict_json(answer(sys.stdin.buffer)), 0
    except Exception as error:  # a strategy may raise anything; its kind is told, its text may quote a player
        told, code = orjson.dumps({"error": type(error).__name__}), 1
    sys.stdout.buffer.write(told)
    return code


if __name__ == "__main__":
    sys.exit(main())
