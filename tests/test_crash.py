"""`kill -9` of any process of a server, and what is left: everything that was answered, once."""

import asyncio
import json
import os
import random
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from arena import catalog
from arena.runtime import Arena, open_arena
from arena.settings import Settings
from arena.store.embedded import DEATHS
from tests.chaos import Chaos
from tests.guests import Frame, Game, Guest, guest_at
from tests.servers import Process
from tests.valkeys import eventually
from tests.watching import cursors_of, stored, tallies, until


@asynccontextmanager
async def looking_into(process: Process) -> AsyncIterator[Arena]:
    """An arena on the embedded store of a running server, as another worker would have it."""
    record = json.loads((process.data / "store.json").read_text())
    async with open_arena(Settings(), catalog.load(), f"unix://{record['socket']}") as arena:
        arena.outbox.stale = 0
        yield arena


class Crowd:
    """Guests of a process that come and go with it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.stack = AsyncExitStack()

    async def visit(self) -> Guest:
        return await self.stack.enter_async_context(guest_at(self.process.ws))

    async def sit_down(self) -> Game:
        host = await self.visit()
        made = await host.get("create", challengeType="psi")
        guests = [await self.visit() for _ in made["invites"]]
        users = ("ada", "ben")
        joined = [
            await guest.get("join", invite=invite, userId=user, key="join")
            for guest, invite, user in zip(guests, made["invites"], users, strict=True)
        ]
        return Game(made["id"], made["invites"], guests, [reply["sessionKey"] for reply in joined])

    async def come_back(self, game: Game) -> list[list[int]]:
        """All players resume with their cursors, over new connections; how much of both channels each has seen."""
        seen: list[list[int]] = []
        for seat, old in enumerate(game.players):
            cursors = cursors_of(old)
            seen.append([len(old.messages(channel)) for channel in (game.operator_channel, game.id)])
            game.players[seat] = guest = await self.visit()
            fields: dict[str, Any] = {"challengeId": game.id, "sessionKey": game.keys[seat]}
            resumed = await guest.get("resume", **fields, cursors=cursors)
            assert resumed["playerIndex"] == seat
        return seen

    async def __aenter__(self) -> "Crowd":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()


async def kill(process: Process, aim: str) -> None:
    """Kill something, and have the server run again."""
    workers = process.worker_pids() if process.workers > 1 else []
    match aim:
        case "server" | "supervisor":
            process.kill()
            await asyncio.to_thread(process.start)
        case "one worker":
            os.kill(workers[0], signal.SIGKILL)
        case "both workers":
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
        case "store":
            os.kill(store_pid(process), signal.SIGKILL)


def store_pid(process: Process) -> int:
    """The store that a server has started."""
    pid: int = json.loads((process.data / "store.json").read_text())["pid"]
    return pid


AIMS = [(1, "server"), (1, "store"), (2, "one worker"), (2, "both workers"), (2, "supervisor"), (2, "store")]


@pytest.mark.parametrize(("workers", "aim"), AIMS, ids=[f"{aim} of {workers}" for workers, aim in AIMS])
async def test_a_killed_server_has_lost_nothing_and_the_game_goes_on(workers: int, aim: str) -> None:
    with Process(workers=workers) as process:
        async with Crowd(process) as crowd:
            game = await crowd.sit_down()
            ada, ben = game.players
            await game.say(0, "before")
            await game.act(0, "guess", "1", key="guess")
            for guest in (ada, ben):
                await guest.hear_messages(game.id, 1)
            await ada.hear_messages(game.operator_channel, 5)  # and Ben may have missed some
            unanswered = asyncio.gather(
                ben.ask("message", challengeId=game.id, messageType="guess", content="2", key="guess"),
                ada.ask("chat", channel=game.id, content="last words", key="talk"),
                return_exceptions=True,
            )

            await kill(process, aim)
            await unanswered
            seen = await crowd.come_back(game)

            # What was not answered is sent again with its key, and what was answered changes nothing.
            again = [
                await game.act(0, "guess", "1", key="guess"),
                await game.act(1, "guess", "2", key="guess"),
            ]
            talk = await game.say(0, "last words", key="talk")
            for seat, guest in enumerate(game.players):
                moves, lines = seen[seat]
                await guest.hear("game_ended")
                heard = await guest.hear_messages(game.operator_channel, 9 - moves)
                assert [m["index"] for m in heard] == list(range(moves + 1, 10))
                heard = await guest.hear_messages(game.id, 2 - lines)
                assert [m["index"] for m in heard] == list(range(lines + 1, 3))
                assert [f["recovered"] for f in guest.of("initial")] == [True, True]
            assert [answer["result"] for answer in again] == [{"ok": "Message sent"}] * 2
            assert talk["result"]["index"] == 2

        async with looking_into(process) as arena:
            await arena.outbox.sweep(range(64))
            operator, said = await stored(arena, game.id)
            assert [m["content"] for m in said] == ["before", "last words"]
            made = [m["content"] for m in operator if m["from"] != "operator"]
            assert sorted(made) == ["(guess) 1", "(guess) 2"]
            assert await arena.boards.games("psi") == 1
            assert await tallies(arena) == await tallies(arena, None) == {"ada": 1, "ben": 1}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_store_that_dies_again_and_again_ends_the_server_with_the_reason(workers: int) -> None:
    with Process(workers=workers) as process:
        for _ in range(DEATHS):
            killed = store_pid(process)
            os.kill(killed, signal.SIGKILL)
            eventually(lambda killed=killed: store_pid(process) != killed, "it is started again")  # type: ignore[misc]
        os.kill(store_pid(process), signal.SIGKILL)

        assert process.process is not None
        assert process.process.wait(30) == 1
        assert "ended while it was starting. The end of its log:" in process.log.read_text()


async def test_a_killed_supervisor_takes_workers_store_and_port_with_it() -> None:
    with Process(workers=2) as process:
        record = json.loads((process.data / "store.json").read_text())
        pids = [*process.worker_pids(), record["pid"]]
        port = int(process.url.rpartition(":")[2])

        process.kill()

        eventually(lambda: not any(_lives(pid) for pid in pids), "workers and store are gone", 5)
        with closing(socket.create_server(("127.0.0.1", port))):
            pass
        process.start()
        assert int(process.url.rpartition(":")[2]) == port


def _lives(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_worker_that_is_killed_is_replaced_and_leaves_the_others_alone() -> None:
    with Process(workers=2) as process:
        async with Crowd(process) as crowd:
            guests = [await crowd.visit() for _ in range(8)]
            before = process.worker_pids()

            os.kill(before[0], signal.SIGKILL)

            async def is_replaced() -> bool:
                return len(set(process.worker_pids()) - {before[0]}) == 2

            await until(is_replaced, "a new worker")
            alive = [guest for guest in guests if await _answers(guest)]
            assert before[1] in process.worker_pids()
            assert 0 < len(alive) < len(guests), "all connections were on one worker; try more of them"


async def _answers(guest: Guest) -> bool:
    try:
        reply: Frame = await guest.get("ping")
    except (ConnectionError, OSError):
        return False
    except Exception as error:
        if type(error).__name__.startswith("ConnectionClosed"):
            return False
        raise
    return "time" in reply


async def _survive(workers: int, kills: int, seed: int) -> None:
    with Process(workers=workers) as process:
        chaos = Chaos(process, seed, kills)
        await chaos.run()
        await chaos.check()
        assert len(chaos.tables) >= kills / 2


@pytest.mark.parametrize(("workers", "kills"), [(1, 4), (2, 6)])
async def test_ten_kills_at_random_moments_of_random_games(workers: int, kills: int) -> None:
    seed = random.randrange(10**6)
    print(f"{seed=}")  # noqa: T201

    async with asyncio.timeout(100):
        await _survive(workers, kills, seed)


@pytest.mark.chaos
@pytest.mark.parametrize(("workers", "seed"), [(1, 1), (1, 2), (2, 3), (2, 4)])
async def test_a_hundred_kills_at_random_moments_of_random_games(workers: int, seed: int) -> None:
    await _survive(workers, 25, seed)
