"""Channels: who may read what, and how a message looks to those who may not.

A session has two: `challenge_{id}`, where the operator speaks and moves are kept, and `{id}`, where players talk.
An entry of a log is stored as its random tag and the message as JSON without its index, which is its place.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from arena.models import OPERATOR, Channel, ChatMessage, Millis, SessionId

PREFIX = "challenge_"
TAG = 16  # characters
NO_TAG = ""  # what stands before the first message


def operator_channel(session: SessionId) -> Channel:
    """Where the operator speaks."""
    return Channel(PREFIX + session)


def player_channel(session: SessionId) -> Channel:
    """Where the players talk."""
    return Channel(session)


def session_of(channel: str) -> SessionId:
    """The session that a channel belongs to, if it belongs to one."""
    return SessionId(channel.removeprefix(PREFIX))


def _tags() -> Iterator[str]:
    """Random tags, drawn from the system many at a time."""
    while True:
        drawn = os.urandom(512 * TAG // 2).hex()
        for at in range(0, len(drawn), TAG):
            yield drawn[at : at + TAG]


new_tag = _tags().__next__
"""64 random bits that tell this entry, or version, from any other that may ever stand in its place."""


class Entry(NamedTuple):
    """A message as it lies in the log."""

    tag: str
    body: bytes  # the whole message as JSON, without its index

    def pack(self) -> bytes:
        """As the store keeps it."""
        return self.tag.encode() + self.body

    @classmethod
    def unpack(cls, data: bytes) -> "Entry":
        """Read what `pack` wrote."""
        return cls(data[:TAG].decode(), data[TAG:])

    def fields(self, index: int) -> dict[str, Any]:
        """The message as plain data, whole."""
        fields: dict[str, Any] = orjson.loads(self.body)
        fields["index"] = index
        return fields

    def message(self, index: int) -> ChatMessage:
        """The message, whole."""
        return ChatMessage.model_validate(self.fields(index))


def entry(
    channel: Channel,
    sender: str,
    content: str,
    now: Millis,
    *,
    to: str | None = None,
    type: str | None = None,
) -> Entry:
    """A new entry for a channel's log."""
    fields: dict[str, Any] = {"channel": channel, "from": sender}
    if to:
        fields["to"] = to
    fields["content"] = content
    fields["timestamp"] = now
    if type:
        fields["type"] = type
    return Entry(new_tag(), orjson.dumps(fields))


def may_read(sender: str, to: str | None, viewer: str | None) -> bool:
    """Whether a viewer may read a message: everybody if it is to nobody in particular, else its two ends."""
    return not to or (viewer is not None and viewer != OPERATOR and viewer in (sender, to))


def redact(fields: dict[str, Any]) -> dict[str, Any]:
    """What everybody else sees of a direct message: that it happened, between whom, and no more."""
    kept = {key: fields[key] for key in ("channel", "from", "to")}
    return {**kept, "content": "", "timestamp": fields["timestamp"], "index": fields["index"], "redacted": True}


def view(fields: dict[str, Any], viewer: str | None, *, revealed: bool = False) -> dict[str, Any]:
    """A message as this viewer may see it; `revealed` opens the operator channel of a game that is over."""
    if revealed or may_read(fields["from"], fields.get("to"), viewer):
        return fields
    return redact(fields)


def read(entries: Sequence[Entry], first: int, viewer: str | None, *, revealed: bool) -> list[dict[str, Any]]:
    """A stretch of a log as this viewer may see it."""
    return [view(e.fields(index), viewer, revealed=revealed) for index, e in enumerate(entries, first)]
