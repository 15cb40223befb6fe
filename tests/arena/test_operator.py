from collections.abc import Sequence
from enum import StrEnum
from random import Random
from typing import Annotated, Any, Literal, TypeVar

import pytest
from pydantic import BaseModel, Field, JsonValue

from arena import (
    Effects,
    Job,
    JobFailed,
    Model,
    Operator,
    Refused,
    Score,
    Seat,
    action,
    breach,
    cancel,
    deadline,
    end,
    job,
    say,
    score,
    tell,
)
from arena.errors import CannotStart, Internal, Invalid, UnknownMethod
from arena.models import Millis, Status
from arena.operator import NoOptions
from arena.testing import START, Table


class Duel(BaseModel):
    digits: tuple[int, int]
    guesses: dict[Seat, int] = {}


class SecretDigit(Operator[Duel]):
    players = 2

    def deal(self, rng: Random) -> Duel:
        return Duel(digits=(rng.randrange(10), rng.randrange(10)))

    def start(self, duel: Duel) -> Effects:
        for seat, digit in enumerate(duel.digits):
            yield tell(seat, f"Your digit is {digit}. Keep it to yourself.")
        yield say("Talk as long as you like. Each of you has one guess.")

    @action
    def guess(self, duel: Duel, seat: Seat, digit: int) -> Effects:
        """Name the digit you believe your rival holds."""
        if seat in duel.guesses:
            raise Refused("ALREADY_GUESSED", "You have used your one guess.")
        duel.guesses[seat] = digit
        yield say(f"Player {seat + 1} has guessed.")
        if len(duel.guesses) == self.players:
            yield from self.reveal(duel)

    def reveal(self, duel: Duel) -> Effects:
        found = [duel.guesses[seat] == duel.digits[1 - seat] for seat in (0, 1)]
        yield from (breach(by=seat, of=1 - seat) for seat in (0, 1) if found[seat])
        yield end(Score(utility=int(found[seat]), security=int(not found[1 - seat])) for seat in (0, 1))


def test_a_second_guess_is_refused_and_changes_nothing() -> None:
    table = Table(SecretDigit(), seed=7)
    table.act(0, "guess", digit=4)

    with pytest.raises(Refused, match="one guess"):
        table.act(0, "guess", digit=5)

    assert table.state.guesses == {0: 4}


def test_the_example_of_the_house_plays_to_its_end() -> None:
    table = Table(SecretDigit(), seed=7)
    mine, theirs = table.state.digits

    table.act(0, "guess", digit=theirs)
    table.act(1, "guess", digit=(mine + 1) % 10)

    assert table.told(0) == [f"Your digit is {mine}. Keep it to yourself."]
    assert table.said[:2] == ["Talk as long as you like. Each of you has one guess.", "Player 1 has guessed."]
    assert table.scores == [Score(utility=1, security=1), Score(utility=0, security=0)]
    assert table.attributions == [(0, 1, "security_breach")]
    assert table.again() == table.session


def test_the_same_seed_deals_the_same_game_and_other_seeds_deal_others() -> None:
    deals = [Table(SecretDigit(), seed=seed).state for seed in (1, 1, *range(20))]

    assert deals[0] == deals[1]
    assert len({deal.digits for deal in deals}) > 10


class Heard(BaseModel):
    things: list[Any] = []


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


class Point(BaseModel):
    x: int
    y: int = 0


class Listener(Operator[Heard]):
    """Writes down the arguments of everything it is told."""

    players = 1

    def deal(self, rng: Random) -> Heard:
        return Heard()

    @action
    def number(self, heard: Heard, seat: Seat, digit: int) -> None:
        """Say a number."""
        heard.things.append(digit)

    @action
    def bounded(self, heard: Heard, seat: Seat, amount: Annotated[int, Field(ge=0)]) -> None:
        heard.things.append(amount)

    @action
    def several(self, heard: Heard, seat: Seat, numbers: list[int]) -> None:
        heard.things.append(numbers)

    @action
    def share(self, heard: Heard, seat: Seat, share: float | None) -> None:
        heard.things.append(share)

    @action
    def shares(self, heard: Heard, seat: Seat, shares: list[float]) -> None:
        heard.things.append(shares)

    @action
    def weigh(self, heard: Heard, seat: Seat, left: float, right: float = 1) -> None:
        heard.things.append([left, right])

    @action
    def side(self, heard: Heard, seat: Seat, side: Side) -> None:
        heard.things.append(side)

    @action
    def point(self, heard: Heard, seat: Seat, point: Point) -> None:
        heard.things.append([point.x, point.y])

    @action
    def pair(self, heard: Heard, seat: Seat, row: int, column: int = 7) -> None:
        heard.things.append([row, column])

    @action
    def words(self, heard: Heard, seat: Seat, content: str) -> None:
        heard.things.append(content)

    @action(name="say-nothing")
    def nothing(self, heard: Heard, seat: Seat) -> None:
        heard.things.append(None)


@pytest.mark.parametrize(
    ("name", "content", "read"),
    [
        ("number", "4", 4),
        ("number", '"4"', 4),
        ("number", " 4 ", 4),
        ("number", '{"digit": 4}', 4),
        ("number", '{"digit": "4"}', 4),
        ("bounded", "0", 0),
        ("several", "[1, 2]", [1, 2]),
        ("several", '{"numbers": ["1", 2]}', [1, 2]),
        ("share", "0.5", 0.5),
        ("shares", "[0.5, 1]", [0.5, 1]),
        ("weigh", '{"left": 0.5}', [0.5, 1]),
        ("side", "left", "left"),
        ("side", '"left"', "left"),
        ("point", '{"x": 1}', [1, 0]),
        ("point", '{"point": {"x": "1", "y": 2}}', [1, 2]),
        ("pair", '{"row": 1, "column": 2}', [1, 2]),
        ("pair", '{"row": "1"}', [1, 7]),
        ("words", '{"content": "as it is"}', '{"content": "as it is"}'),
        ("words", "", ""),
        ("say-nothing", "whatever", None),
    ],
)
def test_arguments_are_read_from_the_content(name: str, content: str, read: JsonValue) -> None:
    table = Table(Listener())

    table.act(0, name, content)

    assert table.state.things == [read]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("number", ""),
        ("number", "four"),
        ("number", "4.5"),
        ("number", "null"),
        ("number", "9" * 5000),
        ("number", "{"),
        ("number", '{"digits": 4}'),
        ("number", '{"digit": 4, "more": 1}'),
        ("bounded", "-1"),
        ("bounded", '{"amount": -1}'),
        ("several", "1 2"),
        ("several", '["one"]'),
        ("several", "[" * 5000),
        ("share", "nan"),
        ("share", "-Infinity"),
        ("share", '{"share": NaN}'),
        ("share", "1e999"),
        ("shares", "[NaN]"),
        ("weigh", '{"left": NaN}'),
        ("weigh", '{"left": 1, "right": "inf"}'),
        ("side", "up"),
        ("pair", "1"),
        ("pair", "[1, 2]"),
        ("pair", '{"column": 2}'),
        ("pair", '{"row": 1, "rows": 2}'),
    ],
)
def test_arguments_of_the_wrong_shape_are_invalid_and_leave_nothing(name: str, content: str) -> None:
    table = Table(Listener())
    before = table.session

    with pytest.raises(Invalid, match=f"^{name}: "):
        table.act(0, name, content)

    assert table.session == before
    assert table.log == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("number", "four", "number: digit: Input should be a valid integer"),
        ("bounded", "-1", "bounded: amount: Input should be greater than or equal to 0"),
        ("pair", "{}", "pair: row: Field required"),
    ],
)
def test_a_player_is_told_which_argument_is_wrong_and_why(name: str, content: str, words: str) -> None:
    with pytest.raises(Invalid, match=f"^{words}"):
        Table(Listener()).act(0, name, content)


def test_a_move_that_the_challenge_does_not_know_is_refused_and_leaves_the_players_message() -> None:
    table = Table(Listener())

    with pytest.raises(UnknownMethod, match="Unknown challenge method: dance"):
        table.act(0, "dance", "now")

    assert [m.content for m in table.log] == ["(dance) now"]


def test_actions_are_described_in_the_order_they_are_written() -> None:
    methods = [move.method for move in Listener.actions.values()]

    assert [m.name for m in methods] == [
        "number",
        "bounded",
        "several",
        "share",
        "shares",
        "weigh",
        "side",
        "point",
        "pair",
        "words",
        "say-nothing",
    ]
    assert methods[0].description == "Say a number."


def test_the_schema_of_the_arguments_shows_their_types_bounds_and_defaults() -> None:
    bounded, pair = (Listener.actions[name].method.arguments for name in ("bounded", "pair"))

    assert bounded is not None
    assert bounded["properties"] == {"amount": {"minimum": 0, "title": "Amount", "type": "integer"}}
    assert pair is not None
    assert pair["required"] == ["row"]
    assert pair["additionalProperties"] is False


class Curious(Operator[Heard]):
    """Asks for parts of the moment, in any order, between its arguments."""

    def deal(self, rng: Random) -> Heard:
        return Heard(things=[rng.random()])

    def joined(self, heard: Heard, seat: Seat, handles: Sequence[str]) -> Effects:
        yield tell(seat, f"{list(handles)}")

    def start(self, heard: Heard, now: Millis, handles: Sequence[str]) -> Effects:
        yield say(f"{now - START} {list(handles)}")

    @action
    def draw(self, heard: Heard, seat: Seat, rng: Random, count: int, now: Millis, handles: Sequence[str]) -> None:
        heard.things.append([rng.random() for _ in range(count)])
        heard.things.append([now - START, handles[seat]])


def test_handlers_are_handed_the_parts_of_the_moment_that_they_name() -> None:
    table = Table(Curious())
    table.advance(1.5)

    table.act(1, "draw", count=2)

    assert table.told(0) == ["['inv_0']"]
    assert table.told(1) == ["['inv_0', 'inv_1']"]
    assert table.said == ["0 ['inv_0', 'inv_1']"]
    assert table.state.things[2] == [1500, "inv_1"]
    assert set(Curious.actions["draw"].method.arguments or {}) >= {"properties"}
    assert Curious.actions["draw"].alone == "count"


def test_every_input_has_a_generator_of_its_own() -> None:
    table, twin, other = Table(Curious(), seed=1), Table(Curious(), seed=1), Table(Curious(), seed=2)
    for each in (table, twin, other):
        each.act(0, "draw", count=1)
        each.act(0, "draw", count=1)

    dealt, first, _, second, _ = table.state.things

    assert dealt != first[0] != second[0]
    assert twin.state == table.state
    assert other.state.things[1] != first
    assert table.again() == table.session


class Clock(Operator[Heard]):
    def deal(self, rng: Random) -> Heard:
        return Heard()

    def start(self, heard: Heard) -> Effects:
        yield deadline("late", after=20)
        yield deadline("early", after=10)

    def expired(self, heard: Heard, name: str, now: Millis) -> Effects | None:
        heard.things.append([name, now - START])
        return iter([deadline("again", after=1)]) if name == "early" else None

    @action
    def put_off(self, heard: Heard, seat: Seat, seconds: float) -> Effects:
        yield deadline("early", after=seconds)

    @action
    def stop(self, heard: Heard, seat: Seat) -> Effects:
        yield cancel("early")
        yield cancel("never set")

    @action
    def finish(self, heard: Heard, seat: Seat) -> Effects:
        yield end()


def test_deadlines_fire_in_their_order_each_at_its_own_time() -> None:
    table = Table(Clock())

    table.advance(9.999)
    before = table.state.things
    table.advance(100)

    assert before == []
    assert table.state.things == [["early", 10_000], ["again", 11_000], ["late", 20_000]]
    assert table.now == START + 109_999
    assert table.again() == table.session


def test_a_deadline_that_is_set_again_has_one_moment_the_newest() -> None:
    table = Table(Clock())
    table.advance(5)

    table.act(0, "put_off", seconds=10)
    table.advance(30)

    assert table.state.things == [["early", 15_000], ["again", 16_000], ["late", 20_000]]


def test_a_cancelled_deadline_never_fires() -> None:
    table = Table(Clock())

    table.act(0, "stop")
    table.advance(30)

    assert table.state.things == [["late", 20_000]]


def test_the_end_of_a_game_forgets_its_deadlines() -> None:
    table = Table(Clock())

    table.act(0, "finish")
    table.advance(30)

    assert table.state.things == []
    assert table.session.due is None
    assert table.session.standing.deadlines == {}


class Judge(Operator[Heard]):
    players = 1

    def deal(self, rng: Random) -> Heard:
        return Heard()

    @action
    def submit(self, heard: Heard, seat: Seat, content: str) -> Effects:
        yield job("judge", {"text": content})
        yield job("count", len(content))

    async def work(self, kind: str, payload: JsonValue) -> JsonValue:
        return [kind, payload]

    def worked(self, heard: Heard, job: Job, result: JsonValue | JobFailed) -> Effects:
        heard.things.append(f"failed: {result}" if isinstance(result, JobFailed) else [job.kind, job.payload, result])
        yield say(f"{job.kind} is done.")


async def test_a_job_is_an_effect_and_its_result_comes_back_as_an_input() -> None:
    table = Table(Judge())

    table.act(0, "submit", "an essay")
    first, second = table.jobs
    table.finish(second, await table.operator.work(second.kind, second.payload))

    assert [first.kind, first.payload] == ["judge", {"text": "an essay"}]
    assert first.id != second.id
    assert table.state.things == [["count", 8, ["count", 8]]]
    assert table.said == ["count is done."]
    assert table.jobs == [first]
    assert table.again() == table.session


def test_a_job_that_fails_for_good_is_told_to_the_operator() -> None:
    table = Table(Judge())
    table.act(0, "submit", "an essay")

    table.finish(table.jobs[0], JobFailed("three deaths"))

    assert table.state.things == ["failed: three deaths"]


def test_a_result_counts_once_and_only_while_it_is_waited_for() -> None:
    table = Table(Judge())
    table.act(0, "submit", "an essay")
    [first, _] = table.jobs

    table.finish(first, 1)
    table.finish(first, 2)
    table.finish(Job("made up", "judge", None), 3)

    assert table.state.things == [["judge", {"text": "an essay"}, 1]]


async def test_an_operator_without_jobs_says_so() -> None:
    with pytest.raises(JobFailed, match="SecretDigit has no jobs of kind 'judge'"):
        await SecretDigit().work("judge", None)


class Faulty(Operator[Heard]):
    players = 2

    def deal(self, rng: Random) -> Heard:
        return Heard()

    @action
    def crash(self, heard: Heard, seat: Seat) -> Effects:
        heard.things.append("touched")
        yield say("Look!")
        raise ZeroDivisionError

    @action
    def refuse(self, heard: Heard, seat: Seat) -> Effects:
        heard.things.append("touched")
        yield say("Look!")
        yield end()
        raise Refused("NOT_NOW", "Not now.")

    @action
    def go_on(self, heard: Heard, seat: Seat) -> Effects:
        yield end()
        yield say("One more thing.")

    @action
    def end_twice(self, heard: Heard, seat: Seat) -> Effects:
        yield end()
        yield end()

    @action
    def end_short(self, heard: Heard, seat: Seat) -> Effects:
        yield end([Score()])

    @action
    def tell_nobody(self, heard: Heard, seat: Seat) -> Effects:
        yield tell(2, "Hello?")

    @action
    def blame_nobody(self, heard: Heard, seat: Seat) -> Effects:
        yield breach(by=0, of=-1)

    @action
    def reward_nobody(self, heard: Heard, seat: Seat) -> Effects:
        yield score(-1, utility=1)


def test_a_handler_that_raises_leaves_nothing() -> None:
    table = Table(Faulty())
    before = table.session

    with pytest.raises(ZeroDivisionError):
        table.act(0, "crash")

    assert table.session == before
    assert table.log == []


def test_a_handler_that_refuses_late_leaves_only_the_players_message() -> None:
    table = Table(Faulty())

    with pytest.raises(Refused, match="Not now"):
        table.act(0, "refuse")

    assert [m.content for m in table.log] == ["(refuse) "]
    assert table.state.things == []
    assert table.status is Status.ACTIVE


@pytest.mark.parametrize("name", ["go_on", "end_twice", "end_short", "tell_nobody", "blame_nobody", "reward_nobody"])
def test_effects_that_make_no_sense_are_a_fault_and_leave_nothing(name: str) -> None:
    table = Table(Faulty())
    before = table.session

    with pytest.raises(Internal):
        table.act(0, name)

    assert table.session == before
    assert table.log == []


class Sizes(Model):
    players: Annotated[int, Field(ge=1, le=4)] = 2
    board_size: tuple[int, int] = (3, 3)
    side: Side = Side.LEFT
    mode: Literal["fast", "slow"] = "fast"


class Board(Operator[Heard, Sizes]):
    def deal(self, rng: Random) -> Heard:
        return Heard(things=[*self.options.board_size, self.options.side])


def test_options_arrive_as_they_are_on_the_wire() -> None:
    table = Table(Board({"players": 3, "boardSize": [4, 5], "side": "right"}))

    assert table.state.things == [4, 5, "right"]
    assert table.operator.players == len(table.handles) == 3
    assert table.session.header.options == {"players": 3, "boardSize": [4, 5], "side": "right", "mode": "fast"}


def test_options_can_be_given_as_the_model_and_have_defaults() -> None:
    assert Board(Sizes(board_size=(1, 2))).options.board_size == (1, 2)
    assert Board().options == Sizes()


@pytest.mark.parametrize(
    "options",
    [{"players": 0}, {"players": "2"}, {"boardSize": [1]}, {"mode": "idle"}, {"side": 1}, {"size": 3}],
)
def test_options_of_the_wrong_shape_are_invalid(options: dict[str, JsonValue]) -> None:
    with pytest.raises(Invalid, match=r"^options: "):
        Board(options)


def test_a_challenge_without_options_takes_none() -> None:
    assert SecretDigit.options_type is NoOptions

    with pytest.raises(Invalid, match="digits: Extra inputs"):
        SecretDigit({"digits": 3})


AnyState = TypeVar("AnyState", bound=BaseModel)


class Timed(Operator[AnyState, Sizes]):
    """A base that leaves the state to those who build on it."""


class TimedDuel(Timed[Duel]):
    def deal(self, rng: Random) -> Duel:
        return Duel(digits=(1, 2))


def test_types_are_found_through_a_base_that_names_only_some_of_them() -> None:
    assert not hasattr(Timed, "state_type")
    assert TimedDuel.state_type is Duel
    assert TimedDuel.options_type is Sizes
    assert Table(TimedDuel({"boardSize": [1, 2]})).state == Duel(digits=(1, 2))


def test_an_operator_that_cannot_deal_says_so() -> None:
    with pytest.raises(CannotStart, match="Timed does not say how to deal a game"):
        Timed().deal(Random(0))
