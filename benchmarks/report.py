"""Report: rows as a table for people and as JSON for programs."""

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict

import orjson
from rich.console import Console
from rich.table import Table

from arena.version import __version__
from benchmarks.gauge import Row
from benchmarks.servers import OFF, Cores

NOTES = (
    "Limits are switched off for this: frame rate, connections and open sessions per address, channel size.",
    "The arena commits everything to its own store (appendfsync everysec) first; the baselines keep nothing, but for",
    "those of sse (our own WebSocket) and dead-reader (the same server without one), which are the arena itself.",
    "Compare ratios of one run, never numbers of two. CPU is in cores: a server well under 1.00 was not the limit.",
)
COLUMNS = (
    *("mode", "server", "per second", "p50 ms", "p99 ms", "p999 ms", "CPU s per 1M", "KiB per conn."),
    *("server", "generator", "rate ratio", "CPU ratio", "valid"),
)


def compare(row: Row, base: Row) -> None:
    """Put a row beside its baseline."""
    if base.per_second and base.cpu_seconds_per_million:
        row.ratio = row.per_second / base.per_second
        row.cpu_ratio = row.cpu_seconds_per_million / base.cpu_seconds_per_million


def machine(cores: Cores, workers: int) -> str:
    """Where this was measured."""
    system = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return f"arena {__version__}, workers: {workers}, {system}. {cores.told}"


def show(rows: Sequence[Row], cores: Cores, workers: int) -> None:
    """Print the table and what the numbers are worth."""
    table = Table()
    for number, heading in enumerate(COLUMNS):
        table.add_column(heading, justify="left" if number < 2 else "right")
    for row in rows:
        table.add_row(*cells(row), end_section=row.server == "baseline")
    console = Console(width=max(Console().width, 150))
    console.print(table)
    for row in rows:
        console.print(f"{row.mode}, {row.server}: {row.what}; counted are {row.unit}", highlight=False)
        for fault in row.faults:
            console.print(f"  [red]invalid:[/red] {fault}", highlight=False)
    console.print(machine(cores, workers), *NOTES, sep="\n", highlight=False)


def cells(row: Row) -> list[str]:
    """A row as it is shown."""
    return [
        row.mode,
        row.server,
        f"{row.per_second:,.0f}",
        *(f"{value:,.2f}" for value in (row.p50_ms, row.p99_ms, row.p999_ms)),
        f"{row.cpu_seconds_per_million:,.2f}",
        f"{row.kib_per_connection:,.1f}",
        f"{row.server_cpu:.2f}",
        f"{row.generator_cpu:.2f}",
        *("" if ratio is None else f"{ratio:.2f}" for ratio in (row.ratio, row.cpu_ratio)),
        "yes" if row.valid else "NO",
    ]


def as_json(rows: Sequence[Row], cores: Cores, workers: int) -> bytes:
    """Everything that was measured."""
    told = {
        "version": __version__,
        "workers": workers,
        "machine": machine(cores, workers),
        "settings": OFF,
        "notes": NOTES,
        "rows": [asdict(row) for row in rows],
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2)
