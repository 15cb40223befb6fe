"""Logbooks for tests: what a server in this process writes to its log, set up as it would be on its own."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Literal

from arena.logs import OURS, set_up_logging


@contextmanager
def written(level: str, format: Literal["console", "json"] = "console") -> Iterator[io.StringIO]:
    """Log as a server does, into a text."""
    text, root = io.StringIO(), logging.getLogger()
    loggers = [root, *map(logging.getLogger, OURS)]
    before = [(logger, logger.level) for logger in loggers]
    handlers = root.handlers[:]
    root.handlers.clear()  # so that they are not closed
    with redirect_stderr(text):
        set_up_logging(level, format)
    try:
        yield text
    finally:
        root.handlers[:] = handlers
        for logger, was in before:
            logger.setLevel(was)
