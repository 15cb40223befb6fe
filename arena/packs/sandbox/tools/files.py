"""Primitives on files: they work on the tree in memory, so nothing of the host can be meant by a path."""

import base64
import binascii
import contextlib
import re
from collections.abc import Iterator
from typing import Any, cast

from arena.packs.patterns import BadPattern, compile_pattern
from arena.packs.sandbox.tools.bench import Bench, Done, ToolFailure
from arena.packs.sandbox.tree import WORKSPACE, Entry, NoFile, Unusable, shown

_LISTED = 1000
_FOUND = 200
_LINE = 500  # bytes shown of a line
_SEARCHED = 8 * 1024 * 1024  # a larger file is not searched
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")


def read_file(bench: Bench, arguments: dict[str, Any]) -> Done:
    """The text of a file, or some lines of it."""
    content = bench.tree.read(arguments["path"])
    first, count = arguments.get("start_line"), arguments.get("lines")
    wanted = content
    if first is not None or count is not None:
        start = (first or 1) - 1
        wanted = b"".join(content.splitlines(keepends=True)[start : None if count is None else start + count])
    limit = bench.limits.output // 2
    answer = {"content": wanted[:limit].decode("utf-8", "replace"), "size": len(content)}
    return Done({**answer, "truncated": True} if len(wanted) > limit else answer)


def write_file(bench: Bench, arguments: dict[str, Any]) -> Done:
    """Write a file; directories on the way are made."""
    content = _bytes(arguments)
    path = arguments["path"]
    if arguments.get("append"):
        with contextlib.suppress(NoFile):  # the first piece makes the file
            content = bench.tree.read(path) + content
    tree = bench.tree.write(path, content, executable=arguments.get("executable"))
    return Done({"path": shown(path), "size": len(content)}, tree.within(bench.limits.room))


def _bytes(arguments: dict[str, Any]) -> bytes:
    text: str = arguments["content"]
    if arguments.get("encoding") != "base64":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ToolFailure("content is no base64", "arguments") from None


def list_files(bench: Bench, arguments: dict[str, Any]) -> Done:
    """What is in a directory."""
    rows = bench.tree.list(arguments.get("path", "."), recursive=bool(arguments.get("recursive")))
    listed = [{"path": shown(row.path), "size": row.size, "is_dir": row.is_dir} for row in rows[:_LISTED]]
    return Done({"entries": listed, "truncated": len(rows) > _LISTED})


def search_files(bench: Bench, arguments: dict[str, Any]) -> Done:
    """Files whose path fits a pattern with wildcards."""
    pattern = compile_pattern(_as_expression(arguments["pattern"]))
    base = bench.tree.find(arguments.get("path", "."))
    prefix = f"{base.path}/" if base.kind == "dir" and base.path else ""
    files = bench.tree.files(arguments.get("path", "."))
    names = [each.path for each in files if pattern.search(shown(each.path.removeprefix(prefix)).encode())]
    return Done(
        {"paths": [shown(f"{WORKSPACE}/{name}") for name in names[:_LISTED]], "truncated": len(names) > _LISTED}
    )


def _as_expression(glob: str) -> str:
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = (wild.get(part) or f"\\Q{part}\\E" for part in _GLOB.findall(glob.replace("\\", "")))
    return f"(?s)(?:^|/){''.join(parts)}$" if "/" not in glob else f"(?s)^{''.join(parts)}$"


def search_text(bench: Bench, arguments: dict[str, Any]) -> Done:
    """Lines of files that a pattern matches; patterns are RE2, so none takes more than linear time."""
    flags = "(?im)" if arguments.get("ignore_case") else "(?m)"
    try:
        pattern = compile_pattern(flags + arguments["pattern"])
    except BadPattern as error:
        raise ToolFailure(f"the pattern cannot be used: {error}", "arguments") from None
    matches: list[dict[str, Any]] = []
    skipped: list[str] = []
    room = bench.limits.output // 2
    for entry in bench.tree.files(arguments.get("path", ".")):
        path = shown(f"{WORKSPACE}/{entry.path}")
        if len(entry.data) > _SEARCHED:
            skipped.append(path)
            continue
        for number, line in _lines(pattern, entry):
            room -= len(line) + len(path)
            if len(matches) == _FOUND or room < 0:
                return Done({"matches": matches, "truncated": True, "skipped": skipped[:20]})
            matches.append({"path": path, "line": number, "text": line})
    return Done({"matches": matches, "truncated": False, "skipped": skipped[:20]})


def _lines(pattern: object, entry: Entry) -> Iterator[tuple[int, str]]:
    """The numbers and texts of the lines where a match begins, each once."""
    data, at, number = entry.data, 0, 1
    search = cast(Any, pattern).search
    while at < len(data):
        found = search(data, at)
        if found is None or found.start() >= len(data):
            return
        start = data.rfind(b"\n", 0, found.start()) + 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += data.count(b"\n", at, start)
        yield number, data[start : min(end, start + _LINE)].decode("utf-8", "replace")
        number += 1
        at = end + 1


TROUBLES = (NoFile, Unusable)
