"""Workbench: what a job may use while it runs. An operator's `work` asks for it by the name `bench`.

A job may die half-way and be run again elsewhere: what it remembers is kept until it is done, so that nothing that
costs money or time has to be done twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import JsonValue

from arena.llm.models import Models
from arena.llm.talk import Asks
from arena.models import Seat
from arena.packs.isolate import Isolate


class Blobs(Protocol):
    """Bytes that belong to a session and go with it, by name."""

    async def get(self, name: str) -> bytes | None:
        """The bytes of that name, if there are any."""

    async def put(self, name: str, data: bytes) -> None:
        """Keep bytes; `TooLarge` if they, or all of the session's together, are above the limits."""

    async def drop(self, name: str) -> None:
        """Forget bytes; those that are not there are forgotten already."""


@dataclass(frozen=True)
class Parts:
    """What a server lends to all jobs."""

    sandbox: Any = None
    models: Models | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    isolate: Isolate = field(default_factory=lambda: Isolate(seconds=30.0))

    async def close(self) -> None:
        """End the processes that work for us, and let go of connections."""
        await self.isolate.close()
        if self.models is not None:
            await self.models.close()


class Workbench(Protocol):
    """One job's view of the world."""

    @property
    def job_id(self) -> str:
        """The same whenever and wherever the job is run."""

    @property
    def sandbox(self) -> Any:
        """What confines tools; None where tools cannot be run."""

    @property
    def models(self) -> Asks | None:
        """Language models; None where no route leads to one."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """The server's secrets by name, for tools alone: never for payloads, results, notes or logs."""

    @property
    def isolate(self) -> Isolate:
        """Processes for pure work on hostile input."""

    @property
    def blobs(self) -> Blobs:
        """The bytes of the job's session."""

    async def notes(self, seat: Seat | None = None) -> list[dict[str, Any]]:
        """The run log of the session, or what it says of one seat."""

    async def recall(self, name: str) -> JsonValue:
        """What an earlier run of this job remembered, or this one; None if nothing."""

    async def remember(self, name: str, value: JsonValue) -> None:
        """Keep a partial result until the job is done."""
