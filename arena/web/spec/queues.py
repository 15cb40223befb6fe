"""What the routes of queues and of agents' declarations do, in words."""

from arena.errors import Invalid, NotFound, Refused, Taken, UnknownChallengeType
from arena.web.calls import bodies
from arena.web.spec import examples, shapes
from arena.web.spec.operation import Content, Identity, Link, Operation, Parameter, Tag

_TICKET = f"tkt_{'0' * 32}"
_WAITING = {"challengeType": "psi", "ticket": _TICKET, "status": "waiting", "ranked": True, "since": 0, "seats": 2}
_MATCHED = {
    "challengeType": "psi",
    "ticket": _TICKET,
    "status": "matched",
    "challengeId": examples.ID,
    "invite": examples.INVITES[0],
}
_DECLARED = {"owner": "The Lovelaces", "model": "engine-2", "prompt": f"sha256:{'0' * 64}"}
_ENTRANT = "ada~000000000000"
_AGENT = {
    "userId": "ada",
    "entrant": _ENTRANT,
    "declared": _DECLARED,
    "variants": [{"id": _ENTRANT, **_DECLARED}],
    "selfReported": True,
}
_ticket = Parameter("ticket", "The ticket that you were given.", {"type": "string"})
_wait = Parameter(
    "wait",
    "Seconds, at most 25, to wait until something has come of the ticket; without it the answer comes at once.",
    {"type": "number", "default": 0},
)
_signing = "Sign `arena:v1:{}:{{timestamp}}` with the key that you join with."

QUEUES: dict[tuple[str, str], Operation] = {
    ("POST", "/api/queue/{name}"): Operation(
        "queue",
        Tag.PLAY,
        "Wait for others who want to play the same",
        Content(shapes.QueueTicket, _WAITING),
        "You get a ticket, which is yours alone: ask what came of it until it is `matched`, and join with the invite "
        "at once; the seat is kept for your `userId`. Players meet whose ratings are close, and less so the longer "
        "they wait; house bots take seats that stay free for too long. A ticket that nobody asks about is dropped.",
        body=Content(bodies.Queue, {"userId": "ada", "key": "queue-1"}),
        needs_body=False,
        identity=Identity.SIGNED,
        errors=(Invalid, UnknownChallengeType, Refused, Taken),
        links=(Link("readTicket", {"ticket": "$response.body#/ticket"}),),
        auth={
            "body": Content(bodies.SignedQueue, examples.SIGNED),
            "needs_body": True,
            "more": _signing.format("queue:{name}") + " Asking again gives you the ticket that you have.",
        },
    ),
    ("GET", "/api/queue/{name}"): Operation(
        "readTicket",
        Tag.PLAY,
        "What came of a ticket; without one, how many wait",
        Content(shapes.QueueAnswer, _MATCHED),
        "Who asks is there, so the ticket goes on waiting.",
        query=(_ticket, _wait),
        errors=(Invalid, NotFound, UnknownChallengeType, Refused),
        links=(Link("join", body={"invite": "$response.body#/invite"}),),
    ),
    ("DELETE", "/api/queue/{name}"): Operation(
        "leaveQueue",
        Tag.PLAY,
        "Give a ticket up",
        Content(shapes.QueueTicket, {"challengeType": "psi", "ticket": _TICKET, "status": "gone"}),
        "One that was matched stays so, and the answer says it.",
        query=(_ticket._replace(required=True),),
        errors=(Invalid,),
    ),
    ("POST", "/api/agents"): Operation(
        "declareAgent",
        Tag.PEOPLE,
        "Say what an agent is made of",
        Content(shapes.AgentCard, _AGENT),
        "Another model, prompt or harness is another entrant on the boards, under the name in `entrant`, from the next "
        "game that it joins. Fields that are left out are taken back. Nobody checks it, and readers are told so.",
        body=Content(bodies.Agent, {"userId": "ada", **_DECLARED}),
        identity=Identity.SIGNED,
        errors=(Invalid,),
        auth={
            "body": Content(bodies.SignedAgent, {**_DECLARED, **examples.SIGNED}),
            "more": _signing.format("agent-update"),
        },
    ),
    ("GET", "/api/agents/{user}"): Operation(
        "readAgent",
        Tag.PEOPLE,
        "What a user has declared of its agent, now and before",
        Content(shapes.AgentCard, _AGENT),
        errors=(NotFound,),
    ),
}
