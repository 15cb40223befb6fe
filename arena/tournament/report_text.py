"""A report as people read it: Markdown, or one HTML file that needs nothing else."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import yaml

Cells = Sequence[Sequence[str]]
Write = Callable[[str, Cells], str]

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
td { text-align: right; } td:nth-child(-n+2), th { text-align: left; }
pre { padding: 1rem; overflow-x: auto; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
"""


def markdown(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    parts = [f"# {_title(report)}", *_facts(report)]
    for title, words, rows in _tables(report):
        parts += [f"## {title}", *([words] if words else []), _markdown_table(rows)]
    parts += ["## To run it again", _again(report), f"```yaml\n{_file(report)}```"]
    return "\n\n".join(parts) + "\n"


def html(report: dict[str, Any]) -> str:
    """The report as one file for a browser."""
    parts = [f"<h1>{escape(_title(report))}</h1>", *(f"<p>{escape(fact)}</p>" for fact in _facts(report))]
    for title, words, rows in _tables(report):
        parts += [f"<h2>{escape(title)}</h2>", f"<p>{escape(words)}</p>" if words else "", _html_table(rows)]
    parts += ["<h2>To run it again</h2>", f"<p>{escape(_again(report))}</p>", f"<pre>{escape(_file(report))}</pre>"]
    title = f"<title>{escape(_title(report))}</title>"
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width">{title}<style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _title(report: dict[str, Any]) -> str:
    told = report["tournament"]
    return f"{told['challenge']}, {told['format']} of {len(told['agents'])} agents"


def _facts(report: dict[str, Any]) -> list[str]:
    told, games = report["tournament"], report["tournament"]["games"]
    saved = f" {games['saved']} games were saved, since the ranking was clear without them." if games["saved"] else ""
    void = f" {games['void']} games are void and count nowhere." if games["void"] else ""
    cost = f" Agents report a cost of {told['cost']:.4f} US dollars." if told["cost"] else ""
    ending = f": {told['reason']}" if told.get("reason") else ""
    played = f"{games['played']} of at most {games['most']} games were played in {told['seconds']:.1f} seconds."
    return [f"Tournament {told['id']} is {told['phase']}{ending}. {played}{saved}{void}{cost}"]


def _tables(report: dict[str, Any]) -> list[tuple[str, str, Cells]]:
    told, methods = report["tournament"], report["methods"]
    tables: list[tuple[str, str, Cells]] = [
        ("Standings", f"{methods['points']} {methods['interval']}", standings_table(told["standings"]))
    ]
    if told["matches"]:
        tables.append(("Matches", "", _matches(told["matches"])))
    if report["ratings"]:
        tables.append(("Ratings", methods["rating"], _ratings(report)))
        tables.append(("Points per game, whenever one looks", methods["anytime"], _anytime(report)))
    return [*tables, ("Head to head", "What the agent of a line won, and in how many games.", _meetings(report))]


def standings_table(rows: Sequence[dict[str, Any]]) -> Cells:
    """The standings as cells, the first line naming the columns."""
    optional = [
        ("Reached", "reached"),
        ("Tie-break", "tieBreak"),
        ("Forfeits", "forfeits"),
        ("Timeouts", "timeouts"),
        ("Void", "void"),
        ("Byes", "byes"),
        ("Breaches", "breaches"),
        ("Exposed", "exposed"),
        ("Cost", "cost"),
    ]
    shown = [(title, name) for title, name in optional if any(row.get(name) for row in rows)]
    head = ["#", "Agent", "Points", "Games", "W/T/L", "Per game", "Utility", "Security", *(title for title, _ in shown)]
    lines = [
        [
            str(row["rank"]),
            row["agent"],
            f"{row['points']:g}",
            str(row["games"]),
            f"{row['wins']}/{row['ties']}/{row['losses']}",
            *(_mean(row.get(name)) for name in ("share", "utility", "security")),
            *(f"{row[name]:g}" if row.get(name) is not None else "" for _, name in shown),
        ]
        for row in rows
    ]
    return [head, *lines]


def _mean(mean: dict[str, Any] | None) -> str:
    if mean is None:
        return ""
    interval = mean.get("interval")
    return f"{mean['value']:.3f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def _matches(matches: Sequence[dict[str, Any]]) -> Cells:
    lines = [[m["name"], ", ".join(m["agents"]) or "nobody", m.get("winner") or "…"] for m in matches]
    return [["Match", "Agents", "Winner"], *lines]


def _ratings(report: dict[str, Any]) -> Cells:
    lines = [
        [line["agent"], f"{line['rating']:.0f}", f"{line['interval'][0]:.0f} to {line['interval'][1]:.0f}"]
        for line in report["ratings"]
    ]
    return [["Agent", "Rating", "Interval"], *lines]


def _anytime(report: dict[str, Any]) -> Cells:
    lines = [[name, f"{low:.3f} to {high:.3f}"] for name, (low, high) in report["anytime"].items()]
    return [["Agent", "Points per game"], *lines]


def _meetings(report: dict[str, Any]) -> Cells:
    names = [row["agent"] for row in report["tournament"]["standings"]]
    met = report["headToHead"]
    lines = [
        [one, *(f"{m['points']:g}/{m['games']}" if (m := met[one].get(other)) else "" for other in names)]
        for one in names
    ]
    return [["", *names], *lines]


def _again(report: dict[str, Any]) -> str:
    again = report["again"]
    challenge = again["challenge"]
    seed = f"seed {again['seed']}" if again["seed"] else "a seed that is told when the last game is over"
    return (
        f"Arena {again['arena']}, {challenge['name']} {challenge['version']} (content {challenge['contentHash']}), "
        f"{seed}. The results of all games have the hash {again['results']}: a run that comes to the same in every "
        "game has the same. Save this as tournament.yaml and say `arena tournament run tournament.yaml`:"
    )


def _file(report: dict[str, Any]) -> str:
    return yaml.safe_dump(report["again"]["file"], sort_keys=False, allow_unicode=True)


def _markdown_table(rows: Cells) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(rows[0]), line(["---"] * len(rows[0])), *map(line, rows[1:])])


def _html_table(rows: Cells) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"
