"""Stored records that nobody can read: each spoils itself, and a server's own work goes on around it."""

import logging
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from arena.jobs import GROUP
from arena.models import GameResult, Millis, SessionId, Status
from arena.store import keys
from arena.store.sessions import Posted
from tests.callers import calling
from tests.guests import Game, Guest, comes_true, sit_down, visit
from tests.servers import Served, served
from tests.valkeys import connect
from tests.watching import tallies

TALLY = "tests.plugins.tally"
SECRET = "the-secret-that-was-planted"
UNREADABLE = [
    b"",
    b"\xff\xfe" + SECRET.encode(),
    SECRET.encode(),
    b'"' + SECRET.encode() + b'"',
    b'{"secret":"' + SECRET.encode() + b'"}',
    b'["' + SECRET.encode() + b'"]',
]


@pytest.fixture
def raw(store: str) -> Iterator[Any]:
    """The store as an administrator, or an accident, gets at it."""
    with connect(store) as client:
        yield client


def spoil(raw: Any, id_: str, field: str = "state") -> None:
    raw.hset(keys.of(SessionId(id_)).session, field, orjson.dumps({"status": SECRET}))


def make_overdue(raw: Any, id_: str) -> None:
    """Give a session a deadline that passed long ago."""
    names = keys.of(SessionId(id_))
    state = orjson.loads(raw.hget(names.session, "state") or b"")
    raw.hset(names.session, "state", orjson.dumps({**state, "deadlines": {"bell": 1}}))
    raw.zadd(names.due, {id_: 1})


def left_behind(raw: Any, data: bytes, shard: int = 0) -> None:
    """Put something into an outbox, so long ago that its worker counts as dead."""
    name = keys.outbox(shard)
    last = raw.xrevrange(name, count=1)
    number = int(last[0][0].partition(b"-")[2]) + 1 if last else 1
    raw.xadd(name, {"e": data}, id=f"1-{number}")


def created(id_: SessionId) -> Posted:
    return Posted(
        kind="created",
        id=id_,
        type="psi",
        version=0,
        at=Millis(1),
        created_at=Millis(1),
        status=Status.OPEN,
        private=False,
    )


def in_shard(shard: int) -> SessionId:
    while keys.shard_of(id_ := keys.new_session_id()) != shard:
        pass
    return id_


def lines(caplog: pytest.LogCaptureFixture, *words: str) -> list[str]:
    told = (record.getMessage() for record in caplog.records)
    return [line for line in told if all(word in line for word in words)]


async def hear(guest: Guest, game: Game, beginning: str) -> None:
    """Wait until the operator has said something."""

    def find() -> bool | None:
        return any(m["content"].startswith(beginning) for m in guest.messages(game.operator_channel)) or None

    await guest.until(find, beginning)


async def duties_go_on(arena: Served) -> None:
    """The lobby hears of a game, a deadline fires, a job is done, and a board moves."""
    guest = await visit(arena)
    await guest.get("lobby", challengeType="tally")
    await guest.get("leaderboard", challengeType="tally")
    game = await sit_down(arena, "tally", ("ada", "ben"))
    await guest.hear("session", event="created")
    await game.act(0, "wind", '{"name": "bell", "after": 0.05}')
    await hear(game.players[1], game, "bell rings")
    await game.act(0, "order", '{"kind": "double", "payload": 4}')
    await hear(game.players[1], game, "double 4 is 8")
    await game.act(0, "stop")
    await guest.hear("session", event="ended")
    await guest.hear("leaderboard")


# Outbox and jobs


async def test_unreadable_events_are_set_aside_and_those_behind_them_are_told(
    store: str, raw: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for data in UNREADABLE:
        left_behind(raw, data)
    good = in_shard(0)
    left_behind(raw, created(good).to_json())

    async with served(store, load=TALLY) as arena:
        await comes_true(lambda: raw.xlen(keys.outbox(0)) == 0, "the outbox is empty")
        await duties_go_on(arena)

    assert [fields[b"e"] for _, fields in raw.xrange(keys.outbox(0) + ":bad")] == UNREADABLE
    assert raw.zscore("{idx}:all", good) is not None
    assert len(lines(caplog, "event not understood", keys.outbox(0))) == len(UNREADABLE)


async def test_an_outbox_entry_without_an_event_is_set_aside_too(store: str, raw: Any) -> None:
    raw.xadd(keys.outbox(0), {"f": SECRET}, id="1-1")
    left_behind(raw, created(in_shard(0)).to_json())

    async with served(store) as arena:
        arena.arena.outbox.stale = 0
        for _ in range(3):
            await arena.arena.outbox.sweep(range(keys.SHARDS))

    assert raw.xlen(keys.outbox(0)) == 0


@pytest.mark.parametrize("data", UNREADABLE[:3])
async def test_a_job_that_is_no_json_is_dropped_and_the_next_is_done(
    store: str, raw: Any, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    raw.xadd(keys.JOBS, {"job": data})

    async with served(store, load=TALLY) as arena:
        await duties_go_on(arena)

    assert raw.xlen(keys.JOBS) == 0
    assert raw.xpending(keys.JOBS, GROUP)["pending"] == 0
    assert len(lines(caplog, "job not understood")) == 1


async def test_an_entry_of_the_stream_without_a_job_is_dropped(store: str, raw: Any) -> None:
    raw.xadd(keys.JOBS, {"jab": SECRET})

    async with served(store, load=TALLY) as arena:
        await duties_go_on(arena)

    assert raw.xlen(keys.JOBS) == 0


@pytest.mark.parametrize("data", [b'["a list"]', b'"text"', b"7", b"null", b"{}", b'{"id": 1, "session": []}'])
async def test_a_job_that_is_no_order_is_dropped_and_does_not_end_the_server(
    store: str, raw: Any, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    raw.xadd(keys.JOBS, {"job": data})

    async with served(store, load=TALLY) as arena:
        await duties_go_on(arena)

    assert not lines(caplog, "the arena's own work failed")
    assert raw.xlen(keys.JOBS) == 0
    assert len(lines(caplog, "job not understood")) == 1


async def test_a_job_that_names_no_session_is_nobody_elses_concern(store: str, raw: Any) -> None:
    raw.xadd(keys.JOBS, {"job": orjson.dumps({"id": "1", "session": "none", "type": "tally", "kind": "double"})})

    async with served(store, load=TALLY) as arena:
        await duties_go_on(arena)


# Sessions


async def test_a_session_that_a_later_version_wrote_is_read_and_played_on(store: str, raw: Any) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally", ("ada", "ben"))
        await game.act(0, "add", "5")
    name = keys.of(SessionId(game.id)).session
    for field, inner in (("header", "version"), ("state", "spoken")):
        known = orjson.loads(raw.hget(name, field) or b"")
        deeper = known[inner][0] if isinstance(known[inner], list) else known[inner]
        deeper["ofTomorrow"] = {"more": 1}
        raw.hset(name, field, orjson.dumps({**known, "ofTomorrow": [1, 2]}))
    log = keys.of(SessionId(game.id)).inputs
    for number, line in enumerate(raw.lrange(log, 0, -1)):
        raw.lset(log, number, orjson.dumps({**orjson.loads(line), "ofTomorrow": 1}))

    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)
        await guest.get("resume", challengeId=game.id, sessionKey=game.keys[0])
        await guest.get("message", challengeId=game.id, messageType="add", content="2")
        await guest.get("message", challengeId=game.id, messageType="stop", content="")

        ended = await guest.hear("game_ended", challengeId=game.id)
        board = await guest.get("leaderboard", challengeType="tally")
        inputs = await arena.arena.sessions.inputs(SessionId(game.id))
        assert [line.kind for line in inputs] == ["join", "join", "act", "act", "act"]
        assert ended["data"]["scores"] == [{"security": 0, "utility": 7}] * 2
        assert {entry["playerId"] for entry in board["entries"]} == {"ada", "ben"}


async def test_a_result_that_a_later_version_left_behind_is_counted(store: str, raw: Any) -> None:
    async with served(store, load=TALLY) as arena:
        game = await sit_down(arena, "tally", ("ada", "ben"))
        await game.act(0, "stop")
        [event] = raw.lrange("{score:tally}:log", 0, -1)
    raw.delete(*(key for key in raw.scan_iter("{score:*")))
    left = created(SessionId(game.id)).wire() | {"kind": "ended", "type": "tally", "status": "ended", "version": 9}
    left["result"] = {**orjson.loads(event), "ofTomorrow": 1}
    raw.delete(keys.outbox(keys.shard_of(game.id)))
    left_behind(raw, orjson.dumps(left), keys.shard_of(game.id))

    async with served(store, load=TALLY) as arena:
        await arena.arena.outbox.sweep(range(keys.SHARDS))
        _, _, entries = await arena.arena.scorer.board("tally", None)

    assert {entry.player_id for entry in entries} == {"ada", "ben"}


@pytest.mark.parametrize("poison", ["a type that is not loaded", "a state that cannot be read"])
async def test_a_session_that_cannot_be_woken_is_logged_once_a_minute_and_holds_no_other_up(
    store: str, raw: Any, caplog: pytest.LogCaptureFixture, poison: str
) -> None:
    async with served(store, load=TALLY) as arena:
        games = [await sit_down(arena, "tally") for _ in range(3)]
    for game in games:
        make_overdue(raw, game.id)
        if "state" in poison:
            spoil(raw, game.id)
    now = int(raw.time()[0]) * 1000

    def are_put_off() -> bool:
        moments = [raw.zscore(keys.of(SessionId(game.id)).due, game.id) or 0 for game in games]
        return min(moments) > now + 30_000

    caplog.clear()

    async with served(store, open_seconds=0.2, load="" if "type" in poison else TALLY) as arena:
        guest = await visit(arena)
        await guest.get("lobby", challengeType="psi")
        await comes_true(are_put_off, "they are put off")
        for _ in range(5):  # each takes as long as many looks at the deadlines
            await guest.get("create", challengeType="psi")
            await guest.hear("session", event="removed")
        assert are_put_off()

    assert len(lines(caplog, "work=deadline")) == len(games)


async def test_many_sessions_that_cannot_be_woken_leave_room_for_the_others(store: str, raw: Any) -> None:
    async with served(store, load=TALLY) as arena:
        bad = await sit_down(arena, "tally")
        good = await sit_down(arena, "tally")
        await good.act(0, "wind", '{"name": "bell", "after": 0.5}')
    shard = keys.shard_of(good.id)
    held = raw.hgetall(keys.of(SessionId(bad.id)).session)
    for _ in range(150):  # more than are looked at in one go
        copy = in_shard(shard)
        raw.hset(keys.of(copy).session, mapping={**held, b"state": SECRET.encode()})
        raw.zadd(keys.due(shard), {copy: 1})

    async with served(store, load=TALLY) as arena:
        guest = await visit(arena)
        await guest.get("watch", challengeId=good.id)

        await hear(guest, good, "bell rings")


async def test_the_lobby_hears_of_others_after_news_of_an_unreadable_session(store: str, raw: Any) -> None:
    async with served(store, load=TALLY) as arena:
        guest, game = await visit(arena), await sit_down(arena)
        await guest.get("lobby")
        spoil(raw, game.id)
        news = {"event": "changed", "id": game.id, "type": "psi", "createdAt": 1}
        raw.execute_command("SPUBLISH", keys.LOBBY_FEED, orjson.dumps(news))

        await duties_go_on(arena)

        assert game.id not in {frame["challenge"]["id"] for frame in guest.of("session")}


async def test_news_of_many_unreadable_sessions_do_not_hold_those_of_others_up(store: str, raw: Any) -> None:
    async with served(store, load=TALLY) as arena:
        guest, bad = await visit(arena), await sit_down(arena)
        spoil(raw, bad.id)
        held = raw.hgetall(keys.of(SessionId(bad.id)).session)
        await guest.get("lobby")

        for copy in [keys.new_session_id() for _ in range(50)]:
            raw.hset(keys.of(copy).session, mapping=held)
            await arena.arena.index.take(created(copy))
        good = await sit_down(arena)
        await guest.hear("session", event="started")

        assert {frame["challenge"]["id"] for frame in guest.of("session")} == {good.id}


@pytest.mark.parametrize("how", ["header", "state", "tag", "version"])
async def test_the_lobby_can_be_entered_although_a_session_cannot_be_read(store: str, raw: Any, how: str) -> None:
    async with served(store, load=TALLY) as arena:
        bad, good = await sit_down(arena, "tally"), await sit_down(arena, "tally")
        match how:
            case "tag":
                raw.hset(keys.of(SessionId(bad.id)).session, "tag", b"\xff")
            case "version":
                raw.hdel(keys.of(SessionId(bad.id)).session, "version")
            case _:
                spoil(raw, bad.id, how)

        answer = await (await visit(arena)).ask("lobby")

        assert answer["type"] == "reply"
        assert [challenge["id"] for challenge in answer["result"]["challenges"]] == [good.id]


@pytest.mark.parametrize(
    ("field", "data"),
    [
        ("header", b"{}"),
        ("state", SECRET.encode()),
        ("game", SECRET.encode()),
        ("game", b'{"share":NaN}'),
        ("game", b"7"),
    ],
)
async def test_lists_can_be_read_although_a_session_in_them_cannot(
    store: str, raw: Any, caplog: pytest.LogCaptureFixture, field: str, data: bytes
) -> None:
    async with served(store) as arena, calling(arena) as caller:
        bad, good = [await caller.sit_down("ada", "ben") for _ in range(2)]
        for session in (bad, good):
            await session.end()
        raw.hset(keys.of(SessionId(bad.id)).session, field, data)

        for path in ("/challenges", "/challenges/psi", "/users/ada/challenges"):
            page = await caller.get(path)
            assert [challenge["id"] for challenge in page["challenges"]] == [good.id]

    assert len(lines(caplog, "session not understood", bad.id)) == 3


# Boards


async def test_results_that_cannot_be_read_stop_the_boards_of_their_type_and_no_others(store: str, raw: Any) -> None:
    async with served(store, load=TALLY) as arena:
        raw.rpush("{score:psi}:log", *UNREADABLE)
        await duties_go_on(arena)
        result = GameResult.from_json(raw.lindex("{score:tally}:log", 0) or b"")

    left = result.model_copy(update={"game_id": "another"})
    raw.rpush("{score:tally}:log", left.to_json())  # by a worker that died before it had counted it
    async with served(store, load=TALLY) as arena:
        await comes_true(lambda: counted(arena, {"ada": 2, "ben": 2}), "the game that was left is counted")


async def counted(arena: Served, games: dict[str, int]) -> bool:
    return await tallies(arena.arena, "tally") == games


# The log


async def test_nothing_of_what_cannot_be_read_is_in_the_log(
    store: str, raw: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for data in UNREADABLE:
        left_behind(raw, data)
    for data in UNREADABLE[:3]:
        raw.xadd(keys.JOBS, {"job": data})
    async with served(store, load=TALLY) as arena:
        game, eve = await sit_down(arena, "tally"), await visit(arena)
        await eve.get("watch", challengeId=game.id)
        for field in ("header", "state", "game"):
            spoil(raw, game.id, field)
        name = keys.of(SessionId(game.id))
        raw.hset(name.session, "end", "0:0")
        raw.zadd(name.due, {game.id: 1})
        raw.execute_command("SPUBLISH", name.feed, "o 7 - 7 tag 7:0\n" + "0" * 16 + "{}")

        await comes_true(lambda: lines(caplog, "work=hub"), "the hub has tried to read it")
        await comes_true(lambda: lines(caplog, "work=deadline"), "it was to be woken")
        await comes_true(lambda: len(lines(caplog, "not understood")) == 9, "events and jobs were looked at")
        assert await (await visit(arena)).refusal("watch", challengeId=game.id) == "INTERNAL"

    assert SECRET not in caplog.text
