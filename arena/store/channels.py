"""Channels that belong to no session: `invites`, where seats are offered, and any other that somebody speaks in.

A channel is forgotten after a day of silence, and there is room for only so many at a time.
"""

from typing import NamedTuple

from arena.chat import Entry
from arena.errors import KeyReused, TooLarge
from arena.models import Channel, Millis
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.sessions import DIGEST, Key

INVITES = Channel("invites")  # where seats are offered
SILENCE = 86_400_000  # milliseconds after which a channel is forgotten


class Room(NamedTuple):
    """How much there is room for; 0 is no limit."""

    messages: int
    bytes: int
    channels: int


class Channels:
    """The free channels of a store."""

    def __init__(self, nodes: Nodes, room: Room) -> None:
        self.nodes = nodes
        self.room = room

    async def post(self, channel: Channel, entry: Entry, key: Key, now: Millis, *, spare: bool = False) -> int:
        """Append a message to a channel, which may be new; its index comes back.

        Half of the room in `invites` is for new offers: what says so itself is refused before it would take that.
        """
        names = [keys.log(channel), keys.answers(channel), keys.free(channel), keys.channel_feed(channel)]
        room = self.room
        most = -(-room.channels // keys.SHARDS)
        parts = 2 if spare and channel == INVITES else 1
        limits = (-(-room.messages // parts), -(-room.bytes // parts), 0 if channel == INVITES else most)
        reply = await self.nodes.script("post", names, *key, entry.pack(), channel, now, SILENCE, *limits)
        match reply[0]:
            case b"ok":
                return int(reply[1])
            case b"again":
                if reply[1][:DIGEST].decode() != key.digest:
                    raise KeyReused("This key was used with another request.")
                return int(reply[1][DIGEST:])
            case b"many":
                raise TooLarge("There are too many channels.")
            case _:
                raise TooLarge("This channel is full.")
