"""Recompute: all stored games counted anew, with a bar for those who wait."""

import asyncio

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena import catalog
from arena.errors import CannotStart
from arena.logs import set_up_logging
from arena.runtime import Arena, open_arena
from arena.scoring import Strategy
from arena.server import shared_store_of
from arena.settings import Settings
from arena.store.boards import GLOBAL
from arena.terminal import Screen, plural


class Unknown(Exception):
    """A name that nothing has; `option` is the one that gave it."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option


def run(settings: Settings, type: str | None, strategy: str | None) -> None:
    """Recompute the boards that are asked for, on the store of a running server or on our own."""
    set_up_logging("warning")
    check_store(settings)
    with shared_store_of(settings) as store:
        asyncio.run(_recompute(settings, store, type, strategy))


def check_store(settings: Settings) -> None:
    """Refuse a directory without games, rather than make it into one."""
    if settings.store is None and not (settings.data / "appendonlydir").is_dir():
        raise CannotStart(f"There are no games in {settings.data}; give the --data or --store of the server.")


async def _recompute(settings: Settings, store: str, type: str | None, strategy: str | None) -> None:
    async with open_arena(settings, catalog.load(settings.load, settings.config), store) as arena:
        boards = choose(arena, type, strategy)
        counted = await _count(arena, boards)
    screen = Screen()
    for (type_, chosen), games in zip(boards, counted, strict=True):
        screen.print(f"{type_} {chosen.name}: {plural(games, 'game', 'games')} counted", soft_wrap=True)
    screen.print("Nothing else has changed: sessions, results and other boards are as they were.", soft_wrap=True)


def set_frozen(settings: Settings, type: str, strategy: str, *, frozen: bool) -> None:
    """Freeze a board or let it go on, on the store of a running server or on our own."""
    set_up_logging("warning")
    check_store(settings)
    with shared_store_of(settings) as store:
        asyncio.run(_set_frozen(settings, store, type, strategy, frozen))


async def _set_frozen(settings: Settings, store: str, type: str, strategy: str, frozen: bool) -> None:
    async with open_arena(settings, catalog.load(settings.load, settings.config), store) as arena:
        chosen = arena.leaderboards.find(type, strategy)
        if frozen:
            await arena.scorer.freeze(type, chosen)
            words = "is frozen: games that end from now on do not move it"
        else:
            thawed = await arena.scorer.thaw(type, chosen)
            words = "goes on, with all games that it has missed" if thawed else "was not frozen"
    Screen().print(f"{type} {strategy} {words}.", soft_wrap=True)


def choose(arena: Arena, type: str | None, strategy: str | None) -> list[tuple[str, Strategy]]:
    """The boards that are asked for: challenge type and strategy."""
    types = list(arena.catalog.challenges)
    fitted = [(where, known) for where, known, _ in arena.scorer.batch_boards() if where == GLOBAL]
    if type is not None and type not in {*types, *(where for where, _ in fitted)}:
        raise Unknown("--type", f"there is no challenge {type!r} here, only {', '.join(types) or 'none'}")
    wanted = [type] if type and type != GLOBAL else [] if type else types
    boards = [(known, chosen) for known in wanted for chosen in arena.scorer.strategies(known)]
    boards += fitted if type in {None, GLOBAL} else []
    if strategy is None:
        return boards
    names = dict.fromkeys(chosen.name for _, chosen in boards)
    if strategy not in names:
        raise Unknown("--strategy", f"no board here is kept by {strategy!r}, only by {', '.join(names) or 'none'}")
    return [(known, chosen) for known, chosen in boards if chosen.name == strategy]


async def _count(arena: Arena, boards: list[tuple[str, Strategy]]) -> list[int]:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        counted = []
        for type_, strategy in boards:
            task = progress.add_task(f"{type_} {strategy.name}", total=await arena.boards.games(type_))

            def show(done: int, total: int, task: int = task) -> None:
                progress.update(task, completed=done, total=total)  # type: ignore[arg-type]

            counted.append(await arena.scorer.recompute(type_, strategy, show))
    return counted
