"""Several workers on one store: they play, watch and count together."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena import catalog
from arena.chat import new_tag
from arena.models import GameResult, SessionId, UserId
from arena.runtime import Arena, open_arena
from arena.session import Act, Session, result_of
from arena.settings import Settings
from arena.store.boards import Place
from arena.store.sessions import Committed, request_key
from arena.turn import after, apply
from tests.chaos import averages, board
from tests.guests import Frame, Guest, guest_at, sit_down, visit
from tests.servers import Process, served
from tests.watching import stored, tallies, until

# Two workers on one port


def worker_of(process: Process, guest: Guest) -> int:
    """The worker that holds the other end of a guest's connection, by what the kernel says."""
    port = int(process.url.rpartition(":")[2])
    ends = f":{port:04X}", f":{guest.socket.local_address[1]:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    [inode] = [row[9] for row in rows if row[1].endswith(ends[0]) and row[2].endswith(ends[1])]
    for pid in process.worker_pids():
        for link in Path(f"/proc/{pid}/fd").iterdir():
            if str(link.readlink()) == f"socket:[{inode}]":
                return pid
    raise AssertionError("no worker has this connection")


async def one_per_worker(process: Process, stack: AsyncExitStack) -> list[Guest]:
    """Connect until every worker has a guest."""
    guests: dict[int, Guest] = {}
    async with asyncio.timeout(60):
        while len(guests) < process.workers:
            guest = await stack.enter_async_context(guest_at(process.ws))
            guests.setdefault(worker_of(process, guest), guest)
    return list(guests.values())


async def test_players_on_different_workers_of_one_port_play_together() -> None:
    with Process(workers=2) as process:
        async with AsyncExitStack() as stack:
            ada, ben = await one_per_worker(process, stack)
            eve, eva = await one_per_worker(process, stack)
            await eva.get("lobby")
            made = await ada.get("create", challengeType="psi")
            id_, invites = made["id"], made["invites"]
            for guest in (eve, eva):
                await guest.get("watch", challengeId=id_)
            await ada.get("join", invite=invites[0], userId="ada")
            await ben.get("join", invite=invites[1], userId="ben")

            for guest in (ada, ben, eve, eva):
                await guest.until(lambda guest=guest: _all_are_here(guest, invites), "everybody in `state`")  # type: ignore[misc]
            await ada.get("chat", channel=id_, content="over there?")
            await ben.get("chat", channel=id_, content="over here", to=invites[0])
            for guest in (ada, ben):
                await guest.get("message", challengeId=id_, messageType="guess", content="1")

            for guest in (ada, ben, eve, eva):
                await guest.hear("game_ended", challengeId=id_)
                assert [m["index"] for m in guest.messages(f"challenge_{id_}")] == list(range(1, 10))
                assert [m["index"] for m in guest.messages(id_)] == [1, 2]
            assert [m["content"] for m in ada.messages(id_)] == ["over there?", "over here"]
            assert [m["content"] for m in eve.messages(id_)] == ["over there?", ""]
            await eva.until(lambda: eva.of("session", event="ended") or None, "the end in the lobby")
            lobby = [f["event"] for f in eva.of("session") if f["challenge"]["id"] == id_ and f["event"] != "changed"]
            assert lobby == ["created", "started", "ended"]
            boards = [await guest.get("leaderboard", challengeType="psi") for guest in (ada, ben)]
            assert boards[0] == boards[1]
            assert {entry["playerId"] for entry in boards[0]["entries"]} == {"ada", "ben"}


def _all_are_here(guest: Guest, invites: list[str]) -> Frame | None:
    states = guest.of("state")
    return states[-1] if states and states[-1]["connected"] == invites and states[-1]["spectators"] == 2 else None


# Two servers in this process


async def test_who_comes_and_goes_is_seen_at_every_worker_and_nobody_is_told_without_a_reason(store: str) -> None:
    async with served(store) as one, served(store) as two:
        game = await sit_down(one, others=two)
        eve = await visit(two)
        await eve.get("watch", challengeId=game.id)
        ada, ben = game.players

        def state_is(guest: Guest, connected: list[str], spectators: int) -> Frame | None:
            last = (guest.of("state") or [{"connected": None}])[-1]
            return last if last["connected"] == connected and last["spectators"] == spectators else None

        for guest in (ada, ben, eve):
            await guest.until(lambda guest=guest: state_is(guest, game.invites, 1), "all three")  # type: ignore[misc]
        before = [len(guest.of("state")) for guest in (ada, ben, eve)]
        await asyncio.sleep(1.5)  # six times as long as two states are apart: nothing is to happen in it
        assert [len(guest.of("state")) for guest in (ada, ben, eve)] == before

        await eve.socket.close()
        await ben.socket.close()
        await ada.until(lambda: state_is(ada, game.invites[:1], 0), "only Ada is left")


async def test_the_lobby_of_one_worker_hears_of_the_sessions_of_another(store: str) -> None:
    async with served(store) as one, served(store) as two:
        eve = await visit(two)
        assert (await eve.get("lobby"))["challenges"] == []

        game = await sit_down(one)
        await game.say(0, "hello")
        changed = await eve.hear("session", event="changed")
        await game.end()

        await eve.hear("session", event="ended")
        events = [frame["event"] for frame in eve.of("session") if frame["event"] != "changed"]
        assert events == ["created", "started", "ended"]
        assert changed["challenge"]["id"] == game.id


async def test_sessions_that_nobody_fills_are_removed_once_although_two_workers_watch_them(store: str) -> None:
    async with served(store, open_seconds=0.6) as one, served(store, open_seconds=0.6) as two:
        eve = await visit(one)
        await eve.get("lobby")
        made = [(await arena.arena.engine.create("psi")).id for arena in (one, two) * 20]

        async def all_are_gone() -> bool:
            return len(eve.of("session", event="removed")) >= len(made)

        await until(all_are_gone, "all were removed")
        await eve.get("ping")
        removed = Counter(frame["challenge"]["id"] for frame in eve.of("session", event="removed"))
        assert removed == Counter(made)
        assert [await arena.arena.sessions.load(id_) for id_ in made for arena in (one,)] == [None] * len(made)


# Counting


@asynccontextmanager
async def workers(store: str, count: int = 2) -> AsyncIterator[list[Arena]]:
    """Arenas with connections of their own to one store, and no work of their own."""
    async with AsyncExitStack() as stack:
        settings = Settings(limit_open_sessions_per_address=0)
        yield [await stack.enter_async_context(open_arena(settings, catalog.load(), store)) for _ in range(count)]


async def play(arenas: list[Arena], rng: Random, users: list[str]) -> SessionId:
    """A game whose inputs come in at random workers."""
    session = await rng.choice(arenas).engine.create("psi")
    for invite, user in zip(session.header.invites, users, strict=True):
        await rng.choice(arenas).engine.join(invite, UserId(user))
    for seat in rng.sample((0, 1), 2):
        numbers = " ".join(map(str, rng.sample(range(100, 900), rng.randint(1, 10))))
        await rng.choice(arenas).engine.act(session.id, session.header.invites[seat], "guess", numbers)
    return session.id


async def test_two_workers_that_end_500_games_of_the_same_players_count_each_once(store: str) -> None:
    rng, names = Random(7), ["ada", "ben", "cyd", "dan", "eve"]
    async with workers(store) as arenas:
        gate = asyncio.Semaphore(40)

        async def one(rng: Random) -> SessionId:
            async with gate:
                return await play(arenas, rng, rng.sample(names, 2))

        games = await asyncio.gather(*(one(Random(rng.random())) for _ in range(500)))

        arena = arenas[0]
        results = await arena.boards.results("psi", 0, 1000)
        assert sorted(result.game_id for result in results) == sorted(games)
        expected = averages(results)
        assert sum(line["games"] for line in expected.values()) == 1000
        counted = await arena.boards.entries("psi", "average")
        assert await board(arena, "psi", "average") == expected
        assert await board(arena, None, "global-average") == _globally(expected)
        assert await arena.boards.sent("psi", "average") == Place(1, 500)
        for shard in range(64):
            assert await arena.nodes.run(f"{{s{shard:02d}}}:outbox", "XLEN", f"{{s{shard:02d}}}:outbox") == 0

        await arena.scorer.recompute("psi", arena.catalog.strategies["average"])
        assert await arena.boards.entries("psi", "average") == counted
        assert await board(arena, None, "global-average") == _globally(expected)


def _globally(expected: dict[str, Any]) -> dict[str, Any]:
    return {u: {k.replace("average", "global-average"): v for k, v in m.items()} for u, m in expected.items()}


# The sweeper


async def commit_and_die(arena: Arena, session: Session, seat: int) -> Committed:
    """What a worker does that is killed right after its commit: nobody hears of it."""
    operator = arena.catalog.challenge("psi").operator(session.header.options)
    turn = apply(operator, session, Act(seat=seat, type="guess", content="1", at=arena.clock.now()))
    left = after(turn, new_tag())
    return await arena.sessions.commit(turn, left, request_key("", None), {"ok": "Message sent"}, None)


async def begun(arena: Arena) -> Session:
    """A game that one move will end."""
    session = await arena.engine.create("psi")
    for invite, user in zip(session.header.invites, ("ada", "ben"), strict=True):
        await arena.engine.join(invite, UserId(user))
    await arena.engine.act(session.id, session.header.invites[0], "guess", "1")
    return await arena.engine.get(session.id)


async def test_what_a_dead_worker_left_untold_is_told_by_another_once_it_is_stale(store: str) -> None:
    async with workers(store, 3) as (dead, early, late):
        session = await begun(dead)
        await commit_and_die(dead, session, 1)

        assert early.outbox.stale == 5_000
        assert await early.outbox.sweep(range(64)) == 0
        assert await tallies(early) == {}
        early.outbox.stale = late.outbox.stale = 0
        told = await asyncio.gather(early.outbox.sweep(range(64)), late.outbox.sweep(range(64)))

        assert sum(told) >= 1
        assert await tallies(early) == await tallies(early, None) == {"ada": 1, "ben": 1}
        assert await early.boards.games("psi") == 1
        assert await late.outbox.sweep(range(64)) == 0


async def test_a_running_server_sweeps_by_itself_and_tells_lobby_and_boards(store: str) -> None:
    async with workers(store, 1) as (dead,), served(store) as alive:
        alive.arena.outbox.stale = 100
        eve = await visit(alive)
        await eve.get("lobby")
        await eve.get("leaderboard", challengeType="psi")
        session = await begun(dead)

        await commit_and_die(dead, session, 1)

        ended = await eve.hear("session", event="ended")
        assert ended["challenge"]["id"] == session.id
        moved = await eve.hear("leaderboard", challengeType="psi")
        assert {entry["playerId"]: entry["gamesPlayed"] for entry in moved["entries"]} == {"ada": 1, "ben": 1}


@pytest.mark.parametrize("done", ["nothing", "listed", "in the result log", "folded", "all but deleted"])
async def test_a_worker_may_die_anywhere_between_commit_and_board(store: str, done: str) -> None:
    async with workers(store) as (dead, other):
        session = await begun(dead)
        committed = await commit_and_die(dead, session, 1)
        _, event = committed.posted[0]
        results = [await _result_of(dead, session.id)]
        steps = ["nothing", "listed", "in the result log", "folded", "all but deleted"].index(done)
        if steps >= 1:
            await dead.index.take(event)
        if steps >= 2:
            await dead.boards.append(results[0])
        if steps >= 3:
            await dead.scorer._fold("psi", dead.scorer.online("psi")[0])
        if steps >= 4:
            await dead.outbox._deliver([event])

        other.outbox.stale = 0
        assert await other.outbox.sweep(range(64)) == 1

        assert await tallies(other) == await tallies(other, None) == {"ada": 1, "ben": 1}
        assert await other.boards.games("psi") == 1
        operator, _ = await stored(other, session.id)
        assert operator[-1]["content"].startswith("Game ended.")


async def _result_of(arena: Arena, id_: SessionId) -> GameResult:
    return result_of(await arena.engine.get(id_))
