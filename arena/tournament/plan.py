"""Plan: which games a tournament has, as far as the results so far say. Pure: setup and results in, games out.

Games come in stages; a stage is known when the ones before it are over. Nothing depends on the order in which the
games of a stage come to their end, so a tournament that was interrupted goes on as if nothing had been.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from math import comb
from typing import NamedTuple

from arena.errors import Invalid
from arena.statistics import CONFIDENCE
from arena.tournament.decided import Unit, is_above, is_decided
from arena.tournament.games import Done, Rules, State, Table, shares
from arena.tournament.pairing import Group, all_groups, balanced, bracket, circle, swiss_groups, swiss_pairs, turned
from arena.tournament.setup import Format, Setup

MOST = 20_000  # games of a tournament
RUNG = 10  # games of a climber against the anchors of a rung


class Match(NamedTuple):
    """Games whose winner goes on."""

    name: str
    round: int
    agents: tuple[str, ...]  # one alone has a bye
    winner: str | None = None


class Stage(NamedTuple):
    """Games that can be played side by side."""

    tables: list[Table]
    byes: list[str] = []
    matches: list[Match] = []


class Ending(NamedTuple):
    """Why there are no more games, and how many were not needed."""

    reason: str = "all games are played"
    saved: int = 0


class Plan(NamedTuple):
    """All games that are known so far."""

    tables: list[Table]
    byes: list[tuple[int, str]]  # round and agent
    matches: list[Match]
    ending: Ending | None  # none as long as games are to come


Stages = Generator[Stage, None, Ending]


def plan(setup: Setup, rules: Rules, done: Done) -> Plan:
    """The games so far: all stages that are over, and the one that is not."""
    tables: list[Table] = []
    byes: list[tuple[int, str]] = []
    matches: list[Match] = []
    stages = FORMATS[setup.format](setup, rules, done)
    number = 0
    while True:
        try:
            stage = next(stages)
        except StopIteration as end:
            return Plan(tables, byes, _decided(setup, matches, tables, done), end.value)
        number += 1
        tables += stage.tables
        byes += [(number, name) for name in stage.byes]
        matches += stage.matches
        if not all(table.key in done for table in stage.tables):
            return Plan(tables, byes, _decided(setup, matches, tables, done), None)


def _decided(setup: Setup, matches: Sequence[Match], tables: Sequence[Table], done: Done) -> list[Match]:
    own: dict[str, list[Table]] = {}
    for table in tables:
        own.setdefault(table.match, []).append(table)
    decide = _hold if setup.format is Format.LADDER else _decide
    return [decide(match, own.get(match.name, ()), done) for match in matches]


def due(made: Plan, done: Done) -> list[Table]:
    """The games that can be played now, in the order of the plan."""
    return [table for table in made.tables if table.key not in done]


def games_per_match(setup: Setup, rules: Rules) -> int:
    """How often those who meet play, where the file does not say."""
    if setup.games_per_pair is not None:
        return setup.games_per_pair
    turn = rules.seats if rules.replayable else 1
    return {
        Format.ROUND_ROBIN: rules.seats if rules.seats == 2 else turn,
        Format.SWISS: turn,
        Format.KNOCKOUT: rules.seats,
        Format.LADDER: RUNG,
    }[setup.format]


def most_games(setup: Setup, rules: Rules) -> int:
    """How many games there are, or will be at the most."""
    each, agents, seats = games_per_match(setup, rules), len(setup.agents), rules.seats
    match setup.format:
        case Format.ROUND_ROBIN:
            return comb(agents, seats) * each
        case Format.SWISS:
            return (setup.rounds or 0) * (agents // seats) * each
        case Format.KNOCKOUT:
            return (agents - 1) // (seats - 1) * each
        case Format.LADDER:
            return (agents - len(setup.anchors)) * len(_rungs(setup, rules)) * each


def check(setup: Setup, rules: Rules) -> None:
    """Refuse a tournament that this challenge cannot have."""
    agents, seats = len(setup.agents), rules.seats
    if seats < 2:
        raise Invalid("A tournament needs a challenge with two seats or more.")
    if agents < seats:
        raise Invalid(f"This challenge has {seats} seats, and there are {agents} agents.")
    if setup.format is Format.KNOCKOUT and seats > 2 and _size(agents, seats) != agents:
        raise Invalid(f"A knockout with {seats} seats needs {seats}, {seats**2}, {seats**3} … agents.")
    if setup.format is Format.LADDER and len(setup.anchors) < seats - 1:
        raise Invalid(f"A ladder with {seats} seats needs {seats - 1} anchors or more.")
    if most_games(setup, rules) > MOST:
        raise Invalid(f"This tournament would have {most_games(setup, rules)} games; {MOST} are the most.")


def played_in(tables: Sequence[Table], done: Done) -> Iterator[tuple[Table, list[float]]]:
    """Games that count, with what each seat won."""
    for table in tables:
        if (game := done.get(table.key)) is not None and game.state is State.DONE:
            yield table, shares(game.places)


def _round_robin(setup: Setup, rules: Rules, done: Done) -> Stages:
    each, turn = games_per_match(setup, rules), rules.seats if rules.replayable else 1
    cycles = _cycles_of_two(setup, each, turn) if rules.seats == 2 else _cycles(setup, rules.seats, each, turn)
    if not setup.stop_when_decided:
        yield Stage([table for cycle in cycles for table in cycle])
        return Ending()
    units: list[Unit] = []
    for first in range(0, each, turn):  # games on the same deal are one piece of evidence
        tables = [table for cycle in cycles[first : first + turn] for table in cycle]
        yield Stage(tables)
        units.append(_unit(tables, done))
        left = sum(map(len, cycles[first + turn :]))
        if left and is_decided(units, _left(cycles[first + turn :]), setup.stop_when_decided == "winner"):
            return Ending("the ranking is decided", left)
    return Ending()


def _cycles_of_two(setup: Setup, each: int, turn: int) -> list[list[Table]]:
    """All meet once in a cycle; all games of a round are on one deal, so that rivals are seen in the same seat."""
    rounds = circle(setup.names)
    return [
        [
            Table(
                f"c{cycle + 1}.r{number + 1}.t{at + 1}",
                cycle * len(rounds) + number + 1,
                f"c{cycle + 1}.r{number + 1}.t{at + 1}",
                f"c{cycle // turn + 1}.r{number + 1}",
                turned(pair, cycle),
            )
            for number, pairs in enumerate(rounds)
            for at, pair in enumerate(pairs)
        ]
        for cycle in range(each)
    ]


def _cycles(setup: Setup, seats: int, each: int, turn: int) -> list[list[Table]]:
    """Every group of agents plays once in a cycle, on deals of its own."""
    groups = all_groups(setup.names, seats)
    return [
        [
            Table(
                f"c{cycle + 1}.g{at + 1}",
                cycle + 1,
                f"c{cycle + 1}.g{at + 1}",
                f"c{cycle // turn + 1}.g{at + 1}",
                turned(group, cycle),
            )
            for at, group in enumerate(groups)
        ]
        for cycle in range(each)
    ]


def _unit(tables: Sequence[Table], done: Done) -> Unit:
    won: dict[str, list[float]] = {}
    for table, parts in played_in(tables, done):
        for name, part in zip(table.seats, parts, strict=True):
            won.setdefault(name, []).append(part)
    return {name: (sum(parts), len(parts)) for name, parts in won.items()}


def _left(cycles: Sequence[Sequence[Table]]) -> Mapping[str, int]:
    return Counter(name for cycle in cycles for table in cycle for name in table.seats)


def _swiss(setup: Setup, rules: Rules, done: Done) -> Stages:
    each = games_per_match(setup, rules)
    rests: Counter[str] = Counter()
    sat: Counter[tuple[str, int]] = Counter()
    tables: list[Table] = []
    for number in range(1, (setup.rounds or 0) + 1):
        points = {name: float(rests[name] * each) for name in setup.names}
        for table, parts in played_in(tables, done):
            for name, part in zip(table.seats, parts, strict=True):
                points[name] += part
        order = sorted(setup.names, key=lambda name: (-points[name], setup.names.index(name)))
        byes = _byes(order, len(order) % rules.seats, rests)
        rests.update(byes)
        groups = _meet([name for name in order if name not in byes], rules.seats, tables)
        made = [
            table
            for at, group in enumerate(groups)
            for table in _games(f"r{number}.t{at + 1}", f"r{number}", number, balanced(group, sat), range(each), rules)
        ]
        tables += made
        yield Stage(made, byes)
    return Ending()


def _byes(order: Sequence[str], count: int, rests: Counter[str]) -> list[str]:
    """The last in the order rest, those first who have rested least."""
    return sorted(order, key=lambda name: (rests[name], -order.index(name)))[:count]


def _meet(order: Sequence[str], seats: int, tables: Sequence[Table]) -> Sequence[Group]:
    met = Counter(
        frozenset((one, other))
        for match in {table.match: table.seats for table in tables}.values()
        for one in match
        for other in match
        if one != other
    )

    def times(one: str, other: str) -> int:
        return met[frozenset((one, other))]

    return swiss_pairs(order, times) if seats == 2 else swiss_groups(order, seats, times)


def _games(match: str, deal: str, round_: int, seats: Group, numbers: range, rules: Rules) -> list[Table]:
    """The games of a match: everybody moves on by a seat from game to game, on one deal where that is allowed."""
    turn = rules.seats if rules.replayable else 1
    return [
        Table(f"{match}.g{at + 1}", round_, match, f"{deal}.d{at // turn + 1}", turned(seats, at)) for at in numbers
    ]


def _knockout(setup: Setup, rules: Rules, done: Done) -> Stages:
    each, seats, names = games_per_match(setup, rules), rules.seats, setup.names
    seeds = bracket(_size(len(names), seats), seats)
    left = [names[seed] if seed < len(names) else None for seed in seeds]
    number = 0
    while len(left) > 1:
        number += 1
        groups = [tuple(filter(None, left[at : at + seats])) for at in range(0, len(left), seats)]
        matches = [Match(f"r{number}.m{at + 1}", number, group) for at, group in enumerate(groups)]
        made = [
            table
            for match in matches
            if len(match.agents) > 1
            for table in _games(match.name, f"r{number}", number, match.agents, range(each), rules)
        ]
        yield Stage(made, [], matches)
        left = [_decide(match, made, done).winner for match in matches]
    return Ending()


def _size(agents: int, seats: int) -> int:
    size = seats
    while size < agents:
        size *= seats
    return size


def _decide(match: Match, tables: Sequence[Table], done: Done) -> Match:
    """With its winner, if it is over: by points, then utility, then security, then as it was seeded."""
    own = [table for table in tables if table.match == match.name]
    if not all(table.key in done for table in own):
        return match
    marks = {name: [0.0, 0.0, 0.0] for name in match.agents}
    for table, parts in played_in(own, done):
        for name, part, score in zip(table.seats, parts, done[table.key].scores, strict=True):
            mark = marks[name]
            marks[name] = [mark[0] + part, mark[1] + score.utility, mark[2] + score.security]
    best = max(marks.values())
    return match._replace(winner=next(name for name in match.agents if marks[name] == best))


def _ladder(setup: Setup, rules: Rules, done: Done) -> Stages:
    each, rungs = games_per_match(setup, rules), _rungs(setup, rules)
    climbers = [name for name in setup.names if name not in setup.anchors]
    doubt = (1 - CONFIDENCE) / (len(climbers) * len(rungs))
    step = rules.seats if setup.stop_when_decided else each  # games until somebody looks
    saved = 0
    for number, anchors in enumerate(rungs, 1):
        matches = [Match(f"rung{number}.{name}", number, (name, *anchors)) for name in climbers]
        open_, played = matches, []
        for first in range(0, each, step):
            games = range(first, min(first + step, each))
            made = [
                table
                for match in open_
                for table in _games(match.name, f"rung{number}", number, match.agents, games, rules)
            ]
            played += made
            yield Stage(made, [], [match for match in matches if first == 0])
            if setup.stop_when_decided:
                sure = [match for match in open_ if is_above(_won(match, played, done), 0.5, doubt) is not None]
                saved += len(sure) * (each - games.stop)
                open_ = [match for match in open_ if match not in sure]
        climbers = [match.agents[0] for match in matches if _climbs(match, played, done)]
        if not climbers:
            break
    return Ending("every climber has found its rung", saved) if saved else Ending("every climber has found its rung")


def _rungs(setup: Setup, rules: Rules) -> list[tuple[str, ...]]:
    """Whom a climber meets on each rung: as many anchors as there are other seats."""
    anchors, others = setup.anchors, rules.seats - 1
    return [tuple(anchors[at : at + others]) for at in range(len(anchors) - others + 1)]


def _won(match: Match, tables: Sequence[Table], done: Done) -> list[float]:
    """What a climber won, game by game; games on one deal are one piece of evidence."""
    deals: dict[str, list[float]] = {}
    for table, parts in played_in([table for table in tables if table.match == match.name], done):
        deals.setdefault(table.deal, []).append(parts[table.seats.index(match.agents[0])])
    return [sum(parts) / len(parts) for parts in deals.values()]


def _hold(match: Match, tables: Sequence[Table], done: Done) -> Match:
    """With its winner, if it is over: the climber by more than half of the points, else the anchors."""
    if not all(table.key in done for table in tables):
        return match
    return match._replace(winner=match.agents[0] if _climbs(match, tables, done) else match.agents[1])


def _climbs(match: Match, tables: Sequence[Table], done: Done) -> bool:
    won = _won(match, tables, done)
    return bool(won) and sum(won) / len(won) > 0.5


FORMATS: dict[Format, Callable[[Setup, Rules, Done], Stages]] = {
    Format.ROUND_ROBIN: _round_robin,
    Format.SWISS: _swiss,
    Format.KNOCKOUT: _knockout,
    Format.LADDER: _ladder,
}
