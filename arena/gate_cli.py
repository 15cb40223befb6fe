"""`arena baseline`, `arena compare` and `arena gate`: runs are held against each other."""

from typing import Annotated

import typer

from arena.eval_cli import AsJson, Folder, Junit, RunName, home_of, print_json, shown, write

baseline = typer.Typer(help="What later runs are held against.", add_completion=False)
compare = typer.Typer(help="Hold runs against each other.", add_completion=False)

Confidence = Annotated[float, typer.Option(help="Confidence of intervals.", min=0.5, max=0.999)]
Name = Annotated[str | None, typer.Option("--name", help="Name of the baseline. Default: the slug of the pack.")]


@baseline.command(name="set")
def set_(run: RunName = "latest", name: Name = None, folder: Folder = None, as_json: AsJson = False) -> None:
    """Make a run the baseline of its pack. The file may be committed, so that everybody has the same."""
    home = home_of(folder)
    found = home.run(run)
    called = name or found.pack.slug
    path = home.set_baseline(called, found)
    if as_json:
        print_json({"baseline": called, "run": found.id, "file": str(path)})
    else:
        typer.echo(f"Baseline {called} is run {found.id} of {shown(found)}, kept in {path}")


@baseline.command()
def show(
    name: Annotated[str | None, typer.Argument(help="Baseline. Default: all.", metavar="[NAME]")] = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show a baseline, or list all. Exit code 1 if there is none of that name."""
    from arena.evals.tables import run_json, run_lines

    home = home_of(folder)
    if name is None:
        found = dict(home.baselines())
        if as_json:
            print_json({each: run.id for each, run in found.items()})
        for each, run in found.items() if not as_json else ():
            typer.echo(f"{each}: run {run.id} of {shown(run)}, {run.pack.slug} version {run.pack.version}")
        return
    one = home.baseline(name)
    if one is None:
        typer.echo(f"arena: There is no baseline {name}.", err=True)
        raise typer.Exit(1)
    print_json(run_json(one)) if as_json else typer.echo("\n".join(run_lines(one)))


@baseline.command()
def clear(name: Annotated[str, typer.Argument(help="Baseline.", metavar="NAME")], folder: Folder = None) -> None:
    """Forget a baseline. Exit code 1 if there is none of that name."""
    if not home_of(folder).clear_baseline(name):
        typer.echo(f"arena: There is no baseline {name}.", err=True)
        raise typer.Exit(1)
    typer.echo(f"Baseline {name} is forgotten.")


@compare.command(name="runs")
def runs_(
    runs: Annotated[
        list[str], typer.Argument(help="Ids or files of runs; the others are held against the first.", metavar="RUN…")
    ],
    confidence: Confidence = 0.95,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show runs beside each other, with intervals of what lies between them."""
    from arena.evals.tables import compare_lines, differences, estimate_json, run_json

    found = [home_of(folder).run(each) for each in runs]
    if not as_json:
        typer.echo("\n".join(compare_lines(found, confidence)))
        return
    apart = [
        None if each is None else {"score": estimate_json(each[0]), "pass_rate": estimate_json(each[1])}
        for each in differences(found, confidence)
    ]
    print_json({"runs": [run_json(run, confidence) for run in found], "differences": apart})


def gate(
    candidate: Annotated[str, typer.Option(help="Id or file of a run.", metavar="RUN")] = "latest",
    baseline: Annotated[
        str | None, typer.Option(help="Name of a baseline, or file of a run. Default: that of the pack.")
    ] = None,
    margin: Annotated[float, typer.Option(help="By how much the score may be worse.", min=0, max=1)] = 0.02,
    pass_margin: Annotated[float, typer.Option(help="By how much the pass rate may be worse.", min=0, max=1)] = 0.05,
    confidence: Confidence = 0.95,
    repetitions: Annotated[int, typer.Option(help="Repetitions that both need.", min=1)] = 3,
    min_score: Annotated[float | None, typer.Option(help="Least score of the candidate.", min=0, max=1)] = None,
    min_pass_rate: Annotated[float | None, typer.Option(help="Least pass rate of the candidate.", min=0, max=1)] = None,
    max_cost_ratio: Annotated[float | None, typer.Option(help="Most cost, as a multiple.", min=0)] = None,
    max_latency_ratio: Annotated[float | None, typer.Option(help="Most latency, as a multiple.", min=0)] = None,
    folder: Folder = None,
    junit: Junit = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a run may take the place of a baseline.

    Exit codes: 0 pass, it is not worse; 1 fail, it is; 2 warn, it looks worse but may not be; 3 insufficient evidence,
    it looks fine but cannot be told, or there is no baseline. Wrong usage is 64.
    """
    from arena.evals import junit as xml
    from arena.evals.tables import gate_json, gate_lines
    from arena.evals.verdicts import Check, Gate, Rules, Verdict, judge

    home = home_of(folder)
    run = home.run(candidate)
    named = baseline or run.pack.slug
    before = home.baseline(named)
    rules = Rules(
        margin, pass_margin, confidence, repetitions, min_score, min_pass_rate, max_cost_ratio, max_latency_ratio
    )
    if before is None:
        reason = f"There is no baseline {named}: `arena baseline set` makes one."
        found = Gate(Verdict.INSUFFICIENT, [Check("baseline", Verdict.INSUFFICIENT, reason)], [])
    else:
        found = judge(before, run, rules)
    write(junit, xml.gate_xml(found))
    print_json(gate_json(found)) if as_json else typer.echo("\n".join(gate_lines(found)))
    raise typer.Exit(int(found.verdict))
