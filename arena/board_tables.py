"""Boards as tables for a terminal, from what a server says of them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from arena.terminal import harmless, plural

Told = dict[str, Any]


def overview(told: Told) -> Iterator[RenderableType]:
    """The boards of a server."""
    table = _table("board", "strategy", "kind", "players>", "games>", "")
    for board in told["boards"]:
        state = "frozen" if "frozenAt" in board else "stands still" if "fault" in board else ""
        cells = (board["challengeType"], board["strategy"], board["kind"], board["players"], board["games"], state)
        table.add_row(*map(_cell, cells))
    yield table


def board(told: Told) -> Iterator[RenderableType]:
    """A stretch of a board, and what it is made of."""
    yield _rows(told["rows"], told["metrics"], told["metric"])
    if "owners" in told:
        yield from _variants(told["rows"], told["metric"])
    facts = [plural(told["players"], "player", "players"), plural(told["games"], "game", "games")]
    facts += [plural(told["owners"], "owner", "owners")] if "owners" in told else []
    facts += [f"results {told['resultsHash'][:12]}"] if "resultsHash" in told else []
    facts += [f"counted {_time(told['fittedAt'])}"] if "fittedAt" in told else []
    facts += [f"frozen {_time(told['frozenAt'])}"] if "frozenAt" in told else []
    facts += [f"as of {_time(told['at'])}"] if "at" in told else []
    if told.get("notes", {}).get("components", 1) > 1:
        facts.append(f"{told['notes']['components']} groups that never met, each rated for itself")
    yield _cell(" · ".join(facts))


def standings(told: Told) -> Iterator[RenderableType]:
    """A player on all its boards."""
    table = _table("board", "strategy", "rank>", "value>", "95 %", "games>")
    for line in told["boards"]:
        row, metric = line["row"], line["metric"]
        rank = f"{_rank(row)} of {line['players']}"
        cells = (line["challengeType"], line["strategy"], rank, _number(row["metrics"].get(metric)))
        table.add_row(*map(_cell, (*cells, _interval(row, metric), row["gamesPlayed"])))
    yield table


def standing(told: Told) -> Iterator[RenderableType]:
    """A player between its neighbours, and its history."""
    rows = sorted(
        [told["row"], *told["neighbours"]], key=lambda row: row["metrics"].get(told["metric"], 0), reverse=True
    )
    yield _rows(rows, [], told["metric"], mark=told["row"]["playerId"])
    table = _table("after a game at", "games>", "value>")
    for point in told["history"][-20:]:
        value = _number(point["metrics"].get(told["metric"]))
        table.add_row(*map(_cell, (_time(point["at"]), point["gamesPlayed"], value)))
    yield table


def matrix(told: Told) -> Iterator[RenderableType]:
    """Who met whom: wins, ties and losses of the one on the left."""
    met = {(one["player"], one["opponent"]): (one["wins"], one["ties"], one["losses"]) for one in told["meetings"]}
    met |= {(b, a): (losses, ties, wins) for (a, b), (wins, ties, losses) in met.items()}
    table = _table("", *(harmless(player, 12) for player in told["players"]))
    for one in told["players"]:
        cells = ["-".join(map(str, met[one, other])) if (one, other) in met else "" for other in told["players"]]
        table.add_row(*map(_cell, (harmless(one, 24), *cells)))
    yield table
    yield _cell("wins-ties-losses of the player on the left")


def _rows(rows: Sequence[Told], metrics: Sequence[Told], metric: str, mark: str | None = None) -> Table:
    others = [one for one in metrics if one["key"] != metric]
    label = next((one["label"] for one in metrics if one["key"] == metric), metric)
    heads = [f"{one['label']}>" for one in others]
    told = any("reportedTokens" in row for row in rows)
    heads += ["games>", "W-T-L", "answers in", *(["tokens a game, as told>"] if told else [])]
    table = _table("rank>", "player", f"{label}>", "95 %", *heads, "")
    for row in rows:
        name = harmless(row.get("username") or row["playerId"], 32)
        record = "-".join(str(row[key]) for key in ("wins", "ties", "losses")) if "wins" in row else ""
        more = [_number(row["metrics"].get(one["key"])) for one in others]
        notes = "provisional" if row["provisional"] else ""
        cells = (_rank(row), name, _number(row["metrics"].get(metric)), _interval(row, metric), *more)
        style = "bold" if row["playerId"] == mark else None
        facts = [row["gamesPlayed"], record, _response(row), *([_usage(row)] if told else [])]
        table.add_row(*map(_cell, (*cells, *facts, notes)), style=style)
    return table


def _variants(rows: Sequence[Told], metric: str) -> Iterator[RenderableType]:
    """The entrants behind lines of owners, with what they declare."""
    table = _table("owner", "variant", "value>", "games>", "declared (self-reported)")
    for row in rows:
        for made in row["variants"]:
            declared = made.get("declared", {})
            facts = ", ".join(f"{name} {declared[name]}" for name in ("model", "prompt", "harness") if name in declared)
            owner = declared.get("owner") or row.get("username") or row["playerId"]
            cells = (harmless(owner, 32), made["playerId"], _number(made["metrics"].get(metric)))
            table.add_row(*map(_cell, (*cells, made["gamesPlayed"], facts)))
    yield table


def _rank(row: Told) -> str:
    best, worst = row.get("rankInterval", (row["rank"], row["rank"]))
    return str(row["rank"]) if best == worst else f"{row['rank']} ({best}-{worst})"


def _response(row: Told) -> str:
    """How long moves take, most of them and nearly all."""
    if "medianResponse" not in row:
        return ""
    return f"{_number(row['medianResponse'] / 1000)} s, 95 % {_number(row['p95Response'] / 1000)} s"


def _usage(row: Told) -> str:
    """What a player says that its model takes."""
    cost = f", {_number(row['reportedCostUsd'])} USD" if "reportedCostUsd" in row else ""
    return f"{_number(row['reportedTokens'])}{cost}" if "reportedTokens" in row else ""


def _interval(row: Told, metric: str) -> str:
    found = row.get("intervals", {}).get(metric)
    return f"{_number(found[0])} to {_number(found[1])}" if found else ""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _time(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _cell(value: object) -> Text:
    return Text(harmless(value, 200))


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(Text(head.removesuffix(">")), justify="right" if head.endswith(">") else "left", no_wrap=True)
    return table
