"""The same play on a cluster of three: sessions on every shard, news across nodes, restarts and slots that move."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, cast

import pytest
from redis.crc import key_slot

from arena import catalog
from arena.errors import CannotStart
from arena.identity import Identity
from arena.models import SessionId, Status, UserId
from arena.runtime import Arena, open_arena
from arena.settings import Settings
from arena.store import index, keys
from tests.callers import calling
from tests.chaos import averages, board
from tests.guests import Game, sit_down, visit
from tests.servers import Served, served
from tests.shelves import quiz
from tests.test_workers import play
from tests.valkeys import Cluster, Valkey, connect, eventually, free_ports
from tests.watching import stored, until


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


@pytest.fixture
def empty(cluster: Cluster) -> Cluster:
    """A cluster without data."""
    for node in cluster.nodes:
        with connect(node.url) as redis:
            redis.flushall()
    return cluster


@asynccontextmanager
async def arena_on(url: str) -> AsyncIterator[Arena]:
    settings = Settings(limit_open_sessions_per_address=0)
    async with open_arena(settings, catalog.load(), url) as arena:
        yield arena


def slots_of(node: Valkey) -> list[tuple[int, int]]:
    """The ranges of slots that a node says it holds."""
    with connect(node.url) as redis:
        shards: Any = redis.execute_command("CLUSTER", "SLOTS")
    ranges = [(r[0], r[1], r[2][1]) for r in shards] if isinstance(shards, list) else []
    return [(first, last) for first, last, port in ranges if port == node.port]


def holder(cluster: Cluster, slot: int) -> Valkey:
    """The node that holds a slot, as it says itself."""
    found = [n for n in cluster.nodes if any(first <= slot <= last for first, last in slots_of(n))]
    assert len(found) == 1
    return found[0]


def name_of(node: Valkey) -> str:
    with connect(node.url) as redis:
        id_: Any = redis.execute_command("CLUSTER", "MYID")
    return str(id_.decode())


def move(cluster: Cluster, slot: int) -> None:
    """Give a slot, with its keys, to another node, and wait until all know it."""
    source = holder(cluster, slot)
    target = next(node for node in cluster.nodes if node is not source)
    with connect(source.url) as redis:
        redis.execute_command("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", name_of(target))

    def has_moved() -> bool:
        return all(any(first <= slot <= last for first, last in _told_by(node, target)) for node in cluster.nodes)

    eventually(has_moved, "the slot has moved")


def _told_by(node: Valkey, owner: Valkey) -> list[tuple[int, int]]:
    """The slots of one node as another knows them."""
    with connect(node.url) as redis:
        shards: Any = redis.execute_command("CLUSTER", "SLOTS")
    return [(r[0], r[1]) for r in shards if r[2][1] == owner.port]


async def test_games_on_every_shard_are_played_scored_listed_and_recomputed(empty: Cluster) -> None:
    async with arena_on(empty.nodes[1].url) as one, arena_on(empty.nodes[2].url) as two:
        assert len(one.nodes.all) == 3
        rng, games = Random(3), list[SessionId]()
        while len({keys.shard_of(id_) for id_ in games}) < keys.SHARDS:
            names = [rng.sample(("ada", "ben", "cyd"), 2) for _ in range(32)]
            games += await asyncio.gather(*(play([one, two], rng, users) for users in names))

        for node in empty.nodes:
            with connect(node.url) as redis:
                assert redis.dbsize() > 0
        results = await two.boards.results("psi", 0, 10_000)
        expected = averages(results)
        assert sorted(result.game_id for result in results) == sorted(games)
        assert await board(two, "psi", "average") == expected
        assert {user: line["games"] for user, line in (await board(one, None, "global-average")).items()} == {
            user: line["games"] for user, line in expected.items()
        }
        await two.scorer.recompute("psi", two.catalog.strategies["average"])
        assert await board(one, "psi", "average") == expected
        listed = await one.index.page(index.name("psi", Status.ENDED), 0, 10_000)
        assert sorted(listed.ids) == sorted(games)
        assert listed.total == len(games)
        assert (await one.index.page(index.of_user(UserId("ada")), 0, 10_000)).total == expected["ada"]["games"]


async def test_packs_are_published_and_played_on_a_cluster_and_lie_in_one_slot(empty: Cluster) -> None:
    text = quiz(version__assets=[{"key": "table", "path": "table.csv"}])
    one, two = served(empty.nodes[0].url), served(empty.nodes[2].url)
    async with one as first, two as second, calling(first) as ada, calling(second) as ben:
        made = await ada.ask("POST", "/packs", files={"pack": text, "table": b"1,2"})
        session = await ben.sit_down("ben", type="quiz")
        moves = [await session.act(0, answer, "submit") for answer in ("4", "9")]
        await ben.post("/packs/quiz/archive", version=1)

        assert made.status == 200
        assert [move.status for move in moves] == [200, 200]
        assert (await ada.refusal("/challenges/quiz")).body["code"] == "ARCHIVED"
        table = await ben.client.get("/api/packs/quiz/versions/1/assets/table")
        assert table.content == b"1,2"

    names: list[bytes] = []
    for node in empty.nodes:
        with connect(node.url) as redis:
            names += cast(list[bytes], redis.keys("*packs*"))
    assert len(names) >= 7
    assert {key_slot(name) for name in names} == {key_slot(b"{packs}")}


async def test_two_servers_on_a_cluster_play_chat_watch_and_score_together(empty: Cluster) -> None:
    async with served(empty.nodes[0].url) as one, served(empty.nodes[2].url) as two:
        guests = []
        eva = await visit(two)
        await eva.get("lobby")
        for _ in range(12):
            game = await sit_down(one, users=("ada", "ben"), others=two)
            eve = await visit(two)
            await eve.get("watch", challengeId=game.id)
            guests.append((game, eve))
        await asyncio.gather(*(_talk_and_end(game) for game, _ in guests))

        slots = {key_slot(keys.feed(SessionId(game.id)).encode()) // 5462 for game, _ in guests}
        assert len(slots) > 1  # on more than one node
        for game, eve in guests:
            for guest in (*game.players, eve):
                await guest.hear("game_ended", challengeId=game.id)
                assert [m["index"] for m in guest.messages(game.operator_channel)] == list(range(1, 10))
                assert [m["index"] for m in guest.messages(game.id)] == [1, 2]
        told = await eva.get("leaderboard", challengeType="psi")
        assert {entry["playerId"]: entry["gamesPlayed"] for entry in told["entries"]} == {"ada": 12, "ben": 12}
        await eva.until(lambda: len(eva.of("session", event="ended")) == 12 or None, "all ends in the lobby")


async def _talk_and_end(game: Game) -> None:
    assert (await game.say(0, "hello"))["result"]["index"] == 1
    assert (await game.say(1, "psst", to=game.invites[0]))["result"]["index"] == 2
    await game.end()


async def _games_on_each_node(arena: Served, cluster: Cluster) -> list[Game]:
    """A game on each node, with a spectator."""
    games: dict[int, Game] = {}
    while len(games) < 3:
        game = await sit_down(arena, users=("ada", "ben"))
        games.setdefault(holder(cluster, key_slot(keys.feed(SessionId(game.id)).encode())).port, game)
    return list(games.values())


async def test_players_find_each_other_on_a_cluster_for_any_challenge(empty: Cluster) -> None:
    async with served(empty.url) as arena, calling(arena) as caller:
        for type_ in ("psi", "ultimatum", "millionaire"):
            tickets = [await caller.post(f"/queue/{type_}", userId=user) for user in ("ada", "ben")]
            states = [await caller.get(f"/queue/{type_}", ticket=one["ticket"], wait=20) for one in tickets]
            assert len({state["challengeId"] for state in states}) == 1
            left = await caller.post(f"/queue/{type_}", userId="cat")
            gone = await caller.ask("DELETE", f"/queue/{type_}", params={"ticket": left["ticket"]})
            assert gone.body["status"] == "gone"


async def test_the_restart_of_a_node_is_survived(empty: Cluster) -> None:
    async with served(empty.nodes[0].url, store_patience_seconds=10) as arena:
        games = await _games_on_each_node(arena, empty)
        for game in games:
            assert (await game.say(0, "before"))["type"] == "reply"

        empty.nodes[0].stop()  # the one that we were told about
        talk = asyncio.gather(*(game.say(0, "while it is away") for game in games))
        empty.nodes[0].start()
        answers = await talk

        assert [answer["result"]["index"] for answer in answers] == [2, 2, 2]
        for game in games:
            await game.end()
            for guest in game.players:
                await guest.hear("game_ended", challengeId=game.id)
                assert [m["index"] for m in guest.messages(game.id)] == [1, 2]
                assert len(guest.of("initial")) == 2  # nobody was told of a loss


async def test_commands_and_feeds_follow_a_slot_that_moves(empty: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.hub.CHECK_PAUSE", 1000.0)  # so that only a feed can bring the news
    async with served(empty.nodes[0].url) as one, served(empty.nodes[1].url) as two:
        game = await sit_down(one, users=("ada", "ben"), others=two)
        eve = await visit(two)
        await eve.get("watch", challengeId=game.id)
        await game.say(0, "before")
        for guest in (*game.players, eve):
            await guest.hear_messages(game.id, 1)
        slot = key_slot(keys.feed(SessionId(game.id)).encode())
        old = holder(empty, slot)

        await asyncio.to_thread(move, empty, slot)
        assert holder(empty, slot) is not old
        assert (await game.say(1, "after"))["result"]["index"] == 2
        await until(lambda: _both_listen(empty, game), "both servers listen at the new node")
        assert (await game.say(0, "later"))["result"]["index"] == 3
        await game.end()

        for guest in (*game.players, eve):
            await guest.hear("game_ended")
            assert [m["index"] for m in guest.messages(game.id)] == [1, 2, 3]
        operator, talk = await stored(two.arena, game.id)
        assert len(operator) == 9
        assert [m["content"] for m in talk] == ["before", "after", "later"]


async def _both_listen(cluster: Cluster, game: Game) -> bool:
    """Whether both servers listen at the node that has the slot now."""
    feed = keys.feed(SessionId(game.id))
    with connect(holder(cluster, key_slot(feed.encode())).url) as redis:
        reply: Any = redis.execute_command("PUBSUB", "SHARDNUMSUB", feed)
    return 2 in reply


async def test_a_node_that_a_slot_is_only_moving_to_gets_the_script_it_does_not_know(empty: Cluster) -> None:
    slot = key_slot(b"{moving}")
    source = holder(empty, slot)
    target = next(node for node in empty.nodes if node is not source)
    async with arena_on(empty.nodes[0].url) as arena:
        with connect(source.url) as at_source, connect(target.url) as at_target:
            at_target.script_flush()
            at_target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", name_of(source))
            at_source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", name_of(target))
            try:
                page = await arena.nodes.script("page", ["{moving}:m"], 1, "", 100)
            finally:
                for redis in (at_target, at_source):
                    redis.execute_command("CLUSTER", "SETSLOT", slot, "STABLE")

    assert page == [1, 1, b"", 0, []]


async def test_rest_calls_work_wherever_their_keys_lie(empty: Cluster) -> None:
    async with served(empty.nodes[0].url) as one, calling(one) as caller:
        session = await caller.sit_down("ada", "ben")
        for name in map(str, range(20)):
            await caller.post("/users", userId=name, username=name)
            await caller.post("/chat/send", channel=name, **{"from": name}, content=name, key=name)
            assert (await caller.get("/chat/sync", channel=name))["count"] == 1
        await caller.post("/invites", inviteId=(await caller.create()).invites[0])
        await session.end()

        assert len(await caller.get("/users")) == 20
        assert (await caller.get("/challenges", status="ended"))["total"] == 1
        assert len(await caller.get("/scoring")) == 2
        assert (await session.operator())[-1]["content"].startswith("Game ended.")


async def test_a_signed_profile_is_changed_in_a_cluster_too(empty: Cluster) -> None:
    async with served(empty.nodes[0].url, auth="required", auth_secret="sesame") as one, calling(one) as caller:
        for _ in range(10):
            someone = Identity.new()
            told = await caller.post("/users", username="Ada", **someone.sign("user-update"))
            assert told == {"userId": someone.user, "username": "Ada"}


async def test_a_cluster_with_a_hole_is_refused_with_a_clear_message() -> None:
    with (
        Valkey(options={"cluster-enabled": "yes", "cluster-config-file": "nodes.conf"}, port=free_ports(1)[0]) as alone,
        pytest.raises(CannotStart, match="does not serve all slots"),
    ):
        async with arena_on(alone.url):
            pass
