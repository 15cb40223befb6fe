"""Queues of a server with two workers: everybody is seated once, also when a worker is killed in the middle."""

import asyncio
import os
import signal
from collections import Counter
from typing import Any

import httpx

from tests.servers import Process

CROWD = 200
PATIENCE = 120.0  # seconds; a killed worker is started again meanwhile


async def insist(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> Any:
    """Ask until somebody answers."""
    while True:
        try:
            answer = await client.request(method, path, **options)
        except httpx.HTTPError:
            await asyncio.sleep(0.05)
            continue
        if answer.status_code < 500:
            return answer.json()
        await asyncio.sleep(0.05)


async def find_seat(client: httpx.AsyncClient, name: str) -> Any:
    """Queue, and ask until there is a seat."""
    path, wish = "/api/queue/psi", {"userId": name, "key": f"key of {name}"}
    state = await insist(client, "POST", path, json=wish)
    while state["status"] == "waiting":
        state = await insist(client, "GET", path, params={"ticket": state["ticket"], "wait": 5})
    return state


async def test_two_hundred_tickets_are_paired_once_although_a_worker_is_killed() -> None:
    with Process(workers=2, ARENA_LIMIT_QUEUE_TICKETS_PER_ADDRESS="0", ARENA_QUEUE_BACKFILL_SECONDS="0") as process:
        limited = httpx.Limits(max_connections=50)
        async with httpx.AsyncClient(base_url=process.url, timeout=60, limits=limited) as client:
            crowd = [asyncio.create_task(find_seat(client, f"u{n}")) for n in range(CROWD)]
            await asyncio.wait(crowd, return_when=asyncio.FIRST_COMPLETED)
            os.kill(process.worker_pids()[0], signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                seats = await asyncio.gather(*crowd)

            assert {seat["status"] for seat in seats} == {"matched"}, seats
            assert len({seat["invite"] for seat in seats}) == CROWD
            assert set(Counter(seat["challengeId"] for seat in seats).values()) == {2}
            listed = await insist(client, "GET", "/api/challenges/psi", params={"limit": 1})
            assert listed["total"] == CROWD // 2
