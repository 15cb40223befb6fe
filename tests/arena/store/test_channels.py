"""Free channels in the store: all keys of one in one slot, idempotent, and forgotten after a long silence."""

from collections.abc import AsyncIterator

import pytest
from redis.crc import key_slot

from arena import chat
from arena.errors import KeyReused, TooLarge
from arena.models import Channel, Millis
from arena.store import keys
from arena.store.channels import INVITES, SILENCE, Channels, Room
from arena.store.nodes import Nodes
from arena.store.sessions import Key, request_key

NOW = Millis(1_700_000_000_000)
LOBBY = Channel("lobby")


@pytest.fixture
async def channels(store: str) -> AsyncIterator[Channels]:
    nodes = Nodes(store, timeout=5, patience=3)
    await nodes.connect()
    yield Channels(nodes, Room(messages=3, bytes=1000, channels=1))
    await nodes.close()


async def post(
    channels: Channels, channel: Channel = LOBBY, content: str = "hi", key: Key | None = None, now: Millis = NOW
) -> int:
    entry = chat.entry(channel, "ada", content, now)
    return await channels.post(channel, entry, key or request_key("ada", None, content), now)


async def test_the_same_message_sent_again_has_its_first_place(channels: Channels) -> None:
    key = request_key("ada", "k1", "hi")

    places = [await post(channels, key=key), await post(channels), await post(channels, key=key)]

    assert places == [1, 2, 1]
    with pytest.raises(KeyReused):
        await post(channels, content="else", key=request_key("ada", "k1", "else"))


async def test_a_channel_that_is_full_by_number_or_by_size_takes_no_more(channels: Channels) -> None:
    with pytest.raises(TooLarge):
        await post(channels, content="x" * 1000)
    for _ in range(3):
        await post(channels)

    with pytest.raises(TooLarge):
        await post(channels)


async def test_a_shard_has_room_for_its_share_of_channels_and_always_for_invites(channels: Channels) -> None:
    shard = keys.shard_of(LOBBY)
    beside = next(Channel(f"c{n}") for n in range(10_000) if keys.shard_of(f"c{n}") == shard)
    await post(channels)

    with pytest.raises(TooLarge):
        await post(channels, beside)

    assert await post(channels, INVITES) == 1
    assert await post(channels, beside, now=Millis(NOW + SILENCE)) == 1  # by then the other was silent for long


@pytest.mark.parametrize("room", [Room(messages=4, bytes=0, channels=0), Room(messages=0, bytes=400, channels=0)])
async def test_half_of_the_lobby_is_left_to_new_offers(channels: Channels, room: Room) -> None:
    channels.room = room
    line = chat.entry(INVITES, "ada", "x" * 10, NOW)
    assert 80 < len(line.pack()) <= 100

    async def post(*, spare: bool) -> int:
        return await channels.post(INVITES, line, request_key("ada", None), NOW, spare=spare)

    talk = [await post(spare=True) for _ in range(2)]
    with pytest.raises(TooLarge):
        await post(spare=True)

    assert talk + [await post(spare=False) for _ in range(2)] == [1, 2, 3, 4]


async def test_a_channel_is_forgotten_after_a_long_silence(channels: Channels) -> None:
    await post(channels)

    names = [keys.log(LOBBY), keys.answers(LOBBY), keys.free(LOBBY)]
    left = await channels.nodes.run_all([(name, ("PTTL", name)) for name in names])

    assert all(0 < life <= SILENCE for life in left)


@pytest.mark.parametrize("name", ["lobby", "invites", "{curly}", "a{b}c", "ünï", ""])
def test_all_keys_of_a_channel_lie_in_one_slot(name: str) -> None:
    channel = Channel(name)
    names = (keys.log(channel), keys.answers(channel), keys.free(channel), keys.channel_feed(channel))

    assert len({key_slot(one.encode()) for one in names}) == 1
