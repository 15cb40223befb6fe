"""Primitives on data: JSON is looked into here, a database only inside the sandbox."""

import json
from typing import Any

from arena.packs.json_path import BadPath, follow
from arena.packs.sandbox.programs import text as program
from arena.packs.sandbox.provider import Command, Finished
from arena.packs.sandbox.tools.bench import Bench, Done, ToolFailure
from arena.packs.sandbox.tree import WORKSPACE
from arena.packs.values import NotJson, parse_json

_JSON = 4 * 1024 * 1024
_ROWS = 500


def query_json(bench: Bench, arguments: dict[str, Any]) -> Done:
    """The value at a path in a JSON file."""
    content = bench.tree.read(arguments["path"])
    if len(content) > _JSON:
        raise ToolFailure(f"the file is larger than {_JSON} bytes")
    try:
        found = follow(arguments["query"], parse_json(content.decode("utf-8", "replace")))
    except NotJson as error:
        raise ToolFailure(f"the file is not JSON: {error}") from None
    except BadPath as error:
        raise ToolFailure(f"the query cannot be used: {error}", "arguments") from None
    return Done({"exists": found.exists, "value": found.value if found.exists else None})


async def query_sql(bench: Bench, arguments: dict[str, Any]) -> Done:
    """The rows that a question to a SQLite file gives."""
    entry = bench.tree.find(arguments["path"])
    if entry.kind != "file":
        raise ToolFailure("the path is a directory")
    request = {
        "path": f"{WORKSPACE}/{entry.path}",
        "query": arguments["query"],
        "parameters": arguments.get("parameters", []),
        "rows": _ROWS,
    }
    return Done(await ask(bench, "sql", request))


async def ask(bench: Bench, name: str, request: dict[str, Any], **options: Any) -> Any:
    """What a program of ours answers from inside the sandbox."""
    python = "python3" if bench.sandbox is None else bench.sandbox.python
    argv = (python, "-I", "-S", "-c", program(name))
    done = await bench.run(Command(argv, stdin=json.dumps(request).encode(), **options))
    return _read(done)


def _read(done: Finished) -> Any:
    if done.stopped:
        raise ToolFailure(f"stopped: the limit of {done.stopped} was reached", "limit")
    if done.stdout.missing:
        raise ToolFailure("the answer is too long; ask for less", "limit")
    try:
        answer = json.loads(done.stdout.text)
    except ValueError:
        reason = done.stderr.text.strip().rpartition("\n")[2]
        raise ToolFailure(f"failed: {reason[:300] or done.code}", "sandbox") from None
    if "error" in answer:
        raise ToolFailure(answer["error"])
    return answer
