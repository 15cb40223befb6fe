"""The AsyncAPI document: the WebSocket protocol, from the models of its frames."""

from collections.abc import Iterator
from typing import Any, get_args

from arena import wire
from arena.errors import ArenaError, Rejected
from arena.models import Model
from arena.version import __version__
from arena.web.handshake import BAD_KEY, NO_STORE, NO_SUCH, POLICY, TAKEN
from arena.web.protocol import STALLED
from arena.web.socket import GOING_AWAY, UNDECODABLE, WRONG_KIND
from arena.web.spec.frames import PUSHES, REPLIES, Error
from arena.web.spec.schemas import Schema, Use, components, ref

COMMANDS: tuple[type[Model], ...] = tuple(wire.COMMANDS.values())
SENT: tuple[type[Model], ...] = (*REPLIES.values(), Error, *PUSHES)
CHANNEL = {"$ref": "#/channels/socket"}
CLOSE_CODES = {
    1000: "Done.",
    GOING_AWAY: "The server is restarting: connect again and resume.",
    WRONG_KIND: "A text frame where binary ones are spoken, or the other way round: mend the client.",
    UNDECODABLE: "Ten undecodable frames in a row: mend the client.",
    POLICY: "The rate limit was exceeded again and again: back off.",
    1009: "A frame above the limit: mend the client.",
    NO_STORE: "The store is unavailable: connect again after a while.",
    BAD_KEY: "What the address asked for needs a key, or another one.",
    NO_SUCH: "What the address asked for does not exist, or no longer.",
    STALLED: "The socket took nothing for too long, or pings were not answered: connect again and resume.",
    TAKEN: "The invite in the address has been used.",
}
SUBPROTOCOLS = {
    wire.JSON.protocol: {"contentType": "application/json", "frames": "text"},
    wire.MSGPACK.protocol: {"contentType": "application/msgpack", "frames": "binary"},
}
QUERY = {
    "invite": "Join by this invite; in open mode only.",
    "watch": "Watch the session with this id.",
    "key": "Resume with this session key; an `Authorization: Bearer` header does the same.",
    "challenge": "The session to resume in.",
}

BEARER = "`Bearer` and a session key, to resume; or the token of an admin, for a connection that may do more."


def document(*, must_sign: bool) -> dict[str, Any]:
    """The whole document, but for the address of the server."""
    messages = {model.__name__: _message(model) for model in (*COMMANDS, *SENT)}
    return {
        "asyncapi": "3.0.0",
        "info": _info(must_sign),
        "defaultContentType": "application/json",
        "channels": {"socket": _channel(messages)},
        "operations": dict(_operations()),
        "components": {"messages": messages, "schemas": _schemas()},
        "x-subprotocols": SUBPROTOCOLS,
        "x-close-codes": {str(code): words for code, words in sorted(CLOSE_CODES.items())},
        "x-error-codes": error_codes(),
    }


def _info(must_sign: bool) -> Schema:
    mode = (
        "This server runs in auth mode: `join` carries `publicKey`, `signature` and `timestamp`, the signature being "
        "that of `arena:v1:join:{invite}:{timestamp}` by an Ed25519 key."
        if must_sign
        else "This server runs in open mode: `join` needs nothing but an invite."
    )
    words = (
        "Every frame is an object with a `type`. A frame of yours may carry an `id`; it gets exactly one `reply` or "
        "`error`, which repeats it. Unknown fields in your frames are errors; ignore frames and fields that you do not "
        f"know. Offer `{wire.JSON.protocol}` for text frames with JSON or `{wire.MSGPACK.protocol}` for binary frames "
        f"with MessagePack, the same objects; offer none and you get JSON. {mode}"
    )
    return {"title": "Arena over WebSocket", "version": __version__, "description": words}


def _schemas() -> dict[str, Schema]:
    read: list[Use] = [(model, "validation") for model in COMMANDS]
    sent: list[Use] = [(model, "serialization") for model in SENT]
    return components(read + sent)


def _message(model: type[Model]) -> Schema:
    kind = model.model_fields["type"].annotation
    return {"name": get_args(kind)[0], "title": model.__name__, "summary": model.__doc__, "payload": ref(model)}


def _channel(messages: dict[str, Schema]) -> Schema:
    named = {"type": "string"}
    return {
        "address": "/ws",
        "description": "Also at `/api/ws` and `/api/v1/ws`. What the query asks for is done first; a refusal closes.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "bindings": {
            "ws": {
                "method": "GET",
                "query": {
                    "type": "object",
                    "properties": {name: {**named, "description": words} for name, words in QUERY.items()},
                },
                "headers": {
                    "type": "object",
                    "properties": {
                        "Sec-WebSocket-Protocol": {**named, "enum": list(SUBPROTOCOLS)},
                        "Authorization": {**named, "description": BEARER},
                    },
                },
            }
        },
    }


def _operations() -> Iterator[tuple[str, Schema]]:
    """Seen from the server: it receives commands and answers them, and it sends the rest."""
    for name, command in wire.COMMANDS.items():
        answers = [_in_channel(REPLIES[command]), _in_channel(Error)]
        yield name, _operation("receive", command) | {"reply": {"channel": CHANNEL, "messages": answers}}
    for push in PUSHES:
        yield f"send{push.__name__}", _operation("send", push)


def _operation(action: str, model: type[Model]) -> Schema:
    return {"action": action, "channel": CHANNEL, "summary": model.__doc__, "messages": [_in_channel(model)]}


def _in_channel(model: type[Model]) -> Schema:
    return {"$ref": f"#/channels/socket/messages/{model.__name__}"}


def error_codes() -> dict[str, str]:
    """Every code that this door itself knows, and what it means; challenges have more of their own."""
    found: dict[str, str] = {}
    kinds = [ArenaError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        code = getattr(kind, "fixed", None) or kind.__dict__.get("code")
        if code and kind not in {ArenaError, Rejected}:  # packs are published elsewhere
            found.setdefault(code, kind.__doc__ or "")
    return dict(sorted(found.items()))
