"""The benchmarks: they run, and notice what must not happen to a message."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.circle import Circle, Member, read_plain, text_of
from benchmarks.gauge import Gauge
from benchmarks.peer import TEXT
from benchmarks.servers import ROOT


def frame(text: bytes) -> bytes:
    """A frame as a server sends it."""
    return bytes((TEXT, 126)) + len(text).to_bytes(2, "big") + text


def heard(*numbers: int, change: bytes = b"") -> Gauge:
    """What a gauge says when one member of two hears these messages and the other all three."""
    circle = Circle(gauge := Gauge(), read_plain, bytes)
    circle.sent_at = [0.0, 0.0, 0.0]
    first, second = (Member("/", 0, circle) for _ in range(2))
    first.take(b"".join(frame(text_of(number)) for number in range(3)))
    for number in numbers:
        second.take(frame(text_of(number) + change))
    if not circle.settled:
        gauge.fault("some messages never came")
    return gauge


async def test_a_message_that_is_lost_doubled_changed_or_out_of_order_makes_a_row_invalid() -> None:
    assert heard(0, 1, 2).faults == []
    assert heard(0, 2).faults
    assert heard(0, 1, 1, 2).faults
    assert heard(1, 0, 2).faults
    assert heard(0, 1).faults
    assert heard(0, 1, 2, change=b"!").faults


@pytest.mark.parametrize("mode", ["dead-reader", "actions", "rest-games"])
def test_a_short_run_is_valid_and_says_what_it_found(mode: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    options = ["--seconds", "0.4", "--subscribers", "20", "--json", str(file)]

    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", mode, *options], cwd=ROOT, capture_output=True, timeout=200, check=False
    )

    assert ran.returncode == 0, ran.stdout.decode() + ran.stderr.decode()
    rows: list[dict[str, Any]] = orjson.loads(file.read_bytes())["rows"]
    assert [row["server"] for row in rows] == ["arena", "baseline"]
    assert all(row["mode"] == mode and row["valid"] and row["per_second"] > 0 for row in rows)
