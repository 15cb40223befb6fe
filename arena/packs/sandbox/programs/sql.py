"""Ask a SQLite database a question: a request as JSON on stdin, an answer as JSON on stdout."""

import json
import sqlite3
import sys
from typing import Any
from urllib.parse import quote


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _is_harmless(action: int, *_: Any) -> int:
    refused = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
    return sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The rows, up to so many; a database is only read."""
    connection = sqlite3.connect(f"file:{quote(request['path'])}?mode=ro&immutable=1", uri=True)
    connection.set_authorizer(_is_harmless)
    cursor = connection.execute(request["query"], request["parameters"])
    rows = [[_plain(value) for value in row] for row in cursor.fetchmany(request["rows"] + 1)]
    columns = [column[0] for column in cursor.description or ()]
    return {"columns": columns, "rows": rows[: request["rows"]], "truncated": len(rows) > request["rows"]}


def main() -> None:
    """Answer one request."""
    try:
        told = answer(json.load(sys.stdin))
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        told = {"error": f"{type(error).__name__}: {error}"}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
