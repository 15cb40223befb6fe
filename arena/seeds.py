"""Seeds: `arena seed check`, for whoever wants to know whether a deal was chosen."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic import ValidationError

from arena import catalog, deals
from arena.errors import CannotStart
from arena.models import Challenge, complaint
from arena.terminal import Screen, harmless


def check(source: BinaryIO | Path, commitment: str | None, modules: Iterable[str]) -> int:
    """Check all sessions in a file and print what was found; the exit code says whether all is right."""
    known, screen, right = catalog.load(modules), Screen(), True
    for shown in _sessions(_loaded(source)):
        screen.print(f"{harmless(shown.challenge_type, 64)} {harmless(shown.id, 64)}")
        for finding in deals.check(shown, known, commitment):
            right &= finding.is_right
            screen.print(
                f"  {'right' if finding.is_right else 'WRONG'}: {harmless(finding.words, 400)}", soft_wrap=True
            )
    return 0 if right else 1


def _loaded(source: BinaryIO | Path) -> Any:
    try:
        return orjson.loads(source.read_bytes() if isinstance(source, Path) else source.read())
    except OSError as error:
        raise CannotStart(f"{source} cannot be read: {error.strerror}.") from None
    except orjson.JSONDecodeError:
        raise CannotStart("This is no JSON.") from None


def _sessions(found: Any) -> Iterator[Challenge]:
    listed = found.get("challenges", [found]) if isinstance(found, dict) else found
    if not isinstance(listed, list) or not listed:
        raise CannotStart("There is no session in it.")
    for each in listed:
        try:
            yield Challenge.from_json(orjson.dumps(each))
        except ValidationError as error:
            raise CannotStart(f"This is no session: {complaint(error)}") from None
