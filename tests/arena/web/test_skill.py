"""What agents are told works: the lines of the skill, run in a shell, are a whole game, in both modes."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from arena import wire
from arena.version import __version__
from tests.servers import Served, served

Answers = list[Any]


async def read(arena: Served, path: str = "/skill.md") -> httpx.Response:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        answer = await client.get(path)
    assert answer.status_code == 200
    return answer


def steps(guide: str) -> dict[str, list[str]]:
    """The blocks of commands, by the heading that they stand under."""
    _, *parts = re.split(r"^### (.+)$", guide, flags=re.MULTILINE)
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    found = {title: re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for title, text in texts.items()}
    return {title: blocks for title, blocks in found.items() if blocks}


class Agent:
    """Somebody who does what the guide says, and keeps what it says to keep."""

    def __init__(self, name: str, guide: str, folder: Path) -> None:
        self.steps = steps(guide)
        self.known = {"ME": name}
        self.folder = folder
        folder.mkdir()

    async def do(self, step: str) -> Answers:
        """Run the commands of a step; the JSON that each of them printed."""
        return [answer for block in self.steps[step] for answer in await self._run(block)]

    async def _run(self, block: str) -> Answers:
        answers: Answers = []
        for part in re.split(r"(?<=\n)(?=curl )|(?<=\n)(?=# keep )", block):
            if part.startswith("# keep "):
                self._keep(part, answers[-1])
            elif (printed := await self._shell(part)).strip():
                answers.append(json.loads(printed))
        return answers

    async def _shell(self, script: str) -> str:
        script = f"set -aeuo pipefail\n{script}\nenv -0 > after"
        env = {"PATH": os.environ["PATH"], **self.known}
        pipe = asyncio.subprocess.PIPE
        made = await asyncio.create_subprocess_exec(
            "bash", "-c", script, cwd=self.folder, env=env, stdout=pipe, stderr=pipe
        )
        printed, complaint = await made.communicate()
        assert made.returncode == 0, complaint.decode()
        after = dict(pair.split("=", 1) for pair in (self.folder / "after").read_text().split("\0") if pair)
        self.known |= {name: value for name, value in after.items() if name.isupper() and name not in {"PATH", "PWD"}}
        return printed.decode()

    def _keep(self, line: str, answer: Any) -> None:
        for name, field, place in re.findall(r"(\w+)=(\w+)(?:\[(\d+)\])?", line):
            value = answer[field]
            self.known[name] = str(value[int(place)] if place else value)


@pytest.mark.parametrize("auth", ["open", "required"])
async def test_the_lines_of_the_skill_are_a_whole_game(store: str, tmp_path: Path, auth: str) -> None:
    async with served(store, auth=auth, auth_secret="x" * 40) as arena:
        guide = (await read(arena)).text
        ada, ben = (Agent(name, guide, tmp_path / name) for name in ("ada", "ben"))
        assert set(ada.steps) >= {"Look", "Open a session", "Join", "Read", "Talk", "Move", "See how it ended"}

        await ada.do("Look")
        await ada.do("Open a session")
        if auth == "open":
            states = [answer["status"] for answer in await ada.do("Find company")]
            assert states == ["waiting", "waiting", "gone"]
        ben.known |= {"INVITE": ada.known["OTHER"], "OTHER": ada.known["INVITE"]}
        for agent in (ada, ben):
            if auth == "required":
                await agent.do("Make a key pair")
            assert (await agent.do("Join"))[0]["ChallengeID"] == ada.known["ID"]
        for agent in (ada, ben):
            operator, _ = await agent.do("Read")
            assert [m["content"][:19] for m in operator["messages"] if m.get("to") == agent.known["INVITE"]] == [
                "Your private set is"
            ]
        assert [answer["to"] for answer in await ada.do("Talk")] == [None, ada.known["OTHER"]]
        assert (await ben.do("Read"))[1]["messages"][1]["content"] == "Only for you."
        for agent in (ada, ben):
            sent, heard = await agent.do("Move")
            assert sent == {"ok": "Message sent"}
        assert heard["messages"][-1]["content"].startswith("Game ended.")
        for agent in (ada, ben):
            games, board = await agent.do("See how it ended")
            assert [game["id"] for game in games["challenges"]] == [ada.known["ID"]]
            assert len(board["average"]) == 2
            assert (await agent.do("Introduce yourself"))[0]["username"] == agent.known["ME"]

    unused = set(ada.steps) - {
        "Make a key pair",
        "Look",
        "Open a session",
        "Find company",
        "Join",
        "Read",
        "Talk",
        "Move",
    }
    assert unused == {"See how it ended", "Introduce yourself"}


@pytest.mark.parametrize("path", ["/skill.md", "/SKILL.md"])
async def test_the_skill_begins_with_what_it_is_called_and_what_it_is_for(arena: Served, path: str) -> None:
    answer = await read(arena, path)

    assert answer.headers["content-type"] == "text/plain; charset=UTF-8"
    front = yaml.safe_load(answer.text.split("---\n")[1])
    assert front["name"] == "arena"
    assert front["version"] == __version__
    assert arena.url in front["description"]


@pytest.mark.parametrize("auth", ["open", "required"])
async def test_the_skill_tells_of_this_server(store: str, auth: str) -> None:
    async with served(store, auth=auth, auth_secret="x" * 40) as arena:
        guide, card, links = [(await read(arena, path)) for path in ("/skill.md", "/skill.json", "/llms.txt")]

        assert "{{" not in guide.text + links.text
        names = list(arena.arena.catalog.challenges)
        assert f"{arena.url}/api/metadata/psi" in guide.text
        assert arena.ws in guide.text
        for text in (guide.text, links.text):
            assert "- `psi`: Private Set Intersection, 2 players." in text
        assert ("**open mode**" in guide.text) == (auth == "open")
        assert ("Bearer $KEY" in guide.text) == (auth == "required")
        assert card.json()["doors"]["websocket"] == arena.ws
        assert card.json()["auth"] == ("open" if auth == "open" else "auth")
        assert [one["type"] for one in card.json()["challenges"]] == names
        assert links.headers["content-type"] == "text/plain; charset=UTF-8"


@pytest.mark.parametrize("auth", ["open", "required"])
async def test_the_frames_in_the_skill_are_frames_of_the_protocol(store: str, auth: str) -> None:
    async with served(store, auth=auth, auth_secret="x" * 40) as arena:
        guide = (await read(arena)).text

    [block] = re.findall(r"^```json\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    frames = [wire.parse(json.loads(line)) for line in block.splitlines()]
    assert [frame.type for frame in frames] == ["create", "join", "chat", "message"]


async def test_every_address_in_the_links_leads_somewhere(arena: Served) -> None:
    text = (await read(arena, "/llms.txt")).text

    addresses = re.findall(r"\]\((\S+)\)", text)
    assert len(addresses) >= 8
    for address in addresses:
        assert (await read(arena, address)).status_code == 200


async def test_the_route_table_of_the_skill_is_that_of_the_server(arena: Served) -> None:
    guide, document = (await read(arena)).text, (await read(arena, "/openapi.json")).json()

    told = set(re.findall(r"^\| ([A-Z]+) \| `(\S+)` \|", guide, re.MULTILINE))
    assert told == {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
