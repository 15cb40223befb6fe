"""Standings: what the games of a tournament say of its agents. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from arena.models import Model, Number, Outcome
from arena.statistics import Interval, Spread
from arena.tournament.games import Done, Game, Rules, State, shares
from arena.tournament.plan import Match, Plan, games_per_match, plan
from arena.tournament.setup import Format, Setup

Bounds = tuple[float, float]


class MeanOfGames(Model):
    """A mean over games, with its 95 % interval where the games tell of it."""

    value: float
    interval: Bounds | None = None


class AgentRow(Model):
    """An agent's line."""

    agent: str
    rank: int
    points: float
    games: int
    wins: int = 0  # games in which it came first, alone
    ties: int = 0  # in which it came neither first alone nor last
    losses: int = 0
    share: MeanOfGames | None = None  # points per game
    utility: MeanOfGames | None = None
    security: MeanOfGames | None = None
    tie_break: float | None = None  # Sonneborn-Berger in a round-robin, Buchholz in a swiss
    forfeits: int = 0
    timeouts: int = 0
    void: int = 0
    byes: int = 0
    breaches: int = 0  # secrets it got out of others
    exposed: int = 0  # secrets that others got out of it
    seats: list[int] = []  # games by seat
    rivals: int = 0
    cost: Number | None = None  # US dollars
    reached: int | None = None  # round of a knockout, rungs won of a ladder
    anchor: bool | None = None


class MetAgent(Model):
    """What one agent won against another."""

    games: int
    points: float


@dataclass
class Tally:
    """Sums of one agent."""

    points: float = 0.0
    games: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    seats: Counter[int] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    spreads: dict[str, Spread] = field(default_factory=dict)
    against: dict[str, list[float]] = field(default_factory=dict)
    costs: list[Number] = field(default_factory=list)

    def add(self, name: str, value: float, deal: str) -> None:
        """Count a value of one game."""
        self.sums[name] += value  # type: ignore[assignment]
        self.spreads[name] = self.spreads.get(name, Spread()).add(value, deal)

    def mean(self, name: str, within: Bounds = (-inf, inf)) -> MeanOfGames | None:
        """What the values come to; an interval ends where the values do."""
        if not self.games:
            return None
        value = self.sums[name] / self.games
        found: Interval | None = self.spreads[name].interval(value)
        if found is None:
            return MeanOfGames(value=value)
        return MeanOfGames(value=value, interval=(max(found.low, within[0]), min(found.high, within[1])))


def standings(setup: Setup, rules: Rules, done: Done, made: Plan | None = None) -> list[AgentRow]:
    """All agents, the best first; who is equal in everything shares a rank."""
    made = made or plan(setup, rules, done)
    tallies = tally(setup, made, done, games_per_match(setup, rules))
    broken = _tie_breaks(setup, tallies)
    reached = _reached(setup, made.matches)
    marks = {name: _mark(setup, tallies[name], broken[name], reached.get(name, -1)) for name in setup.names}
    order = sorted(setup.names, key=lambda name: marks[name], reverse=True)
    return [
        _row(setup, rules, name, tallies[name], 1 + sum(mark > marks[name] for mark in marks.values()), broken, reached)
        for name in order
    ]


def tally(setup: Setup, made: Plan, done: Done, bye: float = 1) -> dict[str, Tally]:
    """The sums of every agent, over the games of the plan in its order; a bye is a match that was won."""
    tallies = {name: Tally() for name in setup.names}
    for table in made.tables:
        if (game := done.get(table.key)) is not None:
            _count(tallies, game)
    for _, name in made.byes:
        tallies[name].points += bye
        tallies[name].counts["byes"] += 1
    return tallies


def head_to_head(setup: Setup, done: Done) -> dict[str, dict[str, MetAgent]]:
    """What everybody won against everybody else."""
    tallies = tally(setup, Plan([], [], [], None), {})
    for game in done.values():
        _count(tallies, game)
    return {
        name: {rival: MetAgent(games=len(won), points=sum(won)) for rival, won in one.against.items()}
        for name, one in tallies.items()
    }


def _count(tallies: Mapping[str, Tally], game: Game) -> None:
    for cost, name in zip(game.costs, game.seats, strict=False):
        if cost is not None:
            tallies[name].costs.append(cost)
    if game.state is not State.DONE:
        for name in game.seats:
            tallies[name].counts["void"] += 1
        return
    for seat, (name, won) in enumerate(zip(game.seats, shares(game.places), strict=True)):
        one = tallies[name]
        one.points += won
        one.games += 1
        one.seats[seat] += 1
        one.counts["wins" if won == 1 else "losses" if won == 0 else "ties"] += 1
        one.counts["forfeits"] += game.outcomes[seat] is Outcome.FORFEIT
        one.counts["timeouts"] += game.outcomes[seat] is Outcome.TIMEOUT
        one.counts["breaches"] += sum(by == seat for by, _ in game.breaches)
        one.counts["exposed"] += sum(of == seat for _, of in game.breaches)
        one.add("share", won, game.deal)
        one.add("utility", game.scores[seat].utility, game.deal)
        one.add("security", game.scores[seat].security, game.deal)
        for other, rival in enumerate(game.seats):
            if other != seat:
                mine, theirs = game.places[seat], game.places[other]
                one.against.setdefault(rival, []).append((mine < theirs) + (mine == theirs) / 2)


def _tie_breaks(setup: Setup, tallies: Mapping[str, Tally]) -> dict[str, float | None]:
    """Sonneborn-Berger: the points of those one beat. Buchholz: the points of all whom one met."""
    weigh: Callable[[list[float]], float] | None = {
        Format.ROUND_ROBIN: sum,
        Format.SWISS: lambda won: float(len(won)),
    }.get(setup.format)
    if weigh is None:
        return dict.fromkeys(tallies)
    return {
        name: round(sum(weigh(won) * tallies[rival].points for rival, won in one.against.items()), 9)
        for name, one in tallies.items()
    }


def _reached(setup: Setup, matches: Sequence[Match]) -> dict[str, int]:
    """How far agents came where the winners go on; anchors stand where they stand."""
    if setup.format not in {Format.LADDER, Format.KNOCKOUT}:
        return {}
    if setup.format is Format.LADDER:
        won = Counter(match.agents[0] for match in matches if match.winner == match.agents[0])
        return {name: won[name] for name in setup.names if name not in setup.anchors}
    reached = {name: match.round for match in matches for name in match.agents}
    return reached | {match.winner: match.round + 1 for match in matches if match.winner}


def _mark(setup: Setup, one: Tally, broken: float | None, reached: int) -> tuple[float, ...]:
    """What an agent is ranked by, the first difference deciding; rounded, so that equal sums are equal."""
    games = one.games or 1
    utility, security = round(one.sums["utility"] / games, 9), round(one.sums["security"] / games, 9)
    points = round(one.points if setup.format is Format.SWISS else one.points / games, 9)
    chosen = {"points": points, "utility": utility, "security": security}[setup.rank_by]
    return (reached, chosen, points, broken or 0.0, utility, security)


def _row(
    setup: Setup,
    rules: Rules,
    name: str,
    one: Tally,
    rank: int,
    broken: Mapping[str, float | None],
    reached: Mapping[str, int],
) -> AgentRow:
    return AgentRow(
        agent=name,
        rank=rank,
        points=round(one.points, 9),
        games=one.games,
        share=one.mean("share", (0, 1)),
        utility=one.mean("utility"),
        security=one.mean("security"),
        tie_break=broken[name],
        seats=[one.seats[seat] for seat in range(rules.seats)],
        rivals=len(one.against),
        cost=sum(one.costs) if one.costs else None,
        reached=reached.get(name),
        anchor=setup.agent(name).anchor or None,
        **{each: one.counts[each] for each in COUNTED},
    )


COUNTED = ("wins", "ties", "losses", "forfeits", "timeouts", "void", "byes", "breaches", "exposed")
