"""The part of the command line for those who write challenges and check what was dealt."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.options import Load, settings_of

challenge = typer.Typer(help="Write challenges of your own.", add_completion=False)
seed = typer.Typer(help="Check what sessions were dealt.", add_completion=False)


def simulate(
    challenge: Annotated[str, typer.Argument(help="The challenge that is to be played.", metavar="TYPE")],
    bots: Annotated[str, typer.Option(help="Names of its bots with commas; they share the seats.", metavar="NAMES")],
    games: Annotated[int, typer.Option(help="How many to play.", min=1, max=100_000_000)] = 1_000,
    seed: Annotated[str, typer.Option(help="The same seed plays the same games.")] = "0",
    options: Annotated[str, typer.Option(help="Options of the sessions, as JSON.", metavar="JSON")] = "{}",
    workers: Annotated[int | None, typer.Option(help="Processes. Default: one per core.", min=1, max=1024)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    load: Load = None,
) -> None:
    """Let bots play many games in memory, without server or store, and show how they do, with intervals.

    For example: arena simulate psi --bots honest,greedy --games 10000 --seed 7. Bots change seats from game to game.
    Intervals are 95 %: Student's t for means, Wilson's for shares of games.
    """
    from arena import simulate, trial

    names = [name.strip() for name in bots.split(",") if name.strip()]
    modules = settings_of(load).load
    simulate.run(challenge, names, games, seed, trial.read_options(options), modules, workers, as_json)


@challenge.command("new")
def new_challenge(
    name: Annotated[str, typer.Argument(help="In lower case with dashes, for example secret-digit.")],
    folder: Annotated[Path, typer.Option(help="Where its folder is to be made.", metavar="DIR")] = Path(),
) -> None:
    """Make a folder with a challenge that works: rules, words for players, two bots and tests."""
    from arena import scaffold

    made = scaffold.make(name, folder)
    typer.echo(scaffold.advice(name, made))


@challenge.command("test")
def try_challenge(
    name: Annotated[str, typer.Argument(help="A challenge that is installed, loaded, or made here with `new`.")],
    games: Annotated[int, typer.Option(help="How many to play.", min=1, max=1_000_000)] = 100,
    seed: Annotated[str, typer.Option(help="Another seed plays other games.")] = "0",
    options: Annotated[str, typer.Option(help="Options of the sessions, as JSON.", metavar="JSON")] = "{}",
    load: Load = None,
) -> None:
    """Play a challenge with random moves from all seats, legal and illegal ones, and tell what went wrong.

    No move may crash it or leak a private text, every game must end under a clock, scores must lie in the declared
    range, and the same inputs must make the same game again. Exit code 0 if nothing was found, else 1.
    """
    from arena import trial

    raise typer.Exit(trial.run(name, games, seed, trial.read_options(options), settings_of(load).load))


@seed.command()
def check(
    file: Annotated[str, typer.Argument(help="JSON of a session, or of a list of them; - reads standard input.")],
    commitment: Annotated[
        str | None, typer.Option(help="What the session promised when it was created, if you kept it.", metavar="HEX")
    ] = None,
    load: Load = None,
) -> None:
    """Check that sessions were dealt as they promised: secret and seed open the commitment, and deal the same again.

    For example: curl -s "http://127.0.0.1:3001/api/challenges/psi?status=ended" | arena seed check -
    Exit code 0 if everything is right, else 1.
    """
    from arena import seeds

    settings = settings_of(load)
    raise typer.Exit(seeds.check(sys.stdin.buffer if file == "-" else Path(file), commitment, settings.load))
