"""`arena pack publish` and its kin: the packs of a running server."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from arena.options import Url, caller_of
from arena.pack_cli import Files, Json, harmless, pack, read

if TYPE_CHECKING:
    from arena.remote import Answer

Token = Annotated[
    str | None,
    typer.Option(help="Admin token of the server; better given as a variable.", envvar="ARENA_ADMIN_TOKEN"),
]
Slug = Annotated[str, typer.Argument(help="Slug of a pack.", metavar="SLUG")]
Number = Annotated[int | None, typer.Option("--version", help="Version. Default: the newest, or all.", min=1)]


class Place(NamedTuple):
    """A server, and what opens its library."""

    url: str
    token: str | None

    def ask(self, method: str, *path: str, body: bytes | None = None) -> "Answer":
        """What it says to a request."""
        from arena import remote

        return remote.ask(method, self.url, path, body=body, token=self.token)

    def get(self, method: str, *path: str, body: bytes | None = None) -> "Answer":
        """The same; what it refuses is told, and ends the command."""
        answer = self.ask(method, *path, body=body)
        if not answer.ok:
            typer.echo("\n".join(complaints(answer.json)), err=True)
            raise typer.Exit(1)
        return answer


def place_of(context: typer.Context, url: str | None, token: str | None) -> Place:
    """The server that a command means."""
    return Place(caller_of(context, url).url, token)


def complaints(told: Any) -> list[str]:
    """What a server refuses, a line each."""
    found = told.get("errors") if isinstance(told, dict) else None
    lines = [_complaint(each) for each in found] if found else [str(told.get("error", told))]
    return [f"arena: {harmless(line)}" for line in lines]


def _complaint(finding: dict[str, Any]) -> str:
    where = f"line {finding['line']}: " if finding.get("line") else ""
    hint = f" ({finding['hint']})" if finding.get("hint") else ""
    return f"{where}{finding['field']} {finding['message']}{hint}"


@pack.command()
def publish(
    context: typer.Context,
    files: Files,
    url: Url = None,
    token: Token = None,
    assets: Annotated[bool, typer.Option(help="Bring along the files that a pack speaks of.")] = True,
    as_json: Json = False,
) -> None:
    """Publish packs on a server, where they can be played from then on. Exit code 0 if all are, else 1.

    A version never changes: publishing the same again is fine, and other content needs another number.
    """
    place, made, fine = place_of(context, url, token), list[dict[str, Any]](), True
    for path in files:
        answer = place.ask("POST", "packs", body=read(path))
        told: dict[str, Any] = answer.json
        made.append({"file": str(path), **told})
        if not answer.ok:
            fine = False
            typer.echo("\n".join(f"{path}: {line}" for line in complaints(told)), err=True)
            continue
        if assets and not bring(place, path, told):
            fine = False
        if not as_json:
            typer.echo(harmless(f"{path}: {told['slug']} version {told['number']} {told['content_hash']}"))
    if as_json:
        typer.echo(json.dumps(made, indent=2, ensure_ascii=False))
    raise typer.Exit(0 if fine else 1)


def bring(place: Place, path: Path, release: dict[str, Any]) -> bool:
    """Upload the files of a pack that lie beside it; says whether the server took them all."""
    fine = True
    for asset, file in beside(path, release["assets"]):
        if file is None:
            typer.echo(f"{path}: {harmless(asset['path'])} is not there and was not uploaded", err=True)
            continue
        where = ("packs", release["slug"], "versions", str(release["number"]), "assets", asset["path"])
        answer = place.ask("PUT", *where, body=file.read_bytes())
        if not answer.ok:
            fine = False
            typer.echo("\n".join(f"{file}: {line}" for line in complaints(answer.json)), err=True)
    return fine


def beside(path: Path, assets: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Path | None]]:
    """The files of a pack that lie in its folder; one that would lie outside of it is none of its files."""
    folder = path.parent.resolve()
    for asset in assets:
        file = (folder / asset["path"]).resolve()
        yield asset, file if file.is_relative_to(folder) and file.is_file() else None


@pack.command(name="list")
def list_(context: typer.Context, url: Url = None, as_json: Json = False) -> None:
    """List the packs of a server."""
    from arena import remote

    found: list[dict[str, Any]] = []
    while True:
        status, told = remote.get(place_of(context, url, None).url, ["packs"], {"limit": 100, "offset": len(found)})
        if status != 200:
            typer.echo("\n".join(complaints(told)), err=True)
            raise typer.Exit(1)
        found += told["packs"]
        if len(found) >= told["total"] or not told["packs"]:
            break
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for each in found:
        state = "  archived" if each["archived"] else ""
        typer.echo(f"{harmless(each['slug']):<32} version {each['latest']:<4} {harmless(each['name'], 60)}{state}")


@pack.command()
def archive(
    context: typer.Context,
    slug: Slug,
    number: Number = None,
    url: Url = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Open no new sessions of a pack, or of one version; those that there are go on."""
    _shelve(place_of(context, url, token), "archive", slug, number, as_json)


@pack.command()
def unarchive(
    context: typer.Context,
    slug: Slug,
    number: Number = None,
    url: Url = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Open new sessions of a pack again."""
    _shelve(place_of(context, url, token), "unarchive", slug, number, as_json)


def _shelve(place: Place, verb: str, slug: str, number: int | None, as_json: bool) -> None:
    body = b"{}" if number is None else json.dumps({"version": number}).encode()
    told = place.get("POST", "packs", slug, verb, body=body).json
    for release in told["versions"] if not as_json else ():
        state = "archived" if release["archived"] else "offered"
        typer.echo(f"{harmless(release['slug'])} version {release['number']}: {state}")
    if as_json:
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))


@pack.command()
def download(
    context: typer.Context,
    slug: Slug,
    number: Number = None,
    to: Annotated[Path | None, typer.Option(help="File to write. Default: the output.")] = None,
    url: Url = None,
    token: Token = None,
) -> None:
    """Get a pack as it was published."""
    from arena.pack_cli import CannotRead

    place = place_of(context, url, token)
    version = number or place.get("GET", "packs", slug).json["latest"]
    text = place.get("GET", "packs", slug, "versions", str(version), "bundle").content
    try:
        typer.echo(text, nl=False) if to is None else to.write_bytes(text)
    except OSError as error:
        raise CannotRead(f"{to}: {error.strerror or error}") from None
