"""What the routes of tournaments do, in words."""

from typing import Any

from arena.errors import Forbidden, Invalid, NotFound, Refused, UnknownChallengeType
from arena.web.spec import tournament_shapes as shapes
from arena.web.spec.examples import ID, TIME
from arena.web.spec.operation import Content, Operation, Parameter, Tag
from arena.web.tournaments import FORMATS, NewTournament, Paused, Resumed

_ID = "0" * 16
_INVITE = f"inv_{ID}"
_GAMES = {"most": 2, "played": 1, "void": 0, "playing": 1, "saved": 0}
_LINE: dict[str, Any] = {
    "id": _ID,
    "challenge": "psi",
    "format": "round-robin",
    "phase": "running",
    "createdAt": TIME,
    "agents": 2,
    "games": _GAMES,
}
_ROW: dict[str, Any] = {
    "agent": "careful",
    "rank": 1,
    "points": 1.0,
    "games": 1,
    "wins": 1,
    "ties": 0,
    "losses": 0,
    "share": {"value": 1.0},
    "utility": {"value": 1.0},
    "security": {"value": 1.0},
    "tieBreak": 0.0,
    "forfeits": 0,
    "timeouts": 0,
    "void": 0,
    "byes": 0,
    "breaches": 0,
    "exposed": 0,
    "seats": [1, 0],
    "rivals": 1,
}
_PLAYING = {
    "key": "c2.r1.t1",
    "round": 2,
    "match": "c2.r1.t1",
    "state": "playing",
    "session": ID,
    "startedAt": TIME,
    "agents": ["bold", "careful"],
}
_VIEW: dict[str, Any] = {
    **_LINE,
    "agents": [
        {"name": "careful", "kind": "bot", "plays": "honest"},
        {"name": "bold", "kind": "bot", "plays": "greedy"},
    ],
    "seats": 2,
    "replayable": False,
    "gamesPerPair": 2,
    "rankBy": "points",
    "ranked": True,
    "stopWhenDecided": False,
    "concurrency": 8,
    "budget": {"game_seconds": 600.0},
    "seconds": 1.5,
    "cost": 0,
    "options": {},
    "version": {"version": "1", "contentHash": "0" * 64},
    "arena": "0.1.0",
    "standings": [_ROW],
    "matches": [],
    "byes": [],
    "playing": [_PLAYING],
}
_SETUP = {
    "challenge": "psi",
    "format": "round-robin",
    "games_per_pair": 2,
    "agents": [{"name": "careful", "bot": "honest"}, {"name": "bold", "bot": "greedy"}],
}
_REPORT: dict[str, Any] = {
    "tournament": _VIEW,
    "ratings": [{"agent": "careful", "rating": 1500, "interval": [1400, 1600], "group": 1}],
    "anytime": {"careful": [0.0, 1.0]},
    "headToHead": {"careful": {"bold": {"games": 1, "points": 1.0}}},
    "games": [_PLAYING],
    "methods": {"points": "A game is worth the share of its rivals that an agent left behind; equal is a half."},
    "again": {"file": _SETUP},
}
_WAITING = {"key": "c1.r1.t1", "session": ID, "attempt": 1, "seats": [{"agent": "mine", "invite": _INVITE}]}
_LENIENT = ["integer", "string"]
_HOSTS = "For admins; on an open server without them, for whoever is on its machine."


def _page(usual: int) -> tuple[Parameter, ...]:
    most = f"How many at most, 1 to 100; {usual} if it is no number."
    return (
        Parameter("limit", most, {"type": _LENIENT, "default": usual}),
        Parameter("offset", "How many to leave out first.", {"type": _LENIENT, "default": 0}),
    )


TOURNAMENTS: dict[tuple[str, str], Operation] = {
    ("GET", "/api/tournaments"): Operation(
        "listTournaments",
        Tag.TOURNAMENTS,
        "The tournaments of this server",
        Content(shapes.TournamentList, {"tournaments": [_LINE], "total": 1, "limit": 20, "offset": 0}),
        query=_page(20),
    ),
    ("POST", "/api/tournaments"): Operation(
        "createTournament",
        Tag.TOURNAMENTS,
        "Begin a tournament",
        Content(shapes.TournamentView, _VIEW),
        "`setup` is what docs/tournaments.md describes. Agents are bots of the house, which the server plays for, or "
        "`remote`: whoever holds the tournament takes their invites. Commands and models are refused: nothing that "
        f"comes over the network is run. {_HOSTS}",
        body=Content(NewTournament, {"setup": _SETUP, "key": "spring-cup"}),
        admin=True,
        errors=(Invalid, Forbidden, UnknownChallengeType),
    ),
    ("GET", "/api/tournaments/{id}"): Operation(
        "showTournament",
        Tag.TOURNAMENTS,
        "A tournament as it stands: standings, matches and the games that are played now",
        Content(shapes.TournamentView, _VIEW),
        errors=(NotFound,),
    ),
    ("GET", "/api/tournaments/{id}/games"): Operation(
        "listTournamentGames",
        Tag.TOURNAMENTS,
        "The games of a tournament",
        Content(shapes.TournamentGames, {"games": [_PLAYING], "total": 1, "limit": 100, "offset": 0}),
        query=_page(100),
        errors=(NotFound,),
    ),
    ("GET", "/api/tournaments/{id}/report"): Operation(
        "reportTournament",
        Tag.TOURNAMENTS,
        "The report of a tournament",
        Content(shapes.TournamentReport, _REPORT),
        "With intervals, ratings, head-to-head, cost, and all that it takes to play it again; the seed is told when "
        "the tournament is finished. As `md` or `html` it is one file.",
        also=("text/markdown", "text/html"),
        query=(Parameter("format", "`json`, `md` or `html`.", {"enum": sorted(FORMATS), "default": "json"}),),
        errors=(NotFound, Invalid),
    ),
    ("GET", "/api/tournaments/{id}/seats"): Operation(
        "listTournamentSeats",
        Tag.TOURNAMENTS,
        "Invites for agents that the server does not play for",
        Content(shapes.WaitingGames, {"games": [_WAITING], "phase": "running"}),
        f"Seats go by the order of joining, so they are to be taken in the order in which they are told. {_HOSTS}",
        admin=True,
        errors=(Forbidden, NotFound),
    ),
    ("POST", "/api/tournaments/{id}/pause"): Operation(
        "pauseTournament",
        Tag.TOURNAMENTS,
        "Play no more games for now",
        Content(shapes.TournamentView, {**_VIEW, "phase": "paused"}),
        f"Games that are under way are begun anew when it goes on; those that are over stay as they are. {_HOSTS}",
        body=Content(Paused, {}),
        needs_body=False,
        admin=True,
        errors=(Invalid, Forbidden, NotFound, Refused),
    ),
    ("POST", "/api/tournaments/{id}/resume"): Operation(
        "resumeTournament",
        Tag.TOURNAMENTS,
        "Go on with a tournament, also with a larger budget",
        Content(shapes.TournamentView, _VIEW),
        _HOSTS,
        body=Content(Resumed, {"budget": {"games": 1000}, "concurrency": 8}),
        needs_body=False,
        admin=True,
        errors=(Invalid, Forbidden, NotFound, Refused),
    ),
}
