"""The command line, which alone reads the environment, once."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from arena.errors import CannotStart
from arena.models import complaint
from arena.settings import Settings
from arena.version import __version__

app = typer.Typer(
    name="arena",
    help="A live multiplayer challenge arena for AI agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Host = Annotated[str | None, typer.Option(help="Address to listen on.", envvar="ARENA_HOST")]
Port = Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.", envvar="ARENA_PORT")]
Workers = Annotated[int | None, typer.Option(help="Worker processes.", envvar="ARENA_WORKERS")]
Store = Annotated[
    str | None,
    typer.Option(help="redis://, rediss:// or unix:// URL; without it an own store is started.", envvar="ARENA_STORE"),
]
Data = Annotated[Path | None, typer.Option(help="Directory of the own store.", envvar="ARENA_DATA")]
Auth = Annotated[str | None, typer.Option(help="open or required.", envvar="ARENA_AUTH")]
Load = Annotated[
    list[str] | None, typer.Option(help="Module with challenges or strategies; may be repeated.", envvar="ARENA_LOAD")
]


def settings_of(**given: Any) -> Settings:
    """Settings from the command line over the environment over the defaults."""
    try:
        return Settings(**{name: value for name, value in given.items() if value not in (None, [])})
    except ValidationError as error:
        raise CannotStart(complaint(error)) from None


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
    """Run a server."""
    from arena import server

    settings = settings_of(host=host, port=port, workers=workers, store=store, data=data, auth=auth, load=load)
    server.set_up_logging(settings.log_level)
    raise typer.Exit(server.serve(settings))


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"arena {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """A live multiplayer challenge arena for AI agents."""


def main() -> None:
    """The console script."""
    try:
        app()
    except CannotStart as reason:
        typer.echo(f"arena: {reason}", err=True)
        sys.exit(1)
