"""The options that several commands share, and the settings that come of them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from pydantic import ValidationError

from arena.models import complaint
from arena.settings import Settings


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
        "be this machine. required: players sign in with their keys, and AUTH_SECRET must be set.",
        envvar="ARENA_AUTH",
    ),
]
Load = Annotated[
    list[str] | None,
    typer.Option(
        help="Python module with challenges or scoring strategies, installed or in this directory; MODULE:NAME for one "
        "that a module makes by name. May be repeated, and adds to the comma separated ARENA_LOAD.",
        metavar="MODULE",
    ),
]

Config = Annotated[
    Path | None,
    typer.Option(
        help="File of JSON or TOML that says which challenges are offered with which options, and which strategies "
        "count their games. Default: as docs/scoring.md says.",
        metavar="FILE",
        envvar="ARENA_CONFIG",
    ),
]

LogFormat = Annotated[
    Literal["console", "json"] | None,
    typer.Option(
        help="Log lines for people, or one JSON object per line. Default: console.", envvar="ARENA_LOG_FORMAT"
    ),
]


Url = Annotated[
    str | None,
    typer.Option(help="Address of a running server. Default: http://localhost:3001.", envvar="ARENA_URL"),
]
SessionKey = Annotated[
    str | None,
    typer.Option(
        "--auth",
        help="Session key, as `challenges join` gives it.",
        envvar="ARENA_AUTH",
        metavar="KEY",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", help="Who asks, on a server where nobody signs in: the invite of a seat.", metavar="ID"),
]
Keys = Annotated[Path | None, typer.Option(help="Folder of the key files. Default: ~/.arena/keys.")]


class Caller(NamedTuple):
    """Which server a command means, and who asks it."""

    url: str
    auth: str | None = None
    from_: str | None = None


def caller_of(
    context: typer.Context, url: str | None = None, auth: str | None = None, from_: str | None = None
) -> Caller:
    """What was said behind the command, else before it, else the server of this machine."""
    from arena.remote import LOCAL, check_address

    before: Caller = context.obj
    key = auth or before.auth
    # A server's variable of the same name says how people sign in, which is no key.
    where = check_address(url or before.url or LOCAL)
    return Caller(where, None if key in {"open", "required"} else key, from_ or before.from_)


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
