"""Who sits down with whom."""

from hypothesis import given
from hypothesis import strategies as st

from arena.models import Millis, UserId
from arena.pairing import Rules, Table, Ticket, tables

RULES = Rules(reach=100, widen=10)


def ticket(
    name: str, rating: float | None = None, at: int = 0, seats: int = 2, user: str | None = None, lane: str = "x"
) -> Ticket:
    return Ticket(id=name, lane=lane, seats=seats, user=UserId(user or name), rating=rating, at=Millis(at))


def named(made: list[Table]) -> list[set[str]]:
    return [{ticket.id for ticket in table.tickets} for table in made]


def test_those_who_are_close_meet_at_once() -> None:
    waiting = [ticket("ada", 1500), ticket("ben", 2000), ticket("cat", 1590), ticket("dan", 1950)]

    assert named(tables(waiting, Millis(0), RULES)) == [{"ada", "cat"}, {"ben", "dan"}]


def test_the_window_widens_with_the_time_that_both_have_waited() -> None:
    ada, ben = ticket("ada", 1500), ticket("ben", 1700, at=5_000)

    assert tables([ada, ben], Millis(14_999), RULES) == []
    assert named(tables([ada, ben], Millis(15_000), RULES)) == [{"ada", "ben"}]


def test_somebody_without_a_rating_stands_where_everybody_begins() -> None:
    assert named(tables([ticket("ada"), ticket("ben", 1601), ticket("cat", 1420)], Millis(0), RULES)) == [
        {"ada", "cat"}
    ]


def test_nobody_meets_oneself_or_those_who_want_another_game() -> None:
    waiting = [ticket("one", user="ada"), ticket("two", user="ada"), ticket("three", lane="y")]

    assert tables(waiting, Millis(10**9), RULES) == []


def test_who_is_nobody_may_meet_who_is_nobody() -> None:
    waiting = [ticket(name).model_copy(update={"user": None}) for name in ("one", "two")]

    assert named(tables(waiting, Millis(0), RULES)) == [{"one", "two"}]


def test_a_table_of_three_waits_for_three_who_all_suit_each_other() -> None:
    ada, ben, cat = (ticket(name, rating, seats=3) for name, rating in (("ada", 1500), ("ben", 1420), ("cat", 1580)))

    assert tables([ada, ben], Millis(0), RULES) == []
    assert tables([ada, ben, cat], Millis(5_999), RULES) == []  # ben and cat are too far apart
    assert named(tables([ada, ben, cat], Millis(6_000), RULES)) == [{"ada", "ben", "cat"}]


def test_whoever_has_waited_longest_chooses_first() -> None:
    waiting = [ticket("late", 1500, at=2_000), ticket("early", 1520, at=1_000), ticket("first", 1540)]

    assert named(tables(waiting, Millis(2_000), RULES)) == [{"first", "early"}]


def test_the_house_steps_in_when_somebody_has_waited_long_enough() -> None:
    rules = RULES._replace(backfill=Millis(20_000))
    ada, ben = ticket("ada", 1500, seats=3), ticket("ben", 1500, at=15_000, seats=3)

    assert tables([ada, ben], Millis(19_999), rules) == []
    assert tables([ada, ben], Millis(20_000), rules) == [Table((ada, ben), 1)]
    assert tables([ada, ben], Millis(10**9), RULES) == []


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1000, 2000), st.integers(0, 60_000)), max_size=40),
    st.integers(2, 4),
)
def test_every_ticket_is_at_one_table_at_most_and_no_user_twice_at_one(
    wishes: list[tuple[int, int, int]], seats: int
) -> None:
    waiting = [ticket(f"t{n}", float(rating), at, seats, f"u{user}") for n, (user, rating, at) in enumerate(wishes)]

    made = tables(waiting, Millis(60_000), RULES)

    ids = [ticket.id for table in made for ticket in table.tickets]
    assert len(ids) == len(set(ids))
    for table in made:
        assert len({ticket.user for ticket in table.tickets}) == len(table.tickets) == seats
        spread = max(t.strength for t in table.tickets) - min(t.strength for t in table.tickets)
        assert spread <= min(RULES.accepts(t, Millis(60_000)) for t in table.tickets)
