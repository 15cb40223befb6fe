"""Logs: one line per fact on standard error, for people or for programs, with the request it was written for."""

import logging
import re
import time
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, TextIO

import orjson

from arena.chat import new_tag
from arena.errors import trace

REQUEST: ContextVar[str] = ContextVar("request", default="")  # the id of what is being served
# Neither an invite nor a session key can pass for an id: those have an underscore.
_WELL_FORMED = re.compile(r"[A-Za-z0-9.:=/+-]{1,64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_QUOTE = re.compile(r"[\n(<]")  # where the event loop begins to show what it was working on
OURS = ("arena", "challenges", "scoring_strategies")

Exc = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def request_id(wish: str | None) -> str:
    """The id of a request: the one that it came with if that is well-formed, else a new one."""
    return wish if wish is not None and _WELL_FORMED.fullmatch(wish) else new_tag()


class Stamp(logging.Filter):
    """Notes on every record for which request it was written, and cuts off what the event loop quotes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let it pass, with its request."""
        record.request = REQUEST.get()
        if record.name == "asyncio":
            record.msg, record.args = _QUOTE.split(record.getMessage())[0].strip(), None
        return True


class Console(logging.Formatter):
    """A line for people. Of an error it tells where, not the text: that may quote a secret."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, which stays one whatever is in it."""
        line = _CONTROL.sub(" ", super().format(record))
        request = getattr(record, "request", "")
        return f"{line} request={request}" if request else line

    def formatException(self, ei: Exc) -> str:  # noqa: N802
        """Where it came from."""
        return "" if ei[1] is None else trace(ei[1])


class Json(Console):
    """A line for programs: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().encode(errors="backslashreplace").decode(),
            "request": getattr(record, "request", "") or None,
            "error": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return orjson.dumps({name: value for name, value in told.items() if value is not None}).decode()

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """The moment in UTC, as RFC 3339 writes it."""
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"


class Lines(logging.StreamHandler[TextIO]):
    """Writes lines to standard error. One that cannot be written is not shown in pieces, as Python would."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Say that a line is missing."""
        with suppress(Exception):
            self.stream.write(f"a line of log is missing logger={record.name}\n")


def set_up_logging(level: str, format: Literal["console", "json"] = "console") -> None:
    """Write our lines to standard error, and of libraries only warnings: their chatter tells frames and queries."""
    handler = Lines()
    handler.addFilter(Stamp())
    handler.setFormatter(Json() if format == "json" else Console("%(asctime)s %(levelname)-7s %(name)s %(message)s"))
    wanted = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(wanted, logging.WARNING), handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(wanted)
