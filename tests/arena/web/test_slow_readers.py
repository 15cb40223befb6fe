import asyncio
import time

from arena.web.limits import Connections, Watched
from benchmarks.circle import Circle, Member, read_arena, text_of
from benchmarks.gauge import Gauge
from benchmarks.peer import open_all
from benchmarks.relay import GREETINGS
from tests.guests import Game, comes_true, sit_down
from tests.servers import Served, served
from tests.sockets import SMALLEST, RawGuest, raw_guest

SPECTATORS = 1_000
MESSAGES = 50
IN_FLIGHT = 8


async def sip(slow: RawGuest) -> None:
    """Read one byte a second."""
    while True:
        await asyncio.get_running_loop().sock_recv(slow.socket, 1)
        await asyncio.sleep(1)


async def follow(slow: RawGuest, *games: Game) -> None:
    """Watch games, and read no further than their beginning."""
    for game in games:
        await slow.ask("watch", challengeId=game.id)
    await slow.hear("initial", 2 * len(games))


async def clog(arena: Served, game: Game) -> None:
    """Talk until no spectator of a game keeps up."""
    subscriptions = arena.arena.hub.rooms[game.id].subscriptions  # type: ignore[index]
    while any(each.listener.has_room for each in subscriptions if each.viewer is None):
        await game.say(0, "x" * 30_000)


async def publish(game: Game, circle: Circle) -> None:
    """Have a player say the messages of a circle, some of them at a time."""
    for first in range(0, MESSAGES, IN_FLIGHT):
        numbers = range(first, min(first + IN_FLIGHT, MESSAGES))
        circle.sent_at += [time.perf_counter() for _ in numbers]
        await asyncio.gather(*(game.say(0, text_of(number).decode()) for number in numbers))
    await comes_true(lambda: circle.settled, "everybody has heard everything")


async def test_a_thousand_hear_everything_in_order_beside_one_who_never_reads_and_one_who_reads_a_byte_a_second(
    store: str,
) -> None:
    off = {"limit_connections_per_address": 0, "limit_stall_seconds": 0}
    async with served(store, **off) as arena:
        loud, game = await sit_down(arena), await sit_down(arena)
        port = int(arena.url.rpartition(":")[2])
        circle = Circle(gauge := Gauge(), read_arena, bytes)
        members = [Member(f"/ws?watch={game.id}", port, circle) for _ in range(SPECTATORS)]
        async with (
            raw_guest(arena.ws, receive_buffer=SMALLEST) as dead,
            raw_guest(arena.ws, receive_buffer=SMALLEST) as slow,
        ):
            for each in (dead, slow):
                await follow(each, loud, game)
            sipping = asyncio.create_task(sip(slow))
            await clog(arena, loud)
            await open_all(list(members), port)
            await comes_true(lambda: all(member.others >= GREETINGS for member in members), "all are live")

            await publish(game, circle)
            for _ in range(40):
                await loud.say(0, "x" * 30_000)

            assert gauge.faults == []
            assert [member.next for member in members] == [MESSAGES] * SPECTATORS
            assert all(each.outlet.mark[1] < 512 * 1024 for each in stuck(arena))
            sipping.cancel()
            for member in members:
                member.transport.abort()
            assert await read_all(dead, game.id) == list(range(1, MESSAGES + 1))


def stuck(arena: Served) -> list[Watched]:
    """The connections that take nothing."""
    connections: Connections = arena.uvicorn.config.app.state.connections  # type: ignore[union-attr]
    found = [each for each in connections._watched if not each.outlet.has_room]
    assert len(found) == 2
    return found


async def read_all(guest: RawGuest, channel: str) -> list[int]:
    """The indexes of a channel's messages, in the order in which they come, until the last is there."""
    guest.hurry()
    indexes: list[int] = []
    seen = 0
    while MESSAGES not in indexes:
        assert await guest.read()
        fresh, seen = guest.frames[seen:], len(guest.frames)
        told = [frame["message"] for frame in fresh if frame["type"] == "new_message"]
        indexes += [message["index"] for message in told if message["channel"] == channel]
    return indexes
