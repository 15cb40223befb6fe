"""What a grader finds in a work directory: test commands are run, then files and directories are captured."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from arena.packs.blocks import Bundle, Case
from arena.packs.captures import Captures, file_record
from arena.packs.counts import count_tests
from arena.packs.evidence import Entry as Line
from arena.packs.sandbox.choice import way_of
from arena.packs.sandbox.layout import Files, environment, restore
from arena.packs.sandbox.provider import MIB, USUAL, Command, Finished, Sandbox, SandboxError
from arena.packs.sandbox.scrub import scrub
from arena.packs.sandbox.snapshot import Shelf, Snapshot
from arena.packs.sandbox.tree import WORKSPACE, NoFile, Tree, Unusable, shown
from arena.packs.spec.models import PostExecutionCheck, Validator
from arena.packs.spec.normalise import normalise_spec
from arena.packs.templates import BadPlaceholder, context_of, render
from arena.packs.validators.configs import BadConfig, ExecutionConfig

Event = dict[str, Any]
_COUNTED = 4 * MIB  # bytes of output in which test counts are looked for
_LISTED = 10_000


class _Job(NamedTuple):
    """A test command as it will be run, or why it will not be."""

    record: dict[str, Any]
    command: Command | None = None


async def verify(
    bundle: Bundle,
    case: Case,
    sandbox: Sandbox | None,
    snapshot: Snapshot,
    secrets: Mapping[str, str] | None = None,
    files: Files | None = None,
) -> list[Event]:
    """The `grader.verification.*` events of a run: commands first, since they may write what is captured.

    `files` are the contents of assets; those that the pack protects are put back before anything is run.
    """
    spec = normalise_spec(bundle.version.evaluation_spec)
    shelf = Shelf(USUAL.room) if sandbox is None else sandbox.shelf
    try:
        tree = await asyncio.to_thread(shelf.unpack, snapshot)
    except Unusable as error:
        return [_event("code_executed", {**job.record, "execution_error": str(error)}) for job in _jobs(bundle, case)]
    tree = await asyncio.to_thread(restore, bundle, case, tree, files or {})
    events: list[Event] = []
    for job in _jobs(bundle, case):
        record, tree = await _executed(sandbox, tree, job)
        events.append(_event("code_executed", record))
    captured = await asyncio.to_thread(_captured, tree, spec.post_execution_checks)
    return [*scrub(events, secrets or {}), *scrub(captured, secrets or {})]


def _event(kind: str, payload: dict[str, Any]) -> Event:
    return {"type": f"grader.verification.{kind}", "payload": payload}


def _jobs(bundle: Bundle, case: Case) -> Iterator[_Job]:
    spec = normalise_spec(bundle.version.evaluation_spec)
    paths = {check.key: check.path for check in spec.post_execution_checks}
    for validator in spec.validators:
        if validator.type == "code_execution":
            yield _job(bundle, case, validator, paths.get(validator.target.removeprefix("file:"), ""))


def _job(bundle: Bundle, case: Case, validator: Validator, path: str) -> _Job:
    record: dict[str, Any] = {"validator_key": validator.key, "target": validator.target, "target_path": path}
    try:
        config = ExecutionConfig.read(validator.config)
        line = render(config.test_command, context_of(case.payload, case.inputs), strict=True)
    except (BadConfig, BadPlaceholder) as error:
        return _Job({**record, "execution_error": str(error)})
    record = {**record, "test_command": line, "timeout_ms": config.timeout_ms}
    command = replace(
        Command.shell(line),
        env=environment(bundle),
        cwd=_directory(path),
        seconds=config.timeout_ms / 1000,
        output=_COUNTED,
        network=way_of(bundle),
    )
    return _Job(record, command)


def _directory(path: str) -> str:
    """The work directory, unless the target lies elsewhere."""
    above = str(PurePosixPath("/", path).parent)
    inside = not path.startswith("/") or above == WORKSPACE or above.startswith(f"{WORKSPACE}/")
    return WORKSPACE if inside else above


async def _executed(sandbox: Sandbox | None, tree: Tree, job: _Job) -> tuple[dict[str, Any], Tree]:
    if job.command is None:
        return job.record, tree
    if sandbox is None:
        return {**job.record, "execution_error": "there is no sandbox to run the test command in"}, tree
    try:
        done = await sandbox.run(tree, job.command)
    except SandboxError as error:
        return {**job.record, "execution_error": str(error)}, tree
    return {**job.record, **await asyncio.to_thread(_told, done, sandbox.limits.output)}, done.tree


def _told(done: Finished, limit: int) -> dict[str, Any]:
    """How a test command ended; counts are looked for in all that it printed, of which the record keeps less."""
    stdout, stderr = done.stdout.text, done.stderr.text
    record: dict[str, Any] = {"stdout": _cut(stdout, limit), "stderr": _cut(stderr, limit)}
    if done.stopped == "time":
        return {**record, "timed_out": True}
    if done.code is not None:
        record["exit_code"] = done.code
    elif done.stopped:
        record["exit_code"] = 137
        record["stderr"] += f"\n[stopped: the limit of {done.stopped} was reached]"
    counts = count_tests(stdout, stderr)
    if counts is None:
        return record
    numbers = zip(("passed_tests", "failed_tests", "error_tests", "total_tests"), counts, strict=True)
    return {**record, **dict(numbers)}


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def _captured(tree: Tree, checks: list[PostExecutionCheck]) -> list[Event]:
    captures = Captures()
    return [_capture(tree, check, captures) for check in checks]


def _capture(tree: Tree, check: PostExecutionCheck, captures: Captures) -> Event:
    if check.type == "directory_listing":
        return _event("directory_listed", captures.listing(check, _lines(tree, check)).document())
    try:
        content = tree.read(check.path)
    except NoFile:
        return _event("file_captured", file_record(captures.file(check, None)))
    return _event("file_captured", file_record(captures.file(check, content)))


def _lines(tree: Tree, check: PostExecutionCheck) -> list[Line] | None:
    try:
        rows = tree.list(check.path, recursive=check.recursive)
    except NoFile:
        return None
    return [Line(shown(row.path), row.size, row.is_dir) for row in rows[:_LISTED]]
