"""Scaffold: `arena challenge new`, a folder with a challenge that works and wants to be changed."""

import keyword
import re
from pathlib import Path

from arena.errors import CannotStart

TEMPLATE = Path(__file__).with_name("template")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40


def make(name: str, folder: Path) -> Path:
    """Write the files of a new challenge; nothing that is there is touched."""
    package = name.replace("-", "_")
    if not NAME.fullmatch(name) or len(name) > LONGEST or keyword.iskeyword(package):
        raise CannotStart(f"{name[:60]!r} is no name: use lower case, digits and dashes, for example secret-digit.")
    place = folder / package
    filled = {"name": _camel(name), "package": package, "title": name.replace("-", " ").capitalize()}
    try:
        place.mkdir(parents=True)
        (place / "__init__.py").write_text("", encoding="utf-8")
        for file, into in _files(package).items():
            (place / into).write_text(_fill((TEMPLATE / file).read_text(encoding="utf-8"), filled), encoding="utf-8")
    except FileExistsError:
        raise CannotStart(f"{place} is there already.") from None
    except OSError as error:
        raise CannotStart(f"{place} cannot be written: {error.strerror}.") from None
    return place


def _files(package: str) -> dict[str, str]:
    return {
        "rules.py.txt": "rules.py",
        "bots.py.txt": "bots.py",
        "challenge.yaml.txt": "challenge.yaml",
        "test.py.txt": f"test_{package}.py",
    }


def _fill(text: str, filled: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], text)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def advice(name: str, place: Path) -> str:
    """What to do with it."""
    package = place.name
    return (
        f"{place} holds a challenge that works: rules.py, challenge.yaml, bots.py and test_{package}.py.\n"
        f"In {place.parent.resolve()}:\n"
        f"  python -m pytest {package}\n"
        f"  arena challenge test {name}\n"
        f"  arena demo --load {package}.rules --challenge {name}\n"
        f"  arena serve --load {package}.rules"
    )
