"""Bytes ↔ frames: what clients may send, what they are sent, in JSON and in MessagePack."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

import msgpack
import orjson
from pydantic import Field, JsonValue, StringConstraints, ValidationError

from arena import chat
from arena.chat import Entry
from arena.deals import Seed
from arena.errors import ArenaError, BadFrame, Invalid, RateLimited, UnknownType
from arena.models import Key, Model, UserId, complaint

FrameId = str | int | None


@dataclass(frozen=True, eq=False)
class Codec:
    """How frames of one subprotocol look on the socket."""

    protocol: str
    text: bool  # text frames or binary ones
    encode: Callable[[Mapping[str, Any]], bytes]
    load: Callable[[bytes], Any]
    framed: bool = False  # whether what it encodes is a whole WebSocket frame, ready to be written and joined

    def decode(self, data: bytes) -> dict[str, Any]:
        """The object that a frame holds."""
        try:
            frame = self.load(data)
        except Exception:  # whatever a decoder says about hostile bytes, they are no frame
            raise BadFrame(f"This is not a frame of {self.protocol}.") from None
        if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
            raise BadFrame("A frame is an object with a type.")
        return frame


JSON = Codec("arena.v1.json", text=True, encode=orjson.dumps, load=orjson.loads)
MSGPACK = Codec("arena.v1.msgpack", text=False, encode=msgpack.packb, load=msgpack.unpackb)
CODECS = {codec.protocol: codec for codec in (JSON, MSGPACK)}


def frame(payload: bytes, *, text: bool) -> bytes:
    """A whole WebSocket frame from a server: never masked, so the same bytes are right for every connection."""
    opcode, size = 0x81 if text else 0x82, len(payload)
    if size < 126:
        return bytes((opcode, size)) + payload
    if size < 65536:
        return bytes((opcode, 126)) + size.to_bytes(2, "big") + payload
    return bytes((opcode, 127)) + size.to_bytes(8, "big") + payload


def _framing(codec: Codec) -> Codec:
    return replace(codec, encode=lambda fields: frame(codec.encode(fields), text=codec.text), framed=True)


FRAMED = {codec.protocol: _framing(codec) for codec in (JSON, MSGPACK)}


class Frame(Model):
    """What every client frame may carry."""

    id: str | int | None = None


Id = Annotated[str, StringConstraints(max_length=64)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class Cursor(Model):
    """Where a client left a channel."""

    index: Annotated[int, Field(ge=1, le=2**53)]
    epoch: Annotated[str, StringConstraints(max_length=64)]


class Create(Frame):
    """Open a session."""

    type: Literal["create"]
    challenge_type: Name
    options: dict[str, JsonValue] | None = None
    private: bool = False
    seed: Seed | None = None
    ranked: bool | None = None


class Pair(Frame):
    """Open two sessions on the same deal."""

    type: Literal["pair"]
    challenge_type: Name
    options: dict[str, JsonValue] | None = None
    seed: Seed | None = None
    ranked: bool | None = None
    swap: bool = False


class Join(Frame):
    """Take a seat."""

    type: Literal["join"]
    invite: Id
    user_id: Annotated[UserId, StringConstraints(min_length=1, max_length=128)] | None = None
    key: Key | None = None
    public_key: Annotated[str, StringConstraints(max_length=256)] | None = None
    signature: Annotated[str, StringConstraints(max_length=256)] | None = None
    timestamp: int | None = None


class Resume(Frame):
    """Come back to a seat."""

    type: Literal["resume"]
    challenge_id: Id
    session_key: Annotated[str, StringConstraints(max_length=256)]
    cursors: dict[str, Cursor] | None = None


class Watch(Frame):
    """Follow a session."""

    type: Literal["watch"]
    challenge_id: Id
    cursors: dict[str, Cursor] | None = None


class Unwatch(Frame):
    """Stop following a session."""

    type: Literal["unwatch"]
    challenge_id: Id


class Message(Frame):
    """Make a move."""

    type: Literal["message"]
    challenge_id: Id
    message_type: Annotated[str, StringConstraints(max_length=128)] = ""
    content: str
    key: Key | None = None


class Chat(Frame):
    """Talk to the players."""

    type: Literal["chat"]
    channel: Name
    content: str
    to: Annotated[str, StringConstraints(max_length=128)] | None = None
    key: Key | None = None


class Sync(Frame):
    """Read a channel."""

    type: Literal["sync"]
    channel: Name
    index: Annotated[int, Field(le=2**53)] = 0


class Lobby(Frame):
    """Follow all public sessions."""

    type: Literal["lobby"]
    challenge_type: Name | None = None
    off: bool = False


class Leaderboard(Frame):
    """Follow a board."""

    type: Literal["leaderboard"]
    challenge_type: Name | None = None
    strategy: Name | None = None
    off: bool = False


class Queue(Frame):
    """Wait for company, come back to a ticket, or give one up."""

    type: Literal["queue"]
    challenge_type: Name
    options: dict[str, JsonValue] | None = None
    ranked: bool = True
    ticket: Id | None = None
    off: bool = False
    user_id: Annotated[UserId, StringConstraints(min_length=1, max_length=128)] | None = None
    key: Key | None = None
    public_key: Annotated[str, StringConstraints(max_length=256)] | None = None
    signature: Annotated[str, StringConstraints(max_length=256)] | None = None
    timestamp: int | None = None


class Scorecards(Frame):
    """Read what the evaluation of a pack found."""

    type: Literal["scorecards"]
    challenge_id: Id


class Vote(Frame):
    """Say which of two outputs you like better."""

    type: Literal["vote"]
    challenge_id: Id
    ballot: Name
    choice: Name
    user_id: Annotated[UserId, StringConstraints(min_length=1, max_length=128)] | None = None
    key: Key | None = None
    public_key: Annotated[str, StringConstraints(max_length=256)] | None = None
    signature: Annotated[str, StringConstraints(max_length=256)] | None = None
    timestamp: int | None = None


class Ping(Frame):
    """Ask for the time."""

    type: Literal["ping"]


AnyCommand = TypeVar("AnyCommand", bound=Frame)
Command = (
    Create
    | Pair
    | Join
    | Resume
    | Watch
    | Unwatch
    | Message
    | Chat
    | Sync
    | Lobby
    | Leaderboard
    | Queue
    | Scorecards
    | Vote
    | Ping
)
COMMANDS: dict[str, type[Command]] = {
    "create": Create,
    "pair": Pair,
    "join": Join,
    "resume": Resume,
    "watch": Watch,
    "unwatch": Unwatch,
    "message": Message,
    "chat": Chat,
    "sync": Sync,
    "lobby": Lobby,
    "leaderboard": Leaderboard,
    "queue": Queue,
    "scorecards": Scorecards,
    "vote": Vote,
    "ping": Ping,
}


def frame_id(frame: Mapping[str, Any]) -> FrameId:
    """The id that the answer to a frame echoes, if it has one of the right kind."""
    found = frame.get("id")
    return found if isinstance(found, (str, int)) and not isinstance(found, bool) else None


def parse(frame: Mapping[str, Any]) -> Command:
    """The command that a frame stands for."""
    model = COMMANDS.get(frame["type"])
    if model is None:
        raise UnknownType(f"There is no frame of type {frame['type'][:64]!r}.")
    return as_command(model, frame)


def as_command(model: type[AnyCommand], frame: Mapping[str, Any]) -> AnyCommand:
    """A frame of a known type, or what is wrong with it."""
    try:
        return model.model_validate(frame, by_alias=True, by_name=False)
    except ValidationError as error:
        raise Invalid(complaint(error)) from None


def reply(id: FrameId, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a frame."""
    return {"type": "reply", "id": id, "result": result} if id is not None else {"type": "reply", "result": result}


def error(refusal: ArenaError, id: FrameId = None) -> dict[str, Any]:
    """A refused frame, or bad news about something asked for earlier."""
    told: dict[str, Any] = {"type": "error", "error": refusal.message, "code": refusal.code}
    if id is not None:
        told["id"] = id
    if isinstance(refusal, RateLimited):
        told["retryAfter"] = refusal.retry_after
    return told


class Push:
    """A frame for many: encoded once per codec, whoever gets it."""

    __slots__ = ("_encoded", "_fields")

    def __init__(self, fields: Callable[[], Mapping[str, Any]]) -> None:
        self._fields = fields
        self._encoded: dict[Codec, bytes] = {}

    def encoded(self, codec: Codec) -> bytes:
        """The bytes for connections of this codec."""
        found = self._encoded.get(codec)
        if found is None:
            found = self._encoded[codec] = codec.encode(self._fields())
        return found


class Line:
    """One new message of a channel in its at most two views."""

    __slots__ = ("_fields", "_full", "_redacted", "epoch", "sender", "to")

    def __init__(self, entry: Entry, index: int) -> None:
        self._fields = fields = entry.fields(index)
        self._full: dict[Codec, bytes] = {}
        self._redacted: dict[Codec, bytes] = {}
        self.sender: str = fields["from"]
        self.to: str | None = fields.get("to")
        self.epoch = entry.tag

    def encoded(self, codec: Codec, viewer: str | None) -> bytes:
        """The bytes for connections of this codec and viewer, with the cursor behind the message."""
        whole = chat.may_read(self.sender, self.to, viewer)
        known = self._full if whole else self._redacted
        found = known.get(codec)
        if found is None:
            message = self._fields if whole else chat.redact(self._fields)
            found = known[codec] = codec.encode({"type": "new_message", "message": message, "epoch": self.epoch})
        return found
