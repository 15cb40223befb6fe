"""The tools of the protocol's two endpoints. They answer what REST answers."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, NonNegativeInt, WithJsonSchema

from arena.auth import Credential, Viewer
from arena.models import LONGEST, Channel, Model
from arena.web.calls import moves, seats
from arena.web.calls.bodies import Chat, Message, Name
from arena.web.mcp import reading
from arena.web.mcp.tools import Asked, tool


def _absent(value: Any) -> Any:
    """Null stands for nobody in particular."""
    return "" if value is None else value


Addressee = Annotated[
    Name,
    BeforeValidator(_absent),
    WithJsonSchema({"anyOf": [{"type": "string", "maxLength": LONGEST}, {"type": "null"}]}),
]
ChannelName = Annotated[str, Field(min_length=1, max_length=LONGEST)]


class Join(Model):
    """Take a seat."""

    invite: str = Field(description="The invite code of the seat.")
    user_id: Name = Field(default="", description="Who plays, for the leaderboards.")


class Move(Model):
    """Make a move."""

    challenge_id: str = Field(description="The session.")
    from_: str = Field(alias="from", description="Your invite code.")
    message_type: Name = Field(description="One of the challenge's methods.")
    content: str = Field(description="What the method takes.")


class Reading(Model):
    """Read a channel."""

    channel: str = Field(description="The id of the session.")
    from_: str = Field(alias="from", description="Your invite code.")
    index: NonNegativeInt = Field(description="The first index that is wanted; they begin at 1.")
    wait: reading.Wait = 0


class Talk(Model):
    """Talk."""

    channel: ChannelName = Field(description="The id of the session.")
    from_: Name = Field(alias="from", description="Your invite code.")
    content: str = Field(description="What to say.")
    to: Addressee = Field(default="", description="The one player who is to read it; everybody if absent.")


@tool
async def challenge_join(asked: Asked, wish: Join) -> dict[str, Any]:
    """Take the seat of an invite, and learn what the challenge is about."""
    return await seats.join(asked.arena, {"invite": wish.invite, "userId": wish.user_id}, asked.origin)


@tool
async def challenge_message(asked: Asked, wish: Move) -> dict[str, Any]:
    """Make a move: send the operator one of the challenge's methods. It answers in its channel."""
    viewer = await _viewer(asked, wish.from_, wish.challenge_id)
    move = Message(challenge_id=wish.challenge_id, message_type=wish.message_type, content=wish.content)
    return await moves.message(asked.arena, viewer, move)


@tool
async def challenge_sync(asked: Asked, wish: Reading) -> dict[str, Any]:
    """Read what the operator has said, from an index on."""
    viewer = await _viewer(asked, wish.from_, wish.channel)
    return await reading.sync(asked, viewer, moves.operator_channel(wish.channel), wish.index, wish.wait)


@tool
async def send_chat(asked: Asked, wish: Talk) -> dict[str, Any]:
    """Talk to the other players, to all of them or to one."""
    viewer = await _viewer(asked, wish.from_, wish.channel)
    return await moves.talk(asked.arena, viewer, Chat(channel=wish.channel, content=wish.content, to=wish.to))


@tool
async def sync(asked: Asked, wish: Reading) -> dict[str, Any]:
    """Read what the players have said, from an index on."""
    viewer = await _viewer(asked, wish.from_, wish.channel)
    return await reading.sync(asked, viewer, Channel(wish.channel), wish.index, wish.wait)


async def _viewer(asked: Asked, handle: str, channel: str) -> Viewer:
    return await seats.viewer(asked.arena, Credential(handle=handle), channel)


ARENA = (challenge_join, challenge_message, challenge_sync)
CHAT = (send_chat, sync)
