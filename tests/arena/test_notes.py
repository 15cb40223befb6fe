"""Notes: what an operator writes down beside its state, for jobs to read."""

from random import Random

import pytest
from pydantic import BaseModel

from arena import Effects, Job, JobFailed, Operator, Refused, Seat, action, job, note
from arena.errors import Internal
from arena.testing import Table


class Nothing(BaseModel):
    """A state that stays as small as it is."""


class Scribe(Operator[Nothing]):
    """Writes down what it is told."""

    def deal(self, rng: Random) -> Nothing:
        return Nothing()

    @action
    def write(self, state: Nothing, seat: Seat, content: str) -> Effects:
        yield note(seat, {"said": content})
        yield job("count")

    @action
    def regret(self, state: Nothing, seat: Seat) -> Effects:
        yield note(seat, {"said": "never mind"})
        raise Refused("REGRETTED", "Never mind.")

    @action
    def gossip(self, state: Nothing, seat: Seat) -> Effects:
        yield note(7, {"said": "of nobody"})

    def worked(self, state: Nothing, job: Job, result: object | JobFailed) -> Effects:
        yield note(0, {"counted": True})
        raise RuntimeError("after all")


def test_notes_are_kept_by_seat_and_are_no_part_of_the_state() -> None:
    table = Table(Scribe())

    table.act(1, "write", "a")
    table.act(0, "write", "b")

    assert table.notes == [{"seat": 1, "said": "a"}, {"seat": 0, "said": "b"}]
    assert table.session.game == b"{}"


def test_what_is_refused_or_fails_leaves_no_note() -> None:
    table = Table(Scribe())
    table.act(0, "write", "a")

    with pytest.raises(Refused):
        table.act(0, "regret")
    with pytest.raises(Internal):
        table.act(0, "gossip")
    table.finish(table.jobs[0], None)

    assert len(table.faults) == 1
    assert table.notes == [{"seat": 0, "said": "a"}]


def test_a_note_that_cannot_be_written_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="JSON"):
        note(0, {"value": float("nan")})
    with pytest.raises(TypeError):
        note(0, {"value": object()})  # type: ignore[dict-item]
