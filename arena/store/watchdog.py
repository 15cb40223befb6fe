"""A process that ends the store when its owner is gone, for systems where the kernel does not.

The owner holds the other end of our stdin. One byte means that the store was stopped in order and there is
nothing left to do; the end of the file means that the owner died. Runs as a plain file and imports nothing of the
arena, so that waiting costs as little as a Python can.
"""

import contextlib
import os
import signal
import sys


def watch(pid: int) -> None:
    """Wait for the owner's word or its end, and terminate the store after the latter."""
    if os.read(sys.stdin.fileno(), 1):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    watch(int(sys.argv[1]))
