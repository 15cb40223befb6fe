from collections.abc import Sequence
from random import Random

import pytest
from pydantic import BaseModel

from arena import Effects, Operator, Refused, Score, Seat, action, end, say, tell
from arena.bots import Bot, Move, Moves, Talk
from arena.errors import Invalid
from arena.models import ChatMessage, Status
from arena.testing import START, Table, play


class Sum(BaseModel):
    total: int = 0
    notes: list[str] = []


class Adding(Operator[Sum]):
    """Players add numbers until the sum reaches ten."""

    def deal(self, rng: Random) -> Sum:
        return Sum()

    def start(self, sum: Sum) -> Effects:
        yield tell(0, "You begin.")

    @action
    def add(self, sum: Sum, seat: Seat, number: int, note: str = "") -> Effects:
        if number < 1:
            raise Refused("TOO_SMALL", "At least one.")
        sum.total += number
        sum.notes.append(note)
        yield say(f"The sum is {sum.total}.")
        if sum.total >= 10:
            yield end([Score(utility=int(seat == who)) for who in (0, 1)])

    @action
    def note(self, sum: Sum, seat: Seat, content: str) -> None:
        sum.notes.append(content)


def test_a_challenge_is_tested_in_three_lines() -> None:
    table = Table(Adding())
    table.act(0, "add", number=10)

    assert table.scores == [Score(utility=1), Score(utility=0)]


def test_a_move_can_be_given_as_text_or_by_its_arguments() -> None:
    table = Table(Adding())

    table.act(0, "add", '{"number": 1, "note": "as text"}')
    table.act(0, "add", {"number": 1, "note": "as data"})
    table.act(0, "add", number=1, note="by name")
    table.act(0, "add", number=1)
    table.act(0, "note", "raw")
    table.act(0, "note", content="by name too")

    assert table.state.total == 4
    assert table.state.notes == ["as text", "as data", "by name", "", "raw", "by name too"]


def test_a_wrong_name_is_not_taken_for_the_right_argument() -> None:
    table = Table(Adding())

    with pytest.raises(Invalid, match="numbers"):
        table.act(0, "add", number=1, numbers=2)


def test_a_refused_move_is_part_of_the_game_and_a_failed_one_is_not() -> None:
    table = Table(Adding())
    for content in ("0", "nonsense"):
        with pytest.raises((Refused, Invalid)):
            table.act(0, "add", number=content)

    assert [m.content for m in table.log if m.from_ == "inv_0"] == ['(add) {"number":"0"}']
    assert table.again() == table.session


def test_the_state_is_a_copy() -> None:
    table = Table(Adding())

    table.state.total = 99

    assert table.state.total == 0


def test_time_stands_still_until_it_is_moved() -> None:
    table = Table(Adding())
    table.act(0, "note", "now")
    table.advance(0.25)
    table.act(0, "note", "later")

    assert [m.timestamp for m in table.log[-2:]] == [START, START + 250]


def test_both_channels_have_consecutive_indexes_from_one() -> None:
    table = Table(Adding())
    table.act(0, "add", number=1)
    table.chat(0, "hello")
    table.chat(1, "psst", to=0)

    assert [m.index for m in table.log] == [1, 2, 3]
    assert [(m.index, m.from_, m.to, m.content) for m in table.talk] == [
        (1, "inv_0", None, "hello"),
        (2, "inv_1", "inv_0", "psst"),
    ]


class Adder(Bot):
    """Adds three whenever the other one has moved, and remembers all it heard."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.heard: list[str] = []

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        self.me, self.other = me, next(p for p in players if p != me)
        return [Talk(f"I am {me}"), Talk("my secret", self.me), Talk("for you", self.other)]

    def hear(self, message: ChatMessage) -> Moves:
        self.heard.append(message.content)
        turn = message.content == "You begin." or (message.type == "add" and message.from_ == self.other)
        return [Move("add", '{"number": 3}')] if turn else []


class Spoiler(Adder):
    """Answers to any news of the sum, so both have something to do."""

    def hear(self, message: ChatMessage) -> Moves:
        self.heard.append(message.content)
        return [Move("add", '{"number": 2}')] if message.content == "The sum is 3." else []


def test_bots_play_a_table_and_hear_what_they_may_read() -> None:
    table = Table(Adding())
    ada, ben = Adder(Random(1)), Spoiler(Random(2))

    play(table, [ada, ben])

    assert table.state.total == 5
    assert "You begin." in ada.heard
    assert "You begin." not in ben.heard
    assert ada.heard.count("for you") == ben.heard.count("for you") == 2  # one of its own, one of the other
    assert ada.heard.count("my secret") == ben.heard.count("my secret") == 1
    assert "The sum is 5." in ada.heard
    assert '(add) {"number": 3}' not in ben.heard


class Eager(Bot):
    """Keeps adding one."""

    def hear(self, message: ChatMessage) -> Moves:
        return [Move("add", '{"number": 1}')] if message.from_ == "operator" else []


def test_play_stops_at_the_end_of_the_game() -> None:
    table = Table(Adding())

    play(table, [Eager(Random(1)), Bot(Random(2))])

    assert table.status is Status.ENDED
    assert table.scores == [Score(utility=1), Score(utility=0)]


def test_play_stops_when_nobody_has_anything_left_to_do() -> None:
    table = Table(Adding())

    play(table, [Bot(Random(1)), Bot(Random(2))])

    assert table.status is Status.ACTIVE


class Chatterbox(Bot):
    def begin(self, me: str, players: Sequence[str]) -> Moves:
        return [Talk("Hello?")]

    def hear(self, message: ChatMessage) -> Moves:
        return [Talk("Hello?")]


def test_bots_that_never_stop_are_stopped() -> None:
    with pytest.raises(TimeoutError):
        play(Table(Adding()), [Chatterbox(Random(1)), Chatterbox(Random(2))], limit=50)
