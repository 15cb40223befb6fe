"""Pairs: two sessions on one deal, where nobody learns in one what would help in the other."""

import asyncio
import json

import pytest

from arena import catalog, deals
from arena.errors import Refused, StoreUnavailable
from arena.models import Challenge, Invite, SessionId, Status, UserId
from arena.session import Unveil
from arena.store import index, keys
from tests.callers import Caller, Session, calling
from tests.guests import comes_true, visit
from tests.servers import Served, served


async def pair(caller: Caller, **body: object) -> list[Session]:
    made = await caller.post("/pairs/psi", **body)
    return [Session(caller, one["id"], one["invites"]) for one in made["challenges"]]


async def seat(sessions: list[Session], *users: tuple[str, str]) -> None:
    for session, both in zip(sessions, users, strict=True):
        for number, user in enumerate(both):
            await session.join(number, user)


async def shown(arena: Served, session: Session) -> Challenge:
    guest = await visit(arena)
    return Challenge.from_json(json.dumps(await guest.get("watch", challengeId=session.id)))


async def test_both_sessions_of_a_pair_are_dealt_the_same(arena: Served, caller: Caller) -> None:
    made = await caller.post("/pairs/psi", options={"setSize": 5})
    games = [(await arena.arena.engine.get(one["id"])).game for one in made["challenges"]]

    assert games[0] == games[1]
    assert [one["pair"] for one in made["challenges"]] == [made["pair"]] * 2
    assert made["challenges"][0]["seedCommitment"] == made["challenges"][1]["seedCommitment"]
    assert len({invite for one in made["challenges"] for invite in one["invites"]}) == 4
    assert "reveal" not in made["challenges"][0]


async def test_a_pair_is_in_no_list(caller: Caller) -> None:
    sessions = await pair(caller)
    await seat(sessions, ("ada", "xen"), ("ben", "xen"))

    assert (await caller.get("/challenges"))["challenges"] == []


async def test_nothing_is_revealed_before_both_have_ended(arena: Served, caller: Caller) -> None:
    one, two = sessions = await pair(caller)
    await seat(sessions, ("ada", "xen"), ("ben", "xen"))

    await one.end()
    between = await shown(arena, one)
    messages = await one.operator()
    await two.end()
    after = [await shown(arena, session) for session in sessions]

    assert between.state.status == "ended"
    assert between.reveal is None
    assert between.game_state == {}
    assert [m for m in messages if m.get("to") and m["content"]] == []
    assert all(session.reveal is not None and session.game_state for session in after)
    assert all(m["content"] for m in await one.operator())
    for session in after:
        assert all(finding.is_right for finding in deals.check(session, catalog.load()))


async def test_the_results_of_a_pair_say_so_and_count(arena: Served, caller: Caller) -> None:
    sessions = await pair(caller)
    await seat(sessions, ("ada", "xen"), ("ben", "xen"))
    for session in sessions:
        await session.end()

    results = await arena.arena.boards.results("psi", 0, 10)

    assert len({result.pair for result in results}) == 1
    assert results[0].pair is not None
    assert all(result.counts for result in results)


async def test_a_twin_that_nobody_plays_does_not_keep_the_other_closed(store: str) -> None:
    async with served(store, open_seconds=0.5) as arena:
        guest = await visit(arena)
        made = await guest.get("pair", challengeType="psi")
        one = made["challenges"][0]
        players = [await visit(arena) for _ in one["invites"]]
        for player, invite in zip(players, one["invites"], strict=True):
            await player.get("join", invite=invite)
        for player in players:
            await player.get("message", challengeId=one["id"], messageType="guess", content="1")

        async def opened() -> bool:
            return (await arena.arena.engine.get(one["id"])).standing.revealed

        await comes_true(opened, "the session is revealed")


async def test_a_reveal_that_was_missed_is_made_good(arena: Served, caller: Caller) -> None:
    outbox = arena.arena.outbox
    sessions = await pair(caller)
    await seat(sessions, ("ada", "xen"), ("ben", "xen"))
    unveil, outbox.unveil = outbox.unveil, _fails
    for session in sessions:
        await session.end()
    assert (await shown(arena, sessions[0])).reveal is None

    outbox.unveil, outbox.stale = unveil, 0
    await outbox.sweep(range(64))

    assert all([(await shown(arena, session)).reveal for session in sessions])
    inputs = await arena.arena.sessions.inputs(SessionId(sessions[0].id))
    assert sum(isinstance(change, Unveil) for change in inputs) == 1


async def _fails(sessions: object) -> None:
    raise StoreUnavailable("Not now.")


async def test_nobody_sits_on_two_seats_of_one_deal(caller: Caller) -> None:
    one, two = await pair(caller)
    await one.join(0, "ada")
    await one.join(1, "xen")

    wrong = await caller.refusal("/arena/join", invite=two.invites[0], userId="xen")
    await two.join(0, "ben")
    await two.join(1, "xen")

    assert (wrong.status, wrong.body["code"]) == (400, "OTHER_SEAT")


async def test_nobody_sits_on_two_seats_of_one_deal_in_the_same_session_either(caller: Caller) -> None:
    one, _ = await pair(caller)
    await one.join(0, "ada")

    wrong = await caller.refusal("/arena/join", invite=one.invites[1], userId="ada")

    assert (wrong.status, wrong.body["code"]) == (400, "OTHER_SEAT")


async def test_who_sits_down_in_both_sessions_at_the_same_moment_gets_one_seat(store: str) -> None:
    async with served(store) as arena, served(store) as other, calling(arena) as caller:
        for _ in range(10):
            one, two = await pair(caller)
            await two.join(0, "ben")

            done = await asyncio.gather(
                arena.arena.engine.join(Invite(one.invites[0]), UserId("xen")),
                other.arena.engine.join(Invite(two.invites[1]), UserId("xen")),
                return_exceptions=True,
            )

            refused = [each for each in done if isinstance(each, Refused)]
            assert [each.code for each in refused] == ["OTHER_SEAT"]


async def test_who_saw_a_session_that_is_gone_still_knows_its_deal(arena: Served, caller: Caller) -> None:
    one, two = await pair(caller)
    await one.join(0, "xen")
    engine, sessions = arena.arena.engine, arena.arena.sessions

    await sessions.remove(await engine.get(one.id), arena.arena.clock.now())
    await two.join(0, "ben")

    assert (await caller.refusal("/arena/join", invite=two.invites[1], userId="xen")).body["code"] == "OTHER_SEAT"


async def test_a_pair_leaves_nothing_behind(arena: Served, caller: Caller) -> None:
    sessions = await pair(caller)
    await seat(sessions, ("ada", "xen"), ("ben", "xen"))

    for session in sessions:
        await arena.arena.sessions.remove(await arena.arena.engine.get(session.id), arena.arena.clock.now())

    shard = keys.tag(keys.shard_of(sessions[0].id))
    assert await arena.arena.nodes.run(shard, "KEYS", f"{shard}:[^o]*") == []


async def test_a_pair_takes_the_room_of_two_sessions_or_none(store: str) -> None:
    async with served(store, limit_open_sessions_per_address=2) as arena, calling(arena) as caller:
        await caller.create()

        told = await caller.refusal("/pairs/psi")

        assert told.status == 429
        assert (await caller.get("/challenges"))["total"] == 1
        assert await arena.arena.nodes.run(keys.LOBBY_FEED, "ZCARD", index.name(status=Status.OPEN)) == 1
        await caller.create()


async def test_seats_are_swapped_only_where_that_is_fair(store: str) -> None:
    async with served(store, load="tests.plugins.nim") as arena:
        guest = await visit(arena)

        assert await guest.refusal("pair", challengeType="psi", swap=True) == "NOT_REPLAYABLE"
        made = await guest.get("pair", challengeType="nim", swap=True)
        for users, session in zip((("ada", "ben"), ("ben", "ada")), made["challenges"], strict=True):
            for user, invite in zip(users, session["invites"], strict=True):
                await (await visit(arena)).get("join", invite=invite, userId=user)


async def test_a_seed_may_be_chosen_for_a_pair(arena: Served, caller: Caller) -> None:
    sessions = await pair(caller, seed="7")
    other = await pair(caller, seed="7")

    games = {(await arena.arena.engine.get(session.id)).game for session in (*sessions, *other)}

    assert len(games) == 1
    assert (await shown(arena, sessions[0])).ranked is False


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/pairs/chess", {}, "UNKNOWN_CHALLENGE_TYPE"),
        ("/pairs/psi", {"swap": True}, "NOT_REPLAYABLE"),
        ("/pairs/psi", {"swap": "yes"}, "VALIDATION"),
        ("/pairs/psi", {"seed": ""}, "VALIDATION"),
        ("/pairs/psi", {"options": {"setSize": -1}}, "VALIDATION"),
    ],
)
async def test_pairs_that_cannot_be_are_refused_with_a_code(
    caller: Caller, path: str, body: dict[str, object], code: str
) -> None:
    assert (await caller.refusal(path, **body)).body["code"] == code
