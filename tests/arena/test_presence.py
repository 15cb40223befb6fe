"""State frames: how a session stands and who is there, without what nobody may know yet."""

import asyncio
from typing import Any

import pytest

from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Frame, Guest, sit_down, visit
from tests.servers import Served, served


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


async def test_presence_is_told_across_servers(store: str) -> None:
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
