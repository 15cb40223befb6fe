"""Envelope: how a model gets to read what others wrote, so that no text can pass for something that it is not."""

import json
import secrets
import unicodedata
from collections.abc import Iterable, Mapping

from arena.trust import NOTICE

_KEPT = "\n\t"
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})  # what a reader does not see, and a model reads


class Envelope:
    """A fence that nobody can write: it is drawn for one game, and is taken out of everything inside it."""

    def __init__(self, fence: str | None = None) -> None:
        self.fence = fence or secrets.token_hex(8)

    def clean(self, text: str, most: int) -> str:
        """A text without fences and invisible characters, cut at so many characters."""
        cut = text[:most]
        shown = "".join(c for c in cut if c in _KEPT or unicodedata.category(c) not in _INVISIBLE)
        while self.fence in shown:
            shown = shown.replace(self.fence, "")
        return shown if len(text) <= most else f"{shown} […{len(text) - most} more characters]"

    def line(self, told: Mapping[str, object], text: str, most: int) -> str:
        """A message on one line: whatever is in it, it can neither end the line nor begin another."""
        return json.dumps({**told, "text": self.clean(text, most)}, ensure_ascii=False)

    def seal(self, lines: Iterable[str]) -> str:
        """Lines that are not to be trusted, between fences."""
        return "\n".join([f"<untrusted-{self.fence}> {NOTICE}", *lines, f"</untrusted-{self.fence}>"])
