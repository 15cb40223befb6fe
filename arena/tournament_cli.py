"""`arena tournament …`: a file is played to its report, on a server of our own or on one that is running."""

import json
from pathlib import Path
from typing import Annotated

import typer

from arena.errors import CannotStart
from arena.options import Load

FORMS = ("md", "html", "json")

tournament = typer.Typer(help="Let many agents play many games, and rank them.", add_completion=False)

File = Annotated[Path, typer.Argument(help="The tournament, as YAML or TOML; docs/tournaments.md has all keys.")]
Url = Annotated[
    str | None, typer.Option(help="Play on this running server. Default: on one of its own.", envvar="ARENA_URL")
]
Token = Annotated[
    str | None, typer.Option(help="Admin token of that server.", envvar="ARENA_ADMIN_TOKEN", show_envvar=True)
]
Data = Annotated[
    Path | None, typer.Option(help="Folder for games and reports. Default: beside FILE, named like it.", metavar="DIR")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Port = Annotated[int, typer.Option(help="Port of the page while it plays; 0 picks a free one.", min=0, max=65535)]


@tournament.command()
def run(
    file: File,
    url: Url = None,
    data: Data = None,
    token: Token = None,
    port: Port = 0,
    again: Annotated[bool, typer.Option("--again", help="Play it anew though it was played before.")] = False,
    load: Load = None,
    as_json: AsJson = False,
) -> None:
    """Play a tournament to its report; one that was interrupted goes on, and no finished game is played again.

    Ctrl-C stops it, the same command goes on. Reports are written as Markdown, HTML and JSON. Exit code 0 when it is
    finished, 3 when its budget is used up, 130 after Ctrl-C.
    """
    from arena.tournament.playing import begin

    raise typer.Exit(begin(file, url, data, token, port, load, as_json, fresh=again))


@tournament.command()
def resume(
    file: File,
    url: Url = None,
    data: Data = None,
    token: Token = None,
    port: Port = 0,
    load: Load = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a tournament that was interrupted or whose budget was used up; the file may allow more of it now."""
    from arena.tournament.playing import begin, folder_of

    folder = folder_of(file, data)
    if url is None and not folder.is_dir():
        raise CannotStart(f"There is nothing to resume in {folder}; `arena tournament run {file}` begins.")
    raise typer.Exit(begin(file, url, data, token, port, load, as_json))


@tournament.command()
def status(
    which: Annotated[str, typer.Argument(help="The file, or with --url the id of a tournament.", metavar="FILE|ID")],
    url: Url = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show how a tournament stands, without playing on."""
    from arena.tournament import screen
    from arena.tournament.playing import told_of

    told = told_of(which, url, data)["tournament"]
    typer.echo(json.dumps(told, indent=2) if as_json else screen.summary(told))


@tournament.command()
def report(
    which: Annotated[str, typer.Argument(help="The file, or with --url the id of a tournament.", metavar="FILE|ID")],
    url: Url = None,
    data: Data = None,
    form: Annotated[str, typer.Option("--format", help="md, html or json.")] = "md",
    out: Annotated[Path | None, typer.Option(help="Where to write it. Default: to the output.", metavar="FILE")] = None,
) -> None:
    """Write the report of a tournament; of one that is not over, what there is so far."""
    if form not in FORMS:
        raise typer.BadParameter(f"a report is {', '.join(FORMS)}", param_hint="--format")
    from arena import files
    from arena.tournament.playing import WRITERS, told_of

    text = WRITERS[form](told_of(which, url, data))
    files.write(out, text.encode())
