"""The tree of things that can go wrong, each with a code for programs and a sentence for people.

ArenaError                    has a code; what a client is told
├── BadFrame                  BAD_FRAME: bytes that are no frame
├── UnknownType               UNKNOWN_TYPE
├── Invalid                   VALIDATION: a frame, option or argument of the wrong shape
│   └── Rejected              INVALID_PACK: a pack that cannot be used, with all that is wrong with it
├── Unauthorized              UNAUTHORIZED: no key, or a wrong one
├── Forbidden                 FORBIDDEN: known, but not allowed
├── NotFound                  NOT_FOUND: no such session, channel or board
│   ├── InviteNotFound        INVITE_NOT_FOUND
│   └── UnknownChallengeType  UNKNOWN_CHALLENGE_TYPE
├── Refused                   a move the rules do not allow; the code is the challenge's own
│   ├── Taken                 something else has that name or number; the code says which
│   ├── InviteAlreadyUsed     INVITE_ALREADY_USED
│   ├── PlayerNotFound        PLAYER_NOT_FOUND
│   ├── UnknownMethod         UNKNOWN_METHOD
│   └── GameNotRunning        GAME_NOT_RUNNING
├── RateLimited               RATE_LIMITED: comes with the seconds to wait
├── TooLarge                  TOO_LARGE: content or channel above its limit
├── KeyReused                 KEY_REUSED: an idempotency key with another body
├── StoreUnavailable          STORE_UNAVAILABLE: outcome unknown, resend with the same key
└── Internal                  INTERNAL: our fault, or a challenge's; logged at the door
Unreadable                    a stored session that makes no sense to us: INTERNAL at a door, missing in a list
CannotStart                   told to the person who started the server, not to a client
"""

from pathlib import Path
from traceback import extract_tb
from typing import Any, ClassVar


class ArenaError(Exception):
    """Something a client is told: `code` for programs, the message for people."""

    code: str = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadFrame(ArenaError):
    """Bytes that are not a frame in the codec of the connection."""

    code = "BAD_FRAME"


class UnknownType(ArenaError):
    """A frame whose `type` is not in the protocol."""

    code = "UNKNOWN_TYPE"


class Invalid(ArenaError):
    """A frame, an option or an action's argument of the wrong shape."""

    code = "VALIDATION"


class Rejected(Invalid):
    """A pack that cannot be published; everything that is wrong with it is listed."""

    code = "INVALID_PACK"

    def __init__(self, message: str, findings: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.findings = findings

    def __reduce__(self) -> tuple[Any, ...]:
        return Rejected, (self.message, self.findings)


class Unauthorized(ArenaError):
    """No session key, or one that does not fit."""

    code = "UNAUTHORIZED"


class Forbidden(ArenaError):
    """The viewer is known and may not do this."""

    code = "FORBIDDEN"


class NotFound(ArenaError):
    """No such session, channel or board."""

    code = "NOT_FOUND"


class InviteNotFound(NotFound):
    """No open or running session has this invite."""

    code = "INVITE_NOT_FOUND"


class UnknownChallengeType(NotFound):
    """No challenge of this name is loaded."""

    code = "UNKNOWN_CHALLENGE_TYPE"


class Refused(ArenaError):
    """A move that the rules of the game do not allow; the code is the challenge's own, in upper case."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Taken(Refused):
    """Something else is there already under this name or number."""


class _Fixed(Refused):
    """A refusal of the arena itself, whose code is known beforehand."""

    fixed: ClassVar[str]

    def __init__(self, message: str) -> None:
        super().__init__(self.fixed, message)


class InviteAlreadyUsed(_Fixed):
    """Somebody sits there."""

    fixed = "INVITE_ALREADY_USED"


class PlayerNotFound(_Fixed):
    """The sender has no seat in this session."""

    fixed = "PLAYER_NOT_FOUND"


class UnknownMethod(_Fixed):
    """The challenge has no such action."""

    fixed = "UNKNOWN_METHOD"


class GameNotRunning(_Fixed):
    """The game has not started, or it is over."""

    fixed = "GAME_NOT_RUNNING"


class RateLimited(ArenaError):
    """Too much, too fast; try again after so many seconds."""

    code = "RATE_LIMITED"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLarge(ArenaError):
    """Content or a channel above its limit."""

    code = "TOO_LARGE"


class KeyReused(ArenaError):
    """An idempotency key that was already used with another body."""

    code = "KEY_REUSED"


class StoreUnavailable(ArenaError):
    """The store did not answer; what was asked for may or may not have happened."""

    code = "STORE_UNAVAILABLE"


class Internal(ArenaError):
    """A fault of ours or of a challenge; details are in the log, not in the answer."""

    code = "INTERNAL"


class Unreadable(Exception):
    """A session whose record is spoiled, or was written by a version that we do not understand."""


class CannotStart(Exception):
    """Why the server cannot start, in words for the person who started it."""


def trace(error: BaseException) -> str:
    """Where an error came from, for the log: files and lines, but not its text, which may quote a secret."""
    frames = reversed(extract_tb(error.__traceback__))
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return f"error={type(error).__name__} at={where or 'nowhere'}"
