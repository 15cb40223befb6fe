"""Signed records at the doors: every ended game has one, it stays as it is, and it holds no secret of anybody."""

import json
from typing import Any

import httpx

from arena import catalog, proving, rerun, verify, verifying
from arena.models import Millis
from arena.store import keys
from arena.verifying import Finding, Verdict
from tests.callers import Caller, Session, calling
from tests.servers import Served, served
from tests.shelves import quiz
from tests.valkeys import connect

SECRET = "the-secret-is-4711"
KEEPER = "token-of-the-keeper"
ADMIN = {"Authorization": f"Bearer {KEEPER}"}


async def fetch(caller: Caller, session: Session, type: str = "psi") -> httpx.Response:
    return await caller.client.get(f"/api/challenges/{type}/{session.id}/record")


async def record(caller: Caller, session: Session, type: str = "psi") -> bytes:
    answer = await fetch(caller, session, type)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return answer.content


async def public_key(caller: Caller) -> str:
    found = (await caller.client.get("/.well-known/arena-keys.json")).json()["keys"]
    return str(found[0]["publicKey"])


def findings(data: bytes, key: str | None = None, *load: str) -> list[Finding]:
    found, findings = verifying.check(data, key)
    return findings if found is None else [*findings, rerun.check(found, catalog.load(load))]


def are_right(found: list[Finding]) -> bool:
    return {finding.verdict for finding in found} == {Verdict.RIGHT}


async def whisper(session: Session) -> None:
    sender, other = session.invites
    await session.caller.post("/chat/send", channel=session.id, content=SECRET, to=other, **{"from": sender})


async def hear(session: Session, words: str) -> None:
    """Wait until the operator has said something to everybody."""
    index, said = 1, ""
    while words not in said:
        told = await session.caller.get("/arena/sync", channel=session.id, index=index, wait=25)
        index, said = told["next"], "\n".join(message["content"] for message in told["messages"])


async def test_the_record_of_a_game_can_be_checked_and_played_again(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben", options={"setSize": 5})
    await whisper(session)
    assert (await session.act(0, "nonsense", type="no-such-move")).status == 400
    await session.end()
    data = await record(caller, session)
    await session.act(0)  # after the end, which the operator answers in its channel
    await whisper(session)

    again = await record(caller, session)
    elsewhere = await caller.client.get(f"/api/v1/sessions/{session.id}/record")

    assert are_right(findings(data, await public_key(caller)))
    assert data == again == elsewhere.content
    assert SECRET.encode() not in data
    assert data.count(b'"withheld"') == 1
    game = json.loads(data.splitlines()[0])
    assert game["result"]["playerIdentities"] == dict(zip(session.invites, ("ada", "ben"), strict=True))
    assert game["result"]["challengeVersion"]["contentHash"] == catalog.load().challenge("psi").version.content_hash
    assert {"average", "win-rate"} <= {strategy["name"] for strategy in game["strategies"]}
    assert all(len(strategy["contentHash"]) == 64 for strategy in game["strategies"])


async def test_what_comes_after_the_end_is_no_part_of_a_record(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")
    await session.end()
    await caller.post("/arena/message", **session.move(0))  # a knock, which the operator answers
    await whisper(session)

    data = await record(caller, session)

    assert are_right(findings(data))
    assert b'"knock"' not in data
    assert data.count(b'"withheld"') == 0


async def test_there_is_no_record_before_the_end_nor_under_another_name(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")

    early = await fetch(caller, session)
    await session.end()
    misnamed = await fetch(caller, session, "ultimatum")
    unknown = await caller.client.get("/api/sessions/00000000-0000-4000-8000-000000000000/record")

    assert (early.status_code, early.json()["code"]) == (400, "GAME_NOT_OVER")
    assert [answer.status_code for answer in (misnamed, unknown)] == [404, 404]
    assert misnamed.json()["code"] == "NOT_FOUND"


async def test_a_session_of_a_pair_has_a_record_when_both_have_ended(arena: Served, caller: Caller) -> None:
    made = await caller.post("/pairs/psi")
    one, two = [Session(caller, each["id"], each["invites"]) for each in made["challenges"]]
    for session, users in ((one, ("ada", "xen")), (two, ("ben", "xen"))):
        for seat, user in enumerate(users):
            await session.join(seat, user)
    await one.end()

    between = await fetch(caller, one)
    await two.end()
    data = [await record(caller, session) for session in (one, two)]

    assert (between.status_code, between.json()["code"]) == (400, "PAIR_NOT_OVER")
    assert "secret" not in between.text
    assert all(are_right(findings(each)) for each in data)


async def test_deadlines_and_jobs_are_played_again_from_the_record(store: str) -> None:
    async with served(store, load=("tests.plugins.tally",)) as arena, calling(arena) as caller:
        session = await caller.sit_down("ada", "ben", type="tally")
        assert (await session.act(0, '{"kind":"double","payload":4}', "order")).status == 200
        await hear(session, "double 4 is 8")
        assert (await session.act(0, '{"name":"curfew","after":0.01}', "wind")).status == 200
        await hear(session, "Game ended.")

        data = await record(caller, session, "tally")

    assert b'"kind":"job"' in data
    assert b'"kind":"deadline"' in data
    assert are_right(findings(data, None, "tests.plugins.tally"))


async def test_a_pack_keeps_its_secrets_and_its_record_says_what_cannot_be_checked(store: str) -> None:
    async with served(store, admin_token=KEEPER) as arena, calling(arena, headers=ADMIN) as keeper:
        told = await keeper.ask("POST", "/packs", content=quiz())
        assert told.status in {200, 201}, told
        session = await keeper.sit_down("ada", type="quiz")
        for case in ("sum", "product"):
            move = json.dumps({"case": case, "output": f"{SECRET}-{case}"})
            assert (await session.act(0, move, "submit")).status == 200
        await hear(session, "Game ended.")

        data = await record(keeper, session, "quiz")
        played = await arena.arena.engine.get(session.id)
        openings = await proving.openings_of(arena.arena, played)

    audited = verify.find(data, verify.Wish(openings=openings, pack=quiz()))[1]
    other = verify.find(data, verify.Wish(openings=openings, pack=quiz(pack__name="Another")))[1]
    found = findings(data)
    assert are_right(audited), audited
    assert "scorecards" in audited[-1].words
    assert other[-1].verdict is Verdict.OPEN
    assert SECRET.encode() in openings
    assert SECRET.encode() not in data
    assert b'"seed":' not in data
    assert json.loads(data.splitlines()[0])["result"]["scorecards"][0]["cases"] == 2
    assert are_right(found[:-1])
    assert (found[-1].verdict, "sealed" in found[-1].words) == (Verdict.OPEN, True)


async def test_a_new_key_signs_and_old_records_stay_right_unless_it_was_revoked(arena: Served, caller: Caller) -> None:
    first, second = [await caller.sit_down("ada", "ben") for _ in range(2)]
    for session in (first, second):
        await session.end()
    old, before = await public_key(caller), await record(caller, first)

    await arena.arena.signing.rotate(Millis(1), revoke=False)
    kept, fresh, new = await record(caller, first), await record(caller, second), await public_key(caller)
    await arena.arena.signing.rotate(Millis(2), revoke=True)
    anew = await record(caller, second)
    listed = (await caller.client.get("/.well-known/arena-keys.json")).json()["keys"]

    assert before == kept
    assert are_right(findings(kept, old))
    assert are_right(findings(fresh, new))
    assert are_right(findings(anew, listed[0]["publicKey"]))
    assert [key["number"] for key in listed] == [3, 2, 1]
    assert [("retiredAt" in key, "revokedAt" in key) for key in listed] == [(False, False), (True, True), (True, False)]


async def test_no_door_shows_a_private_key_and_a_store_keeps_one_of_the_newest_alone(store: str) -> None:
    async with served(store) as one, served(store) as two, calling(one) as here, calling(two) as there:
        assert await public_key(here) == await public_key(there)
        await one.arena.signing.rotate(Millis(1), revoke=False)
        assert await public_key(here) == await public_key(there)
        shown = (await here.client.get("/.well-known/arena-keys.json")).text

    with connect(store) as redis:
        held: list[Any] = [json.loads(value) for value in redis.hvals(keys.SIGNING)]
    private = [pair["privateKey"] for pair in held if "privateKey" in pair]
    assert len(held) == 2
    assert len(private) == 1
    assert private[0] not in shown
    assert "privateKey" not in shown
