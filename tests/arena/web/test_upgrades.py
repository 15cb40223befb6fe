"""Connections that become sockets when they should not."""

import pytest
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from arena.models import SessionId
from tests.guests import comes_true, sit_down, visit
from tests.loops import on_uvloop
from tests.servers import served
from tests.streams import reading, stream_of


def upgrade(url: str) -> bytes:
    """A request for a socket."""
    protocol = ClientProtocol(parse_uri(url))
    protocol.send_request(protocol.connect())
    return b"".join(protocol.data_to_send())


@on_uvloop
async def test_a_socket_asked_for_amid_an_answer_ends_the_connection_and_silences_nobody(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        room = arena.arena.hub.rooms[SessionId(game.id)]
        async with reading(stream_of(arena, game.id)) as reader:
            await reader.hear("initial")
            await reader.send(upgrade(arena.ws))
            assert not await reader.closed()

        await comes_true(lambda: len(room.subscriptions) == 2, "the stream is gone")
        eve = await visit(arena)
        await eve.get("watch", challengeId=game.id)
        await game.say(0, "hello")

        await comes_true(lambda: [message["content"] for message in eve.messages(game.id)] == ["hello"], "all hear it")
        assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]
