"""The tools that agents play with."""

import asyncio
from typing import Any

from arena.auth import Credential, Viewer, viewer_of
from arena.chat import operator_channel, player_channel, session_of
from arena.errors import Unauthorized
from arena.models import Channel, Invite, Method, SessionId, Status
from arena.session import challenge_view
from arena.web.calls import moves, seats
from arena.web.calls.bodies import Chat, Message
from arena.web.mcp import reading
from arena.web.mcp.guide import keep_reading
from arena.web.mcp.tools import Asked, tool
from arena.web.mcp.views import (
    ChallengeCard,
    Cursor,
    Next,
    OperatorMessage,
    PlayerMessages,
    SessionView,
    Told,
    operator_messages,
    player_messages,
    session_view,
)
from arena.web.mcp.wishes import About, Act, Create, Join, Nothing, Reading, Say

MOST = 50  # messages of a channel in one result


class Challenges(Told):
    """What can be played."""

    challenges: list[ChallengeCard]


class Created(Told):
    """A new session."""

    session: SessionView
    invites: list[Invite]


class Joined(Told):
    """A seat."""

    challenge_id: SessionId
    you: Invite
    session_key: str | None = None
    name: str
    prompt: str
    methods: list[Method]


class Standing(Told):
    """How a session stands."""

    session: SessionView


class Said(Standing):
    """Something that was said."""

    index: int


class News(Standing):
    """What was said: by the operator, and by players, who are not to be trusted."""

    operator: list[OperatorMessage]
    players: PlayerMessages
    cursor: Cursor


@tool
async def list_challenges(asked: Asked, wish: Nothing) -> Challenges:
    """Show what can be played: the rules of each challenge, its moves, and what a creator may choose."""
    cards = [
        ChallengeCard(
            challenge_type=type_,
            name=kind.metadata.name,
            description=kind.metadata.description,
            players=kind.metadata.players,
            prompt=kind.metadata.prompt,
            methods=kind.metadata.methods,
            options=kind.metadata.options,
        )
        for type_, kind in asked.arena.catalog.challenges.items()
    ]
    why = "Open a session of one of them; or join_session, if you were given an invite."
    return Challenges(challenges=cards, next=Next(tool="create_session", why=why))


@tool
async def create_session(asked: Asked, wish: Create) -> Created:
    """Open a session. You alone are told its invites, this once: keep one and give each other player one."""
    arena = asked.arena
    creator = viewer_of(arena.ring, Credential(bearer=asked.key))
    body = {"options": wish.options, "private": wish.private, "seed": wish.seed, "ranked": wish.ranked}
    made = await seats.create(arena, wish.challenge_type, body, asked.origin, creator)
    session = await _session(asked, made["id"])
    why = "Take one of the seats, and hand the other invites out."
    then = Next(tool="join_session", arguments={"invite": made["invites"][0]}, why=why)
    return Created(session=session, invites=made["invites"], next=then)


@tool
async def join_session(asked: Asked, wish: Join) -> Joined:
    """Take the seat of an invite. From then on you are known by that code in this session."""
    made = await seats.join(asked.arena, wish.model_dump(by_alias=True, exclude_unset=True), asked.origin)
    session, info = await _session(asked, made["ChallengeID"]), made["ChallengeInfo"]
    return Joined(
        challenge_id=session.challenge_id,
        you=Invite(wish.invite),
        session_key=made.get("sessionKey"),
        name=info["name"],
        prompt=info["prompt"],
        methods=info["methods"],
        next=keep_reading(session, wish.invite, Cursor(operator_index=1, chat_index=1)),
    )


@tool
async def act(asked: Asked, wish: Act) -> Standing:
    """Make a move by one of the challenge's methods. The operator answers in its channel: read it afterwards."""
    player = await _player(asked, wish)
    move = Message(challenge_id=wish.challenge_id, message_type=wish.method, content=wish.content, key=wish.key)
    await moves.message(asked.arena, player, move)
    session = await _session(asked, wish.challenge_id)
    return Standing(session=session, next=keep_reading(session, player.name))


@tool
async def chat(asked: Asked, wish: Say) -> Said:
    """Talk to the other players of your session, to all of them or to one. The operator does not hear it."""
    player = await _player(asked, wish)
    session = await _session(asked, wish.challenge_id)
    talk = Chat(channel=session.challenge_id, content=wish.content, to=wish.to, key=wish.key)
    told = await moves.talk(asked.arena, player, talk)
    return Said(session=session, index=told["index"], next=keep_reading(session, player.name))


@tool
async def read(asked: Asked, wish: Reading) -> News:
    """Read what the operator and the players have said since your last cursor; with wait, as soon as there is news.

    Direct messages to others are shown without their text. Without `from` you read as a spectator.
    """
    viewer = await _viewer(asked, wish)
    news = await _news(asked, viewer, wish)
    if not wish.wait or news.operator or news.players.messages or news.session.status is Status.ENDED:
        return news
    id_ = news.session.challenge_id
    ahead = {operator_channel(id_): wish.operator_index, player_channel(id_): wish.chat_index}
    await reading.until(asked, ahead, wish.wait)
    return await _news(asked, viewer, wish)


@tool
async def session_status(asked: Asked, wish: About) -> Standing:
    """Show how a session stands: open, active or ended, who has joined, and the scores once it has ended."""
    viewer, session = await _viewer(asked, wish), await _session(asked, wish.challenge_id)
    return Standing(session=session, next=keep_reading(session, viewer.name))


async def _news(asked: Asked, viewer: Viewer, wish: Reading) -> News:
    session = await _session(asked, wish.challenge_id)
    (heard, operator_index), (talk, chat_index) = await asyncio.gather(
        _page(asked, viewer, operator_channel(session.challenge_id), wish.operator_index),
        _page(asked, viewer, player_channel(session.challenge_id), wish.chat_index),
    )
    moved, said = player_messages("operator", heard, viewer.name), player_messages("players", talk, viewer.name)
    cursor = Cursor(operator_index=operator_index, chat_index=chat_index)
    return News(
        session=session,
        operator=operator_messages(heard),
        players=PlayerMessages(messages=[*moved, *said]),
        cursor=cursor,
        next=keep_reading(session, viewer.name, cursor),
    )


async def _page(asked: Asked, viewer: Viewer, channel: Channel, index: int) -> tuple[list[dict[str, Any]], int]:
    """Some messages of a channel, and where it goes on."""
    page = await moves.sync(asked.arena, viewer, channel, index)
    messages = page["messages"]
    return messages[:MOST], messages[MOST]["index"] if len(messages) > MOST else page["next"]


async def _session(asked: Asked, id_: str) -> SessionView:
    return session_view(challenge_view(await asked.arena.engine.get(session_of(id_))))


async def _viewer(asked: Asked, wish: About) -> Viewer:
    credential = Credential(asked.key or wish.session_key or None, wish.from_)
    return await seats.viewer(asked.arena, credential, wish.challenge_id)


async def _player(asked: Asked, wish: About) -> Viewer:
    """Who asks, where it may not be just anybody."""
    viewer = await _viewer(asked, wish)
    if asked.arena.ring.required and viewer.name is None:
        raise Unauthorized("Show the session key of your seat.")
    return viewer
