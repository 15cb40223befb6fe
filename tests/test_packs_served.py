"""Every pack there is, the whole way: published, played through the doors by agents, judged by models, and scored."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from arena.packs.blocks import Bundle
from arena.packs.findings import examine
from tests.bundles import ELSEWHERE, OURS
from tests.callers import Caller, calling
from tests.guests import Guest, visit
from tests.model_server import model_server
from tests.races import offline
from tests.sandboxes import linux_only
from tests.servers import Served, served

FOUND = [*OURS, *sorted(ELSEWHERE.glob("*.yaml"))]
PACKS = {path: made.bundle for path in FOUND if (made := examine(path.read_bytes())).ok and made.bundle}
KEEPER = "token-of-the-keeper-of-packs"
ANSWER = "42 kittens"


@asynccontextmanager
async def judged(store: str, folder: Path) -> AsyncIterator[tuple[Served, Caller]]:
    """A server with models and a real sandbox, and the keeper of its packs."""
    async with model_server() as models:
        routes = [{"match": "*", "api": "openai", "baseUrl": models.openai}]
        prices = [{"match": "*", "input": 1, "output": 1}]
        (folder / "arena.json").write_text(json.dumps({"models": {"routes": routes, "prices": prices}}))
        chosen: dict[str, Any] = {
            "config": folder / "arena.json",
            "admin_token": KEEPER,
            "sandbox": "bubblewrap",
            "sandbox_network": "private",
        }
        async with (
            served(store, **chosen) as arena,
            calling(arena, headers={"Authorization": f"Bearer {KEEPER}"}) as keeper,
        ):
            yield arena, keeper


async def publish(keeper: Caller, path: Path) -> dict[str, Any]:
    """Bring a pack and the files that lie beside it to a server."""
    told = await keeper.ask("POST", "/packs", content=await asyncio.to_thread(path.read_bytes))
    assert told.status in {200, 201}, told
    release: dict[str, Any] = told.body
    for asset in release["assets"]:
        where = f"/api/packs/{release['slug']}/versions/{release['number']}/assets/{asset['key']}"
        put: httpx.Response = await keeper.client.put(where, content=(path.parent / asset["path"]).read_bytes())
        assert put.status_code in {200, 201}, put.text
    return release


class Player:
    """An agent that uses a tool where it has one, tells what its model took, and always says the same."""

    def __init__(self, guest: Guest, id_: str, invite: str) -> None:
        self.guest, self.id, self.invite = guest, id_, invite
        self.read = 0

    async def act(self, type: str, **content: Any) -> None:
        """Make a move."""
        await self.guest.get("message", challengeId=self.id, messageType=type, content=json.dumps(content))

    async def play(self) -> dict[str, Any]:
        """Answer whatever is asked until the game ends."""
        while not (ended := self.guest.of("game_ended")):
            for told in await self.guest.until(self._news, "something to do"):
                await self.answer(told)
        data: dict[str, Any] = ended[0]["data"]
        return data

    def _news(self) -> list[dict[str, Any]] | None:
        heard = self.guest.messages(f"challenge_{self.id}")
        new, self.read = heard[self.read :], len(heard)
        mine = [m for m in new if m["from"] == "operator" and m.get("to") == self.invite]
        return [json.loads(m["content"]) for m in mine] or ([] if self.guest.of("game_ended") else None)

    async def answer(self, told: dict[str, Any]) -> None:
        """Do something about one message of the operator."""
        case = told["case"]
        match told["type"]:
            case "case" if told["mode"] == "multi_turn":
                await self.act("report", case=case, input_tokens=20, output_tokens=5, model="gpt-4.1-mini")
            case "case" if told["tools"]:
                await self.act("tool", case=case, name="list_files", arguments={"path": "."})
            case "case" | "tool":
                await self.act("report", case=case, input_tokens=20, output_tokens=5, model="gpt-4.1-mini")
                await self.act("submit", case=case, output=ANSWER)
            case "user":
                await self.act("reply", case=case, content=ANSWER)
            case "your-turn":
                await self.act("say", run=told["run"], content="I am still waiting.")


async def lines(keeper: Caller, path: str) -> list[dict[str, Any]]:
    answer = await keeper.client.get(f"/api{path}")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


@linux_only
@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
async def test_a_pack_is_published_played_and_scored_as_offline(path: Path, store: str, tmp_path: Path) -> None:
    bundle: Bundle = PACKS[path]
    chosen = {"input_set": bundle.input_sets[0].key, "order": "at-once"}
    async with judged(store, tmp_path) as (arena, keeper):
        release = await publish(keeper, path)
        slug = release["slug"]
        made = (await keeper.ask("POST", f"/challenges/{slug}", json={"options": chosen})).body
        id_, players = made["id"], []
        for invite in made["invites"]:  # of the agent, and of whoever speaks for the user
            guest = await visit(arena)
            await guest.get("join", invite=invite)
            players.append(Player(guest, id_, invite))
        ended, *_ = await asyncio.gather(*(player.play() for player in players))

        [seat] = (await keeper.get(f"/challenges/{slug}/{id_}/scorecards"))["seats"]
        for card in {each["case"]: each for each in (seat["cases"][0], seat["cases"][-1])}.values():
            case = card["case"]
            events = await lines(keeper, f"/challenges/{slug}/{id_}/runs/0/{case}/events")
            judges = card.get("llm_judge_results")
            assert card == await offline(bundle, case, events, tmp_path, judges, input_set=chosen["input_set"])
            assert "system.run.completed" in [event["type"] for event in events]
    assert len(seat["cases"]) == seat["card"]["cases"] == len(bundle.input_sets[0].cases)
    assert ended["scores"][0]["utility"] == pytest.approx(2 * seat["card"]["overall"] - 1)
