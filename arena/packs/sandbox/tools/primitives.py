"""The primitives: what each is called, what it takes and does, and who carries it out."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from arena.packs.sandbox.tools import commands, data, files
from arena.packs.sandbox.tools.bench import Bench, Done

Quick = Callable[[Bench, dict[str, Any]], Done]
Slow = Callable[[Bench, dict[str, Any]], Awaitable[Done]]

_PATH = {"type": "string", "minLength": 1, "description": "Below /workspace; absolute, or relative to it."}
_WHERE = {**_PATH, "default": "."}
_SECONDS = {"type": "number", "exclusiveMinimum": 0, "description": "Time limit, up to what the server permits."}


class Primitive(NamedTuple):
    """One primitive; `quick` ones are done in a thread, `slow` ones in the sandbox."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    quick: Quick | None = None
    slow: Slow | None = None

    def offer(self) -> dict[str, Any]:
        """The primitive as agents are told of it."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _submit(_bench: Bench, arguments: dict[str, Any]) -> Done:
    return Done("submitted", submitted=arguments["output"])


_ALL = (
    Primitive(
        "submit",
        "Hand in the final answer; the run is over then.",
        _object(("output",), output={"type": "string", "description": "The answer."}),
        quick=_submit,
    ),
    Primitive(
        "read_file",
        "Read a file, or some of its lines.",
        _object(
            ("path",),
            path=_PATH,
            start_line={"type": "integer", "minimum": 1, "description": "The first line, from 1."},
            lines={"type": "integer", "minimum": 1, "description": "How many lines."},
        ),
        quick=files.read_file,
    ),
    Primitive(
        "write_file",
        "Write a file; directories on the way are made.",
        _object(
            ("path", "content"),
            path=_PATH,
            content={"type": "string"},
            encoding={"enum": ["utf-8", "base64"], "description": "How content is written here; utf-8 if unset."},
            append={"type": "boolean", "description": "Add to the end instead."},
            executable={"type": "boolean", "description": "Whether the file can be run."},
        ),
        quick=files.write_file,
    ),
    Primitive(
        "list_files",
        "List a directory.",
        _object(path=_WHERE, recursive={"type": "boolean", "description": "With everything below it."}),
        quick=files.list_files,
    ),
    Primitive(
        "search_files",
        "Find files by name: * and ? stand for characters of a name, ** for directories as well.",
        _object(("pattern",), pattern={"type": "string", "minLength": 1, "maxLength": 1000}, path=_WHERE),
        quick=files.search_files,
    ),
    Primitive(
        "search_text",
        "Find lines that match a regular expression (RE2).",
        _object(
            ("pattern",),
            pattern={"type": "string", "minLength": 1, "maxLength": 1000},
            path=_WHERE,
            ignore_case={"type": "boolean"},
        ),
        quick=files.search_text,
    ),
    Primitive(
        "query_json",
        "Look up a value in a JSON file by a path such as $.orders[0].id.",
        _object(("path", "query"), path=_PATH, query={"type": "string", "maxLength": 1000}),
        quick=data.query_json,
    ),
    Primitive(
        "query_sql",
        "Ask a SQLite database; it is only read.",
        _object(
            ("path", "query"),
            path=_PATH,
            query={"type": "string", "minLength": 1},
            parameters={"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}},
        ),
        slow=data.query_sql,
    ),
    Primitive(
        "http_request",
        "Send an HTTP request. Redirects are told and not followed.",
        _object(
            ("url",),
            url={"type": "string", "minLength": 1, "maxLength": 8000},
            method={"type": "string", "description": "GET if unset."},
            headers={"type": "object", "additionalProperties": {"type": "string"}},
            body={"type": "string"},
            timeout_seconds=_SECONDS,
        ),
        slow=commands.http_request,
    ),
    Primitive(
        "run_tests",
        "Run the tests of the work directory.",
        _object(path={**_PATH, "description": "Tests to run instead of all."}, timeout_seconds=_SECONDS),
        slow=commands.run_tests,
    ),
    Primitive(
        "build",
        "Build the work directory.",
        _object(target={"type": "string", "pattern": "^[A-Za-z0-9_./][A-Za-z0-9_./-]*$"}, timeout_seconds=_SECONDS),
        slow=commands.build,
    ),
    Primitive(
        "exec",
        "Run a shell command in /workspace. What it leaves running in the background ends with it.",
        _object(("command",), command={"type": "string", "minLength": 1}, timeout_seconds=_SECONDS),
        slow=commands.execute,
    ),
)
PRIMITIVES = {primitive.name: primitive for primitive in _ALL}
