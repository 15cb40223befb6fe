"""The command line, which alone reads the environment, once."""

import json
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from arena import garbage, library_cli  # noqa: F401 - the latter adds its commands to those of packs
from arena.agent_commands import declare, queue
from arena.author_commands import challenge, seed, simulate
from arena.board_commands import scoring
from arena.client_commands import challenges, chat, users
from arena.errors import ArenaError, CannotStart
from arena.eval_cli import eval_
from arena.gate_cli import baseline, compare, gate
from arena.models import SessionId
from arena.options import (
    Auth,
    Caller,
    Config,
    Data,
    From,
    Host,
    Keys,
    Load,
    LogFormat,
    Port,
    SessionKey,
    Store,
    Url,
    Workers,
    caller_of,
    settings_of,
)
from arena.pack_cli import pack
from arena.play_cli import CODES, play
from arena.record_commands import record, signing, verify
from arena.tournament_cli import tournament
from arena.version import __version__

GATE_USAGE = 64

app = typer.Typer(
    name="arena",
    help="A live multiplayer challenge arena for AI agents.",
    epilog="Start with `arena demo`. Every option of `arena serve` is also a variable, and there are more of them: "
    "README.md lists all ARENA_… variables.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(scoring, name="scoring")
identity = typer.Typer(help="Key pairs that players sign in with.", add_completion=False)
app.add_typer(identity, name="identity")
app.add_typer(challenges, name="challenges")
app.add_typer(chat, name="chat")
app.add_typer(users, name="users")
app.add_typer(pack, name="pack")
app.add_typer(eval_, name="eval")
app.add_typer(tournament, name="tournament")
app.add_typer(baseline, name="baseline")
app.add_typer(compare, name="compare")
app.add_typer(challenge, name="challenge")
app.add_typer(seed, name="seed")
app.add_typer(signing, name="signing")


@app.command()
def serve(
    host: Host = None,
    port: Port = None,
    workers: Workers = None,
    store: Store = None,
    data: Data = None,
    auth: Auth = None,
    load: Load = None,
    config: Config = None,
    log_format: LogFormat = None,
) -> None:
    """Run a server until Ctrl-C or SIGTERM.

    The page is at http://HOST:PORT/, agents connect to ws://HOST:PORT/ws, /health and /ready tell how it is,
    and /metrics has numbers for Prometheus: for this machine alone unless ARENA_METRICS or ARENA_METRICS_TOKEN is set.
    Limits, timeouts and logging are set with ARENA_… variables, for example ARENA_LOG_LEVEL=debug or
    ARENA_FSYNC=always; README.md lists them.
    """
    from arena import server
    from arena.logs import set_up_logging

    chosen = {"host": host, "port": port, "workers": workers, "store": store, "data": data, "auth": auth}
    settings = settings_of(load, **chosen, config=config, log_format=log_format)
    set_up_logging(settings.log_level, settings.log_format)
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
    challenge: Annotated[
        list[str] | None, typer.Option(help="Play this one; may be repeated. Default: all with bots.", metavar="TYPE")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page where there is a display.")] = True,
) -> None:
    """Start everything and let house bots play until Ctrl-C: store, server, games, a live leaderboard and the page.

    If nobody asked for a port and 3001 is taken, a free one is used. Challenges given with --load are played too if
    they bring bots.
    """
    from arena import demo

    settings = settings_of(load, host=host, port=port, auth=auth)
    any_port = settings.port == 3001 and port is None
    wishes = demo.Wishes(seconds, tables, pause, browser, any_port, tuple(challenge or ()))
    raise typer.Exit(demo.run(settings, data, wishes))


@app.command()
def doctor(
    host: Host = None,
    port: Port = None,
    store: Store = None,
    data: Data = None,
    auth: Auth = None,
    load: Load = None,
    config: Config = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Check this machine and these settings, a line per check, with a hint how to mend what is wrong.

    Give it the options and variables that the server gets. Nothing is changed. Exit code 0 if nothing failed, else 1.
    """
    from arena import doctor

    settings = settings_of(load, host=host, port=port, store=store, data=data, auth=auth, config=config)
    findings = doctor.examine(settings)
    typer.echo(doctor.as_json(findings) if as_json else "\n".join(map(doctor.as_line, findings)))
    raise typer.Exit(doctor.exit_code(findings))


@app.command()
def watch(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Id of the session, as in the address of its page.", metavar="ID")],
    url: Url = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the server's frames, a line each.")] = False,
) -> None:
    """Follow a game in the terminal until it is over: what is said, bars for what is private, clocks and scores.

    A lost connection is made again, and nothing is missed. Whatever players write is shown as text and cannot do
    anything to the terminal.
    """
    from arena import watch

    raise typer.Exit(watch.run(caller_of(context, url).url, SessionId(session), as_json=as_json))


@identity.command()
def new(keys: Keys = None) -> None:
    """Make a key pair, keep it in two files, and print it as JSON with the user id that it stands for."""
    from arena.identity import Identity, default_folder

    made = Identity.new()
    made.save(keys or default_folder())
    typer.echo(json.dumps({"hash": made.user, "publicKey": made.public_key, "privateKey": made.private_key}, indent=2))


@identity.command()
def show(keys: Keys = None) -> None:
    """Print the user ids and public keys of this folder's key pairs as JSON; the private keys stay where they are."""
    from arena.identity import default_folder, known

    typer.echo(json.dumps(known(keys or default_folder()), indent=2))


@app.command(name="export")
def export_(
    file: Annotated[Path | None, typer.Argument(help="Where to write. Default: to the output.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Challenge type. Default: all.", metavar="TYPE")] = None,
    results_only: Annotated[bool, typer.Option("--results-only", help="Leave the games themselves out.")] = False,
    store: Store = None,
    data: Data = None,
    load: Load = None,
) -> None:
    """Write results and games as ND-JSON, a line each, so that boards can be made elsewhere.

    Of games that have not ended only what everybody may see is written. A server may run meanwhile, also on its own
    store: give the same --store or --data as it has. docs/scoring.md describes the lines.
    """
    from arena import archive

    archive.export(settings_of(load, store=store, data=data), file, type_, games=not results_only)


@app.command(name="import")
def import_(
    file: Annotated[Path | None, typer.Argument(help="What to read. Default: the input.")] = None,
    store: Store = None,
    data: Data = None,
    load: Load = None,
    config: Config = None,
) -> None:
    """Read results and games that `arena export` wrote, and count them; what is known already stays as it is."""
    from arena import archive

    archive.import_(settings_of(load, store=store, data=data, config=config), file)


app.command(epilog=CODES)(play)
app.command()(simulate)
app.command()(queue)
users.command()(declare)
app.command()(record)
app.command()(verify)
app.command()(gate)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"arena {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """A live multiplayer challenge arena for AI agents."""
    context.obj = Caller(url or "", auth, from_)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _usage(error: typer.TyperException) -> int:
    """The exit code of wrong usage; 2 would be a verdict of a gate."""
    context = getattr(error, "ctx", None)
    return GATE_USAGE if context is not None and context.command.name == "gate" else error.exit_code


def main() -> None:
    """The console script: whatever is wrong is told in one line, never with a traceback."""
    garbage.begin()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal shows question marks
    try:
        sys.exit(app(standalone_mode=False))
    except typer.TyperException as error:  # wrong usage
        reason, code = error.format_message(), _usage(error)
    except (CannotStart, ArenaError) as error:
        reason, code = str(error), 1
    typer.echo(f"arena: {reason}", err=True)
    sys.exit(code)
