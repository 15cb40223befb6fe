"""Evaluations from end to end: real programs and addresses play packs on real servers."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import yaml

from arena.evals.agents import moves, named
from tests.arena.packs.operator.test_conversations import SCRIPT, chat
from tests.bundles import ROOT
from tests.commands import Done, arena, begun, call, environment
from tests.servers import Process
from tests.shelves import quiz, written
from tests.test_docs import Block, blocks
from tests.valkeys import free_ports

PAGE = ROOT / "docs" / "evals.md"
ANSWER = """
import json, sys
for line in sys.stdin:
    frame = json.loads(line)
    for message in frame.get("messages") or [frame.get("message")]:
        if not message or message["from"] != "operator" or not message["content"].startswith("{"):
            continue
        told = json.loads(message["content"])
        if told["type"] == "case":
            CODE
"""
SUBMIT = 'print(json.dumps({"type": "message", "messageType": "submit", "content": ANSWER}), flush=True)'


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with Process() as running:
        yield running


def agent(folder: Path, name: str, answer: str | None = None, code: str | None = None) -> str:
    """The command of a program that answers every case with what an expression says."""
    path = folder / f"{name}.py"
    path.write_text(ANSWER.replace("CODE", code or SUBMIT.replace("ANSWER", answer or "''")))
    return f"{sys.executable} {path}"


def right(folder: Path, name: str = "right") -> str:
    """A program that can calculate."""
    return agent(folder, name, "str(eval(told['payload']['question']))")


def start(server: Process, folder: Path, pack: str | Path, *words: str) -> Done:
    return call("eval", "start", "--pack", str(pack), *words, "--url", server.url, "--dir", folder)


def test_agents_play_a_pack_several_times_and_are_measured(server: Process, tmp_path: Path) -> None:
    pack = written(tmp_path, quiz("sums"))
    half = agent(tmp_path, "half", "'4'")

    done = start(
        server, tmp_path, pack, "--agent", right(tmp_path), "--agent", half, "--repetitions", "2", "--parallel", "2",
        "--junit", str(tmp_path / "eval.xml"), "--json",
    )  # fmt: skip
    runs = sorted((tmp_path / "runs").glob("*.json"))
    again = start(server, tmp_path, "sums", "--agent", half, "--follow")
    compared = call("compare", "runs", *runs)

    good, bad = json.loads(done.out)
    assert done.code == 0
    assert (good["agent"], bad["agent"]) == ("right", "half")
    assert (good["measures"]["score"]["value"], bad["measures"]["score"]["value"]) == (1, 0.5)
    assert good["measures"]["pass_hat"] == {"1": 1, "2": 1}
    assert [case["passed"] for case in bad["trials"][0]["cases"].values()] == [True, False]
    assert good["pack"]["input_set"] == "d"
    suites = ElementTree.parse(tmp_path / "eval.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0", "1"]
    assert again.code == 0
    assert "repetition 1 half: 2 of 2 cases" in again.err
    assert "repetition 1 half: score 0.500, not passed" in again.err
    assert "product  0.000  -" in again.out
    assert "half against right: score -0.500 [-0.500, -0.500]" in compared.out


def test_following_tells_every_case_and_move_and_a_session_can_be_read_again(server: Process, tmp_path: Path) -> None:
    pack = written(tmp_path, quiz("again"))

    done = start(server, tmp_path, pack, "--agent", right(tmp_path), "--follow")
    [kept] = (tmp_path / "runs").glob("*.json")
    [trial] = json.loads(kept.read_text())["trials"]
    afar = call("eval", "scorecard", trial["session"], "--url", server.url, "--json")
    people = call("eval", "scorecard", trial["session"], "--url", server.url)
    unknown = call("eval", "scorecard", "00000000-0000-4000-8000-000000000000", "--url", server.url)

    told = [line.removeprefix("repetition 1 right: ") for line in done.err.splitlines()]
    assert told[:4] == ["case sum", "submit", "case product", "1 of 2 cases"] or told[:4] == [
        "case sum", "submit", "1 of 2 cases", "case product",
    ]  # fmt: skip
    [run] = json.loads(afar.out)
    assert run["trials"] == [trial]
    assert (run["pack"]["slug"], run["agent"]) == ("again", "seat 1")
    assert "product  1.000  +" in people.out
    assert (unknown.code, unknown.out, unknown.err.startswith("arena: ")) == (1, "", True)


PERSON = {"id": "p", "actor": "human", "trigger": "manual", "timeout_ms": 30_000}
TALKS = """
if told["type"] == "user":
    print(json.dumps({"type": "message", "messageType": "reply", "content": "heard " + told["content"]}), flush=True)
"""


def test_a_person_speaks_for_the_user_from_the_command_line(server: Process, tmp_path: Path) -> None:
    pack = written(tmp_path, json.dumps(chat(SCRIPT, PERSON)).encode())
    talker = tmp_path / "talker.py"
    talker.write_text(
        ANSWER.replace('if told["type"] == "case":\n            CODE', TALKS.strip().replace("\n", "\n        "))
    )
    command: list[str | Path] = [
        "eval",
        "start",
        "--pack",
        pack,
        "--agent",
        f"{sys.executable} {talker}",
        "--url",
        server.url,
    ]

    with begun(*command, "--dir", tmp_path) as evaluation:
        assert evaluation.stderr is not None
        line = next(line for line in evaluation.stderr if "this seat is free" in line)
        sat = arena("eval", "sit", line.split()[-1], "--url", server.url, stdin="Where is my suitcase?\n")
        assert evaluation.wait(timeout=60) == 0

    [kept] = (tmp_path / "runs").glob("*.json")
    [trial] = json.loads(kept.read_text())["trials"]
    path = f"{server.url}/api/challenges/small/{trial['session']}/runs/0/k/events"
    events = [json.loads(line) for line in httpx.get(path).text.splitlines()]
    said = [event["payload"]["content"] for event in events if event["type"].endswith(".message")]
    assert said == ["I am Ada.", "heard I am Ada.", "Where is my suitcase?", "heard Where is my suitcase?"]
    assert sat.code == 0
    assert "agent: heard I am Ada." in sat.out
    assert sat.out.endswith("The game is over.\n")


def test_an_agent_judges_at_the_table_and_another_speaks_for_the_user(server: Process, tmp_path: Path) -> None:
    judges = [
        {
            "key": "j",
            "mode": "assertion",
            "assertion": "It is kind.",
            "model": "gpt-5",
            "context_from": ["final_output"],
        }
    ]
    scored = {"dimensions": [{"key": "j", "source": "llm_judge", "judge_key": "j"}]}
    pack = chat(SCRIPT, PERSON)
    pack["version"]["evaluation_spec"] |= {"judge_mode": "hybrid", "llm_judges": judges, "scorecard": scored}
    pack["pack"]["slug"] = "kindly"
    asked = []

    def answer(body: Any) -> bytes:
        asked.append(body["message"]["type"])
        return {"question": b'{"pass": true}', "your-turn": b"Thank you.", "user": b"You are welcome."}.get(
            body["message"]["type"], b""
        )

    with answering(answer) as url:
        file = written(tmp_path, json.dumps(pack).encode())
        done = start(server, tmp_path, file, "--agent", url, "--judge", url, "--user", url, "--json")
        nobody = start(server, tmp_path, written(tmp_path, quiz("plain")), "--agent", url, "--user", url, "--json")

    [run] = json.loads(done.out)
    assert run["measures"]["score"]["value"] == 1, done
    assert {"question", "your-turn", "user"} <= set(asked)
    assert json.loads(nobody.out)[0]["trials"][0]["error"] == "This pack has no seat for a user."


def test_a_program_that_fails_scores_nothing_and_counts(server: Process, tmp_path: Path) -> None:
    pack = written(tmp_path, quiz("fragile"))
    crash = agent(tmp_path, "crash", code="sys.exit(3)")

    done = start(server, tmp_path, pack, "--agent", crash, "--json")

    [run] = json.loads(done.out)
    assert done.code == 0
    assert run["measures"]["score"]["value"] == 0
    assert run["measures"]["errors"] == 0


def test_an_agent_may_be_an_address(server: Process, tmp_path: Path) -> None:
    pack = written(tmp_path, quiz("afar"))

    def answer(body: Any) -> bytes:
        told = body["message"]
        if told["type"] != "case":
            return b""
        value = str(eval(told["payload"]["question"]))
        return value.encode() if told["case"] == "sum" else json.dumps({"output": value}).encode()

    with answering(answer) as url:
        done = start(server, tmp_path, pack, "--agent", url, "--name", "afar", "--json")
    gone = start(server, tmp_path, pack, "--agent", url, "--json")

    assert json.loads(done.out)[0]["measures"]["score"]["value"] == 1
    assert json.loads(gone.out)[0]["measures"]["score"]["value"] == 0


@contextmanager
def answering(answer: Any) -> Iterator[str]:
    """An address that answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:
            """Be quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}/play"
        listening.shutdown()


def test_agents_sign_in_where_that_is_required(tmp_path: Path) -> None:
    token = "a-token-of-the-keeper-of-this-server"
    with Process(ARENA_AUTH="required", AUTH_SECRET="x" * 32, ARENA_ADMIN_TOKEN=token) as strict:
        pack = written(tmp_path, quiz("strict"))
        refused = start(strict, tmp_path, pack, "--agent", right(tmp_path))
        done = start(strict, tmp_path, pack, "--agent", right(tmp_path), "--token", token, "--json")

    assert (refused.code, refused.out) == (1, "")
    assert "Packs are kept by admins" in refused.err
    assert json.loads(done.out)[0]["measures"]["score"]["value"] == 1


def test_what_cannot_be_played_is_told_in_a_line(server: Process, tmp_path: Path) -> None:
    pack = written(tmp_path, quiz("told"))
    told = [
        start(server, tmp_path, "no-such-pack", "--agent", "x"),
        start(server, tmp_path, pack, "--agent", "'half a quote"),
        start(server, tmp_path, pack, "--agent", "x", "--name", "a", "--name", "b"),
        start(server, tmp_path, tmp_path / "none.yaml", "--agent", "x"),
    ]
    missing = start(server, tmp_path, pack, "--agent", "/no/such/program", "--json")

    assert [(done.code, done.out, done.err.startswith("arena: ")) for done in told] == [(1, "", True)] * 4
    assert missing.code == 1
    assert "cannot be started" in json.loads(missing.out)[0]["trials"][0]["error"]


def test_agents_are_named_after_what_they_are() -> None:
    assert [each.name for each in named(["python a/b.py --x", "./bot", "http://host.example:1/x", "./bot"])] == [
        "b", "bot-1", "host.example", "bot-2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "asked", "made"),
    [
        (b"", {"type": "case"}, []),
        (b" \n", {"type": "case"}, []),
        (b"42", {"type": "case", "case": "k"}, [("submit", '{"output": "42", "case": "k"}')]),
        (b'{"a": 1}', {"type": "case"}, [("submit", '{"output": "{\\"a\\": 1}"}')]),
        (b"hello", {"type": "user", "case": "k"}, [("reply", '{"content": "hello", "case": "k"}')]),
        (
            b'{"output": {"x": 1}, "report": {"input_tokens": 5}}',
            {"type": "case", "case": "k"},
            [("report", '{"input_tokens": 5, "case": "k"}'), ("submit", '{"output": {"x": 1}, "case": "k"}')],
        ),
        (
            b'{"moves": [{"messageType": "tool", "content": {"name": "exec"}}, {"messageType": "submit"}]}',
            {"type": "case"},
            [("tool", '{"name": "exec"}'), ("submit", "")],
        ),
    ],
)
def test_an_answer_over_http_stands_for_moves(answer: bytes, asked: Any, made: Any) -> None:
    assert moves(answer, asked) == made


# The page


@pytest.mark.timeout(400)
def test_the_workflow_on_the_page_passes_and_fails_as_it_says(tmp_path: Path) -> None:
    files = {block.file: block for block in blocks(PAGE) if block.file}
    for name in ("agent.py", "recipes.yaml"):
        (tmp_path / name).write_text(files[name].code)
    steps = files[".github/workflows/evals.yml"]

    first = workflow(tmp_path, steps)
    kept = call("baseline", "set", cwd=tmp_path)
    second = workflow(tmp_path, steps)
    (tmp_path / "agent.py").write_text(files["agent.py"].code.replace("amount = facts", "amount = 2 * facts"))
    third = workflow(tmp_path, steps)

    assert kept.code == 0, kept.err
    assert [first.code, second.code, third.code] == [3, 0, 1], (first, second, third)  # at first there is no baseline
    assert {path.name for path in tmp_path.glob("*.xml")} == {"eval.xml", "gate.xml"}


def workflow(folder: Path, block: Block) -> Done:
    """Run the steps of a workflow, but for the one that installs us."""
    steps = yaml.safe_load(block.code)["jobs"]["evaluate"]["steps"]
    script = ["set -e", "trap 'kill $(jobs -p)' EXIT"]
    script += [step["run"] for step in steps if "run" in step and step["name"] != "Install"]
    [port] = free_ports(1)
    done = subprocess.run(
        ["bash", "-c", "\n".join(script).replace("3001", str(port))],
        cwd=folder,
        env=environment(
            PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            ARENA_URL=f"http://127.0.0.1:{port}",
        ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
