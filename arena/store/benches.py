"""Benches in the store: the run log and the bytes of a session, and what jobs remember until they are done."""

from typing import Any

import orjson
from pydantic import JsonValue

from arena.errors import NotFound, TooLarge
from arena.models import Seat, SessionId, strict_json
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.sessions import Sessions
from arena.workbench import Parts

KEPT = 7 * 86_400  # seconds after which the memory of a job that nobody finished is forgotten


class StoredBlobs:
    """The bytes of one session."""

    def __init__(self, nodes: Nodes, session: SessionId, each: int, together: int) -> None:
        self.nodes = nodes
        self.session = session
        self.each = each
        self.together = together

    async def get(self, name: str) -> bytes | None:
        """The bytes of that name, if there are any."""
        key = keys.blobs(self.session)
        found: bytes | None = await self.nodes.run(key, "HGET", key, f"b:{name}")
        return found

    async def put(self, name: str, data: bytes) -> None:
        """Keep bytes, within the limits."""
        if len(data) > self.each:
            raise TooLarge(f"One blob may have at most {self.each} bytes.")
        names = [keys.of(self.session).session, keys.blobs(self.session)]
        match await self.nodes.script("blob", names, f"b:{name}", data, self.together):
            case b"gone":
                raise NotFound("Challenge not found")
            case b"full":
                raise TooLarge(f"The blobs of a session may have at most {self.together} bytes.")

    async def drop(self, name: str) -> None:
        """Forget bytes."""
        names = [keys.of(self.session).session, keys.blobs(self.session)]
        await self.nodes.script("blob", names, f"b:{name}", "", 0)


class StoredBench:
    """The workbench of one job."""

    def __init__(self, sessions: Sessions, session: SessionId, job_id: str, parts: Parts, blobs: StoredBlobs) -> None:
        self.sessions = sessions
        self.session = session
        self.job_id = job_id
        self.sandbox = parts.sandbox
        self.models = parts.models
        self.secrets = parts.secrets
        self.isolate = parts.isolate
        self.blobs = blobs

    async def notes(self, seat: Seat | None = None) -> list[dict[str, Any]]:
        """The run log of the session, or what it says of one seat."""
        return await self.sessions.notes(self.session, seat)

    async def recall(self, name: str) -> JsonValue:
        """What was remembered under this name."""
        key = keys.memory(self.job_id)
        found = await self.sessions.nodes.run(key, "HGET", key, name)
        return None if found is None else orjson.loads(found)

    async def remember(self, name: str, value: JsonValue) -> None:
        """Keep a partial result."""
        key = keys.memory(self.job_id)
        put = (key, ("HSET", key, name, strict_json(value)))
        await self.sessions.nodes.run_all([put, (key, ("EXPIRE", key, KEPT))])

    async def forget(self) -> None:
        """The job is done."""
        key = keys.memory(self.job_id)
        await self.sessions.nodes.run(key, "UNLINK", key)
