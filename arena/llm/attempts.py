"""What became of a call that failed, and whether and when it is tried again."""

from email.utils import parsedate_to_datetime
from random import Random
from time import time
from typing import NamedTuple

from arena.llm.routes import ModelsConfig

_LONGEST = 30.0  # seconds of back-off by our own choice
_AGAIN = frozenset({408, 409, 425, 429})


class Failure(NamedTuple):
    """A call without an answer: why, and what its provider wishes."""

    reason: str
    passes: bool  # whether it may go better another time
    wait: float | None = None  # seconds that the provider wants us to wait
    may_cost: bool = False  # whether the provider may have worked for it, and want to be paid


class Failed(Exception):
    """A call went wrong. Its cause holds the request with the key and is never chained to it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def by_status(status: int, retry_after: str | None, wish: str | None = None) -> Failure:
    """The failure that an HTTP status tells of; a provider may wish otherwise in `x-should-retry`."""
    words = {401: ": the key is not accepted", 403: ": the key may not do this", 404: ": no such model or address"}
    words |= {413: ": the question is too long", 429: ": too many calls"}
    passes = status in _AGAIN or status >= 500 if wish not in {"true", "false"} else wish == "true"
    return Failure(f"the provider answered {status}{words.get(status, '')}", passes, read_wait(retry_after))


def read_wait(text: str | None, now: float | None = None) -> float | None:
    """The seconds of a `Retry-After`, which are written as such or as a date."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - (time() if now is None else now)
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def pause(failure: Failure, attempt: int, config: ModelsConfig, rng: Random) -> float | None:
    """Seconds until a call is tried again after its n-th attempt, from 1; none if it is given up.

    Back-off doubles and is spread at random, so that callers that failed together do not come back together. What a
    provider asks for is the least that we wait.
    """
    if not failure.passes or attempt >= config.attempts:
        return None
    backoff = min(config.backoff_seconds * 2 ** (attempt - 1), _LONGEST)
    wait = max(failure.wait or 0.0, 0.0)
    if wait > config.patience_seconds:
        return None
    return float(wait + backoff * rng.uniform(0.5, 1))
