"""What a challenge's own mistakes may do to a game: as little as possible."""

from random import Random

import pytest
from pydantic import BaseModel, JsonValue

from arena import Effects, Operator, Seat, action, deadline, job, say
from arena.operator import Job, JobFailed
from arena.testing import Table


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
