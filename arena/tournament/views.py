"""Views: what everybody may see of a tournament.

Its seed stays with the server until the last game is over: who knows it knows every deal. Of a game that is under way
the agents are named, as in any pairing, but not who sits where.
"""

from typing import Any

from arena.tournament.entry import Entry, Phase
from arena.tournament.games import Game, State
from arena.tournament.plan import Plan, games_per_match, most_games, plan
from arena.tournament.setup import KINDS, Agent
from arena.tournament.standings import standings


def head_view(entry: Entry) -> dict[str, Any]:
    """A tournament in a list."""
    head, standing, setup = entry.head, entry.standing, entry.setup
    states = [game.state for game in entry.games.values()]
    return _known(
        id=head.id,
        challenge=setup.challenge,
        format=str(setup.format),
        phase=str(standing.phase),
        reason=standing.reason,
        createdAt=head.created_at,
        endedAt=standing.ended_at,
        agents=len(setup.agents),
        games={
            "most": most_games(setup, head.rules),
            "played": states.count(State.DONE),
            "void": states.count(State.VOID),
            "playing": states.count(State.PLAYING),
            "saved": standing.saved,
        },
    )


def view(entry: Entry, made: Plan | None = None) -> dict[str, Any]:
    """A tournament as it stands, without its games that are over."""
    setup, head, done = entry.setup, entry.head, entry.done
    made = made or plan(setup, head.rules, done)
    playing = [game for game in entry.games.values() if not game.is_over]
    return {
        **head_view(entry),
        "agents": [_agent(agent) for agent in setup.agents],
        **_known(
            seats=head.seats,
            replayable=head.replayable,
            gamesPerPair=games_per_match(setup, head.rules),
            rounds=setup.rounds,
            rankBy=setup.rank_by,
            ranked=setup.ranked,
            stopWhenDecided=setup.stop_when_decided,
            concurrency=setup.concurrency,
            budget=setup.budget.model_dump(exclude_none=True),
            seconds=round(entry.standing.seconds, 3),
            cost=entry.cost,
            options=head.options,
            version=head.version.wire(),
            arena=head.arena,
        ),
        "standings": [row.wire() for row in standings(setup, head.rules, done, made)],
        "matches": [_known(name=m.name, round=m.round, agents=list(m.agents), winner=m.winner) for m in made.matches],
        "byes": [{"round": number, "agent": name} for number, name in made.byes],
        "playing": [game_view(game) for game in sorted(playing, key=lambda game: game.started_at)],
    }


def games_view(entry: Entry) -> list[dict[str, Any]]:
    """All games that were begun, in the order of the plan as far as they are over."""
    order = {table.key: at for at, table in enumerate(plan(entry.setup, entry.head.rules, entry.done).tables)}
    known = sorted(entry.games.values(), key=lambda game: order.get(game.key, len(order)))
    return [game_view(game) for game in known]


def game_view(game: Game) -> dict[str, Any]:
    """A game; before its end without who sits where."""
    if game.is_over:
        return game.wire()
    told = game.model_dump(mode="json", include={"key", "round", "match", "state", "session"})
    return {**told, "agents": sorted(game.seats), "startedAt": game.started_at}


def may_tell_seed(entry: Entry) -> bool:
    """Whether no game is to come that somebody could know before it is dealt."""
    return entry.standing.phase is Phase.FINISHED


def _agent(agent: Agent) -> dict[str, Any]:
    kind = next(kind for kind in KINDS if getattr(agent, kind) is not None)
    return _known(name=agent.name, kind=kind, plays=getattr(agent, kind), anchor=agent.anchor or None)


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
