"""Agents where signatures are wanted: a signed join, and the session key from then on."""

from collections.abc import AsyncIterator

import pytest

from arena.identity import Identity
from tests.agents import Agent, agent_at, agent_in_a_room
from tests.callers import Body
from tests.servers import Served, served


@pytest.fixture
async def arena(store: str) -> AsyncIterator[Served]:
    async with served(store, auth="required", auth_secret="a secret") as running:
        yield running


@pytest.fixture
async def agent(arena: Served) -> AsyncIterator[Agent]:
    async with agent_in_a_room(arena) as someone:
        yield someone


async def sit_down(agent: Agent) -> list[Body]:
    made = await agent.call("create_session", challengeType="psi")
    signed = [(invite, Identity.new()) for invite in made["invites"]]
    return [await agent.call("join_session", invite=i, **one.sign(f"join:{i}")) for i, one in signed]


async def test_a_join_needs_a_signature(agent: Agent) -> None:
    made = await agent.call("create_session", challengeType="psi")
    first, second = made["invites"]
    ada = Identity.new()

    unsigned = await agent.refusal("join_session", invite=first, userId="ada")
    for_another = await agent.refusal("join_session", invite=first, **ada.sign(f"join:{second}"))
    stale = await agent.refusal("join_session", invite=first, **ada.sign(f"join:{first}", now=1))

    assert [told["code"] for told in (unsigned, for_another, stale)] == ["VALIDATION", "UNAUTHORIZED", "UNAUTHORIZED"]
    assert (await agent.call("session_status", challengeId=made["session"]["challengeId"]))["session"]["players"] == []


async def test_a_game_is_played_with_the_session_key_as_a_bearer(arena: Served, agent: Agent) -> None:
    seats = await sit_down(agent)
    id_ = seats[0]["challengeId"]

    for seat in seats:
        async with agent_at(arena, authorization=f"Bearer {seat['sessionKey']}") as player:
            news = await player.call("read", challengeId=id_)
            await player.call("chat", challengeId=id_, content="hello")
            await player.call("act", challengeId=id_, method="guess", content="1")
        assert [m["to"] for m in news["operator"] if not m.get("redacted") and "to" in m] == [seat["you"]]

    over = await agent.call("session_status", challengeId=id_)
    assert over["session"]["status"] == "ended"
    assert all(len(one["who"]["playerId"]) == 64 for one in over["session"]["results"])


async def test_a_client_without_headers_shows_its_key_as_an_argument(agent: Agent) -> None:
    seats = await sit_down(agent)

    for seat in seats:
        who = {"challengeId": seat["challengeId"], "sessionKey": seat["sessionKey"]}
        told = await agent.call("act", **who, method="guess", content="1")

    assert told["session"]["status"] == "ended"


async def test_an_invite_is_no_identity(agent: Agent) -> None:
    ada, ben = await sit_down(agent)
    who = {"challengeId": ada["challengeId"], "from": ada["you"]}

    news = await agent.call("read", **who)
    moved = await agent.refusal("act", **who, method="guess", content="1")
    talked = await agent.refusal("chat", **who, content="hi")

    assert [m["content"] for m in news["operator"]] == ["", ""]
    assert (moved["code"], talked["code"]) == ("UNAUTHORIZED", "UNAUTHORIZED")
    assert moved["next"]["tool"] == "join_session"
    assert {ada["sessionKey"], ben["sessionKey"]} & set(str(news).split("'")) == set()


@pytest.mark.parametrize("tool", ["read", "session_status", "act", "chat"])
async def test_a_key_of_another_session_or_none_of_ours_opens_nothing(arena: Served, agent: Agent, tool: str) -> None:
    (seat, _), (other, _) = await sit_down(agent), await sit_down(agent)
    extra = {"act": {"method": "guess", "content": "1"}, "chat": {"content": "hi"}}.get(tool, {})

    for key in (other["sessionKey"], seat["sessionKey"] + "0", "junk"):
        about = {"challengeId": seat["challengeId"], **extra}
        assert (await agent.refusal(tool, **about, sessionKey=key))["code"] == "UNAUTHORIZED"
        async with agent_at(arena, authorization=f"Bearer {key}") as stranger:
            # A wrong bearer is not made good by a right argument.
            assert (await stranger.refusal(tool, **about, sessionKey=seat["sessionKey"]))["code"] == "UNAUTHORIZED"


async def test_a_profile_is_changed_by_its_owner_alone(agent: Agent) -> None:
    ada = Identity.new()
    signed = ada.sign("user-update")

    unsigned = await agent.refusal("update_profile", userId=ada.user, username="Ada")
    told = await agent.call("update_profile", **signed, username="Ada")
    again = await agent.refusal("update_profile", **signed, username="Eve")

    assert unsigned["code"] == "VALIDATION"
    assert told["player"] == {"trust": "untrusted", "playerId": ada.user, "username": "Ada"}
    assert again["code"] == "UNAUTHORIZED"
