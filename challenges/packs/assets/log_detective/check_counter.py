"""Whether counter.py counts right; run with the customer in CUSTOMER."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

LOG = Path(os.environ.get("LOG_DIR", "/workspace/logs")) / "day.log"
CUSTOMER = os.environ.get("CUSTOMER", "tern-books")


def count(log: Path, customer: str) -> str:
    command = [sys.executable, "/workspace/counter.py", str(log), customer]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()


def test_requests_of_a_customer_are_counted() -> None:
    lines = LOG.read_text(encoding="utf-8").splitlines()

    assert count(LOG, CUSTOMER) == str(sum(line.split()[1] == CUSTOMER for line in lines))


def test_somebody_who_never_came_has_none() -> None:
    assert count(LOG, "nobody") == "0"


def test_a_name_inside_another_name_is_not_counted() -> None:
    with TemporaryDirectory() as directory:
        log = Path(directory, "day.log")
        log.write_text("2025-03-04T13:00:00Z tern-books-two /orders ms=12\n", encoding="utf-8")

        assert count(log, "tern-books") == "0"


def outcome(name: str) -> str:
    try:
        globals()[name]()
    except (AssertionError, subprocess.SubprocessError):
        return "failed"
    return "passed"


if __name__ == "__main__":
    found = Counter(outcome(name) for name in list(globals()) if name.startswith("test_"))
    sys.stdout.write(", ".join(f"{number} {word}" for word, number in found.items()) + "\n")
