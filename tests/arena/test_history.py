"""Pages of history: what is on them, and that nobody can tell from where they end what others have written."""

import secrets
from collections.abc import Sequence

import pytest

from arena import chat, history
from arena.history import Reading
from arena.models import Channel, Millis
from arena.runtime import Arena
from arena.store.sessions import request_key
from tests.servers import Served

MOST = 2000  # bytes of a page


@pytest.fixture
async def rooms(arena: Served) -> Arena:
    return arena.arena


async def fill(arena: Arena, lines: Sequence[tuple[str | None, int]]) -> Channel:
    """A new channel with messages of so many bytes, to somebody or to all."""
    channel = Channel(secrets.token_hex(8))
    for number, (to, size) in enumerate(lines):
        entry = chat.entry(channel, "ada", f"{number} ".ljust(size, "x"), Millis(0), to=to)
        await arena.channels.post(channel, entry, request_key("ada", None), Millis(0))
    return channel


async def pages(arena: Arena, channel: Channel, viewer: str, *, revealed: bool = False) -> list[Reading]:
    """The whole channel as somebody reads it."""
    found: list[Reading] = []
    index = 1
    while True:
        page = await arena.sessions.slice(channel, index, MOST)
        read = await history.read(arena.sessions, channel, page, viewer, MOST, revealed=revealed)
        if not read.messages:
            return found
        found.append(read)
        index = read.next


def ends(read: list[Reading]) -> list[int]:
    return [page.next for page in read]


LINES = [(None, 300), ("ben", 700), ("ben", 10), (None, 900), ("ben", 1500), ("ben", 3000), (None, 10), ("ben", 1)] * 3


async def test_the_length_of_what_one_may_not_read_does_not_move_the_end_of_a_page(rooms: Arena) -> None:
    long = await pages(rooms, await fill(rooms, LINES), "eve")
    short = await pages(rooms, await fill(rooms, [(to, 1 if to else size) for to, size in LINES]), "eve")

    assert ends(long) == ends(short)
    assert len(long) > 1


async def test_every_message_is_on_one_page_and_in_its_place(rooms: Arena) -> None:
    channel = await fill(rooms, LINES)

    for viewer, revealed in (("eve", False), ("ben", False), ("eve", True)):
        read = await pages(rooms, channel, viewer, revealed=revealed)
        messages = [message for page in read for message in page.messages]
        assert [message["index"] for message in messages] == [*range(1, len(LINES) + 1)]
        hidden = [message["index"] for message in messages if "redacted" in message]
        to_ben = [index for index, (to, _) in enumerate(LINES, 1) if to]
        assert hidden == ([] if revealed or viewer == "ben" else to_ben)
        assert [page.epoch for page in read] == [await rooms.sessions.tag_at(channel, page.next - 1) for page in read]


async def test_a_page_is_no_larger_than_it_may_be_unless_one_message_is(rooms: Arena) -> None:
    channel = await fill(rooms, LINES)

    for viewer in ("eve", "ben"):
        for page in await pages(rooms, channel, viewer):
            size = sum(len(message["content"]) for message in page.messages)
            assert size <= MOST or len(page.messages) == 1


async def test_many_hidden_messages_fill_a_page_too(rooms: Arena) -> None:
    channel = await fill(rooms, [("ben", 500)] * 60)

    read = await pages(rooms, channel, "eve")

    assert len(read) > 1
    assert all(10 < len(page.messages) < 40 for page in read[:-1])


async def test_whoever_may_read_everything_gets_the_pages_of_the_log(rooms: Arena) -> None:
    channel = await fill(rooms, [("ben", 700)] * 10)

    read = await pages(rooms, channel, "ben")

    assert [len(page.messages) for page in read] == [2, 2, 2, 2, 2]
