"""Journal: everything that a model was asked and answered, and what came of it, as lines of JSON.

It has neither keys nor invites: what is secret is taken out of every line, wherever it may have come from. Messages are
written once, with a number; a question lists the numbers of all messages in it.
"""

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from arena.errors import CannotStart
from arena.llm.talk import Message

HIDDEN = "[hidden]"
_SHORTEST = 6  # characters of a secret; anything would be found in the shorter ones


class Journal:
    """A file, or nothing at all."""

    def __init__(self, file: TextIO | None = None, secrets: Iterable[str] = ()) -> None:
        self._file = file
        self._secrets: list[str] = []
        self._written: list[Message] = []
        self.hide(secrets)

    def hide(self, secrets: Iterable[str]) -> None:
        """Let these appear in no line from now on."""
        found = {json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets if len(secret) >= _SHORTEST}
        self._secrets = sorted({*self._secrets, *found}, key=len, reverse=True)

    def note(self, kind: str, **fields: Any) -> None:
        """Write a line."""
        if self._file is None:
            return
        told = {"at": round(time.time() * 1000), "kind": kind, **fields}
        line = json.dumps(told, ensure_ascii=False, default=str)
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        self._file.write(line.encode(errors="replace").decode() + "\n")
        self._file.flush()

    def question(self, messages: Sequence[Message], **fields: Any) -> None:
        """Write a question."""
        numbers = [self._number(message) for message in messages]
        self.note("question", messages=numbers, **fields)

    def _number(self, message: Message) -> int:
        for number, known in enumerate(self._written):
            if known is message:
                return number
        self._written.append(message)
        number, calls = len(self._written) - 1, [call._asdict() for call in message.calls]
        told: dict[str, Any] = {"role": message.role, "text": message.text}
        told |= {"calls": calls} if calls else {}
        told |= {"callId": message.call_id} if message.call_id else {}
        self.note("message", number=number, **told)
        return number

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            self._file.close()


def open_journal(path: Path | None) -> Journal:
    """A journal in a new file that only its owner may read."""
    if path is None:
        return Journal()
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CannotStart(f"{path} exists already; a transcript goes to a new file.") from None
    except OSError as error:
        raise CannotStart(f"{path} cannot be written: {error.strerror}.") from None
    return Journal(os.fdopen(made, "w", encoding="utf-8"))
