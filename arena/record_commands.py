"""`arena record`, `arena verify` and `arena signing …`: signed records of games, and the keys that sign them."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.options import Data, Load, Store, Url, caller_of, settings_of

signing = typer.Typer(help="The keys that a server signs its records with.", add_completion=False)


def record(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Id of a session that has ended.", metavar="ID")],
    file: Annotated[
        Path | None, typer.Option("--out", help="Where to write. Default: to the output.", metavar="FILE")
    ] = None,
    url: Url = None,
) -> None:
    """Get the signed record of a game from a running server: what happened in it, and what proves that.

    For example: arena record ID --out game.ndjson, and then arena verify game.ndjson. docs/records.md has the format.
    """
    from arena import files
    from arena.errors import CannotStart
    from arena.remote import ask

    answer = ask("GET", caller_of(context, url).url, ["sessions", session, "record"])
    if not answer.ok:
        raise CannotStart(answer.json.get("error", f"The server answered {answer.status}."))
    files.write(file, answer.content)


def verify(
    file: Annotated[str, typer.Argument(help="A record that `arena record` wrote; - reads standard input.")],
    key: Annotated[
        str | None,
        typer.Option(help="The public key that you trust: hex of the server's /.well-known/arena-keys.json."),
    ] = None,
    openings: Annotated[
        Path | None, typer.Option(help="What the keeper of the server lets you see of what is private.", metavar="FILE")
    ] = None,
    pack: Annotated[Path | None, typer.Option(help="The pack that was played, as a bundle.", metavar="FILE")] = None,
    rerun: Annotated[
        bool, typer.Option("--rerun/--no-rerun", help="Play the game once more by the rules that are installed here.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    load: Load = None,
) -> None:
    """Check the record of a game, offline: chain, signature, promised deal; then play it again and compare.

    Without --key it tells which key has signed, and not whose that is. Exit code 0 if everything is right, 1 if
    something is wrong, and 3 if nothing is wrong but the rules to play it again are not here, or of another version.
    """
    from arena import files, verify

    data = sys.stdin.buffer.read() if file == "-" else files.read(Path(file))
    wish = verify.Wish(
        key=key,
        openings=None if openings is None else files.read(openings),
        pack=None if pack is None else files.read(pack),
        modules=settings_of(load).load,
        again=rerun,
    )
    raise typer.Exit(verify.show(data, wish, as_json=as_json))


@signing.command()
def show(store: Store = None, data: Data = None) -> None:
    """Print the public keys of a store as JSON, the newest first; the newest signs."""
    from arena import notary

    found = asyncio.run(notary.published(settings_of(store=store, data=data)))
    typer.echo(json.dumps([key.wire() for key in found], indent=2))


@signing.command()
def rotate(
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Somebody else may have the old key: what it has signed proves nothing.")
    ] = False,
    store: Store = None,
    data: Data = None,
) -> None:
    """Sign with a new key from now on, and forget the private half of the old one; a server may run meanwhile.

    Records that the old key has signed stay right, unless it is revoked: then they are signed anew when asked for.
    """
    from arena import notary

    made = asyncio.run(notary.rotate(settings_of(store=store, data=data), revoke=revoke))
    typer.echo(json.dumps(made.wire(), indent=2))


@signing.command(name="open")
def open_(
    session: Annotated[str, typer.Argument(help="Id of a session that has ended.", metavar="ID")],
    file: Annotated[
        Path | None, typer.Option("--out", help="Where to write. Default: to the output.", metavar="FILE")
    ] = None,
    store: Store = None,
    data: Data = None,
    load: Load = None,
) -> None:
    """Write what the record of a game withholds, with what proves it: every private message and every secret in it.

    For an auditor: arena verify FILE --openings FILE. Of a pack that was played this is what playing it again needs.
    """
    from arena import files, notary

    written = asyncio.run(notary.openings(settings_of(load, store=store, data=data), session))
    files.write(file, written)
