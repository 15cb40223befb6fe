from typing import Any

from websockets.frames import Opcode

from arena.web.docket import AT_ONCE
from arena.web.protocol import HIGH, ArenaProtocol
from tests.guests import comes_true, sit_down, visit
from tests.loops import on_uvloop
from tests.servers import Served, served
from tests.sockets import SMALLEST, RawGuest, raw_guest
from tests.valkeys import Proxy

PINGS = 50_000  # with answers of 127 bytes, more than the kernel holds for a socket


def protocol_of(arena: Served, guest: RawGuest) -> ArenaProtocol:
    """The server's end of a connection."""
    connections: Any = arena.uvicorn.server_state.connections
    [found] = [known for known in connections if known.client == guest.socket.getsockname()]
    assert isinstance(found, ArenaProtocol)
    return found


async def test_pings_of_a_peer_that_does_not_read_are_answered_up_to_a_bound(store: str) -> None:
    async with served(store) as arena, raw_guest(arena.ws, receive_buffer=SMALLEST) as guest:
        await guest.hear("welcome")
        protocol = protocol_of(arena, guest)

        ping = guest.framed(b"x" * 125, Opcode.PING)
        for _ in range(PINGS):
            protocol.data_received(ping)  # as if all of them had come in the read that is on

        assert HIGH <= protocol.buffered < HIGH + 127
        assert (await (await visit(arena)).ask("ping"))["type"] == "reply"


@on_uvloop
async def test_pings_after_our_close_without_reading_do_not_keep_a_socket(store: str) -> None:
    async with served(store) as arena, raw_guest(arena.ws, receive_buffer=SMALLEST) as guest:
        await guest.hear("welcome")
        protocol = protocol_of(arena, guest)
        protocol.close_timeout = 0.5
        for _ in range(10):
            await guest.write(b"{nonsense")
        await comes_true(lambda: protocol.close_sent, "it is being closed")

        ping = guest.framed(b"x" * 125, Opcode.PING)
        for _ in range(PINGS):
            protocol.data_received(ping)

        await comes_true(lambda: not arena.uvicorn.server_state.connections, "the socket is gone")


@on_uvloop
async def test_while_a_socket_takes_nothing_nothing_is_read_from_it(store: str) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        async with raw_guest(arena.ws, receive_buffer=SMALLEST) as guest:
            await guest.ask("watch", challengeId=game.id)
            protocol, watched = protocol_of(arena, guest), list(arena.app.state.connections._watched)[-1]
            while watched.outlet.has_room:
                await game.say(0, "x" * 30_000)

            for number in (1, 2):
                await guest.write(guest.codec.encode({"type": "ping", "id": number}))

            await comes_true(lambda: not protocol.transport.is_reading(), "nothing is read")
            guest.hurry()
            while not {1, 2} <= {frame.get("id") for frame in guest.frames}:
                assert await guest.read()


@on_uvloop
async def test_while_64_answers_wait_nothing_more_is_read_and_then_all_come_in_order(store: str) -> None:
    async with Proxy(store) as proxy, served(proxy.url) as arena:
        game = await sit_down(arena)
        other = await visit(arena)
        async with raw_guest(arena.ws) as guest:
            await guest.ask("resume", challengeId=game.id, sessionKey=game.keys[0])
            docket = list(arena.app.state.connections._watched)[-1]._docket
            proxy.freeze()

            for number in range(AT_ONCE):
                await guest.write(say(guest, game.id, number))
            await comes_true(lambda: len(docket._slots) == AT_ONCE, "as many as may be are under way")
            for number in range(AT_ONCE, 2 * AT_ONCE):
                await guest.write(say(guest, game.id, number))
            for _ in range(3):
                await other.ask("ping")

            assert len(docket._slots) == AT_ONCE
            proxy.thaw()
            await guest.hear("reply", 1 + 2 * AT_ONCE)
            assert [frame["id"] for frame in guest.frames if "id" in frame][1:] == list(range(2 * AT_ONCE))


def say(guest: RawGuest, channel: str, number: int) -> bytes:
    """A line of talk."""
    return guest.codec.encode({"type": "chat", "id": number, "channel": channel, "content": f"line {number}"})
