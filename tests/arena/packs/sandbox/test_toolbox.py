import json
from typing import Any

import pytest

from arena.packs.events import collect_evidence
from arena.packs.evidence import Evidence
from arena.packs.read import parse_bundle
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.provider import Sandbox
from arena.packs.sandbox.snapshot import EMPTY, Snapshot, pack, unpack
from arena.packs.sandbox.toolbox import Toolbox, ToolOutcome
from arena.packs.sandbox.tools.primitives import PRIMITIVES
from arena.packs.sandbox.tree import Tree
from arena.packs.schemas import decode_schema
from tests.bundles import small
from tests.sandboxes import SMALL, linux_only

SHELL = {"allow_shell": True}
FILES = pack(Tree().write("notes/a.txt", b"one\ntwo\nthree\n").write("data.json", b'{"a": [1, {"b": "x"}]}'))


def toolbox(*custom: Any, policy: dict[str, Any] | None = None, **changes: Any) -> Toolbox:
    tools = {"custom": list(custom)} if custom else None
    bundle = parse_bundle(json.dumps(small(tools=tools, version__tool_policy=policy or {}, **changes)))
    return Toolbox(bundle, bundle.input_sets[0].cases[0])


def tool(name: str, primitive: str, args: Any, *names: str, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {each: {"type": "string"} for each in names}}
    return {
        "name": name,
        "description": f"{name} it",
        "parameters": parameters,
        "implementation": {"primitive": primitive, "args": args, **more},
    }


async def call(
    box: Toolbox, name: str, snapshot: Snapshot = FILES, sandbox: Sandbox | None = None, **arguments: Any
) -> ToolOutcome:
    return await box.call(sandbox, snapshot, name, arguments)


def answer(outcome: ToolOutcome) -> Any:
    assert not outcome.failed, outcome.result
    return json.loads(outcome.result["content"])


def seen(*outcomes: ToolOutcome) -> Evidence:
    return collect_evidence([event for outcome in outcomes for event in outcome.events])


def test_every_primitive_has_words_and_a_schema() -> None:
    offered = {tool["name"]: tool for tool in toolbox(policy=SHELL, version__sandbox={"network_access": True}).offer()}

    assert set(offered) == set(PRIMITIVES)
    for each in offered.values():
        assert each["description"]
        decode_schema(each["parameters"]).resolve()
        assert each["parameters"]["additionalProperties"] is False


def test_the_policy_decides_what_is_offered() -> None:
    assert {tool["name"] for tool in toolbox(policy={"allowed_tool_kinds": ["data"]}).offer()} == {
        "submit",
        "query_json",
        "query_sql",
    }
    assert "exec" not in {tool["name"] for tool in toolbox().offer()}


def test_a_composed_tool_is_offered_when_it_ends_at_something_permitted() -> None:
    shell = tool("greet", "exec", {"command": "echo ${name}"}, "name")
    chained = tool("hello", "greet", {"name": "you"})
    mock = {"name": "lookup", "implementation": {"type": "mock", "response": "x"}}

    names = {each["name"] for each in toolbox(shell, chained, mock).offer()}
    with_shell = {each["name"] for each in toolbox(shell, chained, mock, policy=SHELL).offer()}

    assert names & {"greet", "hello", "lookup"} == {"lookup"}
    assert with_shell >= {"greet", "hello", "lookup"}


async def test_files_are_written_read_listed_and_found() -> None:
    box = toolbox()
    written = await call(box, "write_file", path="new/b.bin", content="AP8=", encoding="base64")
    longer = await call(box, "write_file", written.snapshot, path="notes/a.txt", content="four\n", append=True)

    assert unpack(longer.snapshot, SMALL.room).read("new/b.bin") == b"\0\xff"
    assert answer(await call(box, "read_file", longer.snapshot, path="notes/a.txt", start_line=3)) == {
        "content": "three\nfour\n",
        "size": 19,
    }
    assert [row["path"] for row in answer(await call(box, "list_files"))["entries"]] == [
        "/workspace/data.json",
        "/workspace/notes",
    ]
    assert answer(await call(box, "search_files", pattern="*.txt"))["paths"] == ["/workspace/notes/a.txt"]
    assert answer(await call(box, "search_files", pattern="**/a.*"))["paths"] == ["/workspace/notes/a.txt"]
    assert answer(await call(box, "search_files", pattern="not*/*"))["paths"] == ["/workspace/notes/a.txt"]
    assert answer(await call(box, "search_text", pattern="^t", path="notes"))["matches"] == [
        {"path": "/workspace/notes/a.txt", "line": 2, "text": "two"},
        {"path": "/workspace/notes/a.txt", "line": 3, "text": "three"},
    ]
    assert len(answer(await call(box, "search_text", pattern="ONE", ignore_case=True))["matches"]) == 1


async def test_json_is_looked_into() -> None:
    box = toolbox()

    assert answer(await call(box, "query_json", path="data.json", query="$.a[1].b")) == {"exists": True, "value": "x"}
    assert answer(await call(box, "query_json", path="data.json", query="$.c"))["exists"] is False
    assert (await call(box, "query_json", path="notes/a.txt", query="$")).failed


@pytest.mark.parametrize(
    ("name", "arguments", "origin", "words"),
    [
        ("read_file", {"path": "../etc/passwd"}, "tool", "outside of /workspace"),
        ("read_file", {"path": "missing"}, "tool", "does not exist"),
        ("read_file", {}, "arguments", "arguments of read_file"),
        ("read_file", {"path": "a", "extra": 1}, "arguments", "arguments of read_file"),
        ("write_file", {"path": "a", "content": "!", "encoding": "base64"}, "arguments", "no base64"),
        ("search_text", {"pattern": "("}, "arguments", "pattern cannot be used"),
        ("search_text", {"pattern": r"(a)\1"}, "arguments", "pattern cannot be used"),
        ("exec", {"command": "id"}, "policy", "tool is not allowed in this runtime"),
        ("browse", {}, "policy", "tool is not available in this runtime"),
        ("query_sql", {"path": "data.json", "query": "select 1"}, "sandbox", "there is no sandbox"),
    ],
)
async def test_a_call_that_fails_says_why_and_changes_nothing(
    name: str, arguments: dict[str, Any], origin: str, words: str
) -> None:
    outcome = await toolbox().call(None, FILES, name, arguments)

    evidence = seen(outcome)
    assert outcome.failed
    assert outcome.snapshot == FILES
    assert [(each.tool_name, each.failed, each.failure_origin) for each in evidence.tool_calls] == [
        (name, True, origin)
    ]
    assert words in evidence.tool_calls[0].error_message
    assert evidence.failure_count == 1


async def test_a_successful_call_is_evidence_with_its_arguments() -> None:
    evidence = seen(await call(toolbox(), "list_files", path="notes"))

    assert [(each.tool_name, each.arguments, each.failed) for each in evidence.tool_calls] == [
        ("list_files", {"path": "notes"}, False)
    ]


async def test_a_submission_is_handed_on() -> None:
    outcome = await call(toolbox(), "submit", output="42")

    assert (outcome.submitted, outcome.snapshot) == ("42", FILES)


async def test_a_mock_answers_and_needs_no_sandbox() -> None:
    mock = {
        "name": "who",
        "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        "implementation": {"type": "mock", "lookup_key": "id", "responses": {"1": {"name": "Ada"}}},
    }
    box = toolbox(mock)

    assert answer(await call(box, "who", id=1)) == {"name": "Ada"}
    assert (await call(box, "who", id=2)).result["content"] == "who has no answer to these arguments"
    assert (await call(box, "who", id="x")).events[0]["payload"]["failure_origin"] == "arguments"


async def test_a_composed_tool_fills_its_primitive_through_others() -> None:
    inner = tool(
        "find", "search_text", {"pattern": "${word}", "path": "notes", "ignore_case": "${fold}"}, "word", "fold"
    )
    outer = tool("find_two", "find", {"word": "${prefix}wo", "fold": "false"}, "prefix")

    outcome = await call(toolbox(inner, outer), "find_two", prefix="t")

    assert [match["text"] for match in answer(outcome)["matches"]] == ["two"]
    assert outcome.events[0]["payload"]["tool_name"] == "find_two"
    assert outcome.events[0]["payload"]["arguments"] == {"prefix": "t"}


async def test_nested_arguments_without_end_are_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}

    outcome = await toolbox().call(None, FILES, "read_file", deep)

    assert outcome.failed
    assert "nested" in outcome.result["content"]


async def test_an_unreadable_snapshot_is_a_failure_and_no_crash() -> None:
    outcome = await call(toolbox(), "list_files", b"spoiled")

    assert outcome.failed
    assert outcome.snapshot == b"spoiled"


SECRET = "hunter2-and-more/secret+value"


@linux_only
async def test_secrets_are_filled_in_and_never_shown() -> None:
    box = toolbox(
        tool(
            "login",
            "exec",
            {"command": "printf %s '${secrets.KEY}'; printf %s '${secrets.KEY}' | base64 -w0; wc -c ${f}"},
            "f",
        ),
        policy=SHELL,
    )

    outcome = await box.call(Bubblewrap(SMALL), FILES, "login", {"f": "data.json"}, {"KEY": SECRET})

    assert box.secret_names == {"KEY"}
    assert answer(outcome)["stdout"] == "[secret][secret]22 data.json\n"
    assert SECRET not in json.dumps(outcome.events)


@linux_only
async def test_what_an_agent_writes_never_names_a_secret() -> None:
    box = toolbox(tool("say", "exec", {"command": "printf %s '${text}' | rev"}, "text"), policy=SHELL)

    outcome = await box.call(Bubblewrap(SMALL), FILES, "say", {"text": "${secrets.KEY}"}, {"KEY": SECRET})

    assert answer(outcome)["stdout"] == "${secrets.KEY}"[::-1]


@linux_only
async def test_commands_change_files_and_tell_their_exit_code() -> None:
    outcome = await call(
        toolbox(policy=SHELL, version__sandbox={"env_vars": {"WHO": "Ada"}}),
        "exec",
        sandbox=Bubblewrap(SMALL),
        command="echo $WHO > who; exit 3",
    )

    assert answer(outcome) == {"exit_code": 3, "stdout": "", "stderr": ""}
    assert unpack(outcome.snapshot, SMALL.room).read("who") == b"Ada\n"


@linux_only
async def test_a_command_that_is_stopped_is_a_failure_of_its_call_alone() -> None:
    outcome = await call(
        toolbox(policy=SHELL),
        "exec",
        sandbox=Bubblewrap(SMALL),
        command="echo so far; rm -r notes; sleep 100",
        timeout_seconds=1,
    )

    assert outcome.failed
    assert outcome.snapshot == FILES
    assert outcome.result["content"] == "the command was stopped: the limit of time was reached\nso far"


@linux_only
async def test_the_next_call_goes_on_where_the_last_one_left_on_any_worker() -> None:
    box = toolbox(policy=SHELL)
    first = await call(box, "exec", EMPTY, Bubblewrap(SMALL), command="mkdir d; echo 1 > d/f; ln -s d/f l")

    second = await call(box, "exec", first.snapshot, Bubblewrap(SMALL), command="cat l; echo 2 >> l")

    assert answer(second)["stdout"] == "1\n"
    assert answer(await call(box, "read_file", second.snapshot, path="d/f"))["content"] == "1\n2\n"
    again = await call(box, "exec", first.snapshot, Bubblewrap(SMALL), command="cat l; echo 2 >> l")
    assert again.snapshot == second.snapshot


@linux_only
async def test_tests_and_builds_run_as_the_pack_says_or_the_files_suggest() -> None:
    sandbox = Bubblewrap(SMALL)
    made = pack(Tree().write("Makefile", b"all:\n\t@echo built\nother:\n\t@echo other\n"))
    own = toolbox(policy={"test_command": "echo tested", "build_command": "echo made"})

    assert answer(await call(own, "run_tests", sandbox=sandbox, path="a b"))["stdout"] == "tested a b\n"
    assert answer(await call(own, "build", sandbox=sandbox))["stdout"] == "made\n"
    assert answer(await call(toolbox(), "build", made, sandbox, target="other"))["stdout"] == "other\n"
    assert (await call(toolbox(), "build", made, sandbox, target="--eval=x")).failed
    assert (await call(toolbox(), "run_tests", EMPTY, sandbox)).failed


@linux_only
async def test_a_database_is_read_and_nothing_else() -> None:
    sandbox = Bubblewrap(SMALL)
    build = """python3 - <<'END'
import sqlite3
with sqlite3.connect("a.db") as base:
    base.execute("create table t (x, y)")
    base.execute("insert into t values (1, x'ff')")
END"""
    made = await call(toolbox(policy=SHELL), "exec", EMPTY, sandbox, command=build)
    box = toolbox()

    async def ask(query: str, *parameters: Any) -> ToolOutcome:
        return await call(
            box, "query_sql", made.snapshot, sandbox, path="a.db", query=query, parameters=list(parameters)
        )

    assert answer(await ask("select x, y from t where x = ?", 1)) == {
        "columns": ["x", "y"],
        "rows": [[1, "ff"]],
        "truncated": False,
    }
    for bad in (
        "drop table t",
        "attach '/etc/passwd' as p",
        "select load_extension('x')",
        "vacuum into '/workspace/b'",
        "nonsense",
    ):
        outcome = await ask(bad)
        assert outcome.failed, bad
        assert outcome.snapshot == made.snapshot


@linux_only
async def test_a_question_without_end_is_stopped() -> None:
    endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"
    sandbox = Bubblewrap(SMALL._replace(seconds=1))

    outcome = await call(toolbox(), "query_sql", pack(Tree().write("a.db", b"")), sandbox, path="a.db", query=endless)

    assert outcome.result["content"] == "stopped: the limit of time was reached"
    assert outcome.events[0]["payload"]["failure_origin"] == "limit"
