from random import Random

import pytest

from arena.llm.attempts import Failure, by_status, pause, read_wait
from arena.llm.routes import ModelsConfig

CONFIG = ModelsConfig(attempts=5, backoff_seconds=1, patience_seconds=20)


def test_pauses_double_and_are_spread() -> None:
    passing = Failure("busy", passes=True)
    pauses = [[pause(passing, attempt, CONFIG, Random(seed)) for seed in range(50)] for attempt in (1, 2, 3, 4)]

    for each, longest in zip(pauses, (1, 2, 4, 8), strict=True):
        assert all(wait is not None and longest / 2 <= wait <= longest for wait in each)
        assert len(set(each)) > 10


def test_the_last_attempt_and_what_will_not_pass_are_given_up() -> None:
    assert pause(Failure("busy", passes=True), 5, CONFIG, Random(1)) is None
    assert pause(Failure("no", passes=False), 1, CONFIG, Random(1)) is None


def test_a_provider_is_not_asked_before_its_time() -> None:
    waits = [pause(Failure("busy", passes=True, wait=20), 1, CONFIG, Random(seed)) for seed in range(20)]

    assert all(wait is not None and wait >= 20 for wait in waits)
    assert pause(Failure("busy", passes=True, wait=20.1), 1, CONFIG, Random(1)) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("", None),
        (None, None),
    ],
)
def test_a_wait_is_seconds_or_a_date(text: str | None, seconds: float | None) -> None:
    assert read_wait(text, now=60) == seconds


@pytest.mark.parametrize(("status", "passes"), [(400, False), (401, False), (408, True), (429, True), (503, True)])
def test_a_status_tells_whether_to_try_again_unless_the_provider_says_so(status: int, passes: bool) -> None:
    assert by_status(status, None).passes is passes
    assert by_status(status, None, "true").passes
    assert not by_status(status, None, "false").passes
