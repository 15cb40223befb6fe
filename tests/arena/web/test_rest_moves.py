"""Moves and talk over REST: who may speak where, what is kept of it, and who may read it."""

from typing import Any

import pytest

from arena.errors import Invalid
from arena.store import keys
from arena.web.calls import moves
from tests.callers import Caller, Session, calling
from tests.guests import visit
from tests.servers import Served, served

STRANGER = "inv_6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f"
SENT = (200, {"ok": "Message sent"})


async def say(caller: Caller, channel: str, sender: str, content: str = "hi", **more: Any) -> Any:
    return await caller.ask("POST", "/chat/send", json={"channel": channel, "from": sender, "content": content, **more})


async def read(caller: Caller, channel: str, **query: Any) -> list[Any]:
    messages: list[Any] = (await caller.get("/chat/sync", channel=channel, **query))["messages"]
    return messages


async def test_a_whole_game_over_rest(caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")

    told = [await session.act(0, "1"), await session.act(1, "2")]

    messages = await session.operator()
    assert told == [SENT, SENT]
    assert [m["index"] for m in messages] == list(range(1, len(messages) + 1))
    assert [m["content"] for m in messages if m["to" if "to" in m else "from"] == "operator" and "type" in m] == [
        "(guess) 1",
        "(guess) 2",
    ]
    assert messages[-1]["content"].startswith("Game ended.\n\nScores are:\n- Player 1: ")


async def test_a_move_and_its_session_may_be_named_with_the_prefix_of_the_channel(caller: Caller) -> None:
    session = await caller.sit_down()

    told = await session.act(0, challengeId=f"challenge_{session.id}")

    prefixed = await caller.get("/arena/sync", channel=f"challenge_{session.id}")
    assert told == SENT
    assert prefixed == await caller.get("/arena/sync", channel=session.id)
    assert prefixed == await caller.get("/chat/sync", channel=f"challenge_{session.id}")
    assert prefixed["count"] == len(prefixed["messages"]) > 2


async def test_a_refused_move_is_told_with_its_code_and_kept_as_the_players_own(caller: Caller) -> None:
    session = await caller.sit_down()

    told = [await session.act(0, "no number"), await session.act(0, "x", type="dance"), await session.act(0, "x", "")]

    assert [(one.status, one.body["code"]) for one in told] == [
        (400, "INVALID_GUESS"),
        (400, "UNKNOWN_METHOD"),
        (400, "UNKNOWN_METHOD"),
    ]
    assert told[1].body["error"] == "Unknown challenge method: dance"
    own = [m["content"] for m in await session.operator(0) if m["from"] == session.invites[0]]
    assert own == ["(guess) no number", "(dance) x", "x"]


async def test_a_stranger_in_a_running_game_is_told_so_and_leaves_nothing(caller: Caller) -> None:
    session = await caller.sit_down()
    before = await session.operator()

    told = [await session.act(0, **{"from": name}) for name in (STRANGER, "ada", "inv_", " ")]

    assert [(one.status, one.body["code"]) for one in told] == [(400, "PLAYER_NOT_FOUND")] * 4
    assert await session.operator() == before


@pytest.mark.parametrize("ended", [False, True])
async def test_a_move_while_no_game_is_on_is_answered_by_the_operator_in_private(caller: Caller, ended: bool) -> None:
    session = await (caller.sit_down() if ended else caller.create())
    if ended:
        await session.end()
    else:
        await session.join(0)
    before = len(await session.operator())

    told = await session.act(0, "4 5")

    own, answer = (await session.operator(0))[before:]
    assert told == SENT
    assert (own["from"], own["to"], own["content"]) == (session.invites[0], "operator", "(guess) 4 5")
    assert (answer["from"], answer["to"]) == ("operator", session.invites[0])
    assert answer["content"].startswith("ERR_GAME_NOT_RUNNING")
    assert all(m.get("redacted") for m in (await session.operator())[before:]) is not ended


async def test_a_stranger_while_no_game_is_on_gets_the_same_answer_and_leaves_nothing(caller: Caller) -> None:
    session = await caller.create()
    await session.join(0)
    before = await session.operator()

    told = [await session.act(0, **{"from": name}) for name in (STRANGER, "ada", session.invites[1])]

    assert told == [SENT] * 3
    assert await session.operator() == before


async def test_a_game_that_was_knocked_at_begins_and_is_scored_as_any_other(caller: Caller) -> None:
    session = await caller.create()
    await session.join(0, "ada")
    await session.act(0, "4")
    await session.join(1, "ben")

    await session.end()
    await session.act(1, "4")

    assert [entry["gamesPlayed"] for entry in await caller.get("/scoring")] == [1, 1]


async def test_a_move_with_a_key_is_made_once_however_often_it_is_sent(caller: Caller) -> None:
    session = await caller.sit_down()

    told = [await session.act(0, "4", key="k1") for _ in range(3)]
    other = await session.act(0, "5", key="k1")

    assert told == [SENT] * 3
    assert (other.status, other.body["code"]) == (409, "KEY_REUSED")
    assert [m["content"] for m in await session.operator(0) if m["from"] == session.invites[0]] == ["(guess) 4"]


async def test_a_seat_taken_with_a_key_is_given_again_to_whoever_has_the_key(caller: Caller) -> None:
    session = await caller.create()
    body = {"invite": session.invites[0], "userId": "ada"}

    first, again = [await caller.post("/arena/join", **body, key="k1") for _ in range(2)]

    assert first == again
    assert (await caller.refusal("/arena/join", **body, key="k2")).body["code"] == "INVITE_ALREADY_USED"


async def test_a_message_with_a_key_is_said_once_in_every_kind_of_channel(caller: Caller) -> None:
    session = await caller.sit_down()

    for channel, sender in ((session.id, session.invites[0]), ("lobby", "ada")):
        told = [await say(caller, channel, sender, key="k1") for _ in range(2)]
        other = await say(caller, channel, sender, "else", key="k1")

        assert told[0] == told[1]
        assert (other.status, other.body["code"]) == (409, "KEY_REUSED")
        assert len(await read(caller, channel)) == 1


async def test_direct_messages_are_read_by_their_two_ends_and_never_revealed(caller: Caller) -> None:
    session = await caller.sit_down()
    ada, ben = session.invites
    sent = await say(caller, session.id, ada, "between us", to=ben)
    await say(caller, session.id, ada, "to all", to="")

    await session.end()

    assert sent == (200, {"index": 1, "channel": session.id, "from": ada, "to": ben})
    views = {who: await read(caller, session.id, **({"from": who} if who else {})) for who in (ada, ben, "eve", "")}
    assert [m[0]["content"] for m in views.values()] == ["between us", "between us", "", ""]
    assert [m[0].get("redacted") for m in views.values()] == [None, None, True, True]
    assert {m[1]["content"] for m in views.values()} == {"to all"}
    assert "to" not in views[ada][1]


async def test_the_operator_channel_is_redacted_during_the_game_and_open_after_it(caller: Caller) -> None:
    session = await caller.sit_down()
    playing = await session.operator()
    as_operator = await caller.get("/arena/sync", channel=session.id, **{"from": "operator"})
    mine = await session.operator(0)

    await session.end()

    assert [m["content"] for m in playing] == ["", ""]
    assert as_operator["messages"] == playing
    assert [bool(m["content"]) for m in mine] == [True, False]
    assert all(m["content"] for m in await session.operator())


@pytest.mark.parametrize("viewer", ["viewer", ""])
async def test_a_handle_that_stands_for_nobody_reads_as_nobody(caller: Caller, viewer: str) -> None:
    await say(caller, "lobby", "ada", "secret", to="viewer")

    assert [m["content"] for m in await read(caller, "lobby", **{"from": viewer})] == [""]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (None, [1, 2, 3]),
        ("", [1, 2, 3]),
        ("0", [1, 2, 3]),
        ("-7", [1, 2, 3]),
        ("2", [2, 3]),
        ("2.9", [2, 3]),
        ("3e0", [3]),
        ("4", []),
        ("99999999999999999999", []),
        ("1e300", []),
        ("two", []),
        ("NaN", []),
        ("Infinity", []),
        ("1_0", []),
        ("٢", []),
        ("9" * 400, []),
        ("-1e999", [1, 2, 3]),
    ],
)
async def test_an_index_is_read_leniently(caller: Caller, index: str | None, expected: list[int]) -> None:
    for _ in range(3):
        await say(caller, "lobby", "ada")

    found = await read(caller, "lobby", **({} if index is None else {"index": index}))

    assert [m["index"] for m in found] == expected


@pytest.mark.parametrize("index", ["abc", "1e300", "9" * 400])
async def test_an_index_that_nothing_reaches_leads_to_the_next_message(caller: Caller, index: str) -> None:
    session = await caller.sit_down()
    for channel in ("lobby", "lobby", session.id):
        await say(caller, channel, session.invites[0])

    told = [
        (await caller.get(path, channel=channel, index=index))["next"]
        for path, channel in (
            ("/chat/sync", "lobby"),
            ("/chat/sync", session.id),
            ("/arena/sync", session.id),
            ("/chat/sync", "empty"),
            ("/arena/sync", keys.new_session_id()),
        )
    ]

    assert told == [3, 2, 3, 1, 1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(None, 0), ("-1", 0), ("-1e999", 0), ("2.5", 2.5), ("26", 25), ("9" * 400, 25), ("1e999", 25)],
)
def test_nobody_may_ask_for_a_wait_that_is_longer_than_the_longest(text: str | None, seconds: float) -> None:
    assert moves.read_wait(text) == seconds


@pytest.mark.parametrize("text", ["soon", "٣", "inf", "nan", "1e"])
def test_a_wait_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="at most 25"):
        moves.read_wait(text)


async def test_a_long_channel_comes_in_pages_that_say_where_the_next_begins(store: str) -> None:
    async with served(store, page_bytes=1000) as arena, calling(arena) as caller:
        for number in range(9):
            await say(caller, "lobby", "ada", f"{number}" * 200)

        found, index = [], 1
        while page := await caller.get("/chat/sync", channel="lobby", index=index):
            if not page["count"]:
                break
            assert page["count"] < 9
            found += page["messages"]
            index = page["next"]

    assert [m["index"] for m in found] == list(range(1, 10))


async def test_nobody_speaks_for_the_operator(caller: Caller) -> None:
    session = await caller.sit_down()
    before = await session.operator()

    told = [
        await say(caller, "lobby", "operator"),
        await say(caller, session.id, "operator"),
        await say(caller, f"challenge_{session.id}", "operator"),
        await say(caller, f"challenge_{session.id}", session.invites[0]),
        await say(caller, "challenge_anything", "ada"),
        await session.act(0, **{"from": "operator"}),
    ]

    assert [one.status for one in told] == [400] * 6
    assert await session.operator() == before
    assert await read(caller, "lobby") == await read(caller, "challenge_anything") == []


@pytest.mark.parametrize("sender", ["ada", STRANGER, "inv_", "-", " "])
async def test_strangers_do_not_speak_in_the_channel_of_a_session(caller: Caller, sender: str) -> None:
    session = await caller.sit_down()

    told = await say(caller, session.id, sender)
    pair = await say(caller, session.id, " ".join(session.invites))

    assert (told.status, told.body["code"]) == (400, "PLAYER_NOT_FOUND")
    assert (pair.status, pair.body["code"]) == (400, "PLAYER_NOT_FOUND")
    assert await read(caller, session.id) == []


async def test_a_time_after_the_end_the_players_have_nothing_more_to_say(store: str) -> None:
    async with served(store, chat_after_end_seconds=0.001) as arena, calling(arena) as caller:
        session = await caller.sit_down()
        await session.end()
        told = await say(caller, session.id, session.invites[0])
        while told.status == 200:
            told = await say(caller, session.id, session.invites[0])

    assert (told.status, told.body["code"]) == (403, "FORBIDDEN")


async def test_a_full_channel_takes_no_more(store: str) -> None:
    async with served(store, limit_channel_messages=2) as arena, calling(arena) as caller:
        free = [await say(caller, "lobby", "ada") for _ in range(3)]
    async with served(store, limit_channel_bytes=300) as arena, calling(arena) as caller:
        heavy = [await say(caller, "heavy", "ada", "x" * 100) for _ in range(3)]

    assert [one.status for one in free] == [200, 200, 400]
    assert free[-1].body["code"] == heavy[-1].body["code"] == "TOO_LARGE"


async def test_players_who_knock_for_ever_fill_nothing_but_their_channel(store: str) -> None:
    async with served(store, limit_channel_messages=8) as arena, calling(arena) as caller:
        session = await caller.create()
        await session.join(0)
        told = [await session.act(0) for _ in range(8)]

        length = len(await session.operator())

    assert told[-1].body["code"] == "TOO_LARGE"
    assert length <= 9


async def test_there_is_room_for_so_many_free_channels_and_always_for_invites(store: str) -> None:
    async with served(store, limit_channels=64) as arena, calling(arena) as caller:
        told = [await say(caller, f"channel-{number}", "ada") for number in range(300)]
        again = await say(caller, "channel-0", "ada")
        claimed = await caller.post("/invites", inviteId=(await caller.create()).invites[0])

    refused = [one for one in told if one.status != 200]
    assert len(told) - len(refused) <= 64
    assert {one.body["code"] for one in refused} == {"TOO_LARGE"}
    assert again.status == 200
    assert claimed == {"success": True}


async def test_talk_in_the_lobby_leaves_room_for_offers(store: str) -> None:
    async with served(store, limit_channel_messages=4) as arena, calling(arena) as caller:
        told = [await say(caller, "invites", "ada") for _ in range(3)]
        claimed = await caller.post("/invites", inviteId=(await caller.create()).invites[0])

    assert [one.status for one in told] == [200, 200, 400]
    assert claimed == {"success": True}


async def test_one_seat_that_is_offered_again_and_again_leaves_room_for_others(store: str) -> None:
    async with served(store, limit_channel_messages=4) as arena, calling(arena) as caller:
        first, second = (await caller.create()).invites
        for _ in range(6):
            assert await caller.post("/invites", inviteId=first) == {"success": True}
        await caller.post("/invites", inviteId=second)

        heard = (await caller.get("/chat/sync", channel="invites"))["messages"]

    assert [message["content"] for message in heard] == [first, first, first, second]


async def test_offers_are_counted_as_joins_are(store: str) -> None:
    async with served(store, limit_joins_per_second=1) as arena, calling(arena) as caller:
        invite = (await caller.create()).invites[0]

        told = [await caller.ask("POST", "/invites", json={"inviteId": invite}) for _ in range(5)]

    assert told[0].status == 200
    assert (told[-1].status, told[-1].body["code"]) == (429, "RATE_LIMITED")


async def test_what_is_said_over_rest_is_heard_over_the_socket_and_the_other_way_round(
    arena: Served, caller: Caller
) -> None:
    session: Session = await caller.create()
    await session.join(0, "ada")
    ben = await visit(arena)
    await ben.get("join", invite=session.invites[1])

    await say(caller, session.id, session.invites[0], "hello")
    await ben.get("chat", channel=session.id, content="good day")
    heard = await ben.hear_messages(session.id, 2)
    await session.act(0)
    await ben.get("message", challengeId=session.id, messageType="guess", content="1")

    assert heard == await read(caller, session.id)
    assert (await ben.hear("game_ended"))["data"]["playerIdentities"] == {session.invites[0]: "ada"}
