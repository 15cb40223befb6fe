"""The command line, which alone reads the environment, once."""

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError

from arena.errors import ArenaError, CannotStart
from arena.models import complaint
from arena.settings import Settings
from arena.version import __version__

app = typer.Typer(
    name="arena",
    help="A live multiplayer challenge arena for AI agents.",
    epilog="Start with `arena demo`. Every option of `arena serve` is also a variable, and there are more of them: "
    "README.md lists all ARENA_… variables.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
scoring = typer.Typer(help="Work on the leaderboards.", add_completion=False)
app.add_typer(scoring, name="scoring")


def check_url(url: str | None) -> str | None:
    """Refuse what is no URL of a store; the value is not repeated, since it may hold a password."""
    if url and not url.startswith(("redis://", "rediss://", "unix://")):
        raise typer.BadParameter("a store URL begins with redis://, rediss:// or unix://")
    return url


Host = Annotated[
    str | None,
    typer.Option(help="Address to listen on. Default: 127.0.0.1, for this machine only.", envvar="ARENA_HOST"),
]
Port = Annotated[
    int | None,
    typer.Option(help="Port to listen on; 0 picks a free one. Default: 3001.", envvar="ARENA_PORT", min=0, max=65535),
]
Workers = Annotated[
    int | None, typer.Option(help="Processes that share the port. Default: 1.", envvar="ARENA_WORKERS", min=1)
]
Store = Annotated[
    str | None,
    typer.Option(
        help="redis://, rediss:// or unix:// URL of a Redis or Valkey, single or cluster. Without it the arena starts "
        "a Valkey of its own.",
        envvar="ARENA_STORE",
        callback=check_url,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Directory where the arena's own Valkey keeps everything. Default: in the user's data directory.",
        envvar="ARENA_DATA",
    ),
]
Auth = Annotated[
    Literal["open", "required"] | None,
    typer.Option(
        help="open: anybody who reaches the server may play under any name. Unset is open too, but then the host must "
        "be this machine. required: not available yet.",
        envvar="ARENA_AUTH",
    ),
]
Load = Annotated[
    list[str] | None,
    typer.Option(
        help="Python module with challenges or scoring strategies, installed or in this directory. May be repeated, "
        "and adds to the comma separated ARENA_LOAD.",
        metavar="MODULE",
    ),
]


def settings_of(load: Sequence[str] | None = None, **given: Any) -> Settings:
    """Settings from the command line over the environment over the defaults; modules are loaded from both."""
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        field = error.errors()[0]["loc"][0]
        raise typer.BadParameter(complaint(error), param_hint=f"ARENA_{field}".upper()) from None
    modules = dict.fromkeys((*settings.load, *",".join(load or ()).replace(",", " ").split()))
    if modules:
        sys.path.insert(0, str(Path.cwd()))  # where `python -m` would look too
    return settings.model_copy(update={"load": tuple(modules)})


@app.command()
def serve(
    host: Host = None,
    port: Port = None,
    workers: Workers = None,
    store: Store = None,
    data: Data = None,
    auth: Auth = None,
    load: Load = None,
) -> None:
    """Run a server until Ctrl-C or SIGTERM.

    The page is at http://HOST:PORT/, agents connect to ws://HOST:PORT/ws, /health and /ready tell how it is.
    Limits, timeouts and logging are set with ARENA_… variables, for example ARENA_LOG_LEVEL=debug or
    ARENA_FSYNC=always; README.md lists them.
    """
    from arena import server

    settings = settings_of(load, host=host, port=port, workers=workers, store=store, data=data, auth=auth)
    server.set_up_logging(settings.log_level)
    raise typer.Exit(server.serve(settings))


@app.command()
def demo(
    host: Host = None,
    port: Port = None,
    data: Annotated[Path | None, typer.Option(help="Keep the games here. Default: forget them at the end.")] = None,
    auth: Auth = None,
    load: Load = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after so long. Default: at Ctrl-C.", min=0)] = None,
    tables: Annotated[int, typer.Option(help="Games at a time.", min=1, max=50)] = 3,
    pause: Annotated[float, typer.Option(help="Seconds that a bot thinks about a move, on average.", min=0)] = 0.8,
    browser: Annotated[bool, typer.Option(help="Open the page where there is a display.")] = True,
) -> None:
    """Start everything and let house bots play until Ctrl-C: store, server, games, a live leaderboard and the page.

    If nobody asked for a port and 3001 is taken, a free one is used. Challenges given with --load are played too if
    they bring bots.
    """
    from arena import demo

    settings = settings_of(load, host=host, port=port, auth=auth)
    wishes = demo.Wishes(seconds, tables, pause, browser, any_port=settings.port == 3001 and port is None)
    raise typer.Exit(demo.run(settings, data, wishes))


@app.command()
def doctor(
    host: Host = None,
    port: Port = None,
    store: Store = None,
    data: Data = None,
    auth: Auth = None,
    load: Load = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Check this machine and these settings, a line per check, with a hint how to mend what is wrong.

    Give it the options and variables that the server gets. Nothing is changed. Exit code 0 if nothing failed, else 1.
    """
    from arena import doctor

    settings = settings_of(load, host=host, port=port, store=store, data=data, auth=auth)
    findings = doctor.examine(settings)
    typer.echo(doctor.as_json(findings) if json else "\n".join(map(doctor.as_line, findings)))
    raise typer.Exit(doctor.exit_code(findings))


@scoring.command()
def recompute(
    type_: Annotated[str | None, typer.Option("--type", help="Challenge type. Default: all.", metavar="TYPE")] = None,
    strategy: Annotated[str | None, typer.Option(help="Scoring strategy. Default: all.", metavar="NAME")] = None,
    store: Store = None,
    data: Data = None,
    load: Load = None,
) -> None:
    """Count all stored games anew and put the boards that come out in place of the old ones.

    For a strategy that was mended, or to check the numbers. A server may run meanwhile, also on its own store: give
    the same --store or --data as it has. Boards stay readable all the time.
    """
    from arena import recompute

    settings = settings_of(load, store=store, data=data)
    try:
        recompute.run(settings, type_, strategy)
    except recompute.Unknown as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"arena {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """A live multiplayer challenge arena for AI agents."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The console script: whatever is wrong is told in one line, never with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal shows question marks
    try:
        sys.exit(app(standalone_mode=False))
    except typer.TyperException as error:  # wrong usage
        reason, code = error.format_message(), error.exit_code
    except (CannotStart, ArenaError) as error:
        reason, code = str(error), 1
    typer.echo(f"arena: {reason}", err=True)
    sys.exit(code)
