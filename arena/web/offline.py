"""One file that plays a game: the page's own modules and styles, and a record of the game, with no server behind it.

The modules travel as data: addresses in an import map. The file says by its own policy that nothing but what it brings
may run, and that it asks nobody for anything.
"""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath

from arena.archived import GameLine, Line
from arena.web.pages import static_files

ENTRY = "offline.js"
STYLES = ("tokens.css", "base.css", "session.css")
_IMPORT = re.compile(r'^(import (?:[^"\n;]+ from )?)"(\.[^"\n]+)";$', re.MULTILINE)

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{styles}</style>
<script type="importmap">{modules}</script>
</head>
<body data-view="session">
<main id="main"><noscript>This file plays a game, and needs JavaScript for it.</noscript></main>
<script type="application/x-ndjson" id="record">
{record}</script>
<script type="module">{start}</script>
</body>
</html>
"""
START = f'import "arena/{ENTRY}";'


def render(lines: list[Line]) -> str:
    """A record as a page of its own."""
    name = next(line.challenge.name for line in lines if isinstance(line, GameLine))
    styles, modules = _parts(static_files())
    return PAGE.format(
        policy=_policy(styles, modules),
        title=html.escape(f"{name} · replay · Arena"),
        styles=styles,
        modules=modules,
        record=ndjson(lines).replace("<", "\\u003c"),  # in JSON a < stands in a text, where it may be written so
        start=START,
    )


def ndjson(lines: list[Line]) -> str:
    """A record as lines of JSON."""
    return "".join(f"{line.to_json().decode()}\n" for line in lines)


@cache
def _parts(static: Path) -> tuple[str, str]:
    """The styles, and the import map with everything that the entry needs."""
    styles = "\n".join((static / "styles" / name).read_text() for name in STYLES)
    found = {f"arena/{name}": _address(source) for name, source in _modules(static, ENTRY, set())}
    return styles, json.dumps({"imports": found}, separators=(",", ":"))


def _modules(static: Path, name: str, known: set[str]) -> Iterator[tuple[str, str]]:
    """A module and all that it imports, each once, with names that the import map knows."""
    known.add(name)
    folder = PurePosixPath(name).parent
    source = (static / name).read_text()
    for _, path in _IMPORT.findall(source):
        needed = _resolve(folder, path)
        if needed not in known:
            yield from _modules(static, needed, known)
    yield name, _IMPORT.sub(lambda found: f'{found[1]}"arena/{_resolve(folder, found[2])}";', source)


def _resolve(folder: PurePosixPath, path: str) -> str:
    parts: list[str] = []
    for part in (folder / path).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _address(source: str) -> str:
    return f"data:text/javascript;base64,{b64encode(source.encode()).decode()}"


def _policy(styles: str, modules: str) -> str:
    scripts = " ".join(map(_hash, (modules, START)))
    loaded = f"default-src 'none'; script-src {scripts} data:; style-src {_hash(styles)}"
    return f"{loaded}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
