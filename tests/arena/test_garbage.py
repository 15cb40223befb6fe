"""Python's search for garbage: none of it while a command begins or ends, and little while a server runs."""

import subprocess
import sys

import pytest

BEGUN = """
import gc
from arena import garbage
before = gc.get_stats()
garbage.begin()
import arena.server
print(gc.get_stats()[2]["collections"] - before[2]["collections"])
"""
ENDED = """
import atexit, gc
from arena import garbage
atexit.register(lambda: print(gc.get_freeze_count() > 10_000))
garbage.begin()
"""
SERVING = """
import gc
from arena import garbage
garbage.settle()
print(len(gc.get_objects()) < 1_000, gc.get_threshold()[0] >= 10_000)
"""


@pytest.mark.parametrize(("code", "told"), [(BEGUN, "0"), (ENDED, "True"), (SERVING, "True True")])
def test_what_stays_as_long_as_the_process_is_not_searched(code: str, told: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == told
