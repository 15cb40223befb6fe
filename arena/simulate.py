"""`arena simulate`: a simulation with a bar for those who wait, and its table."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from arena.logs import set_up_logging
from arena.simulation import Line, Mean, Rate, Setting, Simulation, simulate
from arena.terminal import Screen, harmless, plural


def run(
    challenge: str,
    bots: Sequence[str],
    games: int,
    seed: str,
    options: Mapping[str, Any],
    load: Sequence[str],
    workers: int | None,
    as_json: bool,
) -> None:
    """Play, and print what came of it."""
    set_up_logging("warning")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    Setting(challenge, tuple(bots), seed, dict(options), tuple(load)).check()  # before the bar
    begun = time.perf_counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(f"{challenge}: {', '.join(bots)}", total=games)
        found = simulate(
            challenge, bots, games, seed, options=options, load=load, workers=workers,
            progress=lambda played: bars.advance(task, played),
        )  # fmt: skip
    seconds = time.perf_counter() - begun
    screen = Screen()
    if as_json:
        screen.print(json.dumps(as_data(found, seconds), indent=2), soft_wrap=True)
        return
    screen.print(table(found))
    silent = f", {found.unfinished} of them without an end" if found.unfinished else ""
    played = plural(found.games, "game", "games")
    screen.print(f"{played}{silent}, in {seconds:.1f} s ({found.games / seconds:,.0f} per second). Intervals: 95 %.")


def table(found: Simulation) -> Table:
    """A line per bot."""
    rows = Table("bot", "games", "utility", "security", "breaches others in", "is breached in")
    for name, line in found.lines.items():
        rows.add_row(
            harmless(name), str(line.utility.games), _mean(line.utility), _mean(line.security),
            _rate(line.breached), _rate(line.exposed),
        )  # fmt: skip
    return rows


def _mean(mean: Mean) -> str:
    if mean.interval is None:
        return f"{mean.value:+.3f}"
    return f"{mean.value:+.3f} [{mean.interval.low:+.3f}, {mean.interval.high:+.3f}]"


def _rate(rate: Rate) -> str:
    return f"{rate.value:.1%} [{rate.interval.low:.1%}, {rate.interval.high:.1%}]"


def as_data(found: Simulation, seconds: float) -> dict[str, Any]:
    """The same for programs."""
    return {
        "games": found.games,
        "unfinished": found.unfinished,
        "seconds": seconds,
        "bots": {name: _data(line) for name, line in found.lines.items()},
    }


def _data(line: Line) -> dict[str, Any]:
    numbers: dict[str, Mean | Rate] = {
        "utility": line.utility, "security": line.security, "breached": line.breached, "exposed": line.exposed,
    }  # fmt: skip
    return {"games": line.utility.games} | {
        name: {"value": number.value, "interval": number.interval} for name, number in numbers.items()
    }
