"""A toolbox whose work directory is a JSON object."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from arena.packs.blocks import Bundle, Case
from arena.packs.captures import Captures, file_record
from arena.packs.composed import may_use
from arena.packs.operator.seams import Event, Outcome


class Drawer:
    """A toolbox without processes: files in an object, `read_file` and `write_file`, and nothing else."""

    def refuses(self, bundle: Bundle) -> str:
        return ""

    async def open(self, bundle: Bundle, case: Case, files: Mapping[str, bytes]) -> bytes:
        placed = {each.path: files[each.artifact_key].decode() for each in case.inputs if each.artifact_key in files}
        return json.dumps(placed).encode()

    async def call(
        self,
        bundle: Bundle,
        case: Case,
        snapshot: bytes,
        name: str,
        arguments: Mapping[str, Any],
        secrets: Mapping[str, str],
    ) -> Outcome:
        files: dict[str, str] = json.loads(snapshot)
        if not may_use(name, bundle.version.tool_policy):
            told = {"content": "tool is not allowed in this runtime", "is_error": True}
            return Outcome(told, [_call("failed", name, arguments, told, failure_origin="policy")], snapshot)
        path = str(arguments.get("path", "")).removeprefix("/workspace/")
        if name == "write_file":
            files[path] = arguments["content"]
        found = files.get(path)
        told = {"content": "no such file", "is_error": True} if found is None else {"content": found}
        kind = "failed" if found is None else "completed"
        return Outcome(told, [_call(kind, name, arguments, told)], json.dumps(files).encode())

    async def upload(self, snapshot: bytes, path: str, content: bytes) -> bytes:
        if path.startswith("/etc"):
            raise ValueError("there is no place for it")
        return json.dumps({**json.loads(snapshot), path: content.decode()}).encode()

    async def verify(
        self, bundle: Bundle, case: Case, snapshot: bytes, files: Mapping[str, bytes], secrets: Mapping[str, str]
    ) -> Sequence[Event]:
        left: dict[str, str] = json.loads(snapshot)
        captures, found = Captures(), []
        for check in bundle.version.evaluation_spec.post_execution_checks:
            if check.type == "file_capture":
                text = left.get(check.path.removeprefix("/workspace/"))
                record = file_record(captures.file(check, None if text is None else text.encode()))
                found.append({"type": "grader.verification.file_captured", "payload": record})
        return found


def _call(kind: str, name: str, arguments: Mapping[str, Any], result: Mapping[str, Any], **more: Any) -> Event:
    payload = {"tool_name": name, "arguments": dict(arguments), "result": dict(result), **more}
    return {"type": f"tool.call.{kind}", "payload": payload}
