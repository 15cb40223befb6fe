"""`arena scoring …`: boards as a running server shows them, and work on those that a store holds."""

import json
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arena.client_commands import asked, show_answer
from arena.options import Config, Data, From, Load, SessionKey, Store, Url, caller_of, settings_of


class Fallback(TyperGroup):
    """A group that takes what is none of its commands for the type of a challenge."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front that is meant without being named."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["show", *args]
        return super().parse_args(ctx, args)


scoring = typer.Typer(
    cls=Fallback,
    help="Look at the leaderboards, and work on them. `arena scoring [TYPE]` prints what the protocol's route /scoring "
    "says, as JSON.",
    add_completion=False,
)

Board = Annotated[str, typer.Argument(help="Challenge type, or `global`.", metavar="TYPE")]
Strategy = Annotated[str, typer.Argument(help="Scoring strategy.", metavar="STRATEGY")]
Metric = Annotated[str | None, typer.Option(help="What to sort by. Default: the board's first metric.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@scoring.command(hidden=True)
def show(
    context: typer.Context,
    type_: Annotated[str | None, typer.Argument(metavar="[TYPE]")] = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Print the global board, or those of a challenge, as the protocol has them."""
    show_answer(caller_of(context, url, auth, from_), "GET", "scoring", *([type_] if type_ else []))


@scoring.command()
def boards(context: typer.Context, url: Url = None, as_json: AsJson = False) -> None:
    """List the boards of a server."""
    from arena import board_tables

    told = _ask(context, url, "leaderboards")
    _show(told, as_json, board_tables.overview)


@scoring.command()
def board(
    context: typer.Context,
    type_: Board,
    strategy: Strategy,
    metric: Metric = None,
    limit: Annotated[int, typer.Option(help="Lines.", min=1, max=100)] = 20,
    offset: Annotated[int, typer.Option(help="Lines to leave out first.", min=0)] = 0,
    at: Annotated[str | None, typer.Option(help="As of this moment: 2026-01-31T12:00Z, or milliseconds.")] = None,
    by_owner: Annotated[bool, typer.Option("--by-owner", help="One line per owner, with all its variants.")] = False,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show a board, best first, with how far it can be believed."""
    from arena import board_tables

    by = "owner" if by_owner else None
    query = {"metric": metric, "limit": limit, "offset": offset, "at": at, "by": by}
    _show(_ask(context, url, "leaderboards", type_, strategy, **query), as_json, board_tables.board)


@scoring.command()
def player(
    context: typer.Context,
    user: Annotated[str, typer.Argument(help="Id of the user.", metavar="USER")],
    type_: Annotated[str | None, typer.Argument(help="Challenge type, or `global`.", metavar="[TYPE]")] = None,
    strategy: Annotated[str | None, typer.Argument(help="Scoring strategy.", metavar="[STRATEGY]")] = None,
    metric: Metric = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show a player on all its boards, or on one of them with its neighbours and its history."""
    from arena import board_tables

    if (type_ is None) != (strategy is None):
        raise typer.BadParameter("give both a challenge type and a strategy, or neither")
    if type_ is None or strategy is None:
        _show(_ask(context, url, "users", user, "leaderboards"), as_json, board_tables.standings)
    else:
        told = _ask(context, url, "leaderboards", type_, strategy, "players", user, metric=metric)
        _show(told, as_json, board_tables.standing)


@scoring.command(name="head-to-head")
def head_to_head(
    context: typer.Context,
    type_: Board,
    strategy: Strategy,
    users: Annotated[list[str] | None, typer.Argument(help="Ids of users. Default: the best.", metavar="USER…")] = None,
    limit: Annotated[int, typer.Option(help="How many of the best.", min=2, max=50)] = 10,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show who met whom, and how it ended."""
    from arena import board_tables

    query = {"players": ",".join(users or []) or None, "limit": limit}
    _show(_ask(context, url, "leaderboards", type_, strategy, "head-to-head", **query), as_json, board_tables.matrix)


@scoring.command()
def recompute(
    type_: Annotated[str | None, typer.Option("--type", help="Challenge type. Default: all.", metavar="TYPE")] = None,
    strategy: Annotated[str | None, typer.Option(help="Scoring strategy. Default: all.", metavar="NAME")] = None,
    store: Store = None,
    data: Data = None,
    load: Load = None,
    config: Config = None,
) -> None:
    """Count all stored games anew and put the boards that come out in place of the old ones.

    For a strategy that was mended, or to check the numbers. A server may run meanwhile, also on its own store: give
    the same --store or --data as it has. Boards stay readable all the time.
    """
    from arena import recompute

    settings = settings_of(load, store=store, data=data, config=config)
    try:
        recompute.run(settings, type_, strategy)
    except recompute.Unknown as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None


@scoring.command()
def freeze(
    type_: Board, strategy: Strategy, store: Store = None, data: Data = None, load: Load = None, config: Config = None
) -> None:
    """Stop a board: games that end from now on do not move any number on it. Nothing is lost; see unfreeze."""
    from arena import recompute

    recompute.set_frozen(settings_of(load, store=store, data=data, config=config), type_, strategy, frozen=True)


@scoring.command()
def unfreeze(
    type_: Board, strategy: Strategy, store: Store = None, data: Data = None, load: Load = None, config: Config = None
) -> None:
    """Let a frozen board go on, with all games that it has missed."""
    from arena import recompute

    recompute.set_frozen(settings_of(load, store=store, data=data, config=config), type_, strategy, frozen=False)


def _ask(context: typer.Context, url: str | None, *path: str, **query: object) -> Any:
    """What a server says; what it refuses is printed as it is, and the command fails."""
    answer = asked(caller_of(context, url), "GET", *path, query=query)
    if not answer.ok:
        typer.echo(json.dumps(answer.json, indent=2))
        raise typer.Exit(1)
    return answer.json


def _show(told: Any, as_json: bool, table: Any) -> None:
    from arena.terminal import Screen

    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        screen = Screen()
        for part in table(told):
            screen.print(part)
