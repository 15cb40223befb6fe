"""Which input set a run gets: the one that was asked for, or the only one there is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from arena.packs.errors import PackError

Id = TypeVar("Id", bound=str)
NAMES = ("challenge_input_set_id", "input_set_id")


class BadInputSet(PackError):
    """A run that names no input set of its pack version, or names none where it must."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def wanted_input_set(request: Mapping[str, Any]) -> str | None:
    """The input set that a request names, under either of its names."""
    return next((str(request[name]) for name in NAMES if request.get(name)), None)


def choose_input_set(available: Sequence[Id], wanted: str | None, known: Iterable[str] | None = None) -> Id | None:
    """The input set of a run; `known` are those of all versions, to tell a stranger from one of another version."""
    if wanted is not None:
        found = next((each for each in available if each == wanted), None)
        if found is None:
            raise BadInputSet("invalid_challenge_input_set_id", _stranger(wanted, known or ()))
        return found
    if len(available) > 1:
        raise BadInputSet("missing_challenge_input_set_id", "This pack version has several input sets: name one.")
    return available[0] if available else None


def _stranger(wanted: str, known: Iterable[str]) -> str:
    if wanted in known:
        return f"Input set {wanted} belongs to another pack version."
    return f"There is no input set {wanted}."
