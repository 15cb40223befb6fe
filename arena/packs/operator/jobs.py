"""Jobs of packs: tools, graders, judges and the evaluation itself, on any worker and outside of the game."""

import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import orjson
from pydantic import JsonValue

from arena.llm.talk import Unanswered
from arena.operator import JobFailed
from arena.packs.blocks import Case, plain
from arena.packs.captures import Captures, file_record
from arena.packs.evaluate import checked_spec
from arena.packs.events import collect_evidence
from arena.packs.evidence import Evidence, case_evidence
from arena.packs.operator.pack import Pack
from arena.packs.operator.seams import Event, Fetch, Outcome, Toolbox
from arena.packs.simulated_user import simulate_user
from arena.packs.spec import EvaluationSpec
from arena.workbench import Workbench

SHOWN = 16 * 1024  # characters of an output that voters are shown
Task = dict[str, Any]


@dataclass(frozen=True)
class Desk:
    """A job's place: the pack, what it may use, and what it is about."""

    pack: Pack
    bench: Workbench
    task: Task
    fetch: Fetch | None = None

    @property
    def case(self) -> Case:
        """The case that the job is about."""
        return self.pack.cases[self.task["case"]]

    @property
    def toolbox(self) -> Toolbox | None:
        """What runs tools here."""
        return cast(Toolbox | None, self.bench.sandbox)

    # The run

    async def events(self, seat: int, graded: str) -> list[Event]:
        """The events of a run: what was noted while it ran, and what graders found after it."""
        notes = [line["event"] for line in await self.notes(seat) if "event" in line]
        return [*notes, *await self.kept(graded)]

    async def notes(self, seat: int) -> list[dict[str, Any]]:
        """What was noted about a run."""
        return [line for line in await self.bench.notes(seat) if line.get("case") == self.task["case"]]

    async def evidence(self, seat: int, graded: str) -> Evidence:
        """What the events of a run show."""
        assets = plain(self.pack.bundle.version.assets)
        facts = case_evidence(self.case.document(), assets)
        return await self.bench.isolate.run(collect_evidence, await self.events(seat, graded), [facts])

    async def spec(self) -> EvaluationSpec:
        """The spec of the pack, ready for use."""
        return await self.bench.isolate.run(checked_spec, self.pack.bundle.version.evaluation_spec)

    # Blobs

    async def keep(self, kind: str, data: bytes) -> str:
        """Keep bytes of this run under a name that tells their content, so that nobody overwrites another's."""
        name = f"{kind}/{self.task.get('seat', 'all')}/{self.task['case']}/{hashlib.sha256(data).hexdigest()[:32]}"
        await self.bench.blobs.put(name, data)
        return name

    async def kept(self, name: str) -> Any:
        """JSON that was kept; a list without anything for no name."""
        if not name:
            return []
        data = await self.bench.blobs.get(name)
        if data is None:
            raise JobFailed("what was kept of this run is gone")
        return orjson.loads(data)

    # Work directories

    async def snapshot(self) -> bytes:
        """The work directory of the run, as it was left or as the case begins with."""
        if self.toolbox is None:
            raise JobFailed("this server has no sandbox")
        if self.task["snapshot"]:
            found = await self.bench.blobs.get(self.task["snapshot"])
            if found is None:
                raise JobFailed("the work directory is gone")
            return found
        return await self.toolbox.open(self.pack.bundle, self.case, await self.files())

    async def files(self) -> dict[str, bytes]:
        """The assets of the pack that the case may need, as far as they were uploaded."""
        found = {}
        if self.fetch is not None:
            for asset in (*self.pack.bundle.version.assets, *self.case.assets):
                data = await self.fetch(self.pack.bundle.version.number, asset.key)
                if data is not None:
                    found[asset.key] = data
        return found

    async def leave(self, snapshot: bytes) -> str:
        """Keep a work directory, and forget the one that nobody goes back to."""
        name = await self.keep("work", snapshot) if snapshot else ""
        if self.task.get("stale") and self.task["stale"] not in {name, self.task["snapshot"]}:
            await self.bench.blobs.drop(self.task["stale"])
        return name


async def tool(desk: Desk) -> JsonValue:
    """Call a tool in the work directory of a run."""
    name, arguments = desk.task["name"], desk.task["arguments"]
    if desk.toolbox is None:
        told = {"content": "tool is not available in this runtime", "is_error": True}
        failed = {"tool_name": name, "arguments": arguments, "failure_origin": "policy", "result": told}
        outcome = Outcome(told, [{"type": "tool.call.failed", "payload": failed}], b"")
    else:
        before = await desk.snapshot()
        outcome = await desk.toolbox.call(desk.pack.bundle, desk.case, before, name, arguments, desk.bench.secrets)
    kept = await desk.leave(outcome.snapshot)
    return {
        "name": name,
        "result": outcome.result,
        "events": list(outcome.events),
        "snapshot": kept,
        "submitted": outcome.submitted,
    }


async def upload(desk: Desk) -> JsonValue:
    """Put a file into the work directory of a run."""
    task, toolbox = desk.task, desk.toolbox
    before = await desk.snapshot()
    assert toolbox is not None
    try:
        after = await toolbox.upload(before, task["path"], _bytes(task))
    except ValueError as error:
        told: JsonValue = {"content": str(error), "is_error": True}
        return {"name": "artifact", "result": told, "events": [], "snapshot": task["snapshot"]}
    return {"name": "artifact", "result": {"content": task["path"]}, "events": [], "snapshot": await desk.leave(after)}


def _bytes(file: dict[str, Any]) -> bytes:
    return str(file["content"]).encode() if file["content"] is not None else base64.b64decode(file["base64"])


async def grade(desk: Desk) -> JsonValue:
    """Find out what a run left behind, and keep that as events."""
    remembered = await desk.bench.recall("graded")
    if remembered is not None:
        return {"graded": remembered}
    found = await _verify(desk) if desk.pack.is_native else await _captured(desk)
    at, number = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"), desk.task["events"]
    events = [{**event, "sequence_number": number + n, "occurred_at": at} for n, event in enumerate(found, 1)]
    name = await desk.keep("graded", orjson.dumps(events))
    await desk.bench.remember("graded", name)
    return {"graded": name}


async def _verify(desk: Desk) -> list[Event]:
    snapshot = await desk.snapshot()
    assert desk.toolbox is not None
    files, secrets = await desk.files(), desk.bench.secrets
    return list(await desk.toolbox.verify(desk.pack.bundle, desk.case, snapshot, files, secrets))


async def _captured(desk: Desk) -> list[Event]:
    """What was handed in, where a run has no work directory: the last file of each path counts."""
    lines = await desk.notes(desk.task["seat"])
    files = {_path(line["upload"]["path"]): _bytes(line["upload"]) for line in lines if "upload" in line}
    captures, found = Captures(), []
    for check in desk.pack.bundle.version.evaluation_spec.post_execution_checks:
        if check.type == "file_capture":
            record = file_record(captures.file(check, files.get(_path(check.path))))
            found.append({"type": "grader.verification.file_captured", "payload": record})
        else:
            base = _path(check.path)
            entries = [{"path": path, "size": len(data)} for path, data in files.items() if path.startswith(base)]
            listing = {"key": check.key, "path": check.path, "entries": entries}
            found.append({"type": "grader.verification.directory_listed", "payload": listing})
    return found


def _path(path: str) -> str:
    return path.removeprefix("/workspace/").removeprefix("/workspace").removeprefix("./")


async def show(desk: Desk) -> JsonValue:
    """The outputs of all runs by case and seat, as far as they can be shown."""
    found: dict[str, JsonValue] = {}
    for case in desk.pack.cases:
        mine = Desk(desk.pack, desk.bench, {"case": case})
        outputs: dict[str, JsonValue] = {}
        for seat in desk.pack.seats:
            payloads = [each["payload"] for each in await mine.events(seat, "")]
            said = [each["final_output"] for each in payloads if "final_output" in each]
            if said:
                outputs[str(seat)] = desk.pack.veil(said[-1])[:SHOWN]
        found[case] = outputs
    return found


async def simulate(desk: Desk) -> JsonValue:
    """The next words of a simulated user."""
    simulator = desk.case.user_simulator
    if simulator is None:
        raise JobFailed("this case is no conversation")
    evidence = await desk.evidence(desk.task["seat"], "")
    phase = simulator.phases[desk.task["phase"]]
    try:
        return {"message": await simulate_user(phase, evidence.turns, desk.bench.models, desk.bench)}
    except Unanswered as reason:
        raise JobFailed(str(reason)) from None
