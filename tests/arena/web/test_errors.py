"""The table of errors is whole, and tells each as the protocol has it."""

from collections.abc import Iterator

import pytest

from arena.errors import (
    ArenaError,
    Internal,
    Invalid,
    InviteAlreadyUsed,
    NotFound,
    RateLimited,
    Refused,
    StoreUnavailable,
    Unauthorized,
)
from arena.web.errors import PLAYING, TABLE, tell


def tree(root: type[ArenaError]) -> Iterator[type[ArenaError]]:
    for kind in root.__subclasses__():
        if not kind.__name__.startswith("_") and kind.__module__ == "arena.errors":
            yield kind
        yield from tree(kind)


def test_every_error_that_a_client_can_get_has_its_status() -> None:
    assert set(tree(ArenaError)) == set(TABLE)


def test_a_refusal_of_a_challenge_is_told_with_its_code() -> None:
    told = tell(Refused("INVALID_GUESS", "No numbers."))

    assert told == (400, {"error": "No numbers.", "code": "INVALID_GUESS"}, ())


@pytest.mark.parametrize("error", [Invalid("Required"), NotFound("Challenge not found"), Unauthorized("No.")])
def test_codes_that_the_protocol_does_not_name_are_told_on_our_own_routes_alone(error: ArenaError) -> None:
    assert tell(error).body == {"error": error.message}
    assert tell(error, ours=True).body == {"error": error.message, "code": error.code}


def test_a_used_invite_is_a_conflict_except_to_those_who_want_to_play() -> None:
    used = InviteAlreadyUsed("Used.")

    assert tell(used)[:2] == (409, {"error": "Used."})
    assert tell(used, PLAYING)[:2] == (400, {"error": "Used.", "code": "INVITE_ALREADY_USED"})


@pytest.mark.parametrize(("seconds", "header"), [(0.05, b"1"), (3.2, b"4")])
def test_whoever_is_too_fast_is_told_when_to_come_back_in_whole_seconds(seconds: float, header: bytes) -> None:
    told = tell(RateLimited("Too fast.", seconds))

    assert told.status == 429
    assert told.headers == ((b"retry-after", header),)


def test_a_fault_of_ours_is_told_without_its_reason() -> None:
    assert tell(Internal("the file of the secret is gone"))[:2] == (500, {"error": "Internal server error"})


def test_what_is_too_large_or_cannot_be_stored_has_a_status_of_its_own() -> None:
    assert tell(StoreUnavailable("Again."))[0] == 503
