"""Reading channels: pages, redaction, and what lies open after the end."""

from tests.guests import Frame, sit_down, visit
from tests.servers import Served, served


def veiled(messages: list[Frame]) -> list[bool]:
    return ["redacted" in message for message in messages]


async def test_sync_brings_messages_from_an_index_on(arena: Served) -> None:
    game = await sit_down(arena)
    for number in range(1, 6):
        await game.say(0, f"line {number}")
    guest = game.players[1]

    found = {index: await guest.get("sync", channel=game.id, index=index) for index in (-5, 0, 1, 3, 5, 6, 99)}
    without = await guest.get("sync", channel=game.id)

    assert {index: [m["index"] for m in page["messages"]] for index, page in found.items()} == {
        -5: [1, 2, 3, 4, 5],
        0: [1, 2, 3, 4, 5],
        1: [1, 2, 3, 4, 5],
        3: [3, 4, 5],
        5: [5],
        6: [],
        99: [],
    }
    assert all(page["count"] == len(page["messages"]) for page in found.values())
    assert without["messages"] == found[1]["messages"]


async def test_sync_brings_a_page_at_a_time(store: str) -> None:
    async with served(store, page_bytes=2000) as arena:
        game = await sit_down(arena)
        for number in range(1, 31):
            await game.say(0, f"line {number}")
        guest = await visit(arena)

        read: list[Frame] = []
        pages = 0
        while page := (await guest.get("sync", channel=game.id, index=len(read) + 1))["messages"]:
            read += page
            pages += 1

        assert [message["index"] for message in read] == list(range(1, 31))
        assert pages > 2


async def test_a_message_larger_than_a_page_is_read_all_the_same(store: str) -> None:
    async with served(store, page_bytes=100) as arena:
        game = await sit_down(arena)
        await game.say(0, "x" * 5000)
        await game.say(0, "y")
        guest = await visit(arena)

        await guest.get("watch", challengeId=game.id)
        page = await guest.get("sync", channel=game.id)

        heard = await guest.hear_messages(game.id, 2)
        assert [len(message["content"]) for message in heard] == [5000, 1]
        assert page["messages"][0]["content"] == "x" * 5000


async def test_sync_shows_a_direct_message_to_its_two_ends_alone(arena: Served) -> None:
    game = await sit_down(arena)
    eve = await visit(arena)
    await game.say(0, "psst", to=game.invites[1])

    own, theirs, strange = [await guest.get("sync", channel=game.id) for guest in (*game.players, eve)]

    assert own == theirs
    assert own["messages"][0]["content"] == "psst"
    [message] = strange["messages"]
    assert set(message) == {"channel", "from", "to", "content", "timestamp", "index", "redacted"}
    assert (message["content"], message["redacted"]) == ("", True)


async def test_a_session_can_be_read_without_following_it(arena: Served) -> None:
    game = await sit_down(arena)
    guest = await visit(arena)

    page = await guest.get("sync", channel=game.operator_channel)
    await game.say(0, "hello")
    await guest.get("ping")

    assert veiled(page["messages"]) == [True, True]
    assert not guest.of("new_message")


async def test_during_the_game_the_operator_channel_is_veiled_also_for_rivals(arena: Served) -> None:
    game = await sit_down(arena)
    eve = await visit(arena)
    await game.act(0, "guess", "no number")

    own, theirs, strange = [
        (await guest.get("sync", channel=game.operator_channel))["messages"] for guest in (*game.players, eve)
    ]

    assert veiled(own) == [False, True, False]
    assert veiled(theirs) == [True, False, True]
    assert veiled(strange) == [True, True, True]
    assert own[2]["type"] == "guess"
    assert all("type" not in message for message in (*theirs, *strange))


async def test_after_the_end_the_operator_channel_lies_open_and_the_players_never_does(arena: Served) -> None:
    game = await sit_down(arena)
    await game.say(0, "psst", to=game.invites[1])
    await game.end()
    eve = await visit(arena)

    operator = (await eve.get("sync", channel=game.operator_channel))["messages"]
    talk = (await eve.get("sync", channel=game.id))["messages"]
    await eve.get("watch", challengeId=game.id)

    assert not any(veiled(operator))
    assert [m["type"] for m in operator if "type" in m] == ["guess", "guess"]
    assert veiled(talk) == [True]
    assert (await eve.hear("initial", channel=game.operator_channel))["messages"] == operator
    assert (await eve.hear("initial", channel=game.id))["messages"] == talk


async def test_a_new_message_keeps_the_view_of_its_time_also_when_caught_up_after_the_end(store: str) -> None:
    async with served(store, page_bytes=600) as arena:
        game = await sit_down(arena)
        await game.end()
        eve = await visit(arena)

        await eve.get("watch", challengeId=game.id)
        await eve.hear("game_ended")

        initial = eve.of("initial", channel=game.operator_channel)[0]["messages"]
        later = [frame["message"] for frame in eve.of("new_message")]
        assert [message["index"] for message in (*initial, *later)] == list(range(1, 10))
        assert len(initial) < 9
        assert not any(veiled(initial))
        assert veiled(later) == ["to" in message for message in later]
        assert any(veiled(later))
