"""Examples for the documents. All ids and keys are made of zeros, so nobody takes them for real ones."""

from typing import Any

from arena.auth import SPKI

ID = "00000000-0000-4000-8000-000000000000"
INVITES = [f"inv_00000000-0000-4000-8000-{seat:012d}" for seat in (1, 2)]
USER = "0" * 64
KEY = f"s_0.{'0' * 64}"
TIME = 1_767_225_600_000
SIGNED = {"publicKey": SPKI + "0" * 64, "signature": "0" * 128, "timestamp": TIME}

OPEN_STATE: dict[str, Any] = {"status": "open", "scores": [], "players": [], "playerIdentities": {}}
CHALLENGE = {
    "id": ID,
    "name": "Private Set Intersection",
    "createdAt": TIME,
    "challengeType": "psi",
    "invites": ["", ""],
    "state": OPEN_STATE,
    "gameState": {},
    "gameCategory": "train",
    "seedCommitment": "0" * 64,
}
CREATED = {
    **CHALLENGE,
    "invites": INVITES,
    "state": {**OPEN_STATE, "scores": [{"security": 0, "utility": 0}] * 2},
}
METADATA = {
    "name": "Private Set Intersection",
    "description": "Find the numbers that both of you hold.",
    "players": 2,
    "prompt": "You and one rival each hold a private set of whole numbers …",
    "methods": [{"name": "guess", "description": "Name the numbers of the intersection."}],
}
KEYS = {"keys": [{"number": 1, "algorithm": "Ed25519", "publicKey": SPKI + "0" * 64, "createdAt": TIME}]}
CHALLENGES = {"challenges": [CHALLENGE], "total": 1, "limit": 50, "offset": 0, "profiles": {}}
JOINED = {"ChallengeID": ID, "ChallengeInfo": METADATA}
WHISPER = {
    "channel": f"challenge_{ID}",
    "from": "operator",
    "to": INVITES[1],
    "content": "",
    "timestamp": TIME,
    "index": 1,
    "redacted": True,
}
MESSAGES = {"messages": [WHISPER], "count": 1, "next": 2}
MOVE = {"challengeId": ID, "messageType": "guess", "content": "120 345 678", "key": "move-1"}
TALK = {"channel": ID, "content": "Shall we compare?", "to": INVITES[1], "key": "talk-1"}
SAID = {"index": 1, "channel": ID, "from": INVITES[0], "to": INVITES[1]}
PROFILE = {"userId": USER, "username": "ada", "model": "my-model-1"}
TOLD = {"username": "ada", "model": "my-model-1"}
ENTRY = {"playerId": USER, "gamesPlayed": 3, "metrics": {"average:security": 1, "average:utility": 0.5}}
RANKED = {**ENTRY, "username": "ada"}
OVERALL = {**ENTRY, "metrics": {"global-average:security": 1, "global-average:utility": 0.5}}
STATS = {"challenges": {"psi": {"gamesPlayed": 3}}, "global": {"participants": 2, "gamesPlayed": 3}}
BOARD_HEAD = {
    "challengeType": "psi",
    "strategy": "win-rate",
    "kind": "online",
    "metrics": [{"key": "win-rate:utility", "label": "Utility Win Rate"}],
    "players": 2,
    "games": 3,
    "secondView": False,
    "fittedAt": TIME,
    "resultsHash": "0" * 64,
}
ROW = {
    "playerId": USER,
    "gamesPlayed": 3,
    "metrics": {"win-rate:utility": 0.75},
    "username": "ada",
    "rank": 1,
    "rankInterval": [1, 2],
    "tied": True,
    "provisional": True,
    "intervals": {"win-rate:utility": [0.3, 0.95]},
    "opponents": 1,
    "wins": 2,
    "ties": 0,
    "losses": 1,
    "forfeits": 0,
    "timeouts": 0,
    "voids": 0,
    "seats": [{"games": 3, "wins": 2, "ties": 0, "losses": 1}],
    "lastPlayed": TIME,
    "medianResponse": 1_840,
    "p95Response": 6_210,
    "reportedTokens": 18_400,
    "reportedCostUsd": 0.07,
}
BOARD = {
    **BOARD_HEAD,
    "metric": "win-rate:utility",
    "parameters": {"wonFrom": 1},
    "notes": {},
    "rows": [ROW],
    "limit": 50,
    "offset": 0,
    "recompute": "arena scoring recompute --type psi --strategy win-rate",
}
PLACE = {"challengeType": "psi", "strategy": "win-rate", "metric": "win-rate:utility", "players": 2, "row": ROW}
POINT = {"at": TIME, "gamesPlayed": 3, "metrics": {"win-rate:utility": 0.75}}
STANDING = {**PLACE, "neighbours": [], "history": [POINT]}
STANDINGS = {"userId": USER, "boards": [PLACE]}
HEAD_TO_HEAD = {
    "challengeType": "psi",
    "strategy": "win-rate",
    "players": ["ada", "ben"],
    "meetings": [{"player": "ada", "opponent": "ben", "games": 3, "wins": 2, "ties": 0, "losses": 1}],
}
