"""Parleys foreseen: what the protocol says of a session's life and of who sees what, written down a second time.

Nothing in here knows how the arena does it: a test plays the same game on both, and compares every word.
"""

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

OPERATOR = "operator"
STRANGERS = (None, "", OPERATOR, "viewer", "inv_stranger")
TALK_ON = 600_000  # milliseconds


class Said(NamedTuple):
    """A message, whole."""

    sender: str
    to: str | None
    content: str
    at: int
    type: str | None = None


@dataclass
class Parley:
    """The state of a game as it has to be."""

    id: str
    invites: list[str]
    cards: list[str]
    now: int
    status: str = "open"
    players: list[str] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)
    operator: list[Said] = field(default_factory=list)
    talk: list[Said] = field(default_factory=list)
    total: int = 0
    scores: dict[int, int] = field(default_factory=dict)
    added: list[int] = field(default_factory=list)  # seats, for every attribution
    bells: dict[str, int] = field(default_factory=dict)
    ended_at: int | None = None

    # What happens

    def join(self, invite: str, user: str | None) -> str | None:
        """Take a seat; the code of the error if that does not work, here and below."""
        if invite not in self.invites:
            return "INVITE_NOT_FOUND"
        if invite in self.players:
            return "INVITE_ALREADY_USED"
        self.players.append(invite)
        if user:
            self.users[invite] = user
        self.say(self.cards[len(self.players) - 1], to=invite)
        if len(self.players) == len(self.invites):
            self.status = "active"
            self.say("Begin.")
        return None

    def act(self, player: str, type: str, content: str) -> str | None:
        """Make a move."""
        if self.status != "active":
            return "GAME_NOT_RUNNING"
        seat = self.players.index(player)
        wrong = {"stumble": "INTERNAL", "add": None if content.isdigit() else "VALIDATION"}.get(type)
        if wrong:
            return wrong  # and nothing has happened
        self.operator.append(Said(player, OPERATOR, f"({type}) {content}", self.now, type))
        return self.judge(seat, type, content)

    def knock(self, player: str, type: str, content: str) -> None:
        """Make a move where the operator answers while no game is on."""
        self.operator.append(Said(player, OPERATOR, f"({type}) {content}", self.now, type))
        self.say("ERR_GAME_NOT_RUNNING: The game is not running.", to=player)

    def judge(self, seat: int, type: str, content: str) -> str | None:
        """What the operator makes of a move that it understands."""
        match type:
            case "add":
                self.total += int(content)
                self.scores[seat] = self.total
                self.added.append(seat)
                self.say(f"The total is {self.total}.")
            case "note":
                self.say(f"A note: {content}", to=self.players[(seat + 1) % len(self.players)])
            case "wind":
                asked = json.loads(content)
                self.bells[asked["name"]] = self.now + round(asked["after"] * 1000)
            case "unwind":
                self.bells.pop(content, None)
            case "stop":
                self.end()
            case "grumble":
                return "NOT_NOW"
            case _:
                return "UNKNOWN_METHOD"
        return None

    def chat(self, player: str, content: str, to: str | None) -> str | None:
        """Talk."""
        if player not in self.players:
            return "PLAYER_NOT_FOUND"
        if self.ended_at is not None and self.now > self.ended_at + TALK_ON:
            return "FORBIDDEN"
        self.talk.append(Said(player, to or None, content, self.now))
        return None

    def advance(self, until: int) -> None:
        """Let time pass; bells ring at their own time, in order."""
        while self.status == "active" and self.bells and min(self.bells.values()) <= until:
            name = min(self.bells, key=lambda bell: (self.bells[bell], bell))
            self.now = self.bells.pop(name)
            if name != "crash":
                self.total += 1
                self.say(f"{name} rings.")
                if name == "curfew":
                    self.end()
        self.now = until

    def say(self, content: str, to: str | None = None) -> None:
        """What the operator says."""
        self.operator.append(Said(OPERATOR, to, content, self.now))

    def end(self) -> None:
        """The last words are the scores, one per seat."""
        self.status, self.ended_at, self.bells = "ended", self.now, {}
        lines = [f'- Player {n}: {{"security":0,"utility":{s["utility"]}}}' for n, s in enumerate(self.final, 1)]
        self.say("\n".join(["Game ended.", "", "Scores are:", *lines]))

    @property
    def final(self) -> list[dict[str, int]]:
        """The scores."""
        return [{"security": 0, "utility": self.scores.get(seat, 0)} for seat in range(len(self.invites))]

    # What is seen of it

    @property
    def viewers(self) -> list[str | None]:
        """Everybody who may look."""
        return [*self.invites, *STRANGERS]

    def views(self, channel: str, viewer: str | None) -> list[dict[str, Any]]:
        """A channel as somebody may see it now."""
        is_operators = channel == f"challenge_{self.id}"
        revealed = is_operators and self.status == "ended"
        said = self.operator if is_operators else self.talk
        return [_view(channel, each, index, viewer, revealed) for index, each in enumerate(said, 1)]

    @property
    def state(self) -> dict[str, Any]:
        """The course of the game as everybody may see it now."""
        shown: dict[str, Any] = {"status": self.status, "players": self.players}
        if self.status != "ended":
            return {**shown, "scores": [], "playerIdentities": {}}
        added = [{"from": self.players[s], "to": self.players[0], "type": f"added-{self.cards[s]}"} for s in self.added]
        named = {"attributions": added} if added else {}
        shown |= {"scores": self.final, "playerIdentities": self.users, "completedAt": self.ended_at}
        return {**shown, **named}

    def shown_invites(self, presented: str | None = None) -> list[str]:
        """The codes that everybody may know, and the one that somebody has shown."""
        known = {*self.players, presented}
        return [invite if invite in known or self.status == "ended" else "" for invite in self.invites]

    def secrets(self, viewer: str | None) -> list[str]:
        """Cards that somebody may not know yet."""
        if self.status == "ended":
            return []
        return [card for seat, card in enumerate(self.cards) if self.players[seat : seat + 1] != [viewer]]


def _view(channel: str, said: Said, index: int, viewer: str | None, revealed: bool) -> dict[str, Any]:
    named = {"channel": channel, "from": said.sender, "timestamp": said.at, "index": index}
    if said.to is None:
        return {**named, "content": said.content}
    named["to"] = said.to
    if not revealed and (viewer == OPERATOR or viewer not in {said.sender, said.to}):
        return {**named, "content": "", "redacted": True}
    kind = {} if said.type is None else {"type": said.type}
    return {**named, "content": said.content, **kind}
