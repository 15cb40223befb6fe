"""Programs of ours that run inside a sandbox; each is read as text and needs the standard library alone."""

from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The source of a program."""
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
