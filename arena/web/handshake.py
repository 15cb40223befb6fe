"""The handshake of a WebSocket: which codec, what the address asks for, and what a client is told first."""

from typing import Any

from starlette.websockets import WebSocket

from arena import wire
from arena.errors import ArenaError, InviteAlreadyUsed, NotFound, StoreUnavailable, Unauthorized
from arena.runtime import Arena
from arena.web.http import bearer_of
from arena.wire import CODECS, JSON, Codec

POLICY, NO_STORE = 1008, 1013
BAD_KEY, NO_SUCH, TAKEN = 4401, 4404, 4409


def choose_codec(socket: WebSocket) -> Codec | None:
    """The codec of the first subprotocol we know; JSON if none is offered, none if only strange ones are."""
    offered = socket.scope.get("subprotocols") or []
    if not offered:
        return JSON
    return next((CODECS[protocol] for protocol in offered if protocol in CODECS), None)


def query_commands(socket: WebSocket, *, signed: bool) -> list[wire.Join | wire.Resume | wire.Watch]:
    """What the address asks for; where players sign, an address has no place for a signature."""
    # Cut to the longest that a frame may say, which no name of ours reaches: more is unknown, not invalid.
    query = {name: value[:64] if name != "key" else value[:256] for name, value in socket.query_params.items()}
    commands = list[wire.Join | wire.Resume | wire.Watch]()
    bearer = bearer_of(socket.scope["headers"])
    key = query.get("key") if bearer is None else bearer[:256]
    if "challenge" in query or "key" in query:
        if not key or "challenge" not in query:
            raise Unauthorized("A session key and a challenge are needed.")
        frame = {"type": "resume", "challengeId": query["challenge"], "sessionKey": key}
        commands.append(wire.as_command(wire.Resume, frame))
    if "invite" in query:
        if signed:
            raise Unauthorized("Join by a frame, with publicKey, signature and timestamp.")
        commands.append(wire.as_command(wire.Join, {"type": "join", "invite": query["invite"]}))
    if "watch" in query:
        commands.append(wire.as_command(wire.Watch, {"type": "watch", "challengeId": query["watch"]}))
    return commands


def close_code(error: ArenaError) -> int:
    """How a connection ends whose address asked for something in vain."""
    match error:
        case Unauthorized():
            return BAD_KEY
        case NotFound():
            return NO_SUCH
        case InviteAlreadyUsed():
            return TAKEN
        case StoreUnavailable():
            return NO_STORE
        case _:
            return POLICY


def welcome(arena: Arena) -> dict[str, Any]:
    """The first frame of every connection."""
    limits = arena.settings.announced
    time = arena.clock.now()
    return {
        "type": "welcome",
        "protocol": "arena.v1",
        "server": arena.settings.server,
        "time": time,
        "auth": "required" if arena.ring.required else "open",
        "limits": limits,
    }
