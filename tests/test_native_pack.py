"""A native pack as its users meet it: published with its files, played with tools in a real sandbox, and scored."""

import json
from typing import Any

from tests.bundles import OURS
from tests.callers import Caller
from tests.guests import Guest, visit
from tests.servers import Served

PACK = next(path for path in OURS if path.stem == "log-detective")
ASSETS = {"day_log": "day.log", "counter_tests": "check_counter.py"}
COUNTER = "import sys\nprint(sum(line.split()[1] == sys.argv[2] for line in open(sys.argv[1])))\n"
REPORT = {"customer": "gull-freight", "requests": 7, "slowest_ms": 4000}


async def publish(caller: Caller) -> None:
    told = await caller.ask("POST", "/packs", content=PACK.read_bytes())
    assert told.status in {200, 201}, told
    for key, name in ASSETS.items():
        content = (PACK.parent / "assets/log_detective" / name).read_bytes()
        put = await caller.client.put(f"/api/packs/log-detective/versions/1/assets/{key}", content=content)
        assert put.status_code in {200, 201}, put.text


async def use(guest: Guest, id_: str, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and wait for what came of it."""
    told = len(results(guest, id_))
    content = json.dumps({"name": name, "arguments": arguments})
    await guest.get("message", challengeId=id_, messageType="tool", content=content)
    found = await guest.until(lambda: results(guest, id_)[told:] or None, f"the result of {name}")
    return found[0]


def results(guest: Guest, id_: str) -> list[dict[str, Any]]:
    told = [json.loads(m["content"]) for m in guest.messages(f"challenge_{id_}") if m["content"].startswith("{")]
    return [each for each in told if each["type"] == "tool"]


async def test_an_agent_works_in_a_sandbox_and_is_graded_by_what_it_left(arena: Served, caller: Caller) -> None:
    await publish(caller)
    guest = await visit(arena)
    made = await guest.get("create", challengeType="log-detective")
    await guest.get("join", invite=made["invites"][0], userId="ada")
    id_ = made["id"]

    log = await use(guest, id_, "read_file", path="logs/day.log")
    slow = await use(guest, id_, "exec", command="sort -t= -k2 -n logs/day.log | tail -1; id -u; ls / | wc -l")
    secrets = await use(guest, id_, "exec", command="cat /etc/shadow")
    await use(guest, id_, "write_file", path="counter.py", content=COUNTER)
    await use(guest, id_, "write_file", path="report.json", content=json.dumps(REPORT))
    await guest.get("message", challengeId=id_, messageType="submit", content="done")
    ended = await guest.hear("game_ended", challengeId=id_)

    [seat] = (await caller.get(f"/challenges/log-detective/{id_}/scorecards"))["seats"]
    [case] = seat["cases"]
    verdicts = {each["key"]: each["verdict"] for each in case["validator_results"]}
    assert "gull-freight" in log["result"]["content"]
    assert "ms=" in slow["result"]["content"]
    assert json.loads(secrets["result"]["content"])["exit_code"] != 0
    assert set(verdicts.values()) == {"pass"}, verdicts
    assert case["passed"] is True
    assert ended["data"]["scores"][0]["utility"] > 0
