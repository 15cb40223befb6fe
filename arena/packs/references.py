"""Evidence references: the small language in which a spec says where a value comes from."""

import re

from arena.packs.text import is_blank, trim

UNSUPPORTED = (
    "must be a supported evidence reference, such as final_output, case.payload, case.inputs.<key>, "
    "case.expectations.<key>, file:<check key> or literal:<text>"
)
_PLAIN = frozenset(
    {
        "final_output",
        "run.final_output",
        "challenge_input",
        "case.payload",
        "transcript.full",
        "transcript.from_mismatch",
        "turn.expectations",
    }
)
_DOTTED = ("case.payload.", "case.inputs.", "case.expectations.", "artifact.")
_INTEGER = re.compile(r"[+-]?[0-9]+")


def is_supported(reference: str) -> bool:
    """Whether a text is an evidence reference at all."""
    if reference in _PLAIN or reference.startswith("literal:"):
        return True
    if reference.startswith("file:"):
        return not is_blank(reference.removeprefix("file:"))
    if reference.startswith("transcript.last_n:"):
        return last_turns(reference) > 0
    prefix = next((prefix for prefix in _DOTTED if reference.startswith(prefix)), None)
    return prefix is not None and not any(map(is_blank, reference.removeprefix(prefix).split(".")))


def last_turns(reference: str) -> int:
    """How many turns `transcript.last_n:<N>` asks for; 0 if that is no number."""
    count = read_integer(trim(reference.removeprefix("transcript.last_n:")))
    return count if count is not None and count > 0 else 0


def read_integer(text: str) -> int | None:
    """A decimal integer with an optional sign, or nothing."""
    return int(text) if len(text) < 20 and _INTEGER.fullmatch(text) else None
