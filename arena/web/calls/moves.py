"""Moves and talk: what players send, and what everybody may read of it."""

import math
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from arena import chat, history
from arena.auth import Viewer
from arena.engine import SENT
from arena.errors import GameNotRunning, Invalid, NotFound, PlayerNotFound, Unauthorized
from arena.models import LONGEST, OPERATOR, Channel, Invite
from arena.runtime import Arena
from arena.store import keys
from arena.store.sessions import request_key
from arena.waiting import LONGEST as LONGEST_WAIT
from arena.web.calls.bodies import Chat, Message

_NUMBER = re.compile(r"\s*([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?\s*")
BEYOND = 2**53  # an index that no channel reaches


async def message(arena: Arena, viewer: Viewer, wish: Message) -> dict[str, Any]:
    """Make a move. While no game is on the operator answers a player in its channel, and strangers are not heard."""
    player, id_ = identity(viewer), chat.session_of(wish.challenge_id)
    with suppress(GameNotRunning):
        await arena.engine.act(id_, Invite(player), wish.message_type, wish.content, wish.key, knock=True)
    return SENT


async def talk(arena: Arena, viewer: Viewer, wish: Chat) -> dict[str, Any]:
    """Say something in the players' channel of a session, or in open mode in any other but an operator's."""
    sender, channel, to = identity(viewer), Channel(wish.channel), wish.to or None
    if channel.startswith(chat.PREFIX):
        raise Invalid("Only the operator speaks in that channel.")
    if not keys.is_session_id(channel):
        if arena.ring.required:  # a key is for a session, whichever the request names besides
            raise Unauthorized("Authentication required")
        index = await _post(arena, sender, channel, wish)
    elif keys.is_invite(sender):
        index = await arena.engine.chat(chat.session_of(channel), Invite(sender), wish.content, to, wish.key)
    else:
        await arena.engine.get(channel)
        raise PlayerNotFound("You have no seat in this session.")
    return {"index": index, "channel": channel, "from": sender, "to": to}


async def _post(arena: Arena, sender: str, channel: Channel, wish: Chat) -> int:
    arena.engine.check_content(wish.content)
    now = arena.clock.now()
    entry = chat.entry(channel, sender, wish.content, now, to=wish.to)
    made = request_key(sender, wish.key, "chat", wish.content, wish.to)
    return await arena.channels.post(channel, entry, made, now, spare=True)


async def sync(
    arena: Arena, viewer: Viewer, channel: Channel, index: int, wait: Callable[[], Awaitable[None]] | None = None
) -> dict[str, Any]:
    """Messages of a channel from an index on, as this viewer may see them; if there are none, those after a wait."""
    found = await _page(arena, viewer, channel, index)
    if found["count"] or wait is None:
        return found
    await wait()
    return await _page(arena, viewer, channel, index)


async def _page(arena: Arena, viewer: Viewer, channel: Channel, index: int) -> dict[str, Any]:
    id_, most, revealed = chat.session_of(channel), arena.settings.page_bytes, False
    if not channel.startswith(chat.PREFIX) or not keys.is_session_id(id_):
        page = await arena.sessions.slice(channel, index, most)
    else:
        page, tag = await arena.sessions.glance(id_, channel, index, most)
        try:
            revealed = history.is_revealed(await arena.engine.at_tag(id_, tag), channel)
        except NotFound:
            return {"messages": [], "count": 0, "next": page.length + 1 if index >= BEYOND else page.next}
    read = await history.read(arena.sessions, channel, page, viewer.name, most, revealed=revealed)
    following = page.length + 1 if index >= BEYOND else read.next
    return {"messages": read.messages, "count": len(read.messages), "next": following}


def identity(viewer: Viewer) -> str:
    """The name of somebody who wants to be heard."""
    if viewer.name is None:
        raise Invalid("from is required")
    if len(viewer.name) > LONGEST:
        raise Invalid(f"from may have at most {LONGEST} characters.")
    if viewer.name == OPERATOR:
        raise Invalid("Nobody but the operator goes by that name.")
    return viewer.name


def operator_channel(channel: str) -> Channel:
    """The operator channel of a session that is named by it, or by its id."""
    return chat.operator_channel(chat.session_of(channel))


def read_wait(text: str | None) -> float:
    """The seconds that a query is ready to wait."""
    match = _NUMBER.fullmatch(text or "0")
    if match is None:
        raise Invalid(f"wait is a number of seconds, at most {LONGEST_WAIT:g}.")
    return max(0.0, min(_value(match), LONGEST_WAIT))


def read_index(text: str | None) -> int:
    """The index that a query asks for: rounded down, all if it is negative, none at all if it is no number."""
    if text is None or not text.strip():
        return 1
    match = _NUMBER.fullmatch(text)
    if match is None:
        return BEYOND
    return math.floor(max(1, min(_value(match), BEYOND)))


def _value(number: re.Match[str]) -> float:
    sign, digits, exponent = number.groups()
    return float(f"{sign}{digits}e{exponent or 0}")
