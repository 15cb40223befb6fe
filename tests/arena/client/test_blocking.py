"""The SDK without coroutines."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from arena.client import Disconnected, Refused
from arena.client.blocking import Arena
from arena.models import Challenge
from tests.servers import Served


def create(url: str) -> Challenge:
    with Arena(url) as host:
        return host.create("millionaire")


def guess(url: str, invite: str, number: str) -> tuple[list[str], float]:
    with Arena(url) as arena:
        game = arena.join(invite)
        with suppress(Refused):  # too early, or no number
            game.act("guess", "nothing")
        heard = []
        for message in game:
            heard.append(message.content)
            if len(heard) == 1:
                game.act("guess", number)
        assert game.score is not None
        return heard, float(game.score.utility)


async def test_a_plain_program_plays_a_game(arena: Served) -> None:
    invites = (await asyncio.to_thread(create, arena.url)).invites
    with ThreadPoolExecutor(2) as pool:
        loop = asyncio.get_running_loop()
        played = await asyncio.gather(
            *(loop.run_in_executor(pool, guess, arena.url, invite, "50") for invite in invites)
        )

    assert all(heard[0].startswith("Your wealth is $") for heard, _ in played)
    assert all(utility in {-1, 1} for _, utility in played)


def test_a_server_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(Disconnected), Arena("http://127.0.0.1:9"):
        pass
