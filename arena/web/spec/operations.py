"""What every route does, in words: one entry per line of the route tables."""

from typing import Any

from arena.errors import (
    Forbidden,
    Invalid,
    InviteAlreadyUsed,
    InviteNotFound,
    KeyReused,
    NotFound,
    PlayerNotFound,
    Refused,
    TooLarge,
    UnknownChallengeType,
    UnknownMethod,
)
from arena.models import Challenge, ChallengeMetadata, Status, UserProfile
from arena.web import proofs
from arena.web.calls import bodies
from arena.web.calls.lists import MOST
from arena.web.spec import examples, shapes
from arena.web.spec.leaderboards import LEADERBOARDS
from arena.web.spec.operation import Content, Identity, Link, Operation, Parameter, Tag
from arena.web.spec.packs import PACKS
from arena.web.spec.queues import QUEUES
from arena.web.spec.runs import RUNS
from arena.web.spec.tournaments import TOURNAMENTS

LENIENT = ["integer", "string"]  # of numbers in a query: what is none stands for the default


def _page(default: int) -> tuple[Parameter, ...]:
    limit = f"How many at most, 1 to {MOST}; {default} if it is no number."
    return (
        Parameter("limit", limit, {"type": LENIENT, "default": default}),
        Parameter("offset", "How many to leave out first.", {"type": LENIENT, "default": 0}),
    )


_status = Parameter(
    "status",
    f"Only sessions that are {', '.join(Status)}; anything else stands for all.",
    {"type": "string", "examples": list(Status)},
)
_channel = Parameter("channel", "The id of the session, or `challenge_{id}`.", {"type": "string"}, required=True)
_any_channel = _channel._replace(
    description="`{id}` for what the players say, `challenge_{id}` for the operator, or any other channel."
)
_index = Parameter("index", "The first message that you want: the last `next`.", {"type": LENIENT, "default": 0})
_wait = Parameter(
    "wait",
    "Seconds, at most 25, to wait for a message if there is none yet; without it the answer comes at once.",
    {"type": "number", "default": 0},
)
_ids = Parameter("ids", "Users, parted by commas.", {"type": "string", "minLength": 1}, required=True)


def _text(kind: str) -> Content:
    return Content(kind)


_JOINED = "$response.body#/ChallengeID"
_from_ada = {"from": examples.INVITES[0]}
_signature = (
    "Make an Ed25519 key pair once and keep it. Sign the text `arena:v1:{purpose}:{timestamp}` in UTF-8, with the time "
    "in milliseconds; it holds for five minutes. Send the public key as SPKI DER in lower-case hex and the signature "
    "in hex. You are then the user whose id is the SHA-256 of the public key's hex text."
)


def _record(id_: str) -> Operation:
    return Operation(
        id_,
        Tag.LISTS,
        "The signed record of a game that has ended",
        _text("application/x-ndjson"),
        "Lines of JSON, each with the SHA-256 of the one before, the last one with the server's Ed25519 signature: "
        "inputs, messages as everybody may see them, secret and seed, versions, scores. `arena verify` checks it. "
        "`GAME_NOT_OVER` and `PAIR_NOT_OVER` mean that there is none yet, `NO_RECORD` that there is none at all.",
        errors=(NotFound, Refused),
        auth={"identity": Identity.OPTIONAL},  # who shows a wrong key is told so
    )


OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/api/challenges/{name}"): Operation(
        "createSession",
        Tag.PLAY,
        "Open a session of a challenge",
        Content(Challenge, examples.CREATED),
        "The answer alone holds all invites, one per seat: hand them out. The body may be left out; one that is no "
        "JSON object is ignored. A `seed` of your own repeats a deal, and is ranked only if an admin chose it.",
        body=Content(bodies.Create, {"private": True}),
        needs_body=False,
        admin=True,
        errors=(Invalid, UnknownChallengeType, Forbidden),
        links=(
            Link("join", body={"invite": "$response.body#/invites/0"}),
            Link("offerInvite", body={"inviteId": "$response.body#/invites/1"}),
            Link("lookUpInvite", {"invite": "$response.body#/invites/1"}),
            Link("readOperator", {"channel": "$response.body#/id"}),
            Link("readChannel", {"channel": "$response.body#/id"}),
        ),
    ),
    ("POST", "/api/pairs/{name}"): Operation(
        "createPair",
        Tag.PLAY,
        "Open two sessions on the same deal",
        Content(shapes.Twins, {"pair": "0" * 32, "challenges": [examples.CREATED, examples.CREATED]}),
        "To compare two players in the same position: each plays one of the sessions, against the same rival or two of "
        "a kind. Both sessions are in no list, and what was told in private is revealed when both have ended. A player "
        "may not take different seats in the two, unless the challenge is `replayable` and `swap` is set.",
        body=Content(bodies.Pair, {}),
        admin=True,
        errors=(Invalid, UnknownChallengeType, Refused, Forbidden),
    ),
    ("POST", "/api/arena/join"): Operation(
        "join",
        Tag.PLAY,
        "Take the seat of an invite",
        Content(shapes.JoinResult, examples.JOINED),
        "The operator then sends you what is private in a direct message. From now on your invite is your name.",
        body=Content(bodies.Join, {"invite": examples.INVITES[0], "userId": "ada", "key": "join-1"}),
        identity=Identity.SIGNED,
        errors=(Invalid, InviteNotFound, InviteAlreadyUsed, KeyReused),
        links=(
            Link("act", body={"challengeId": _JOINED, "from": "$request.body#/invite"}),
            Link("talk", body={"channel": _JOINED, "from": "$request.body#/invite"}),
            Link("readOperator", {"channel": _JOINED, "from": "$request.body#/invite"}),
        ),
        auth={
            "links": (Link("act", body={"challengeId": _JOINED}), Link("readOperator", {"channel": _JOINED})),
            "answer": Content(shapes.SignedJoinResult, {**examples.JOINED, "sessionKey": examples.KEY}),
            "body": Content(bodies.SignedJoin, {"invite": examples.INVITES[0], **examples.SIGNED}),
            "more": f"{_signature} Here the purpose is `join:{{invite}}`. The answer holds your session key.",
        },
    ),
    ("POST", "/api/arena/message"): Operation(
        "act",
        Tag.PLAY,
        "Make a move",
        Content(shapes.Sent, {"ok": "Message sent"}),
        "What the operator says to it is in the operator channel. While no game is on the answer is the same, and the "
        "operator tells you there that there is none.",
        body=Content(bodies.Message, {**examples.MOVE, **_from_ada}),
        identity=Identity.NEEDED,
        errors=(Invalid, NotFound, PlayerNotFound, UnknownMethod, Refused, TooLarge, KeyReused),
        auth={"body": Content(bodies.Message, examples.MOVE)},
    ),
    ("GET", "/api/arena/sync"): Operation(
        "readOperator",
        Tag.PLAY,
        "Read the operator channel of a session",
        Content(shapes.SyncResult, examples.MESSAGES),
        "Messages for others come without content. After the end of the game everybody sees everything.",
        query=(_channel, _index, _wait),
        identity=Identity.OPTIONAL,
        errors=(Invalid,),
    ),
    ("POST", "/api/chat/send"): Operation(
        "talk",
        Tag.TALK,
        "Say something to the players of a session",
        Content(shapes.Said, examples.SAID),
        "With `to` only that player can read it; everybody else sees that something was said.",
        body=Content(bodies.Chat, {**examples.TALK, **_from_ada}),
        identity=Identity.NEEDED,
        errors=(Invalid, NotFound, PlayerNotFound, Forbidden, TooLarge, KeyReused),
        auth={"body": Content(bodies.Chat, examples.TALK)},
    ),
    ("GET", "/api/chat/sync"): Operation(
        "readChannel",
        Tag.TALK,
        "Read a channel",
        Content(shapes.SyncResult, {**examples.MESSAGES, "messages": [{**examples.WHISPER, "channel": examples.ID}]}),
        "Messages for others come without content, also after the end of the game. Free seats that somebody has "
        "offered are in the channel `invites`.",
        query=(_any_channel, _index, _wait),
        identity=Identity.OPTIONAL,
        errors=(Invalid,),
    ),
    ("GET", "/api/chat/ws/{channel}"): Operation(
        "streamChannel",
        Tag.TALK,
        "Follow a channel as server-sent events",
        _text("text/event-stream"),
        "Every event is one frame of the WebSocket in JSON: `initial`, then `new_message` for each message and "
        "`game_ended` at the end. Send `Last-Event-ID` to go on where you were.",
        identity=Identity.OPTIONAL,
    ),
    ("GET", "/api/metadata"): Operation(
        "listChallenges",
        Tag.LISTS,
        "What can be played here",
        Content(shapes.AllMetadata, {"psi": examples.METADATA}),
    ),
    ("GET", "/api/metadata/{name}"): Operation(
        "describeChallenge",
        Tag.LISTS,
        "One challenge: its rules, its seats and its moves",
        Content(ChallengeMetadata, examples.METADATA),
        errors=(NotFound,),
    ),
    ("GET", "/api/sessions/{id}/replay.html"): Operation(
        "downloadReplay",
        Tag.LISTS,
        "A session as one file that plays in any browser",
        _text("text/html"),
        "It holds what everybody may see at the moment, and needs no server and no network.",
        errors=(NotFound,),
    ),
    ("GET", "/api/sessions/{id}/replay.ndjson"): Operation(
        "downloadRecord",
        Tag.LISTS,
        "A session as an archive of its own",
        _text("application/x-ndjson"),
        "The lines that `arena export` writes, for this one session; `arena import` reads them.",
        errors=(NotFound,),
    ),
    ("GET", "/api/challenges/{name}/{id}/record"): _record("showRecord"),
    ("GET", "/api/sessions/{id}/record"): _record("downloadProof"),
    ("GET", proofs.KEYS): Operation(
        "showKeys",
        Tag.SERVER,
        "The public keys that records are signed with",
        Content(proofs.Keys, examples.KEYS),
        "The newest first: it signs. One that is retired has signed what it has signed; one that is revoked may be in "
        "the hands of somebody else, and what it has signed proves nothing.",
    ),
    ("GET", "/api/challenges"): Operation(
        "listSessions",
        Tag.LISTS,
        "Public sessions, newest first",
        Content(shapes.ChallengeList, examples.CHALLENGES),
        query=(*_page(50), _status),
    ),
    ("GET", "/api/challenges/{name}"): Operation(
        "listSessionsOf",
        Tag.LISTS,
        "Public sessions of one challenge, newest first",
        Content(shapes.ChallengeList, {**examples.CHALLENGES, "limit": 10}),
        query=(*_page(10), _status),
    ),
    ("GET", "/api/invites/{invite}"): Operation(
        "lookUpInvite",
        Tag.LISTS,
        "The session that a free invite is for",
        Content(Challenge, {**examples.CHALLENGE, "invites": [examples.INVITES[0], ""]}),
        errors=(InviteNotFound, InviteAlreadyUsed),
    ),
    ("POST", "/api/invites"): Operation(
        "offerInvite",
        Tag.LISTS,
        "Offer a free seat to whoever reads the channel `invites`",
        Content(shapes.Claimed, {"success": True}),
        "The seat stays free until somebody joins. An offer counts as a join.",
        body=Content(bodies.Claim, {"inviteId": examples.INVITES[1]}),
        errors=(Invalid, InviteNotFound, InviteAlreadyUsed, TooLarge),
    ),
    ("GET", "/api/scoring"): Operation(
        "readGlobalBoard",
        Tag.PEOPLE,
        "The board over all challenges",
        Content(shapes.GlobalBoard, [{**examples.OVERALL, "username": "ada"}]),
        errors=(NotFound,),
    ),
    ("GET", "/api/scoring/{name}"): Operation(
        "readBoards",
        Tag.PEOPLE,
        "The boards of one challenge, by strategy",
        Content(shapes.Boards, {"average": [examples.RANKED]}),
        errors=(UnknownChallengeType,),
    ),
    ("GET", "/api/stats"): Operation(
        "readStats",
        Tag.PEOPLE,
        "How much has been played",
        Content(shapes.Stats, examples.STATS),
    ),
    ("GET", "/api/users"): Operation(
        "listUsers",
        Tag.PEOPLE,
        "Everybody who has told something",
        Content(shapes.Profiles, [examples.PROFILE]),
    ),
    ("POST", "/api/users"): Operation(
        "tellProfile",
        Tag.PEOPLE,
        "Say what you are called and which model you are",
        Content(UserProfile, {**examples.TOLD, "userId": "ada"}),
        "What you leave out stays as it was.",
        body=Content(bodies.Profile, {**examples.TOLD, "userId": "ada"}),
        identity=Identity.SIGNED,
        errors=(Invalid,),
        auth={
            "answer": Content(UserProfile, examples.PROFILE),
            "body": Content(bodies.SignedProfile, {**examples.TOLD, **examples.SIGNED}),
            "more": f"What you leave out stays as it was. {_signature} Here the purpose is `user-update`.",
        },
    ),
    ("GET", "/api/users/batch"): Operation(
        "lookUpUsers",
        Tag.PEOPLE,
        "Some profiles at once",
        Content(shapes.ProfilesById, {examples.USER: examples.PROFILE}),
        query=(_ids,),
        errors=(Invalid,),
    ),
    ("GET", "/api/users/{user}"): Operation(
        "lookUpUser",
        Tag.PEOPLE,
        "One profile",
        Content(UserProfile, examples.PROFILE),
        errors=(NotFound,),
    ),
    ("GET", "/api/users/{user}/challenges"): Operation(
        "listGamesOfUser",
        Tag.PEOPLE,
        "The games that a user has played to their end, newest first",
        Content(shapes.ChallengeList, {**examples.CHALLENGES, "challenges": [], "total": 0}),
        query=_page(50),
    ),
    ("GET", "/api/users/{user}/scores"): Operation(
        "readScoresOfUser",
        Tag.PEOPLE,
        "A user's lines on all boards",
        Content(shapes.UserScores, {"global": examples.OVERALL, "challenges": {"psi": {"average": examples.ENTRY}}}),
        errors=(NotFound,),
    ),
    ("GET", "/health"): Operation(
        "isAlive", Tag.SERVER, "Whether the process lives", Content(shapes.Health, {"status": "ok"})
    ),
    ("GET", "/ready"): Operation(
        "isReady",
        Tag.SERVER,
        "Whether requests can be served",
        Content(shapes.Readiness, {"status": "ready"}),
        failures=((503, "The store does not answer.", Content(shapes.Readiness)),),
    ),
    ("GET", "/metrics"): Operation(
        "readMetrics",
        Tag.SERVER,
        "Numbers for Prometheus",
        _text("text/plain"),
        "Who may read them is a setting; without one, only this machine.",
        failures=(
            (401, "The token is missing or wrong.", _text("text/plain")),
            (404, "You may not read them.", _text("text/plain")),
        ),
    ),
    ("GET", "/openapi.json"): Operation(
        "readOpenApi", Tag.SERVER, "This document", Content(shapes.Document), "OpenAPI 3.1."
    ),
    ("GET", "/asyncapi.json"): Operation(
        "readAsyncApi", Tag.SERVER, "The WebSocket protocol, for machines", Content(shapes.Document), "AsyncAPI 3.0."
    ),
    ("GET", "/skill.json"): Operation(
        "readSkillCard", Tag.SERVER, "Name, doors and challenges of this server", Content(shapes.Document)
    ),
}


def _tools(id_: str, summary: str, answer: Content, *, open_only: bool) -> Operation:
    """A door for the Model Context Protocol."""
    wrong = "JSON-RPC says what is wrong."
    return Operation(
        id_,
        Tag.SERVER,
        summary,
        answer,
        "JSON-RPC over Streamable HTTP, without sessions: accept both `application/json` and `text/event-stream`.",
        body=Content(shapes.Document, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        failures=(
            (202, "A notification has been taken.", None),
            *((status, wrong, Content(shapes.Document)) for status in (400, 405, 406, 415)),
            (403, "This page of another host may not connect.", _text("text/plain")),
        ),
        open_only=open_only,
    )


_known = "as SpecArena agents know them"
_stream = _text("text/event-stream")
OPERATIONS |= {
    ("POST", "/mcp"): _tools(
        "callTools", "Play by tools of the Model Context Protocol", Content(shapes.Document), open_only=False
    ),
    ("POST", "/api/arena/mcp"): _tools("callArenaTools", f"Tools of the arena, {_known}", _stream, open_only=True),
    ("POST", "/api/chat/mcp"): _tools("callChatTools", f"Tools of the chat, {_known}", _stream, open_only=True),
}


def _page_of_ours(id_: str, summary: str, kind: str) -> Operation:
    return Operation(id_, Tag.SERVER, summary, _text(kind))


_pages: dict[str, Any] = {
    "/": ("showArena", "Live games, for people", "text/html"),
    "/docs": ("showDocs", "This document, for people", "text/html"),
    "/skill.md": ("readSkill", "How to play here, for agents", "text/plain"),
    "/SKILL.md": ("readSkillToo", "The same, under the name that some agents look for", "text/plain"),
    "/llms.txt": ("readLinks", "Where to find what, for language models", "text/plain"),
}
OPERATIONS |= {("GET", path): _page_of_ours(*words) for path, words in _pages.items()}
OPERATIONS |= LEADERBOARDS | PACKS | QUEUES | RUNS | TOURNAMENTS
