"""`arena eval`: agents play a pack of a running server, and what comes of it is kept."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.library_cli import Place, Token, bring, place_of
from arena.options import Url
from arena.pack_cli import read

if TYPE_CHECKING:
    from arena.evals.play import Progress, Wish
    from arena.evals.runs import Home, PackRef, Run

eval_ = typer.Typer(help="Evaluate agents on a pack of a running server.", add_completion=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Folder = Annotated[
    Path | None, typer.Option("--dir", help="Folder of runs and baselines. Default: .arena here.", envvar="ARENA_EVALS")
]
Junit = Annotated[Path | None, typer.Option(help="Write JUnit XML here, too.", metavar="FILE")]
RunName = Annotated[str, typer.Argument(help="Id or file of a run; `latest` is the newest.", metavar="RUN")]


def home_of(folder: Path | None) -> "Home":
    """The folder that a command means."""
    from arena.evals.runs import Home

    return Home(folder)


def print_json(data: Any) -> None:
    """For programs."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


def shown(run: "Run") -> str:
    """The name of an agent, in which nothing can move a cursor."""
    from arena.terminal import harmless

    return harmless(run.agent)


def write(path: Path | None, content: bytes) -> None:
    """Write a file if one is wanted."""
    from arena import files

    if path is not None:
        files.write(path, content)


@eval_.command()
def start(
    context: typer.Context,
    pack: Annotated[
        str, typer.Option(help="File of a pack, which is published first, or the slug of a published one.")
    ],
    agent: Annotated[
        list[str],
        typer.Option(help="Command of a program that plays over its standard input and output, or a URL. Repeatable."),
    ],
    judge: Annotated[
        str | None, typer.Option(help="Command or URL of an agent that judges at the table in place of models.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Command or URL that speaks for the person of a conversation. Default: nobody.")
    ] = None,
    name: Annotated[list[str] | None, typer.Option(help="Name of an agent, in the order of --agent.")] = None,
    version: Annotated[int | None, typer.Option(help="Version of the pack. Default: the newest.", min=1)] = None,
    input_set: Annotated[str | None, typer.Option(help="Input set; needed where the pack has several.")] = None,
    repetitions: Annotated[int, typer.Option(help="How often all cases are played.", min=1, max=1000)] = 1,
    parallel: Annotated[int, typer.Option(help="Repetitions at a time.", min=1, max=64)] = 1,
    seconds: Annotated[float, typer.Option(help="Time for one repetition.", min=1)] = 3_600,
    restarts: Annotated[int, typer.Option(help="How often a program that fails is started again.", min=0)] = 0,
    private: Annotated[bool, typer.Option("--private", help="Keep the sessions out of all lists.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Show what happens while it happens.")] = False,
    folder: Folder = None,
    junit: Junit = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Let agents play all cases of a pack, several times if you like, and keep what comes of it.

    Several agents sit at the same table and get the same cases. Exit code 0 if all repetitions came to something,
    whatever the scores are, else 1: `arena gate` judges.
    """
    import asyncio

    from arena.evals import agents
    from arena.evals import junit as xml
    from arena.evals.play import Server, Wish, start
    from arena.evals.tables import run_json, run_lines

    place = place_of(context, url, token)
    server = Server(place.url, place.token)
    chosen = agents.named(agent, name or ())
    ref = _ref(_release(place, pack, version), input_set)
    others = {role: agents.Agent(role, told) for role, told in (("judge", judge), ("user", user)) if told}
    options = {"judge_seat": True} if judge else {}
    wish = Wish(ref, chosen, repetitions, parallel, seconds, restarts, private, others, options)
    with _Watch(wish, follow and not as_json) as watch:
        runs = asyncio.run(start(server, wish, watch.hear))
    home = home_of(folder)
    kept = [home.keep(run) for run in runs]
    write(junit, xml.runs_xml(runs))
    if as_json:
        print_json([run_json(run) for run in runs])
    else:
        for run, path in zip(runs, kept, strict=True):
            typer.echo("\n".join(run_lines(run)))
            typer.echo(f"  kept in {path}")
    raise typer.Exit(0 if all(trial.error is None for run in runs for trial in run.trials) else 1)


def _release(place: Place, pack: str, version: int | None) -> dict[str, Any]:
    """The version that is played: that of a file, with its files published now, or one that is published."""
    from arena.errors import CannotStart

    path = Path(pack)
    if path.suffix in {".yaml", ".yml", ".json"} or path.exists():
        made: dict[str, Any] = place.get("POST", "packs", body=read(path)).json
        if not bring(place, path, made):
            raise typer.Exit(1)
        return made
    versions: list[dict[str, Any]] = place.get("GET", "packs", pack).json["versions"]
    found = [each for each in versions if each["number"] == version or (version is None and not each["archived"])]
    if not found:
        raise CannotStart(f"There is no such version of {pack} that can be played.")
    return found[0]


def _ref(release: dict[str, Any], input_set: str | None) -> "PackRef":
    from arena.evals.runs import PackRef

    sets = [each["key"] for each in release["input_sets"]]
    chosen = input_set or (sets[0] if len(sets) == 1 else None)
    return PackRef(
        slug=release["slug"], version=release["number"], content_hash=release["content_hash"], input_set=chosen
    )


class _Watch:
    """A progress bar on standard error, with a line for every event if that is asked for."""

    def __init__(self, wish: "Wish", follow: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.follow = follow
        console = Console(stderr=True, highlight=False, markup=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self.task = self.bar.add_task("repetitions", total=wish.repetitions * len(wish.agents))

    def __enter__(self) -> "_Watch":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def hear(self, news: "Progress") -> None:
        from arena.terminal import harmless

        if news.trial is not None:
            self.bar.advance(self.task)
        free = news.event.startswith("this seat is free")  # somebody has to know, or the game waits in vain
        if not self.follow and not free:
            return
        where = f"repetition {news.repetition} {harmless(news.agent)}"
        if news.event:
            told = harmless(news.event, 300)
        elif news.trial is None:
            told = f"{news.done} of {news.of} cases"
        elif news.trial.error is not None:
            told = f"came to nothing: {harmless(news.trial.error, 300)}"
        else:
            told = f"score {news.trial.overall:.3f}, {'passed' if news.trial.passed else 'not passed'}"
        self.bar.console.print(f"{where}: {told}")


@eval_.command()
def scorecard(
    context: typer.Context,
    run: Annotated[
        str,
        typer.Argument(help="Id or file of a run, or id of a session on a server; `latest` is the newest run."),
    ] = "latest",
    folder: Folder = None,
    junit: Junit = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show what a run came to: scores with intervals, pass rates, dimensions and every case."""
    import asyncio

    from arena.evals import junit as xml
    from arena.evals.play import Server
    from arena.evals.sessions import is_session, runs_of
    from arena.evals.tables import run_json, run_lines

    if not is_session(run):
        found = home_of(folder).run(run)
        write(junit, xml.runs_xml([found]))
        print_json(run_json(found)) if as_json else typer.echo("\n".join(run_lines(found)))
        return
    runs = asyncio.run(runs_of(Server(place_of(context, url, None).url), run))
    write(junit, xml.runs_xml(runs))
    if as_json:
        print_json([run_json(each) for each in runs])
        return
    for each in runs:
        typer.echo("\n".join(run_lines(each)))


@eval_.command()
def sit(
    context: typer.Context,
    invite: Annotated[str, typer.Argument(help="Invite of a judge, or of the person in a conversation.")],
    url: Url = None,
) -> None:
    """Take the seat of the user in a conversation, or of the judge, and answer here, a line at a time."""
    import asyncio

    from arena.client.place import Place
    from arena.evals.person import sit
    from arena.evals.play import Server
    from arena.identity import Identity
    from arena.keyboard import typed_lines
    from arena.terminal import harmless

    server = Server(place_of(context, url, None).url)

    def show(text: str) -> None:
        typer.echo("\n".join(harmless(line, 10_000) for line in text.splitlines()))

    async def attend() -> None:
        identity = Identity.new() if await server.must_sign() else None
        await sit(Place(invite, server.ws, None, identity), typed_lines(), show)

    asyncio.run(attend())
