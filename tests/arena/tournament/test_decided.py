"""Whether a ranking is decided: rarely wrong however often one looks, and not for ever in doubt."""

from random import Random

from arena.tournament.decided import is_above, is_decided, sequence


def drawn(rng: Random, chance: float, count: int) -> list[float]:
    return [float(rng.random() < chance) for _ in range(count)]


def test_equal_agents_are_told_apart_in_fewer_than_one_of_twenty_sequences() -> None:
    rng = Random(1)

    wrong = sum(is_above(drawn(rng, 0.5, 400), 0.5, 0.05) is not None for _ in range(400))

    assert wrong <= 20


def test_a_difference_is_found_and_on_the_right_side() -> None:
    rng = Random(2)

    found = [is_above(drawn(rng, 0.75, 300), 0.5, 0.05) for _ in range(50)]

    assert found.count(True) >= 45
    assert found.count(False) == 0


def test_an_interval_narrows_around_the_mean_and_never_leaves_its_range() -> None:
    rng = Random(3)
    values = drawn(rng, 0.3, 1000)

    early, late = sequence(values[:20]), sequence(values)

    assert 0 <= early.low <= late.low < 0.3 < late.high <= early.high <= 1
    assert late.high - late.low < 0.15
    assert sequence([]) == (0, 1)


def test_a_lead_that_cannot_be_caught_up_is_decided_without_statistics() -> None:
    units = [{"a": (3.0, 3), "b": (0.0, 3)}]

    assert is_decided(units, {"a": 2, "b": 2})
    assert not is_decided(units, {"a": 3, "b": 3})


def test_the_winner_may_be_clear_before_the_rest_is() -> None:
    units = [{"a": (10.0, 10), "b": (0.0, 10), "c": (0.5, 10)}]

    assert is_decided(units, {"a": 5, "b": 5, "c": 5}, winner_only=True)
    assert not is_decided(units, {"a": 5, "b": 5, "c": 5})
