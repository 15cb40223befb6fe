import json
from typing import Any

import pytest

from arena.packs.blocks import Bundle, Case
from arena.packs.events import collect_evidence
from arena.packs.read import parse_bundle
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.layout import environment, lay_out
from arena.packs.sandbox.snapshot import EMPTY, pack
from arena.packs.sandbox.tree import Entry, NoFile, Tree
from arena.packs.sandbox.verify import verify
from tests.bundles import OURS, SPEC, small
from tests.sandboxes import SMALL, linux_only

CHECKS = [
    {"key": "out", "type": "file_capture", "path": "/workspace/out.txt", "max_size_bytes": 10},
    {"key": "dir", "type": "directory_listing", "path": "/workspace", "recursive": True},
]


def graded(command: str | None = None, checks: list[Any] = CHECKS, **changes: Any) -> tuple[Bundle, Case]:
    validators = list(SPEC["validators"])
    if command is not None:
        config = {"test_command": command, "timeout_ms": 5000}
        validators.append({"key": "tests", "type": "code_execution", "target": "file:out", "config": config})
    spec = {**SPEC, "validators": validators, "post_execution_checks": checks}
    bundle = parse_bundle(json.dumps(small(version__evaluation_spec=spec, **changes)))
    return bundle, bundle.input_sets[0].cases[0]


@linux_only
async def test_commands_run_before_captures_and_captures_see_what_they_wrote() -> None:
    bundle, case = graded(
        "echo '2 passed, 1 failed'; echo {{word}} > out.txt; exit 1", input_sets__0__cases__0__payload={"word": "hi"}
    )

    events = await verify(bundle, case, Bubblewrap(SMALL), EMPTY)

    evidence = collect_evidence(events)
    assert [event["type"].rpartition(".")[2] for event in events] == [
        "code_executed",
        "file_captured",
        "directory_listed",
    ]
    run = evidence.executions["tests"]
    assert (run.exit_code, run.passed_tests, run.failed_tests, run.total_tests) == (1, 2, 1, 3)
    assert (run.test_command, run.target_path, run.timed_out) == (
        "echo '2 passed, 1 failed'; echo hi > out.txt; exit 1",
        "/workspace/out.txt",
        False,
    )
    assert evidence.files["out"].content == "hi\n"
    assert [entry.path for entry in evidence.directories["dir"].entries] == ["/workspace/out.txt"]


@linux_only
async def test_a_test_command_that_takes_too_long_is_timed_out() -> None:
    bundle, case = graded("sleep 100")
    bundle.version.evaluation_spec.validators[1].config["timeout_ms"] = 500

    events = await verify(bundle, case, Bubblewrap(SMALL), EMPTY)

    assert collect_evidence(events).executions["tests"].timed_out


@linux_only
async def test_counts_at_the_end_of_a_long_output_are_found() -> None:
    bundle, case = graded("yes | head -c 2000000; echo 3 passed")

    events = await verify(bundle, case, Bubblewrap(SMALL), EMPTY)

    run = collect_evidence(events).executions["tests"]
    assert run.passed_tests == 3
    assert len(run.stdout) < SMALL.output + 200


async def test_without_a_sandbox_commands_are_not_run_and_captures_are_made() -> None:
    bundle, case = graded("echo unconfined > out.txt")

    events = await verify(bundle, case, None, pack(Tree().write("out.txt", b"0123456789ab")))

    evidence = collect_evidence(events)
    assert "no sandbox" in evidence.executions["tests"].execution_error
    captured = evidence.files["out"]
    assert (captured.content, captured.size, captured.truncated) == ("0123456789", 12, True)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc/passwd", "/proc/self/environ", "loop"])
async def test_a_capture_never_reads_a_file_of_the_host(target: str) -> None:
    bundle, case = graded()
    planted = Tree([Entry("loop", "link", b"loop"), Entry("out.txt", "link", target.encode())])

    events = await verify(bundle, case, None, pack(planted))

    assert not collect_evidence(events).files["out"].exists


async def test_secrets_of_the_server_stay_out_of_what_graders_see() -> None:
    bundle, case = graded(checks=[{"key": "out", "type": "file_capture", "path": "out.txt"}])

    events = await verify(bundle, case, None, pack(Tree().write("out.txt", b"key=hunter2!")), {"K": "hunter2!"})

    assert collect_evidence(events).files["out"].content == "key=[secret]"


async def test_a_spoiled_snapshot_is_an_error_of_each_execution() -> None:
    bundle, case = graded("true")

    events = await verify(bundle, case, None, b"spoiled")

    assert [event["payload"]["execution_error"] for event in events] == [
        "the snapshot of the work directory cannot be read"
    ]


@linux_only
async def test_our_native_pack_is_laid_out_and_its_protected_tests_are_put_back() -> None:
    [path] = [each for each in OURS if each.stem == "log-detective"]
    bundle = parse_bundle(path.read_bytes())
    case = bundle.input_sets[0].cases[0]
    files = {asset.key: (path.parent / asset.path).read_bytes() for asset in bundle.version.assets}
    tests = "assets/log_detective/check_counter.py"
    tree = lay_out(bundle, case, files)
    counter = b"import sys\nprint(sum(line.split()[1] == sys.argv[2] for line in open(sys.argv[1])))\n"
    cheated = tree.write("counter.py", counter).write(tests, b"print('99 passed')")

    events = await verify(bundle, case, Bubblewrap(SMALL), pack(cheated), files=files)

    run = collect_evidence(events).executions["counter_passes_its_tests"]
    assert tree.read("logs/day.log") == files["day_log"]
    assert (run.passed_tests, run.total_tests) == (3, 3), run


async def test_a_link_does_not_lead_protected_files_elsewhere() -> None:
    case_assets = [{"key": "t", "path": "tests/t.sh"}]
    bundle, case = graded(
        checks=[{"key": "out", "type": "file_capture", "path": "tests/t.sh"}],
        version__filesystem={"protected": ["/workspace/tests/t.sh"]},
        input_sets__0__cases__0__assets=case_assets,
    )
    moved = Tree([Entry("tests", "link", b"mine"), Entry("mine", "dir"), Entry("mine/t.sh", "file", b"evil")])

    events = await verify(bundle, case, None, pack(moved), files={"t": b"good"})

    assert collect_evidence(events).files["out"].content == "good"


def test_planted_secrets_lie_where_the_pack_says_and_expectations_nowhere() -> None:
    planted = [
        {"name": "TOKEN", "value": "canary-1", "location": "env"},
        {"name": "note", "value": "canary-2", "location": "file", "file_path": "/workspace/.env"},
        {"name": "far", "value": "canary-3", "location": "file", "file_path": "/etc/secret"},
    ]
    bundle, case = graded(
        security={"planted_secrets": planted},
        version__assets=[{"key": "solution", "path": "solution.txt"}, {"key": "given", "path": "deep/given.txt"}],
        input_sets__0__cases__0__expectations=[{"key": "e", "kind": "file", "artifact_key": "solution"}],
        input_sets__0__cases__0__inputs=[
            {"key": "g", "kind": "file", "artifact_key": "given"},
            {"key": "text", "kind": "text", "value": "hello", "path": "in.txt"},
        ],
    )

    tree = lay_out(bundle, case, {"solution": b"42", "given": b"data"})

    assert environment(bundle)["TOKEN"] == "canary-1"
    assert {entry.path: entry.data for entry in tree if entry.kind == "file"} == {
        ".env": b"canary-2\n",
        "deep/given.txt": b"data",
        "in.txt": b"hello",
    }
    with pytest.raises(NoFile):
        tree.read("solution.txt")
