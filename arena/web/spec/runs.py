"""What the routes of packs that are played do, in words."""

from arena.errors import Forbidden, Invalid, KeyReused, NotFound, Refused
from arena.web.calls import bodies
from arena.web.spec import examples, shapes
from arena.web.spec.operation import Content, Identity, Operation, Parameter, Tag

_RUNS = {"challengeId": examples.ID, "runs": [{"seat": 0, "case": "rice", "stage": "running"}]}
_CARD = {"overall": 0.9, "passed": True, "dimensions": {"correctness": 1}, "cases": 1, "passes": 1}
_SEAT = {"seat": 0, "player": examples.INVITES[0], "card": _CARD, "cases": [{"case": "rice", "overall_score": 0.9}]}
_CARDS = {"challengeId": examples.ID, "challengeType": "unit-prices", "seats": [_SEAT]}
_WHOLE = Parameter(
    "whole", "With `true`, reasons, evidence and what was expected; for those who keep the packs.", {"type": "string"}
)
_VOTE = {"ballot": "b1", "choice": "A"}

RUNS = {
    ("GET", "/api/challenges/{name}/{id}/runs"): Operation(
        "listRuns",
        Tag.LISTS,
        "How far the seats of a pack's session are",
        Content(shapes.RunList, _RUNS),
        identity=Identity.OPTIONAL,
        errors=(NotFound,),
    ),
    ("GET", "/api/challenges/{name}/{id}/runs/{seat}/{case}/events"): Operation(
        "readRunEvents",
        Tag.LISTS,
        "What happened in a run, one JSON object per line",
        Content("application/x-ndjson"),
        "After the end of the game for everybody, before it for the seat itself. Planted secrets are hidden.",
        identity=Identity.OPTIONAL,
        errors=(NotFound, Forbidden),
    ),
    ("GET", "/api/challenges/{name}/{id}/scorecards"): Operation(
        "readScorecards",
        Tag.LISTS,
        "What the evaluation of a pack's session found, once the game is over",
        Content(shapes.AllScorecards, _CARDS),
        "Verdicts and scores; what was expected is not told, except to those who keep the packs and ask for it.",
        query=(_WHOLE,),
        identity=Identity.OPTIONAL,
        errors=(NotFound, Forbidden),
    ),
    ("POST", "/api/challenges/{name}/{id}/votes"): Operation(
        "vote",
        Tag.PLAY,
        "Say which of two outputs you like better",
        Content(shapes.Voted, {"ok": "Vote taken"}),
        "The operator shows pairs without names as `ballot` messages. Those who play do not vote.",
        body=Content(bodies.Vote, _VOTE),
        identity=Identity.SIGNED,
        errors=(Invalid, NotFound, Refused, KeyReused),
        auth={
            "body": Content(bodies.SignedVote, {**_VOTE, **examples.SIGNED}),
            "more": "Sign `arena:v1:vote:{id}:{ballot}:{choice}:{timestamp}`. Those who play do not vote.",
        },
    ),
}
