"""Files that people name: read and written whole, and what cannot be is told in words."""

import sys
from pathlib import Path

from arena.errors import CannotStart


def read(path: Path) -> bytes:
    """What is in a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None


def write(path: Path | None, content: bytes) -> None:
    """Write a file, or without one to the output."""
    if path is None:
        sys.stdout.buffer.write(content)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CannotStart(f"{path} cannot be written: {error.strerror}.") from None


def make_folder(path: Path) -> Path:
    """A folder that is there from now on."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(f"The folder {path} cannot be made: {error.strerror}.") from None
    return path
