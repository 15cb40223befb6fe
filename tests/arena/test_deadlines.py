"""Deadlines and jobs over real servers: each is an input of its game, once, whoever watches."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena import catalog, turn
from arena.jobs import GROUP, Runner
from arena.models import SessionId
from arena.runtime import Arena, open_arena
from arena.session import Act, Expire, Finish, Input, Join
from arena.settings import Settings
from arena.store import keys
from tests.guests import Frame, Game, Guest, comes_true, sit_down, visit
from tests.servers import Served, served

TALLY = "tests.plugins.tally"


@pytest.fixture
async def tally(store: str) -> AsyncIterator[Served]:
    async with served(store, load=TALLY) as running:
        yield running


@pytest.fixture
async def still(store: str) -> AsyncIterator[Arena]:
    """An arena without work of its own: no deadline is looked after and no job is done unless a test does it."""
    async with open_arena(Settings(), catalog.load([TALLY]), store) as made:
        yield made


async def said(guest: Guest, game: Game, ending: str) -> list[str]:
    """Wait until the operator has said something; everything it has said to all by then."""

    def find() -> list[str] | None:
        spoken = [m["content"] for m in guest.messages(game.operator_channel) if m["from"] == "operator"]
        return spoken if any(line.startswith(ending) for line in spoken) else None

    return await guest.until(find, ending)


async def wind(game: Game, name: str, after: float) -> Frame:
    answer = await game.act(0, "wind", f'{{"name": "{name}", "after": {after}}}')
    assert answer["type"] == "reply", answer
    return answer


async def order(game: Game, kind: str, payload: int) -> None:
    answer = await game.act(0, "order", f'{{"kind": "{kind}", "payload": {payload}}}')
    assert answer["type"] == "reply", answer


async def inputs(arena: Arena, id_: str) -> list[Any]:
    return await arena.sessions.inputs(SessionId(id_))


async def test_a_deadline_rings_once_though_two_servers_watch(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        games = [await sit_down(here, "tally", others=there) for _ in range(10)]
        for game in games:
            await wind(game, "bell", 0.2)
        for game in games:
            await said(game.players[1], game, "bell")
            await wind(game, "gong", 0.5)

        for game in games:
            lines = await said(game.players[1], game, "gong")
            fired = [i for i in await inputs(here.arena, game.id) if isinstance(i, Expire)]
            assert lines == ["bell rings; the total is 0.", "gong rings; the total is 0."]
            assert [i.name for i in fired] == ["bell", "gong"]


async def test_the_time_of_a_deadline_is_its_own_and_not_that_of_its_discovery(tally: Served) -> None:
    game = await sit_down(tally, "tally")

    await wind(game, "bell", 0.25)
    await said(game.players[0], game, "bell")

    [*_, act, fired] = await inputs(tally.arena, game.id)
    message = game.players[0].messages(game.operator_channel)[-1]
    assert fired == Expire(name="bell", at=act.at + 250)
    assert message["timestamp"] == fired.at


async def test_a_move_after_a_deadline_finds_it_fired_even_if_nobody_looked(still: Arena) -> None:
    engine = still.engine
    session = await engine.create("tally")
    for invite in session.header.invites:
        await engine.join(invite)
    ada = session.header.invites[0]
    await engine.act(session.id, ada, "add", "1")

    await engine.act(session.id, ada, "wind", '{"name": "late", "after": 2000}')
    await engine.act(session.id, ada, "wind", '{"name": "early", "after": 1000}')
    still.clock.offset += 3000
    await engine.act(session.id, ada, "add", "5")

    log = await inputs(still, session.id)
    assert [type(i) for i in log] == [Join, Join, Act, Act, Act, Expire, Expire, Act]
    assert [i.name for i in log if isinstance(i, Expire)] == ["early", "late"]
    assert b'"total":9' in (await engine.get(session.id)).game


async def test_a_move_after_a_deadline_finds_it_fired_over_the_socket_too(tally: Served) -> None:
    game = await sit_down(tally, "tally")

    for number in range(20):
        await wind(game, f"bell-{number}", 0.001)
        await asyncio.sleep(0.005)
        await game.act(1, "add", "1")
    await game.players[0].hear_messages(game.operator_channel, 80)
    lines = await said(game.players[0], game, "bell-19")

    totals = [int(line.split()[-1].rstrip(".")) for line in lines]
    expected, total = [], 0
    for _ in range(20):
        expected += [2 * total, 2 * total + 1]
        total = 2 * total + 1
    assert totals == expected


async def test_a_deadline_may_end_the_game_and_the_player_who_is_late_is_told(still: Arena) -> None:
    engine = still.engine
    session = await engine.create("tally")
    for invite in session.header.invites:
        await engine.join(invite)
    ada = session.header.invites[0]
    await engine.act(session.id, ada, "wind", '{"name": "curfew", "after": 0.01}')
    await asyncio.sleep(0.03)

    with pytest.raises(Exception, match="not running"):
        await engine.act(session.id, ada, "add", "5")

    assert [i.kind for i in await inputs(still, session.id)] == ["join", "join", "act", "deadline"]


async def test_a_game_that_a_deadline_ended_is_told_and_scored_once(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", ("ada", "ben"), others=there)
        eve = await visit(there)
        await eve.get("watch", challengeId=game.id)
        await eve.get("leaderboard", challengeType="tally")
        await game.act(1, "add", "3")

        await wind(game, "curfew", 0.1)

        for guest in (*game.players, eve):
            ended = await guest.hear("game_ended")
            assert ended["data"]["scores"] == [{"security": 0, "utility": 6}] * 2
            assert len(guest.of("game_ended")) == 1
        board = await eve.until(lambda: next(iter(eve.of("leaderboard")), None), "the board")
        assert [entry["gamesPlayed"] for entry in board["entries"]] == [1, 1]


async def test_a_cancelled_deadline_does_not_ring_and_one_set_again_rings_at_its_newest_time(tally: Served) -> None:
    game = await sit_down(tally, "tally")

    await wind(game, "never", 0.1)
    await wind(game, "later", 0.1)
    await game.act(1, "unwind", "never")
    await wind(game, "later", 0.4)
    await wind(game, "sooner", 0.2)
    lines = await said(game.players[0], game, "later")

    assert [line.split()[0] for line in lines] == ["sooner", "later"]


async def test_a_deadline_outlives_the_server_that_set_it(store: str) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally")
        await wind(game, "bell", 0.1)
        await game.act(0, "unwind", "bell")
        await wind(game, "bell", 0.5)
    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)
        await guest.get("watch", challengeId=game.id)

        await said(guest, game, "bell")

        *_, act, fired = await inputs(arena.arena, game.id)
        assert fired == Expire(name="bell", at=act.at + 500)


async def test_the_input_log_plays_the_same_game_again(tally: Served) -> None:
    game = await sit_down(tally, "tally", ("ada", "ben"))
    await game.act(0, "add", "2")
    await game.act(1, "grumble")
    await wind(game, "bell", 0.05)
    await said(game.players[0], game, "bell")
    await order(game, "double", 4)
    await said(game.players[0], game, "double")
    await game.act(1, "stop")

    arena, id_ = tally.arena, SessionId(game.id)
    stored = await arena.engine.get(id_)
    operator = arena.catalog.challenge("tally").operator(stored.header.options)
    again = turn.open_session(stored.header, operator)
    log: list[Input] = await arena.sessions.inputs(id_)
    for line in log:
        again = turn.after(turn.apply(operator, again, line), "")

    assert [line.kind for line in log] == ["join", "join", "act", "act", "act", "deadline", "act", "job", "act"]
    assert again.game == stored.game
    assert again.version == stored.version
    assert again.standing == stored.standing


# Jobs


async def test_the_result_of_a_job_comes_back_as_an_input(tally: Served) -> None:
    game = await sit_down(tally, "tally")

    await order(game, "double", 21)

    lines = await said(game.players[1], game, "double")
    [*_, finish] = await inputs(tally.arena, game.id)
    assert lines == ["double 21 is 42; the total is 42."]
    assert isinstance(finish, Finish)
    assert (finish.result, finish.failed) == (42, None)


async def test_a_job_that_raises_or_gives_up_is_a_failed_one(tally: Served, caplog: pytest.LogCaptureFixture) -> None:
    game = await sit_down(tally, "tally")

    await order(game, "break", 1)
    await order(game, "bake", 2)
    await said(game.players[1], game, "break")
    lines = await said(game.players[1], game, "bake")

    assert sorted(lines) == [
        "bake 2 failed: There is no such work.",
        "break 1 failed: The job raised RuntimeError.",
    ]
    faults = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert len(faults) == 1
    assert "type=tally" in faults[0]
    assert "a secret of the workshop" not in caplog.text


async def test_two_servers_do_a_job_once(store: str) -> None:
    async with served(store, load=TALLY) as here, served(store, load=TALLY) as there:
        game = await sit_down(here, "tally", others=there)

        for number in range(20):
            await order(game, "double", number)

        total = sum(2 * number for number in range(20))
        *_, last = await game.players[1].hear_messages(game.operator_channel, 40)
        done = [i for i in await inputs(here.arena, game.id) if isinstance(i, Finish)]
        assert len(done) == 20
        assert len({i.id for i in done}) == 20
        assert last["content"].endswith(f"the total is {total}.")


async def test_a_result_that_comes_after_the_end_changes_nothing(tally: Served) -> None:
    game = await sit_down(tally, "tally")
    other = await sit_down(tally, "tally")

    await order(game, "nap", 200)
    await game.act(0, "stop")
    await order(other, "nap", 300)
    await said(other.players[0], other, "nap")

    messages = (await game.players[0].get("sync", channel=game.operator_channel))["messages"]
    assert messages[-1]["content"].startswith("Game ended.")


async def started(still: Arena) -> SessionId:
    session = await still.engine.create("tally", {"players": 1})
    await still.engine.join(session.header.invites[0])
    await still.engine.act(session.id, session.header.invites[0], "order", '{"kind": "double", "payload": 2}')
    return session.id


async def take_and_die(still: Arena, times: int) -> None:
    """Take the one job as a runner that is never heard of again, so many times."""
    client: Any = still.nodes.of(keys.JOBS).client
    await client.xgroup_create(keys.JOBS, GROUP, id="0", mkstream=True)
    [(_, [(mark, _)])] = await client.xreadgroup(GROUP, "dead", {keys.JOBS: ">"}, count=1)
    await client.xclaim(keys.JOBS, GROUP, "dead", 0, [mark], retrycount=times)


@pytest.mark.parametrize(("deaths", "result"), [(1, (4, None)), (2, (4, None)), (3, (None, "The job died 3 times."))])
async def test_a_job_whose_runner_died_is_taken_over_but_not_for_ever(
    still: Arena, deaths: int, result: tuple[int | None, str | None]
) -> None:
    id_ = await started(still)
    await take_and_die(still, deaths)

    runner = Runner(still.nodes, still.engine, still.catalog, "alive", dead=50)
    running = asyncio.create_task(runner.run())

    async def is_done() -> bool:
        return isinstance((await inputs(still, id_))[-1], Finish)

    await comes_true(is_done, "the job is done")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    done = [i for i in await inputs(still, id_) if isinstance(i, Finish)]
    assert [(i.result, i.failed) for i in done] == [result]
