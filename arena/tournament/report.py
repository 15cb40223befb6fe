"""Report: everything that a finished tournament has to say, as plain data. How it looks is in `report_text`."""

import hashlib
from typing import Any

import orjson

from arena.statistics import around
from arena.tournament.decided import sequence
from arena.tournament.entry import Entry
from arena.tournament.games import Done, State, shares
from arena.tournament.plan import Plan, plan
from arena.tournament.setup import Setup
from arena.tournament.standings import head_to_head
from arena.tournament.views import games_view, may_tell_seed, view

START, SCALE = 1500.0, 173.71779276130073  # 400 / ln 10
BOOTSTRAPS = 1_000

METHODS = {
    "points": "A game is worth the share of its rivals that an agent left behind; equal is a half.",
    "interval": "95 % interval of a mean by Student's t; games on one deal are one piece of evidence.",
    "rating": "Bradley-Terry, 1500 on average, with 95 % intervals by 1,000 bootstraps over deals.",
    "anytime": "95 % confidence sequence by betting (Waudby-Smith and Ramdas 2024) of the points per game: it holds "
    "however often somebody looks and whenever the games stop.",
}


def report(entry: Entry) -> dict[str, Any]:
    """The whole report; before the end it says so, and leaves the seed out."""
    setup, head, done = entry.setup, entry.head, entry.done
    made = plan(setup, head.rules, done)
    meetings = head_to_head(setup, done)
    return {
        "tournament": view(entry, made),
        "ratings": ratings(setup, done),
        "anytime": anytime(made, done),
        "headToHead": {one: {other: met.wire() for other, met in row.items()} for one, row in meetings.items()},
        "games": games_view(entry),
        "methods": METHODS,
        "again": {
            "file": _file(entry),
            "seed": head.seed if may_tell_seed(entry) else None,
            "arena": head.arena,
            "challenge": {"name": setup.challenge, **head.version.wire()},
            "options": head.options,
            "results": digest(made, done),
        },
    }


def _file(entry: Entry) -> dict[str, Any]:
    """The file, with the seed that was drawn if it had none; as long as games are to come, without any."""
    told = {name: value for name, value in entry.head.setup.items() if name != "seed"}
    return {**told, "seed": entry.head.seed} if may_tell_seed(entry) else told


def digest(made: Plan, done: Done) -> str:
    """A hash of what came of all games: equal for two runs that came to the same in every one of them."""
    told = [
        [
            table.key,
            list(table.seats),
            [[s.utility, s.security] for s in done[table.key].scores],
            done[table.key].outcomes,
        ]
        for table in made.tables
        if table.key in done
    ]
    return f"sha256:{hashlib.sha256(orjson.dumps(told)).hexdigest()}"


def ratings(setup: Setup, done: Done) -> list[dict[str, Any]]:
    """The strengths that explain the games best; only agents that are joined by games can be compared."""
    from arena.paired import Games, components, fit

    rows = _rows(setup, done)
    if not rows:
        return []
    groups = components(((a, b) for a, b, *_ in rows), len(setup.agents))
    home = {agent: number for number, group in enumerate(groups) for agent in group}
    played = sorted({agent for a, b, *_ in rows for agent in (a, b)})
    inside = {agent: number for number, agent in enumerate(played)}
    own = [(inside[a], inside[b], share, weight, deal) for a, b, share, weight, deal in rows]
    found = fit(Games.of(own, [home[agent] for agent in played]), BOOTSTRAPS, seed=1)
    lines = []
    for agent, number in inside.items():
        rating = START + SCALE * float(found.theta[number])
        low, high = around(rating, SCALE * float(found.error[number]))
        lines.append(
            {
                "agent": setup.names[agent],
                "rating": round(rating, 1),
                "interval": [round(low, 1), round(high, 1)],
                "group": home[agent] + 1,
            }
        )
    return sorted(lines, key=lambda line: -float(line["rating"]))


def _rows(setup: Setup, done: Done) -> list[tuple[int, int, float, float, int]]:
    numbers = {name: number for number, name in enumerate(setup.names)}
    deals: dict[str, int] = {}
    rows = []
    for _, game in sorted(done.items()):
        if game.state is not State.DONE:
            continue
        deal = deals.setdefault(game.deal, len(deals))
        seats = [numbers[name] for name in game.seats]
        for a in range(len(seats)):
            for b in range(a + 1, len(seats)):
                ahead = game.places[b] - game.places[a]
                share = 0.5 if ahead == 0 else float(ahead > 0)
                rows.append((seats[a], seats[b], share, 1 / (len(seats) - 1), deal))
    return rows


def anytime(made: Plan, done: Done) -> dict[str, list[float]]:
    """What each agent wins per game, with intervals that do not mind when the games stopped."""
    won: dict[str, dict[str, list[float]]] = {}
    for table in made.tables:
        if (game := done.get(table.key)) is not None and game.state is State.DONE:
            for name, share in zip(game.seats, shares(game.places), strict=True):
                won.setdefault(name, {}).setdefault(game.deal, []).append(share)
    return {
        name: [round(bound, 4) for bound in sequence([sum(some) / len(some) for some in deals.values()])]
        for name, deals in won.items()
    }
