"""Schemathesis reads the OpenAPI document and asks a real server all that it allows and all that it forbids."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from arena.identity import Identity
from tests.servers import Process

DOCUMENT = "/openapi.json"
pytestmark = pytest.mark.timeout(300)
SECONDS = 240  # that a run may take
LEFT_OUT = (
    "unsupported_method",  # the protocol answers a wrong method with 404
    "positive_data_acceptance",  # and a move that makes no sense with 400, however well it is written
)
ELSEWHERE = ("streamChannel", "callTools")  # a stream has no end, and tools keep to another contract than this one
# The protocol ignores bodies of `create` that make no sense, and only a challenge that exists leads any further.
OF_CREATE = """
[[operations]]
include-name = "POST /api/challenges/{name}"
parameters = { name = "psi" }
[operations.checks]
negative_data_rejection.enabled = false
"""
# Who does not accept both sees nothing but a refusal. JSON-RPC tells what is wrong in its answer, which is a stream.
OF_TOOLS = """
[[operations]]
include-operation-id = ["callArenaTools", "callChatTools"]
headers = { Accept = "application/json, text/event-stream" }
[operations.checks]
negative_data_rejection.enabled = false
response_schema_conformance.enabled = false
"""
AT_ONCE = "[parameters]\nwait = 0\n"
# Whoever shows no key where one is needed gets 400 and not 401, which is for keys that do not fit.
OF_MOVES = """
[[operations]]
include-operation-id = ["act", "talk"]
[operations.checks]
ignored_auth.enabled = false
"""


def examine(document: str, folder: Path, *more: str, config: str = AT_ONCE) -> subprocess.CompletedProcess[str]:
    """Run Schemathesis with a fixed seed."""
    file = folder / "schemathesis.toml"
    file.write_text(OF_CREATE + OF_TOOLS + config)
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(file), "run", "--no-color"]
    command += ["--seed", "4", "--max-examples", "10", "--exclude-checks", ",".join(LEFT_OUT), *more]
    command += [word for id_ in ELSEWHERE for word in ("--exclude-operation-id", id_)]
    command += ["--generation-database", "none", document]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)


def passed(done: subprocess.CompletedProcess[str]) -> int:
    """How many cases were tried; none of them failed."""
    found = re.search(r"(\d+) generated, \1 passed", done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found, done.stdout
    return int(found[1])


def fetch(server: Process, folder: Path) -> tuple[str, dict[str, Any]]:
    """A server's document as a file, so that the route of the document itself is examined too; and what it says."""
    document: dict[str, Any] = httpx.get(server.url + DOCUMENT).json()
    file = folder / "openapi.json"
    file.write_text(json.dumps(document))
    return str(file), document


def unexamined(server: Process, document: dict[str, Any]) -> set[str]:
    """Operations of a document that were never answered, or only with the news that they want to be asked otherwise."""
    asked = re.findall(r"request method=(\w+) route=(\S+) status=(\d+)", server.log.read_text())
    answered = {(method.lower(), route) for method, route, status in asked if status not in {"0", "406", "415", "500"}}
    return {
        operation["operationId"]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if (method, path) not in answered
    }


def test_an_open_server_keeps_to_its_document(tmp_path: Path) -> None:
    with Process() as server:
        file, document = fetch(server, tmp_path)
        server.log.write_text("")
        done = examine(file, tmp_path, "--url", server.url)

        assert passed(done) > 300
        assert unexamined(server, document) == set(ELSEWHERE)
        assert "request failed" not in server.log.read_text()


def test_a_server_that_wants_signatures_keeps_to_its_document(tmp_path: Path) -> None:
    with Process(ARENA_AUTH="required", AUTH_SECRET="a secret of at least thirty-two bytes") as server:
        session, key = seat(server.url)
        known = f'{OF_MOVES}{AT_ONCE}channel = "{session}"\n'
        file, document = fetch(server, tmp_path)
        server.log.write_text("")
        shown = ("--header", f"Authorization: Bearer {key}")
        done = examine(file, tmp_path, "--url", server.url, *shown, config=known)

        assert passed(done) > 300
        assert unexamined(server, document) == set(ELSEWHERE)
        assert "request failed" not in server.log.read_text()


def seat(url: str) -> tuple[str, str]:
    """A running game, and the key of one of its players."""
    with httpx.Client(base_url=f"{url}/api") as client:
        made: dict[str, Any] = client.post("/challenges/psi").json()
        for invite in made["invites"]:
            joined = client.post("/arena/join", json={"invite": invite, **Identity.new().sign(f"join:{invite}")}).json()
    return made["id"], joined["sessionKey"]


FLAWS = {"status": "Undocumented status code", "shape": "Response violates schema"}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_server_that_does_not_keep_to_its_document_is_found_out(tmp_path: Path, flaw: str) -> None:
    with Process() as server:
        document = httpx.get(server.url + DOCUMENT).json()
        if flaw == "status":
            del document["paths"]["/api/metadata/{name}"]["get"]["responses"]["404"]
        else:
            document["components"]["schemas"]["Stats"]["properties"]["global"] = {"type": "string"}
        file = tmp_path / "openapi.json"
        file.write_text(json.dumps(document))
        asked = [word for id_ in ("describeChallenge", "readStats") for word in ("--include-operation-id", id_)]
        done = examine(str(file), tmp_path, "--url", server.url, *asked)

    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{FLAWS[flaw]}: 1" in done.stdout
