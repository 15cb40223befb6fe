"""What is heard of a session when the server repeats itself, or has lost the end of its log."""

from typing import Any

from arena.client import Arena
from arena.client.feed import Watched
from arena.models import ChatMessage, SessionId

ID = "3f0c1f9e-0000-4000-8000-000000000000"


def message(index: int, time: int, content: str) -> dict[str, Any]:
    return {"channel": ID, "from": "ada", "content": content, "timestamp": time, "index": index}


def initial(*messages: dict[str, Any], recovered: bool) -> dict[str, Any]:
    past = {"channel": ID, "messages": list(messages), "next": len(messages) + 1}
    return {"type": "initial", **past, "epoch": "e", "recovered": recovered}


def new(*said: Any) -> dict[str, Any]:
    return {"type": "new_message", "message": message(*said), "epoch": "e"}


async def heard(feed: Watched) -> list[str]:
    return [event.content for _ in range(20) if isinstance(event := await feed.next(within=0), ChatMessage)]


async def test_what_was_said_in_place_of_lost_messages_is_heard_and_nothing_twice() -> None:
    feed = Watched(Arena(), SessionId(ID))
    feed.hear(initial(message(1, 10, "one"), recovered=False))
    for said in ((2, 20, "two"), (2, 20, "two"), (3, 30, "lost"), (4, 40, "lost too")):
        feed.hear(new(*said))
    feed.back()

    feed.hear(initial(message(1, 10, "one"), message(2, 20, "two"), message(3, 50, "three"), recovered=False))
    gap = feed.hear(new(4, 60, "four"))

    assert await heard(feed) == ["one", "two", "lost", "lost too", "three", "four"]
    assert (feed.recovered, gap) == (False, False)
    assert feed.cursors[ID]["index"] == 5


async def test_a_raw_feed_is_told_of_the_loss_by_one_frame() -> None:
    feed = Watched(Arena(), SessionId(ID), raw=True)
    feed.hear(initial(message(1, 10, "one"), recovered=False))
    feed.hear(new(2, 20, "lost"))
    feed.back()
    feed.hear(initial(message(1, 10, "one"), message(2, 30, "two"), recovered=False))
    feed.hear({"type": "game_ended", "data": {"status": "ended", "players": [], "scores": []}})

    assert [frame["type"] async for frame in feed.frames()] == ["initial", "new_message", "initial", "game_ended"]


async def test_a_message_that_is_missing_is_noticed() -> None:
    feed = Watched(Arena(), SessionId(ID))
    feed.hear(initial(message(1, 10, "one"), recovered=False))

    assert feed.hear(new(3, 30, "three"))
    assert not feed.hear(new(2, 20, "two"))
    assert await heard(feed) == ["one", "two"]
