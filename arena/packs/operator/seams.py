"""What the operator of packs needs from outside: its bundles, their files, and a toolbox that runs tools."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.packs.blocks import Bundle, Case

Event = dict[str, Any]  # `type` and `payload`; whoever notes it adds number and time
Load = Callable[[int], Bundle]  # a version of a pack by its number, 0 for the newest
Fetch = Callable[[int, str], Awaitable[bytes | None]]  # the file of an asset, by version and key


class Outcome(NamedTuple):
    """How a tool call ended, and the work directory after it."""

    result: dict[str, Any]  # `content`, and `is_error`
    events: Sequence[Event]  # what goes on record: `tool.call.completed` or `.failed`, and what else happened
    snapshot: bytes
    submitted: str | None = None  # the answer that the call handed in


class Toolbox(Protocol):
    """What `bench.sandbox` offers to packs; snapshots are work directories as bytes."""

    def refuses(self, bundle: Bundle) -> str:
        """Why a pack cannot be played here; nothing if it can."""

    async def open(self, bundle: Bundle, case: Case, files: Mapping[str, bytes]) -> bytes:
        """The work directory that a case begins with; `files` are the assets that it names, by key."""

    async def call(
        self,
        bundle: Bundle,
        case: Case,
        snapshot: bytes,
        name: str,
        arguments: Mapping[str, Any],
        secrets: Mapping[str, str],
    ) -> Outcome:
        """Have a tool called; what goes wrong is an outcome too."""

    async def upload(self, snapshot: bytes, path: str, content: bytes) -> bytes:
        """The work directory with a file more; `ValueError` if it has no place in it."""

    async def verify(
        self, bundle: Bundle, case: Case, snapshot: bytes, files: Mapping[str, bytes], secrets: Mapping[str, str]
    ) -> Sequence[Event]:
        """What graders find: test commands first, then captures, as `grader.verification.*` events."""
