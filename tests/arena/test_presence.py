"""State frames: how a session stands and who is there, without what nobody may know yet."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from arena.models import SessionId, Status
from arena.store import keys
from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Frame, Guest, sit_down, visit
from tests.servers import Served, served
from tests.valkeys import Proxy, connect


async def state(guest: Guest, **wanted: Any) -> Frame:
    """The next state frame with these fields, in the frame or in its state."""
    while True:
        frame = await guest.hear("state")
        if wanted.items() <= {**frame["state"], **frame}.items():
            return frame


@pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: str(codec.protocol))
async def test_a_state_tells_nothing_that_nobody_may_know_before_the_end(arena: Served, codec: Codec) -> None:
    eve = await visit(arena, codec)
    game = await sit_down(arena, users=("ada", "ben"))
    await eve.get("watch", challengeId=game.id)

    await game.act(0, "guess", "100 101")
    running = await state(eve, status="active", spectators=1)
    await game.act(1, "guess", "1")
    ended = await state(eve, status="ended")

    assert running["challengeId"] == game.id
    assert running["state"] == {"status": "active", "players": game.invites, "scores": [], "playerIdentities": {}}
    assert len(ended["state"]["scores"]) == 2
    assert ended["state"]["playerIdentities"] == dict(zip(game.invites, ("ada", "ben"), strict=True))


async def test_a_state_follows_who_joins(arena: Served) -> None:
    host, ada, ben = [await visit(arena) for _ in range(3)]
    made = await host.get("create", challengeType="psi")
    await host.get("watch", challengeId=made["id"])

    await state(host, players=[], status="open")
    await ada.get("join", invite=made["invites"][1])
    await state(host, players=[made["invites"][1]], connected=[made["invites"][1]], status="open")
    await ben.get("join", invite=made["invites"][0])

    full = await state(host, status="active", connected=[made["invites"][1], made["invites"][0]])
    assert full["state"]["players"] == [made["invites"][1], made["invites"][0]]


async def test_a_state_tells_who_comes_and_who_leaves(arena: Served) -> None:
    game = await sit_down(arena)
    ada, ben = game.players
    eve, bob = await visit(arena), await visit(arena)

    await state(ada, connected=game.invites, spectators=0)
    await eve.get("watch", challengeId=game.id)
    await bob.get("watch", challengeId=game.id)
    await state(ada, connected=game.invites, spectators=2)
    await bob.get("unwatch", challengeId=game.id)
    await state(ada, connected=game.invites, spectators=1)
    await eve.socket.close()
    await state(ada, connected=game.invites, spectators=0)
    await ben.socket.close()
    await state(ada, connected=[game.invites[0]], spectators=0)
    back = await visit(arena)
    await back.get("resume", challengeId=game.id, sessionKey=game.keys[1])

    await state(ada, connected=game.invites, spectators=0)


async def test_a_seat_with_two_connections_is_there_until_both_are_gone(arena: Served) -> None:
    game = await sit_down(arena)
    ada, ben = game.players
    second = await visit(arena)
    await second.get("resume", challengeId=game.id, sessionKey=game.keys[1])
    await second.hear("initial", channel=game.id)

    await ben.socket.close()
    eve = await visit(arena)
    await eve.get("watch", challengeId=game.id)
    still = await state(ada, spectators=1)
    await second.socket.close()

    assert still["connected"] == game.invites
    await state(ada, connected=[game.invites[0]])


async def test_presence_is_told_across_servers(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 3600)  # the news alone have to do
    async with served(store) as here, served(store) as there:
        game = await sit_down(here, others=there)
        ada, ben = game.players
        eve = await visit(there)
        await eve.get("watch", challengeId=game.id)

        await state(ada, connected=game.invites, spectators=1)
        await state(ben, connected=game.invites, spectators=1)
        await eve.socket.close()
        await state(ada, connected=game.invites, spectators=0)
        await ben.socket.close()

        await state(ada, connected=[game.invites[0]], spectators=0)


async def test_what_happens_at_another_server_is_in_the_next_state(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 3600)
    async with served(store) as here, served(store) as there:
        ada, ben = await visit(here), await visit(there)
        made = await ada.get("create", challengeType="psi")
        await ada.get("join", invite=made["invites"][0])
        await state(ada, players=made["invites"][:1], status="open")

        await ben.get("join", invite=made["invites"][1])

        await state(ada, players=made["invites"], status="active")


async def test_a_version_of_a_lost_history_is_not_told_once_the_feed_has_begun_anew(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 3600)
    async with served(store) as here, served(store) as there:
        game, eve = await sit_down(there), await visit(here)
        await eve.get("watch", challengeId=game.id)
        await state(eve, status="active", connected=game.invites)
        engine, hub, id_ = here.arena.engine, here.arena.hub, SessionId(game.id)
        session = await engine.get(id_)

        # The store has lost two versions, which only this worker remembers: in one of them the game was over.
        over = session.standing.model_copy(update={"status": Status.ENDED})
        engine._keep(replace(session, standing=over, tag="lost", version=session.version + 2))
        hub.confirm(keys.feed(id_))
        await game.act(0, "guess", "1")
        await eve.hear_messages(game.operator_channel, 5)
        await hub.states.keep()
        await eve.get("ping")

        assert {frame["state"]["status"] for frame in eve.of("state")} == {"active"}


async def test_who_came_on_another_server_while_the_feed_was_cut_is_told_when_it_is_back(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as cut, served(store) as whole:
        game, eve = await sit_down(cut), await visit(whole)
        ada = game.players[0]
        await state(ada, connected=game.invites, spectators=0)

        proxy.refuse = True
        with connect(store) as redis:
            redis.client_kill_filter(_type="pubsub")
        await eve.get("watch", challengeId=game.id)
        await state(eve, connected=[], spectators=1)
        proxy.refuse = False

        await state(ada, connected=game.invites, spectators=1)
        await state(eve, connected=game.invites, spectators=1)


async def test_states_come_at_most_four_a_second_and_the_last_one_is_right(arena: Served) -> None:
    game = await sit_down(arena)
    ada = game.players[0]
    guests = [await visit(arena) for _ in range(5)]
    clock = asyncio.get_running_loop().time
    await state(ada, connected=game.invites)
    before, begun = len(ada.of("state")), clock()

    while clock() - begun < 1.0:
        for guest in guests:
            await guest.get("watch", challengeId=game.id)
        for guest in guests[1:]:
            await guest.get("unwatch", challengeId=game.id)
    await state(ada, spectators=1)
    took = clock() - begun

    assert len(ada.of("state")) - before <= took * 4 + 1


async def test_a_session_without_news_sends_no_states(arena: Served) -> None:
    game = await sit_down(arena)
    ada = game.players[0]
    await state(ada, connected=game.invites, status="active")
    before = len(ada.of("state"))

    for _ in range(3):
        await game.say(1, "hello")
        await asyncio.sleep(0.3)
    await game.say(1, "bye")
    await ada.hear_messages(game.id, 4)

    assert len(ada.of("state")) - before <= 1
