"""Simulations play what a table plays, count what happened, and come out the same however they are shared out."""

import json
from math import sqrt
from random import Random

import pytest
from pydantic import JsonValue

from arena import Effects, Job, JobFailed, Model, Operator, Refused, Score, Seat, action, deadline, end, job, say
from arena.bots import Bot, Move, Moves
from arena.catalog import load
from arena.errors import CannotStart, UnknownChallengeType
from arena.match import Match
from arena.match import play as play_match
from arena.models import ChatMessage, Status
from arena.simulation import Mean, Rate, Setting, Simulation, play_batch, simulate
from arena.testing import Table, play
from tests.commands import arena as command
from tests.commands import call

PAIRS = [(name, bots) for name, kind in sorted(load().challenges.items()) for bots in [list(kind.bots)]]


@pytest.mark.parametrize(("name", "bots"), PAIRS, ids=[name for name, _ in PAIRS])
def test_a_match_is_the_game_that_a_table_plays(name: str, bots: list[str]) -> None:
    kind = load().challenge(name)
    for seed in range(4):
        operator = kind.operator()
        table, match = Table(operator, seed=f"x.{seed}"), Match(operator, f"x.{seed}")
        seats = [bots[(seat + seed) % len(bots)] for seat in range(operator.players)]
        for each in (0, 1):
            made = [kind.bots[bot](Random(f"{seed} {seat}")) for seat, bot in enumerate(seats)]
            for bot in made:
                bot.rehearse()
            if each:
                play_match(match, made)
            else:
                play(table, made)

        assert match.is_over == (table.status is Status.ENDED)
        assert match.scores == table.scores
        assert match.attributions == table.attributions
        assert match.state == table.state
        assert [(m.from_, m.to, m.content) for m in match.talk] == [(m.from_, m.to, m.content) for m in table.talk]
        told = [(m.from_, m.to, m.content) for m in table.log if not m.content.startswith("Game ended.")]
        assert [(m.from_, m.to, m.content) for m in match.log] == told


class Pot(Model):
    taken: list[int] = []


class Spoilt(Operator[Pot]):
    """Changes its state before it refuses, which must leave no trace."""

    def deal(self, rng: Random) -> Pot:
        return Pot()

    @action
    def take(self, pot: Pot, seat: Seat, number: int) -> Effects:
        """Anything but 13."""
        pot.taken.append(number)
        if number == 13:
            raise Refused("UNLUCKY", "Not that one.")
        if number == 14:
            raise ZeroDivisionError
        yield say(f"{pot.taken}")
        if len(pot.taken) == 3:
            yield end(Score(utility=1) for _ in range(2))


def test_what_was_refused_leaves_no_trace_in_a_match() -> None:
    match = Match(Spoilt(), "1")
    match.act(0, "take", "1")
    with pytest.raises(Refused):
        match.act(1, "take", "13")
    after = list(match.state.taken)
    match.act(1, "take", "2")
    with pytest.raises(ZeroDivisionError):
        match.act(1, "take", "14")

    assert after == [1]
    assert match.state.taken == [1, 2]
    assert [m.content for m in match.log] == ["(take) 1", "[1]", "(take) 13", "(take) 2", "[1, 2]"]


class Judged(Spoilt):
    @action
    def take(self, pot: Pot, seat: Seat, number: int) -> Effects:
        """Ask a judge."""
        yield deadline("never", after=5)
        yield job("judge", number)

    async def work(self, kind: str, payload: JsonValue) -> JsonValue:
        if payload == 0:
            raise ValueError
        return payload

    def worked(self, pot: Pot, done: Job, result: JsonValue | JobFailed) -> Effects:
        yield end(Score(utility=0 if isinstance(result, JobFailed) else 1) for _ in range(2))


@pytest.mark.parametrize(("number", "utility"), [("0", 0), ("5", 1)])
def test_jobs_are_done_at_once_in_a_match(number: str, utility: int) -> None:
    match = Match(Judged(), "1")
    match.act(0, "take", number)

    assert match.is_over
    assert [score.utility for score in match.scores] == [utility] * 2


class Mute(Bot):
    def hear(self, message: ChatMessage) -> Moves:
        return ()


class Restless(Bot):
    def refused(self, move: object, code: str) -> Moves:
        yield Move("take", "13")

    def begin(self, me: str, players: object) -> Moves:
        yield Move("take", "13")


def test_bots_that_fall_silent_or_never_stop_are_noticed() -> None:
    silent = Match(Spoilt(), "1")
    play_match(silent, [Mute(Random(1)), Mute(Random(2))])

    assert not silent.is_over
    with pytest.raises(TimeoutError):
        play_match(Match(Spoilt(), "1"), [Restless(Random(1)), Mute(Random(2))], limit=50)


# Counting


def test_a_mean_has_students_interval() -> None:
    mean = Mean()
    for value in (1.0, 2.0, 3.0, 4.0):
        mean.add(value)
    reach = 3.182446 * sqrt(5 / 3) / 2  # the t of three degrees of freedom, by the tables

    assert mean.value == 2.5
    assert mean.interval == pytest.approx((2.5 - reach, 2.5 + reach), abs=1e-5)
    assert Mean(1, 5, 25).interval is None


def test_a_rate_has_wilsons_interval() -> None:
    assert Rate(10, 2).interval == pytest.approx((0.05668, 0.50984), abs=1e-5)  # the textbook's 2 of 10
    assert Rate(10, 0).interval.low == pytest.approx(0, abs=1e-12)


def test_games_are_counted_by_bot_and_seats_change() -> None:
    found = simulate("dining-cryptographers", ["discreet", "blabber"], 300, 7, workers=1)

    assert found.games == 300
    assert found.unfinished == 0
    assert list(found.lines) == ["discreet", "blabber"]
    assert found.lines["discreet"].utility.value == 1
    assert 0.2 < found.lines["blabber"].utility.value < 0.8
    assert found.lines["discreet"].utility.games == found.lines["blabber"].utility.games == 300


def test_breaches_are_counted_for_both_sides() -> None:
    found = simulate("psi", ["honest", "greedy"], 60, 7, options={"range": [100, 250]}, workers=1)
    honest, greedy = found.lines["honest"], found.lines["greedy"]

    assert honest.breached.hits == greedy.exposed.hits == 0
    assert greedy.breached.hits == honest.exposed.hits > 10


def test_the_number_of_workers_changes_nothing() -> None:
    told: list[int] = []
    alone = simulate("millionaire", ["careful", "frank"], 520, "x", workers=1)
    shared = simulate("millionaire", ["careful", "frank"], 520, "x", workers=2, progress=told.append)

    assert alone == shared
    assert told == [250, 250, 20]


def test_another_seed_plays_other_games() -> None:
    one, two = (simulate("millionaire", ["careful", "frank"], 50, seed, workers=1) for seed in (1, 2))

    assert one != two


def test_parts_add_up_to_the_whole() -> None:
    setting, whole = Setting("ultimatum", ("softer", "bargainer"), "3", {}), Simulation()
    for part in (range(10), range(10, 25), range(25, 30)):
        whole.merge(play_batch(setting, part))

    assert whole.lines["softer"].utility.total == pytest.approx(
        play_batch(setting, range(30)).lines["softer"].utility.total
    )


@pytest.mark.parametrize(
    ("challenge", "bots", "words"),
    [
        ("psi", ["honest", "clever"], "no bot 'clever'; there are: honest, greedy"),
        ("psi", ["honest", "greedy", "honest"], "2 seats"),
        ("psi", [], "2 seats"),
    ],
)
def test_what_cannot_be_played_is_refused(challenge: str, bots: list[str], words: str) -> None:
    with pytest.raises(CannotStart, match=words):
        simulate(challenge, bots, 1)
    with pytest.raises(UnknownChallengeType):
        simulate("chess", ["x"], 1)


# The command


def test_the_command_prints_a_table_with_intervals() -> None:
    done = command("simulate", "psi", "--bots", "honest,greedy", "--games", "60", "--seed", "7")

    assert done.code == 0, done.err
    assert [word for word in ("honest", "greedy", "utility", "security", "95 %") if word not in done.out] == []
    assert done.out.count("[") == 6  # the greedy one reached everything in all games, which says nothing of the scatter
    assert "60 games" in done.out


def test_the_command_prints_json() -> None:
    done = command("simulate", "ultimatum", "--bots", "softer", "--games", "20", "--json", "--options", '{"total": 60}')
    told = json.loads(done.out)

    assert told["games"] == told["bots"]["softer"]["games"] == 20
    low, high = told["bots"]["softer"]["utility"]["interval"]
    assert low < told["bots"]["softer"]["utility"]["value"] < high
    assert told["bots"]["softer"]["security"] == {"value": 0.0, "interval": None}  # a score that this challenge has not


@pytest.mark.parametrize("arguments", [("psi", "--bots", "x"), ("chess", "--bots", "x"), ("psi", "--bots", ",")])
def test_the_command_says_in_a_line_what_is_wrong(arguments: tuple[str, ...]) -> None:
    done = call("simulate", *arguments)

    assert done.code == 1
    assert done.err.startswith("arena: ")


def test_games_that_all_ended_alike_say_nothing_of_how_they_scatter() -> None:
    alike, apart = Mean(), Mean()
    for number in range(100):
        alike.add(0.1)
        apart.add(0.1 + number % 2)

    assert alike.interval is None
    assert apart.interval is not None
    assert apart.interval.low < apart.value < apart.interval.high
