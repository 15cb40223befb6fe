"""What a challenge's own mistakes may do to a game: as little as possible."""

from math import inf, nan
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue

from arena import Effects, Operator, Score, Seat, action, attribute, deadline, end, job, say, score
from arena.models import Status
from arena.operator import Job, JobFailed
from arena.session import Expire, Standing
from arena.testing import START, Table
from arena.turn import apply


class Ticks(BaseModel):
    seen: int = 0


class Clumsy(Operator[Ticks]):
    """Its unattended handlers change the state, speak, and then fall over."""

    def deal(self, rng: Random) -> Ticks:
        return Ticks()

    @action
    def wind(self, ticks: Ticks, seat: Seat, after: float) -> Effects:
        yield deadline("alarm", after=after)
        yield job("count")

    @action
    def look(self, ticks: Ticks, seat: Seat) -> Effects:
        yield say(f"Seen {ticks.seen}.")

    @action
    def miscount(self, ticks: Ticks, seat: Seat) -> Effects:
        ticks.seen = "7"  # type: ignore[assignment]
        yield say("Seven.")

    def expired(self, ticks: Ticks, name: str) -> Effects:
        ticks.seen += 1
        yield say("Ring!")
        raise ZeroDivisionError

    def worked(self, ticks: Ticks, job: Job, result: JsonValue | JobFailed) -> Effects:
        ticks.seen += 1
        yield say("Done!")
        yield deadline("never", after=1)
        raise KeyError(job.id)


def test_a_deadline_whose_handler_fails_is_over_and_leaves_nothing_else() -> None:
    table = Table(Clumsy())
    table.act(0, "wind", 5)

    table.advance(60)
    table.act(1, "look")

    assert table.said == ["Seen 0."]
    assert table.session.due is None
    assert table.again().game == table.session.game


def test_a_job_whose_result_nobody_can_take_is_over_and_leaves_nothing_else() -> None:
    table = Table(Clumsy())
    table.act(0, "wind", 5)

    table.finish(table.jobs[0], 7)

    assert table.jobs == []
    assert table.said == []
    assert set(table.session.standing.deadlines) == {"alarm"}


def test_a_state_of_the_wrong_type_is_a_fault_although_it_could_be_read_again() -> None:
    table = Table(Clumsy())

    with pytest.raises(Exception, match="Expected `int`"):
        table.act(0, "miscount")
    table.act(1, "look")

    assert table.said == ["Seen 0."]


@pytest.mark.parametrize("after", [0, -1, float("nan")])
def test_a_deadline_lies_ahead(after: float) -> None:
    with pytest.raises(ValueError, match="ahead"):
        deadline("now", after=after)


class Cautious(Clumsy):
    """Overrides a move without marking it again."""

    def look(self, ticks: Ticks, seat: Seat) -> Effects:
        yield say("Nothing to see.")


class Modest(Operator[Ticks]):
    """A move whose arguments all have defaults."""

    def deal(self, rng: Random) -> Ticks:
        return Ticks()

    @action
    def add(self, ticks: Ticks, seat: Seat, much: int = 1, often: int = 2) -> Effects:
        yield say(str(much * often))


def test_an_overridden_move_stays_a_move() -> None:
    table = Table(Cautious())

    table.act(0, "look")

    assert table.said == ["Nothing to see."]


def test_empty_content_stands_for_all_defaults() -> None:
    table = Table(Modest())

    table.act(0, "add")
    table.act(0, "add", much=3)

    assert table.said == ["2", "6"]


HALF = "\ud83d"  # of a character, as a cut through an emoji leaves it


def _spoiled() -> Score:
    made = Score()
    made.utility -= inf
    return made


ORDERS: dict[str, Any] = {
    "half a payload": lambda: job("count", {"text": [HALF]}),
    "half a key": lambda: job("count", {HALF: 1}),
    "half a kind": lambda: job(HALF),
    "a payload without a value": lambda: job("count", {"share": [nan]}),
    "a payload that is no JSON": lambda: job("count", {1, 2}),  # type: ignore[arg-type]
    "half a deadline": lambda: deadline(HALF, after=1),
    "half an attribution": lambda: attribute(0, 1, HALF),
    "half a sentence": lambda: say(HALF),
    "a score without a value": lambda: score(0, utility=nan),
    "an end with a score without a value": lambda: end([_spoiled(), _spoiled()]),
}


class Reckless(Clumsy):
    """Orders at a deadline what nobody can write down."""

    def expired(self, ticks: Ticks, name: str) -> Effects:
        ticks.seen += 1
        yield ORDERS[name]()

    @action
    def alarm(self, ticks: Ticks, seat: Seat, content: str) -> Effects:
        yield deadline(content, after=1)


@pytest.mark.parametrize("order", ORDERS)
def test_a_deadline_that_orders_what_cannot_be_written_is_over_and_leaves_nothing_else(order: str) -> None:
    table = Table(Reckless())
    table.act(0, "alarm", order)
    before = table.session

    made = apply(table.operator, before, Expire(name=order, at=START + 1000))  # type: ignore[arg-type]

    assert made.fault is not None
    assert made.standing == before.standing.model_copy(update={"deadlines": {}})
    assert (made.game, made.entries, made.events) == (before.game, [], [])


class Rich(Clumsy):
    """Plays for more than anybody can count."""

    @action
    def win(self, ticks: Ticks, seat: Seat) -> Effects:
        yield score(seat, utility=2**70)

    @action
    def stop(self, ticks: Ticks, seat: Seat) -> Effects:
        yield end()


def test_a_score_of_any_size_can_be_told_and_read_again() -> None:
    table = Table(Rich())
    table.act(0, "win")

    table.act(0, "stop")

    assert table.status is Status.ENDED
    assert table.scores[0].utility == 2**70
    assert Standing.from_json(table.session.standing.to_json()) == table.session.standing


class Deep(BaseModel):
    value: float | None = None


class Endless(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")

    value: float = inf


class Values(BaseModel):
    best: float | None = None
    anything: Any = None
    many: list[float | None] = [None]
    deep: Deep = Deep()
    by_name: dict[str, Deep | None] = {"null": None}
    endless: Endless = Endless()
    text: str = "null"


def _set(values: Values, where: str, value: float) -> None:
    match where:
        case "best":
            values.best = value
        case "anything":
            values.anything = [{"value": value}]
        case "many":
            values.many.append(value)
        case "deep":
            values.deep.value = value
        case "by name":
            values.by_name["null"] = Deep(value=value)


class Divider(Operator[Values]):
    """Comes to results that are no numbers, wherever it may have none."""

    def deal(self, rng: Random) -> Values:
        return Values()

    @action
    def divide(self, values: Values, seat: Seat, content: str) -> Effects:
        _set(values, content, 1 / 3)
        yield say("Done.")

    @action
    def diverge(self, values: Values, seat: Seat, where: str, value: str) -> Effects:
        _set(values, where, float(value))
        yield say("This is never heard.")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("where", ["best", "anything", "many", "deep", "by name"])
def test_a_number_that_json_cannot_write_is_never_kept_as_none(where: str, value: str) -> None:
    table = Table(Divider())
    before = table.session

    with pytest.raises(ValueError, match="JSON cannot write"):
        table.act(0, "diverge", where=where, value=value)
    unchanged = table.session == before
    table.act(0, "divide", where)

    assert unchanged
    assert table.said == ["Done."]


def test_a_state_may_keep_such_numbers_as_text_beside_others_that_are_none() -> None:
    table = Table(Divider())

    table.act(0, "divide", "best")

    assert table.state.endless.value == inf
    assert table.state.best == 1 / 3
    assert table.state.many == [None]
