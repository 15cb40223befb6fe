"""`arena pack …`: make, check, show, lock and score challenge packs, without a server."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.packs.errors import PackError

if TYPE_CHECKING:
    from arena.packs.checkup import Report

pack = typer.Typer(help="Make, check and score challenge packs.", add_completion=False)

STARTERS = ("prompt_eval", "native", "responses", "multi_turn", "security")
WIDTH = 600  # characters of a pack's own words in a line

File = Annotated[Path, typer.Argument(help="Pack to read; - is the standard input.", metavar="FILE", allow_dash=True)]
Files = Annotated[
    list[Path], typer.Argument(help="Packs to read; - is the standard input.", metavar="FILE…", allow_dash=True)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


class CannotRead(PackError):
    """A file that cannot be read, or is too large to be a pack."""


def harmless(text: object, most: int = WIDTH) -> str:
    """Text of a pack on one line, in which nothing can move a cursor."""
    from arena.terminal import harmless

    return harmless(text, most)


def read(path: Path) -> bytes:
    """The bytes of a file, not more than a pack may have."""
    from arena.packs.nodes import MAX_BYTES

    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CannotRead(f"{path}: {error.strerror or error}") from None


def load(path: Path) -> Any:
    """The bundle of a file; what is wrong with it is told with the name of the file."""
    from arena.packs.read import parse_bundle

    try:
        return parse_bundle(read(path))
    except CannotRead:
        raise
    except PackError as error:
        raise CannotRead(harmless(f"{path}: {error}", 2000)) from None


@pack.command()
def init(
    template: Annotated[
        str, typer.Argument(help=f"What to start from: {', '.join(STARTERS)}.", metavar="[TEMPLATE]")
    ] = "prompt_eval",
    to: Annotated[Path, typer.Option(help="File to write.")] = Path("pack.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a small pack that works, to be changed into yours."""
    name = template.replace("-", "_")
    if name not in STARTERS:
        raise typer.BadParameter(f"there is no template {template!r}: {', '.join(STARTERS)}", param_hint="TEMPLATE")
    text = (Path(__file__).parent / "packs" / "starters" / f"{name}.yaml").read_text(encoding="utf-8")
    try:
        with to.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CannotRead(f"{to} is there already; --force writes over it") from None
    except OSError as error:
        raise CannotRead(f"{to}: {error.strerror or error}") from None
    typer.echo(f"Wrote {to}. Next: arena pack validate {to}")


@pack.command()
def validate(
    files: Files,
    as_json: Json = False,
    strict: Annotated[bool, typer.Option("--strict", help="Keys that nobody knows are errors, too.")] = False,
) -> None:
    """Check packs and tell everything that is wrong, with its line. Exit code 0 if all can be used, else 1."""
    reports = [_examined(path, strict) for path in files]
    if as_json:
        typer.echo(json.dumps([each.as_json() for each in reports], indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(harmless(line) for each in reports for line in each.lines()))
    raise typer.Exit(0 if all(each.ok for each in reports) else 1)


def _examined(path: Path, strict: bool) -> "Report":
    from arena.packs import checkup

    try:
        return checkup.report(str(path), read(path), strict=strict)
    except CannotRead as error:
        return checkup.unreadable(str(path), error.message.removeprefix(f"{path}: "))


@pack.command()
def show(
    file: File,
    as_json: Json = False,
    manifest: Annotated[bool, typer.Option("--manifest", help="Print the whole pack as one JSON document.")] = False,
) -> None:
    """Say what a pack has: how it runs, how many cases, what is checked."""
    from arena.packs.lock import content_hash
    from arena.packs.manifest import manifest_json
    from arena.packs.summary import summarise

    bundle = load(file)
    told = manifest_json(bundle) if manifest else {**summarise(bundle), "content_hash": content_hash(bundle)}
    if as_json or manifest:
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    typer.echo(harmless(f"{bundle.pack.name}: {bundle.pack.description}".rstrip(": ")))
    for name, value in told.items():
        words = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"  {name.replace('_', ' '):<22} {harmless(words)}".rstrip())


@pack.command()
def lock(
    files: Files,
    write: Annotated[bool, typer.Option("--write", help="Keep the hash in FILE.lock, too.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Compare with FILE.lock; exit code 1 if it differs.")] = False,
) -> None:
    """Print the content hash of packs: the same for every way to write the same pack; results carry it."""
    from arena.packs.lock import content_hash

    same = True
    for path in files:
        digest = content_hash(load(path))
        kept = path.with_name(f"{path.name}.lock")
        typer.echo(f"{digest}  {path}")
        try:
            if write:
                kept.write_text(f"{digest}\n", encoding="utf-8")
            if check and kept.read_text(encoding="utf-8").strip() != digest:
                typer.echo(f"{path} is not what {kept} says", err=True)
                same = False
        except OSError as error:
            raise CannotRead(f"{kept}: {error.strerror or error}") from None
    raise typer.Exit(0 if same else 1)


@pack.command()
def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference of all fields instead.")] = False,
) -> None:
    """Print the JSON Schema of packs, for editors that complete and explain keys."""
    from arena.packs.reference import reference
    from arena.packs.schema import bundle_schema

    text = reference() if markdown else json.dumps(bundle_schema(), indent=2, ensure_ascii=False) + "\n"
    typer.echo(text, nl=False)


@pack.command()
def score(
    file: Annotated[Path, typer.Option("--pack", help="Pack to score by.", metavar="FILE")],
    case: Annotated[str, typer.Option(help="Case that was run.", metavar="KEY")],
    events: Annotated[Path, typer.Option(help="Events of the run: a JSON list, or one per line.", metavar="FILE")],
    input_set: Annotated[str | None, typer.Option(help="Input set of the case, if several have it.")] = None,
    judges: Annotated[
        Path | None, typer.Option(help="What judges said: a JSON list of judge results.", metavar="FILE")
    ] = None,
    preference: Annotated[float | None, typer.Option(help="Share of people's votes won.", min=0, max=1)] = None,
    as_json: Json = False,
) -> None:
    """Score a recorded run offline. Exit code 0 whatever the score is, 1 if the run cannot be scored."""
    from arena import pack_score

    result = pack_score.score(load(file), pack_score.Run(case, events, input_set, judges, preference))
    if as_json:
        typer.echo(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(map(harmless, pack_score.lines(result))))
