"""What a person sees of the arena in a terminal: sessions, results and a leaderboard, live or line by line."""

import logging
import os
import time
import unicodedata
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from arena.house import Result

Frame = Mapping[str, Any]

WIDEST = 60  # characters of a player's text that are shown
NEWEST = 6  # results that are shown
SHOWN = 8  # sessions that are shown


def harmless(text: object, most: int = WIDEST) -> str:
    """Text of a stranger on one line: nothing in it can move a cursor, turn the writing around or fill the screen."""
    shown = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in str(text)[: most * 4])
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def told(result: Result) -> str:
    """A result in one line."""
    names = ", ".join(
        f"{harmless(name)} {score.utility:+g}/{score.security:+g}"
        for name, score in zip(result.players, result.scores, strict=True)
    )
    breaches = f", {plural(result.breaches, 'breach', 'breaches')}" if result.breaches else ""
    return f"{harmless(result.type)}: {names} (utility/security{breaches}, {result.seconds:.1f} s)"


@dataclass
class Scene:
    """All there is to show."""

    address: str
    sessions: dict[str, Frame] = field(default_factory=dict)  # the newest `session` frame of each
    results: deque[tuple[int, Result]] = field(default_factory=lambda: deque(maxlen=NEWEST))
    board: Sequence[Frame] = ()
    notes: deque[str] = field(default_factory=lambda: deque(maxlen=3))
    played: int = 0
    failed: int = 0
    begun: float = field(default_factory=time.monotonic)

    def __rich__(self) -> RenderableType:
        minutes, seconds = divmod(int(time.monotonic() - self.begun), 60)
        head = Text.assemble(
            ("Arena ", "bold"),
            (self.address, "bold cyan"),
            f"   {self.tally}   {minutes}:{seconds:02d}   Ctrl-C ends it",
        )
        parts = [head, self._sessions(), self._results(), leaderboard(self.board)]
        return Group(*parts, *(Text(note, "yellow", no_wrap=True) for note in self.notes))

    @property
    def tally(self) -> str:
        """How many games there were."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{plural(self.played, 'game', 'games')} played{failed}"

    def enter(self, lobby: Frame, board: Frame) -> None:
        """Begin with what the lobby and the board answered."""
        self.sessions = {challenge["id"]: {"challenge": challenge} for challenge in lobby["challenges"]}
        self.board = board["entries"]

    def add(self, result: Result) -> None:
        """Count a game."""
        self.played += 1
        self.results.append((self.played, result))

    def hear(self, frame: Frame) -> None:
        """Take in what the lobby or the board has to say."""
        match frame["type"]:
            case "leaderboard":
                self.board = frame["entries"]
            case "session" if frame["event"] == "removed" or frame["challenge"]["state"]["status"] == "ended":
                self.sessions.pop(frame["challenge"]["id"], None)
            case "session":
                self.sessions[frame["challenge"]["id"]] = frame

    def _sessions(self) -> RenderableType:
        table = Table(box=None, expand=True, show_header=False, pad_edge=False)
        for name, width in (("type", 12), ("status", 8), ("id", 10)):
            table.add_column(name, width=width, no_wrap=True)
        table.add_column("said", ratio=1, no_wrap=True, overflow="ellipsis")
        for frame in list(self.sessions.values())[-SHOWN:]:
            challenge = frame["challenge"]
            said = harmless(frame.get("lastLine", {}).get("content", ""), 200)
            row = (challenge["challengeType"], challenge["state"]["status"], challenge["id"][:8])
            table.add_row(*(Text(harmless(cell)) for cell in row), Text(said, "dim"))
        return Panel(table, title=f"Sessions ({len(self.sessions)})", title_align="left")

    def _results(self) -> RenderableType:
        lines = [
            Text(f"game {number} {told(result)}", no_wrap=True, overflow="ellipsis")
            for number, result in reversed(self.results)
        ]
        return Panel(Group(*lines), title="Latest results", title_align="left")


def leaderboard(entries: Sequence[Frame]) -> Table:
    """A board as a table; its columns are the metrics that the entries have."""
    table = Table(title="Leaderboard", title_justify="left")
    keys = list(dict.fromkeys(key for entry in entries for key in entry["metrics"]))
    table.add_column("#", justify="right")
    table.add_column("Player")
    table.add_column("Games", justify="right")
    for key in keys:
        table.add_column(Text(harmless(key.rpartition(":")[2])), justify="right")
    for place, entry in enumerate(entries[:10], 1):
        values = [f"{entry['metrics'][key]:+.2f}" if key in entry["metrics"] else "" for key in keys]
        name = harmless(entry.get("username") or entry["playerId"])
        table.add_row(str(place), Text(name), str(entry["gamesPlayed"]), *values)
    return table


class Notes(logging.Handler):
    """Keeps log lines where a live view can show them; written to the terminal they would tear it."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(logging.WARNING)
        self.scene = scene

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.scene.notes.append(harmless(record.getMessage(), 200))


class Screen(Console):
    """Standard output, where nothing is highlighted or taken for markup. A reader who leaves is noticed, no more."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)
        self.is_deserted = False

    def on_broken_pipe(self) -> None:
        """Nobody reads any more."""
        self.is_deserted = self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def plural(count: int, one: str, many: str) -> str:
    """A number of things."""
    return f"{count} {one if count == 1 else many}"
