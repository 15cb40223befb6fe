"""Transcript: a game as lines for a terminal. Nothing that a player typed can do more than be read."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from arena.chat import operator_channel
from arena.models import OPERATOR, SessionId
from arena.terminal import harmless

Frame = Mapping[str, Any]

SHAPES = "●▲■◆⬢✚▼★"
COLOURS = ("blue", "yellow", "cyan", "magenta", "green", "bright_magenta", "bright_blue", "bright_yellow")
BAR = "█" * 12  # always as long, whatever is behind it
WIDEST = 2000  # characters of a line that are shown
LONGEST = 60  # lines of a message that are shown


class Transcript:
    """What is known of a game, and how each piece of news reads."""

    def __init__(self, id_: SessionId, me: str | None = None) -> None:
        self.id = id_
        self.me = me  # the invite of whoever reads it, if that is a player
        self.name = ""
        self.state: Frame = {"status": "open", "players": []}
        self.course: Frame = {"joined": []}
        self.profiles: Frame = {}
        self.clocks: dict[str, Any] = {}
        self.clocked_at = 0.0
        self.spectators = 0
        self.hidden: set[int] = set()  # messages of the operator channel that were shown as bars

    @property
    def players(self) -> Sequence[str]:
        """The invites of those who sit."""
        players: Sequence[str] = self.state["players"]
        return players

    def begin(self, challenge: Frame) -> Iterator[Text]:
        """The answer to a watch."""
        self.name, self.state = challenge["name"], challenge["state"]
        course: Frame = challenge.get("course") or self.course
        heading = f"{harmless(self.name)}, {self.state['status']}"
        yield Text.assemble((heading, "bold"), f"   {harmless(self.id)}")
        yield from self._turns(course)
        self.course = course

    def hear(self, frame: Frame, now: float) -> Iterator[Text]:
        """A frame as lines, if there is anything to say about it; `now` in seconds."""
        match frame["type"]:
            case "initial":
                yield from self.say(frame["messages"])
            case "new_message":
                yield from self.say([frame["message"]])
            case "state":
                yield from self._change(frame, now)
            case "game_ended":
                yield from self._end(frame["data"])

    def say(self, messages: Iterable[Frame]) -> Iterator[Text]:
        """Messages, each as its line and what belongs below it."""
        for message in messages:
            yield from self._message(message)

    def reveal(self, messages: Iterable[Frame]) -> Iterator[Text]:
        """What was a bar and may be read now."""
        opened = [m for m in messages if m["index"] in self.hidden and not m.get("redacted")]
        if opened:
            yield Text("Formerly private:", "bold")
            yield from self.say(opened)

    def _message(self, message: Frame) -> Iterator[Text]:
        is_operators = message["channel"] == operator_channel(self.id)
        head = Text.assemble((_time(message["timestamp"]), "dim"), "  ", self.who(message["from"]))
        if message.get("to"):
            head.append(" → ").append(self.who(message["to"]))
        if message.get("redacted"):
            if is_operators:
                self.hidden.add(message["index"])
            yield head.append(f"  {BAR}")
            return
        is_call = message["from"] == OPERATOR and is_operators
        lines = (told_in_words(message["content"]) if is_call else message["content"]).splitlines() or [""]
        shown = [harmless(line, WIDEST) for line in lines[:LONGEST]]
        style = "bold" if message["from"] == OPERATOR and not message.get("to") else ""
        yield head.append("  ").append(shown[0], style)
        yield from (Text(f"{'':10}{line}", style) for line in shown[1:])
        if len(lines) > LONGEST:
            yield Text(f"{'':10}… {len(lines) - LONGEST} more lines", "dim")

    def _change(self, frame: Frame, now: float) -> Iterator[Text]:
        if self.state["status"] == "ended":
            return
        self.state, self.spectators = frame["state"], frame["spectators"]
        self.clocks, self.clocked_at = dict(frame.get("clocks") or {}), now
        joined = list(self.course["joined"])
        joined += [round(now * 1000)] * (len(self.players) - len(joined))
        began = {} if self.state["status"] == "open" else {"started": self.course.get("started") or round(now * 1000)}
        course = {**self.course, "joined": joined, **began}
        yield from self._turns(course)
        self.course = course

    def _turns(self, course: Frame) -> Iterator[Text]:
        """The joins and the start that were not told yet."""
        told = len(self.course["joined"])
        for seat, at in list(enumerate(course["joined"]))[told:]:
            yield Text.assemble((f"{_time(at)}  ", "dim"), self.mark(seat), " joined")
        if course.get("started") and not self.course.get("started"):
            yield Text(f"{_time(course['started'])}  The game began", "dim")

    def _end(self, data: Frame) -> Iterator[Text]:
        self.state, self.profiles = data, data["profiles"]
        yield Text(f"{_time(data['completedAt'])}  The game ended", "dim")
        for seat, score in enumerate(data["scores"]):
            yield self.mark(seat).append(f"  security {score['security']:+g}, utility {score['utility']:+g}", "default")
        for player, usage in (data.get("reportedUsage") or {}).items():
            yield self.who(player).append(f"  says that its model took {usage_line(usage)}", "dim")
        for made in data.get("attributions") or ():
            words = harmless(made["type"].replace("_", " "))
            yield Text.assemble(self.who(made["from"]), " → ", self.who(made["to"]), (f"  {words}", "red"))

    def who(self, name: str) -> Text:
        """Whoever stands in `from` or `to`."""
        if name == OPERATOR:
            return Text("OPERATOR", "bold")
        if name == self.me:
            return Text("You", "bold reverse")
        if name in self.players:
            return self.mark(self.players.index(name))
        return Text(harmless(name, 20))

    def mark(self, seat: int) -> Text:
        """A player: a colour, a shape and a name."""
        players = self.players
        user = self.state.get("playerIdentities", {}).get(players[seat]) if seat < len(players) else None
        known = self.profiles.get(user, {}).get("username") or user if user else None
        name = harmless(known, 24) if known else f"Player {seat + 1}"
        name += " (you)" if seat < len(players) and players[seat] == self.me else ""
        shape = SHAPES[(seat + seat // len(SHAPES)) % len(SHAPES)]
        return Text(f"{shape} {name}", f"bold {COLOURS[seat % len(COLOURS)]}")

    def status(self, now: float) -> Text:
        """One line about how it stands."""
        line = Text.assemble((f"{harmless(self.name)} ", "bold"), f"{self.state['status']}  {self.spectators} watching")
        for seat, player in enumerate(self.players):
            if clock := self.clock(player, now):
                line.append("  ").append(self.mark(seat)).append(f" {clock}")
        return line

    def clock(self, player: str, now: float) -> str:
        """What a player has left, with a mark if it runs; nothing if there is no limit."""
        if player not in self.clocks:
            return ""
        runs = player in self.clocks.get("running", ())
        gone = (now - self.clocked_at) * 1000 if runs else 0
        seconds = max(0, round((self.clocks[player] - gone) / 1000))
        return f"{'▸' if runs else ''}{seconds // 60}:{seconds % 60:02d}"


def usage_line(usage: Frame) -> str:
    """What a model took, in words."""
    cost = "" if usage.get("costUsd") is None else f", {usage['costUsd']:.4f} USD"
    models = f" ({harmless(', '.join(usage['models']))})" if usage.get("models") else ""
    tokens = f"{usage.get('inputTokens', 0)} tokens in, {usage.get('outputTokens', 0)} out"
    return f"{usage.get('calls', 0)} calls, {tokens}{cost}{models}"


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000).strftime("%H:%M:%S")  # the reader's own zone


def told_in_words(content: str) -> str:
    """What the operator of a pack tells programs, as the page says it; anything else as it is."""
    try:
        told = json.loads(content) if content.startswith("{") else None
    except (ValueError, RecursionError):
        told = None
    return _words_of(told) or content


def _words_of(told: object) -> str:
    match told:
        case {"type": "progress", "player": player, "done": done, "of": total, "failed": failed}:
            went = "could not finish a case" if failed else "finished a case"
            return f"Player {player} {went}: {done} of {total} are done."
        case {"type": "output", "player": player, "case": case, "output": output}:
            return f"Player {player} answered “{case}”:\n{output}"
        case {"type": "ballot", "case": case, "A": one, "B": other}:
            return f"Which answer to “{case}” is better?\nA: {one}\nB: {other}"
        case {"type": "votes", "votes": votes}:
            return "1 vote on a pair of answers." if votes == 1 else f"{votes} votes on a pair of answers."
        case {"type": "judge", "state": "late"}:
            return "The time of the judge is up."
    return ""
