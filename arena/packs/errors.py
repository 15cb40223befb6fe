"""What can be wrong with a challenge pack.

PackError           anything wrong with what an author wrote
├── DecodeError     stops at once: no YAML, a wrong type, a duplicate key, an unknown key in the evaluation spec
└── InvalidPack     everything that validation found, each with the path of its field
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from arena.errors import Invalid


class FieldError(NamedTuple):
    """What is wrong with one field: `challenges[0].key`, and what is asked of it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path} {self.message}"


class PackError(Invalid):
    """A pack, or a part of one, that cannot be used."""


class DecodeError(PackError):
    """A text that does not have the shape of a pack, with the line and the path where that shows, if known."""

    def __init__(self, message: str, line: int | None = None, path: tuple[str | int, ...] = ()) -> None:
        where = "" if line is None else f"line {line}: "
        super().__init__(f"{where}{shown(path)} {message}" if path else f"{where}{message}")
        self.reason = message
        self.line = line
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return DecodeError, (self.reason, self.line, self.path)

    def under(self, part: str | int) -> "DecodeError":
        """The same error, seen from one level further up."""
        return DecodeError(self.reason, self.line, (part, *self.path))


def shown(path: Iterable[str | int]) -> str:
    """A path as people write it: `challenges[0].key`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


class InvalidPack(PackError):
    """A pack of the right shape that breaks rules; all that it breaks are listed."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(str(error) for error in self.errors))

    def __reduce__(self) -> tuple[Any, ...]:
        return InvalidPack, (self.errors,)
