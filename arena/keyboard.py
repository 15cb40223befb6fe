"""Keyboard: the lines of the standard input, read beside the event loop."""

import asyncio
import sys
import threading
from contextlib import suppress

Lines = asyncio.Queue[str | None]  # what a person types; None when there will be no more


def typed_lines() -> Lines:
    """The lines of the standard input."""
    loop, lines = asyncio.get_running_loop(), Lines()

    def tell(line: str | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody wants to know
            loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        # Unbuffered: a thread that waits in a buffer keeps the interpreter from ending.
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as keyboard:
            for line in keyboard:
                tell(line.decode(errors="replace").rstrip("\r\n"))
            tell(None)

    threading.Thread(target=read, name="keyboard", daemon=True).start()
    return lines
