"""What a pack keeps to itself stays there: outputs, expectations, secrets, and what judges are asked."""

import json
from pathlib import Path
from typing import Any

from tests.bundles import SPEC, small
from tests.callers import calling
from tests.guests import Guest, visit
from tests.logbooks import written
from tests.sandboxes import linux_only
from tests.servers import Served, served

OUTPUT, EXPECTED, PLANTED = "canary-of-output-31a7", "canary-of-expectation-52c9", "canary-of-planting-77e1"
STORED, RUBRIC = "canary-of-the-store-90b4", "canary-of-the-rubric-18d6"


def pack() -> bytes:
    """A pack with something to hide in every place."""
    judge = {
        "key": "j",
        "mode": "reference",
        "model": "gpt-5",
        "samples": 1,
        "rubric": RUBRIC,
        "context_from": ["final_output"],
    }
    tool = {
        "name": "call_home",
        "description": "Calls home.",
        "parameters": {"type": "object", "properties": {}},
        "implementation": {"primitive": "exec", "args": {"command": "echo ${secrets.KEY}"}},
    }
    made = small(
        pack__slug="vaulted",
        version__tool_policy={"allowed_tool_kinds": ["file"], "allow_shell": True},
        version__evaluation_spec={
            **SPEC,
            "judge_mode": "hybrid",
            "llm_judges": [{**judge, "reference_from": "case.expectations.best"}],
            "scorecard": {"dimensions": ["correctness", {"key": "j", "source": "llm_judge", "judge_key": "j"}]},
        },
    )
    made["input_sets"][0]["cases"][0]["expectations"] = [{"key": "best", "kind": "text", "value": EXPECTED}]
    made["tools"] = {"custom": [tool]}
    made["security"] = {"planted_secrets": [{"name": "CODE", "value": PLANTED, "location": "env"}]}
    return json.dumps(made).encode()


async def looked(arena: Served, id_: str, *guests: Guest) -> str:
    """All that these guests have heard, and all that an anonymous caller can read."""
    paths = [f"/challenges/vaulted/{id_}/{rest}" for rest in ("scorecards", "runs", "runs/0/k/events")]
    paths += ["/challenges/vaulted", "/metadata/vaulted", "/packs/vaulted", "/packs/vaulted/versions/1"]
    async with calling(arena) as anybody:
        read = [await anybody.client.get(f"/api{path}") for path in paths]
        synced = await anybody.client.get("/api/arena/sync", params={"channel": f"challenge_{id_}"})
    heard = [frame for guest in guests for frame in guest.frames]
    return json.dumps([heard, [answer.text for answer in (*read, synced)]])


def found(text: str) -> set[str]:
    return {canary for canary in (OUTPUT, EXPECTED, PLANTED, STORED, RUBRIC) if canary in text}


async def act(guest: Guest, id_: str, type: str, **content: Any) -> None:
    await guest.get("message", challengeId=id_, messageType=type, content=json.dumps(content))


def told(guest: Guest, id_: str, type: str) -> list[dict[str, Any]] | None:
    texts = [message["content"] for message in guest.messages(f"challenge_{id_}")]
    return [
        each for each in map(json.loads, filter(lambda t: t.startswith("{"), texts)) if each["type"] == type
    ] or None


@linux_only
async def test_peers_spectators_and_anybody_see_nothing_before_the_end_and_secrets_never(
    store: str, tmp_path: Path
) -> None:
    (tmp_path / "secrets.json").write_text(json.dumps({"KEY": STORED}))
    settings: dict[str, Any] = {
        "secrets": tmp_path / "secrets.json",
        "sandbox": "bubblewrap",
        "admin_token": "let-me-in",
    }
    with written("debug") as log:
        async with served(store, **settings) as arena:
            headers = {"Authorization": "Bearer let-me-in"}
            async with calling(arena, headers=headers) as keeper:
                published = await keeper.client.post("/api/packs", content=pack())
            assert published.status_code in {200, 201}, published.text
            ada, ben, judge, eve = [await visit(arena) for _ in range(4)]
            options = {"players": 2, "judge_seat": True}
            made = await ada.get("create", challengeType="vaulted", options=options)
            id_ = made["id"]
            for guest, invite in zip((ada, ben, judge), made["invites"], strict=True):
                await guest.get("join", invite=invite)
            await eve.get("watch", challengeId=id_)
            await act(ada, id_, "tool", name="call_home", arguments={})
            [result] = await ada.until(lambda: told(ada, id_, "tool"), "a result")
            await act(ada, id_, "submit", output=f"{OUTPUT} {PLANTED}")
            [question] = await judge.until(lambda: told(judge, id_, "question"), "a question")
            before = await looked(arena, id_, ben, eve)
            own = json.dumps(ada.frames)

            await act(ben, id_, "submit", output="nothing")
            questions = await judge.until(
                lambda: asked if len(asked := told(judge, id_, "question") or []) > 1 else None, "both questions"
            )
            for each in questions:
                await act(judge, id_, "verdict", id=each["id"], answer={"score": 5})
            await eve.hear("game_ended", challengeId=id_)
            await ben.get("sync", channel=f"challenge_{id_}")
            after = await looked(arena, id_, ben, eve)

    assert result["result"].get("is_error") is not True, result
    assert {RUBRIC, EXPECTED, OUTPUT} <= found(json.dumps(question))
    assert found(before) == set()
    assert found(own) == {OUTPUT, PLANTED}
    assert found(after) == {OUTPUT}
    assert found(log.getvalue()) == set()
