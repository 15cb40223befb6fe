"""Screen: a tournament in a terminal, live where there is one and line by line elsewhere."""

from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from arena.terminal import harmless
from arena.tournament.report_text import standings_table

LINE = 400  # characters of how it ended
LEADERS = 20  # lines of the live standings
STEP = 0.1  # share of the games between two lines where nothing is live


def summary(told: dict[str, Any]) -> str:
    """How a tournament stands, as text."""
    console = Console(record=True, width=140, file=_Nowhere())  # type: ignore[arg-type]
    games = told["games"]
    console.print(_table(told["standings"]))
    saved = f", {games['saved']} saved" if games["saved"] else ""
    void = f", {games['void']} void" if games["void"] else ""
    reason = f": {told['reason']}" if told.get("reason") else ""
    line = f"{told['phase'].capitalize()}{reason}. {games['played']} of {games['most']} games{saved}{void}."
    return f"{console.export_text()}{harmless(line, LINE)}"


class Scene:
    """A bar and the standings, for as long as games are played."""

    def __init__(self, url: str, told: dict[str, Any], quiet: bool = False) -> None:
        self.console = Console(stderr=True)
        self.quiet = quiet
        self.told = told
        self._live: Live | None = None
        self._said = 0.0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.console,
        )
        self._task = self._bar.add_task(told["challenge"], total=told["games"]["most"])
        if not quiet:
            self.console.print(
                f"Watch it at {url}/tournaments/{told['id']} (Ctrl-C stops, and it can go on)", soft_wrap=True
            )

    def __enter__(self) -> Self:
        if self.console.is_terminal and not self.quiet:
            self._live = Live(console=self.console, refresh_per_second=4, transient=True)
            self._live.__enter__()
        self.show(self.told)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def show(self, told: dict[str, Any]) -> None:
        """Draw it as it is now."""
        games = told["games"]
        over, most = games["played"] + games["void"], games["most"]
        self._bar.update(self._task, completed=over)
        if self._live is not None:
            self._live.update(Group(self._bar, _table(told["standings"][:LEADERS])))
        elif not self.quiet and over / max(most, 1) >= self._said + STEP:
            self._said = over / most
            self.console.print(f"{over} of {most} games; first is {harmless(told['standings'][0]['agent'])}")


def _table(rows: list[dict[str, Any]]) -> Table:
    head, *lines = standings_table(rows)
    table = Table(box=None, pad_edge=False)
    for at, title in enumerate(head):
        table.add_column(title, justify="left" if at == 1 else "right")
    for line in lines:
        table.add_row(*map(harmless, line))
    return table


class _Nowhere:
    def write(self, text: str) -> int:
        """Drop it: the console remembers what it wrote."""
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""
