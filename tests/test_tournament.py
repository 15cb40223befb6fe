"""`arena tournament` as people run it: to its report in one command, killed in the middle, and gone on with."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from arena.tournament.hosting import ADDRESS
from tests.commands import COMMAND, arena, environment
from tests.guests import comes_true
from tests.model_server import Call, Reply, model_server
from tests.tourneys import told

PROGRAM = """
import json, re, sys
for line in sys.stdin:
    frame = json.loads(line)
    for message in frame.get("messages") or [frame.get("message") or {}]:
        found = re.match("Your private set is: ", message.get("content", ""))
        if found and not message.get("redacted"):
            mine = re.findall("[0-9]+", message["content"])
    if frame["type"] == "state" and frame["state"]["status"] == "active":
        print(json.dumps({"type": "message", "messageType": "guess", "content": mine[0]}), flush=True)
"""


def write(folder: Path, **setup: Any) -> Path:
    """The file of a tournament."""
    folder.mkdir(exist_ok=True)
    file = folder / "cup.yaml"
    file.write_text(yaml.safe_dump(told(**setup)))
    return file


def begin(file: Path) -> subprocess.Popen[bytes]:
    """`arena tournament run` beside the test, in a process group of its own."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    return subprocess.Popen([*COMMAND, "tournament", "run", str(file)], env=environment(), **quiet)  # type: ignore[call-overload, no-any-return]


def finish(file: Path, **env: str) -> dict[str, Any]:
    """Run it to its end; what it says of itself."""
    command = [*COMMAND, "tournament", "run", str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment(**env), check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


async def reaches(file: Path, games: int) -> str:
    """Wait until so many games are over; the address of the server that plays them."""
    address = file.with_suffix(".tournament") / ADDRESS
    url = ""

    async def has_played() -> bool:
        nonlocal url
        try:
            url = address.read_text()
            async with httpx.AsyncClient(timeout=10) as web:
                listed = (await web.get(f"{url}/api/tournaments")).json()["tournaments"]
        except (OSError, httpx.HTTPError, ValueError):
            return False
        return bool(listed and listed[0]["games"]["played"] >= games)

    await comes_true(has_played, f"{games} games are over")
    return url


async def check_that_a_killed_tournament_comes_to_the_same_end(folder: Path, played: int, **setup: Any) -> None:
    whole = finish(write(folder / "whole", **setup))
    file = write(folder / "killed", **setup)
    running = begin(file)
    await reaches(file, played)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    status = arena("tournament", "status", file, "--json")
    resumed = finish(file)

    before, most = json.loads(status.out)["games"], whole["tournament"]["games"]["most"]
    assert played <= before["played"] < most
    assert whole["tournament"]["games"]["played"] == resumed["tournament"]["games"]["played"] == most
    assert resumed["tournament"]["standings"] == whole["tournament"]["standings"]
    assert resumed["again"]["results"] == whole["again"]["results"]
    assert resumed["ratings"] == whole["ratings"]


async def test_a_killed_tournament_goes_on_to_the_same_standings(tmp_path: Path) -> None:
    await check_that_a_killed_tournament_comes_to_the_same_end(tmp_path, 20, count=8, games_per_pair=6)


@pytest.mark.chaos
async def test_sixteen_agents_play_480_games_are_killed_in_the_middle_and_end_the_same(tmp_path: Path) -> None:
    await check_that_a_killed_tournament_comes_to_the_same_end(tmp_path, 200, count=16, games_per_pair=4)


async def test_ctrl_c_leaves_it_resumable_and_no_finished_game_is_played_again(tmp_path: Path) -> None:
    program, gate = tmp_path / "waiter.py", tmp_path / "gate"
    program.write_text(
        f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.1)\n{PROGRAM}"
    )
    waiter = {"name": "waiter", "cmd": f"{sys.executable} {program}"}
    file = write(tmp_path, agents=[*told(4)["agents"], waiter], games_per_pair=1)
    running = begin(file)
    url = await reaches(file, 6)
    live = arena("tournament", "status", file)
    async with httpx.AsyncClient(timeout=10) as web:
        page = await web.get(f"{url}/tournaments")
    os.kill(running.pid, signal.SIGINT)
    code = running.wait(60)
    left = json.loads(arena("tournament", "report", file, "--format", "json").out)
    gate.touch()
    report = finish(file)
    again = finish(file)

    assert (live.code, page.status_code, code) == (0, 200, 130)
    assert "6 of 10 games" in live.out
    assert left["again"]["seed"] is None
    before = {game["key"]: game for game in left["games"] if "scores" in game}
    after = {game["key"]: game for game in report["games"]}
    assert (len(before), len(after)) == (6, 10)
    assert {key: after[key] for key in before} == before
    assert again["games"] == report["games"]


def test_programs_play_beside_bots_and_one_that_fails_forfeits(tmp_path: Path) -> None:
    program = tmp_path / "guesser.py"
    program.write_text(PROGRAM)
    agents = [
        {"name": "house", "bot": "honest"},
        {"name": "guesser", "cmd": f"{sys.executable} {program}"},
        {"name": "broken", "cmd": f"{sys.executable} -c raise(SystemExit(1))"},
    ]
    file = write(tmp_path, agents=agents, games_per_pair=2)

    report = finish(file)

    rows = {row["agent"]: row for row in report["tournament"]["standings"]}
    folder = file.with_suffix(".tournament")
    assert report["tournament"]["games"]["played"] == 6
    assert (rows["broken"]["forfeits"], rows["broken"]["points"]) == (4, 0)
    assert rows["guesser"]["forfeits"] == 0
    assert report["again"]["file"]["agents"] == agents
    assert str(program) in (folder / "report.md").read_text()
    assert "<table>" in (folder / "report.html").read_text()


def guess(call: Call) -> Reply:
    found = re.findall(r"private set is: \{([^}]*)\}", json.dumps(call.body))[0]
    return Reply(tools=[("guess", {"content": found})])


async def test_a_model_plays_and_its_cost_stands_in_the_report(tmp_path: Path) -> None:
    config = tmp_path / "arena.json"
    agents = [{"name": "house", "bot": "honest"}, {"name": "tiny", "model": "tiny"}]
    async with model_server() as models:
        models.otherwise = guess
        route = {"match": "*", "api": "openai", "baseUrl": models.openai}
        prices = [{"match": "*", "input": 2, "output": 8}]
        config.write_text(json.dumps({"models": {"routes": [route], "prices": prices}}))
        report = await asyncio.to_thread(
            finish, write(tmp_path, agents=agents, games_per_pair=2), ARENA_CONFIG=str(config)
        )

    rows = {row["agent"]: row for row in report["tournament"]["standings"]}
    assert report["tournament"]["games"]["played"] == 2
    assert rows["tiny"]["forfeits"] == 0
    assert rows["tiny"]["cost"] == pytest.approx(len(models.calls) * (100 * 2 + 10 * 8) / 1e6)
    assert report["again"]["file"]["agents"] == agents


def test_a_file_that_is_wrong_begins_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, challange="psi")

    wrong = arena("tournament", "run", file)
    none = arena("tournament", "status", write(tmp_path))

    assert (wrong.code, none.code) == (1, 1)
    assert "did you mean 'challenge'?" in wrong.err
    assert "There is no tournament" in none.err
    assert not file.with_suffix(".tournament").exists()


def test_the_file_of_the_documentation_is_played(tmp_path: Path) -> None:
    page = Path(__file__).parents[1] / "docs" / "tournaments.md"
    [example] = re.findall(r"```yaml file=cup.yaml\n(.*?)```", page.read_text(), re.DOTALL)
    file = tmp_path / "cup.yaml"
    file.write_text(example)

    done = arena("tournament", "run", file)
    report = arena("tournament", "report", file, "--format", "html", "--out", tmp_path / "cup.html")
    nowhere = arena("tournament", "report", file, "--out", tmp_path / "none" / "cup.md")

    assert (done.code, report.code) == (0, 0), done.err
    assert "Finished: all games are played. 12 of 12 games." in done.out
    assert "careful-too" in (tmp_path / "cup.html").read_text()
    assert nowhere.code == 1
    assert "cannot be written" in nowhere.err
