"""Where judges' answers are kept in tests: in this process, or in a store that outlives whoever paid for them."""

import json
from typing import Any

from redis.asyncio import Redis


class Notebook(dict[str, Any]):
    """A memory in this process; what it holds has been JSON, as in a store."""

    async def recall(self, name: str) -> Any:
        """What was remembered."""
        return json.loads(self[name]) if name in self else None

    async def remember(self, name: str, value: Any) -> None:
        """Keep it."""
        self[name] = json.dumps(value)


class Stored:
    """A memory in a real store."""

    def __init__(self, url: str) -> None:
        self.client = Redis.from_url(url)

    async def recall(self, name: str) -> Any:
        """What was remembered."""
        found = await self.client.hget("memory", name)
        return None if found is None else json.loads(found)

    async def remember(self, name: str, value: Any) -> None:
        """Keep it."""
        await self.client.hset("memory", name, json.dumps(value))

    async def size(self) -> int:
        """How much it holds."""
        return int(await self.client.hlen("memory"))
