"""Tournaments for tests: files, and games whose outcome is drawn from the strength of those who play them."""

from collections.abc import Mapping
from random import Random
from typing import Any

from arena.models import Millis, Outcome, Score, SessionId
from arena.tournament.games import Game, Rules, State, Table, rng_of
from arena.tournament.plan import Plan, check, due, plan
from arena.tournament.setup import Setup, parse

TWO = Rules(2, False)


def told(count: int = 4, **more: Any) -> dict[str, Any]:
    """A tournament of PSI bots, half of them honest."""
    names = [f"agent-{number}" for number in range(count)]
    bots = [{"name": name, "bot": ("honest", "greedy")[at % 2]} for at, name in enumerate(names)]
    return {"challenge": "psi", "seed": "7", "agents": bots, **more}


def made(count: int = 4, **more: Any) -> Setup:
    """The same, read."""
    return parse(told(count, **more))


def ended(table: Table, marks: list[float], **more: Any) -> Game:
    """A game that was played, with these scores."""
    return Game(
        key=table.key,
        round=table.round,
        match=table.match,
        deal=table.deal,
        seats=list(table.seats),
        state=State.DONE,
        session=SessionId("s"),
        started_at=Millis(0),
        ended_at=Millis(1),
        scores=[Score(utility=mark, security=0) for mark in marks],
        places=[1 + sum(other > mark for other in marks) for mark in marks],
        outcomes=[Outcome.PLAYED] * len(marks),
        **more,
    )


def play(
    setup: Setup, rules: Rules = TWO, strength: Mapping[str, float] | None = None, order: Random | None = None
) -> tuple[Plan, dict[str, Game]]:
    """Play a tournament to its end, the games that are due in any order; the first agents are the strongest."""
    check(setup, rules)
    strong = strength or {name: -float(at) for at, name in enumerate(setup.names)}
    done: dict[str, Game] = {}
    while tables := due(now := plan(setup, rules, done), done):
        for table in order.sample(tables, max(1, len(tables) // 2)) if order else tables:
            rng = rng_of("luck", table.key, 0)
            done[table.key] = ended(table, [strong[name] + rng.gauss(0, 1) for name in table.seats])
    return now, done
