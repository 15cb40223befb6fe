"""Where keys are required: who gets one, what it opens, and what everybody else is told."""

import hashlib
import hmac
from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena.identity import Identity
from tests.callers import Caller, Session, Told, calling
from tests.guests import visit
from tests.servers import Served, served

SECRET = "a long random text"
NOBODY = "inv_6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f"
REFUSED = (401, {"error": "Authentication required"})
MINUTES = 60_000


@pytest.fixture
async def guarded(store: str) -> AsyncIterator[Served]:
    """A server that requires keys."""
    async with served(store, auth="required", auth_secret=SECRET) as arena:
        yield arena


@pytest.fixture
async def caller(guarded: Served) -> AsyncIterator[Caller]:
    async with calling(guarded) as someone:
        yield someone


@pytest.fixture
async def session(caller: Caller) -> Session:
    """A running game of two who signed in."""
    made = await caller.create()
    for seat in (0, 1):
        await made.sign_in(seat, Identity.new())
    return made


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def act(session: Session, key: str | None = None, content: str = "1", query: str = "") -> Told:
    body = {"challengeId": session.id, "messageType": "guess", "content": content}
    return await session.caller.ask("POST", f"/arena/message{query}", json=body, headers=bearer(key) if key else {})


async def test_a_session_key_is_that_of_the_protocol(session: Session) -> None:
    for seat, key in enumerate(session.keys):
        text = f"arena:v1:session:{session.id}:{seat}"

        assert key == f"s_{seat}." + hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()


async def test_players_are_known_by_the_digest_of_their_public_key_whatever_they_say(caller: Caller) -> None:
    made = await caller.create()
    ada, ben = Identity.new(), Identity.new()
    invite = made.invites[0]
    body = {"invite": invite, "userId": "somebody else", **ada.sign(f"join:{invite}")}
    body["publicKey"] = body["publicKey"].upper()

    joined = await caller.post("/arena/join", **body)
    await made.sign_in(1, ben)
    for key in (joined["sessionKey"], made.keys[0]):
        assert (await act(made, key)).status == 200

    [shown] = (await caller.get("/challenges"))["challenges"]
    digests = [hashlib.sha256(one.public_key.encode()).hexdigest() for one in (ada, ben)]
    assert list(shown["state"]["playerIdentities"].values()) == digests
    assert joined["ChallengeID"] == made.id
    assert set(joined) == {"ChallengeID", "ChallengeInfo", "sessionKey"}


async def join_refusal(caller: Caller, **changes: Any) -> Told:
    """Join as somebody who signed well, but for some changes; None leaves a field out."""
    invite = changes.get("invite") or (await caller.create()).invites[0]
    body = {"invite": invite, **Identity.new().sign(f"join:{invite}"), **changes}
    return await caller.refusal("/arena/join", **{name: value for name, value in body.items() if value is not None})


@pytest.mark.parametrize("missing", [{"publicKey": ""}, {"signature": None}, {"timestamp": 0}])
async def test_whoever_does_not_sign_is_told_what_is_needed(caller: Caller, missing: dict[str, Any]) -> None:
    told = await join_refusal(caller, **missing)

    assert told == (400, {"error": "publicKey, signature, and timestamp are required"})


async def test_whoever_names_no_invite_is_told_so_first(caller: Caller) -> None:
    assert await caller.refusal("/arena/join") == (400, {"error": "invite is required"})
    assert await caller.refusal("/arena/join", invite=None) == (400, {"error": "invite is required"})


@pytest.mark.parametrize("away", [-6 * MINUTES, 6 * MINUTES, 10**15])
async def test_a_signature_of_another_time_is_refused(guarded: Served, caller: Caller, away: int) -> None:
    invite = (await caller.create()).invites[0]
    body = {"invite": invite, **Identity.new().sign(f"join:{invite}", guarded.arena.clock.now() + away)}

    assert await caller.refusal("/arena/join", **body) == (401, {"error": "Timestamp expired"})


@pytest.mark.parametrize("timestamp", ["soon", "1e3", "-5", "٣٣", 1.5, " 12", 1e300])
async def test_a_time_that_is_none_is_refused(caller: Caller, timestamp: Any) -> None:
    assert await join_refusal(caller, timestamp=timestamp) == (401, {"error": "Timestamp expired"})


@pytest.mark.parametrize("away", [-4 * MINUTES, 4 * MINUTES])
async def test_clocks_may_differ_by_some_minutes_and_the_time_may_be_text(
    guarded: Served, caller: Caller, away: int
) -> None:
    invite = (await caller.create()).invites[0]
    signed = Identity.new().sign(f"join:{invite}", guarded.arena.clock.now() + away)

    joined = await caller.post("/arena/join", invite=invite, **{**signed, "timestamp": str(signed["timestamp"])})

    assert joined["sessionKey"].startswith("s_0.")


@pytest.mark.parametrize(
    "changes",
    [
        {"signature": "00" * 64},
        {"signature": "00" * 63},
        {"signature": "not hex"},
        {"publicKey": Identity.new().public_key},
        {"publicKey": Identity.new().public_key[24:]},  # raw
        {"publicKey": Identity.new().public_key + "00"},
        {"publicKey": "zz" * 44},
    ],
)
async def test_a_signature_that_does_not_fit_is_refused(caller: Caller, changes: dict[str, Any]) -> None:
    assert await join_refusal(caller, **changes) == (401, {"error": "Invalid signature"})


async def test_a_signature_for_one_invite_opens_no_other(caller: Caller) -> None:
    session = await caller.create()
    signed = Identity.new().sign(f"join:{session.invites[0]}")

    told = await caller.refusal("/arena/join", invite=session.invites[1], **signed)

    assert told == (401, {"error": "Invalid signature"})


async def test_unknown_and_used_invites_are_refused_to_those_who_signed(caller: Caller, session: Session) -> None:
    unknown, used = [await join_refusal(caller, invite=invite) for invite in (NOBODY, session.invites[0])]

    assert unknown == (400, {"error": f"Challenge not found for invite: {NOBODY}"})
    assert (used.status, used.body["code"]) == (400, "INVITE_ALREADY_USED")


async def test_a_key_speaks_for_its_seat_from_the_header_or_the_query_and_from_is_ignored(session: Session) -> None:
    caller, (one, two) = session.caller, session.keys

    by_header = await act(session, one, query=f"?from={session.invites[1]}")
    by_query = await caller.ask(
        "POST", f"/chat/send?key={two}", json={"channel": session.id, "from": "eve", "content": "hi"}
    )
    own = await caller.ask("GET", f"/arena/sync?channel={session.id}&key={one}")
    same = await caller.ask("GET", f"/chat/sync?channel=challenge_{session.id}", headers=bearer(one))

    assert by_header == (200, {"ok": "Message sent"})
    assert by_query.body["from"] == session.invites[1]
    readable = [m["from"] for m in own.body["messages"] if not m.get("redacted")]
    assert readable[:2] == ["operator", session.invites[0]]
    assert same == own


async def test_without_a_key_one_reads_what_is_public_and_says_nothing(session: Session) -> None:
    caller = session.caller

    read = await caller.get("/arena/sync", channel=session.id, **{"from": session.invites[0]})
    told = [
        await act(session, query=f"?from={session.invites[0]}"),
        await caller.refusal("/chat/send", channel=session.id, **{"from": session.invites[0]}, content="hi"),
        await caller.refusal("/chat/send", channel="lobby", **{"from": "ada"}, content="hi"),
    ]

    assert all(m["redacted"] for m in read["messages"])
    assert told == [(400, {"error": "from is required"})] * 3


def spoilt(key: str) -> list[str]:
    return [
        "",
        "nonsense",
        key.replace("s_0", "s_1"),
        key.replace("s_0", "s_0x"),
        key.replace("s_0", "s_00"),
        key + "_junk",
        key.upper(),
        key[:-1],
        key[:-1] + ("0" if key[-1] != "0" else "1"),
    ]


async def test_a_key_that_does_not_fit_is_refused_before_anything_else(session: Session) -> None:
    caller = session.caller
    other = await caller.create()
    before = await session.operator()

    for key in [*spoilt(session.keys[0])[1:]]:
        told = [
            await act(session, key),
            await caller.ask("POST", "/arena/message", json={"challengeId": session.id}, headers=bearer(key)),
            await caller.ask("GET", f"/arena/sync?channel={session.id}&key={key}"),
            await caller.ask("GET", f"/chat/sync?channel={session.id}", headers=bearer(key)),
        ]
        assert told == [REFUSED] * 4, key
    for channel in (other.id, "lobby", NOBODY[4:]):
        told = [await caller.ask("GET", f"/chat/sync?channel={channel}", headers=bearer(session.keys[0]))]
        assert told == [REFUSED], channel
    assert await session.operator() == before


async def test_a_bad_bearer_is_not_rescued_by_a_good_query_and_another_scheme_is_no_bearer(session: Session) -> None:
    key = session.keys[0]

    bad = await act(session, "nonsense", query=f"?key={key}")
    body = {"challengeId": session.id, "messageType": "guess", "content": "1"}
    basic = await session.caller.ask(
        "POST", f"/arena/message?key={key}", json=body, headers={"authorization": "Basic abc"}
    )

    assert bad == REFUSED
    assert basic.status == 200


async def test_where_no_session_is_named_any_key_is_nobodys(session: Session) -> None:
    for path in ("/challenges", "/metadata", "/scoring", "/users", "/stats"):
        told = await session.caller.ask("GET", path, headers=bearer("nonsense"))
        assert told.status == 200
    assert (await session.caller.ask("POST", "/challenges/psi", headers=bearer("nonsense"))).status == 200


async def test_the_session_is_found_in_the_query_before_the_body(session: Session) -> None:
    caller, key = session.caller, session.keys[0]
    other = (await caller.create()).id
    body = {"challengeId": session.id, "messageType": "guess", "content": "1"}

    async def ask(query: str, **fields: Any) -> int:
        return (
            await caller.ask("POST", f"/arena/message?{query}", json={**body, **fields}, headers=bearer(key))
        ).status

    assert await ask(f"channel={other}&challengeId={session.id}") == 401
    assert await ask(f"challengeId={other}") == 401
    assert await ask("", challengeId=other, channel=session.id) == 401
    assert await ask(f"channel=challenge_{session.id}") == 200


@pytest.mark.parametrize("channel", ["lobby", "invites", "__proto__"])
async def test_a_key_opens_no_free_channel_whatever_session_is_named_beside_it(session: Session, channel: str) -> None:
    caller, head = session.caller, bearer(session.keys[0])
    said = {"channel": channel, "content": "hi"}

    told = [
        await caller.ask("POST", f"/chat/send?channel={session.id}", json=said, headers=head),
        await caller.ask("POST", f"/chat/send?challengeId={session.id}", json=said, headers=head),
        await caller.ask("POST", "/chat/send", json={**said, "challengeId": session.id}, headers=head),
    ]

    assert told == [REFUSED] * 3
    assert (await caller.get("/chat/sync", channel=channel))["messages"] == []


async def test_a_key_for_a_seat_that_was_just_taken_on_another_worker_is_known_here(store: str) -> None:
    settings: dict[str, Any] = {"auth": "required", "auth_secret": SECRET}
    async with (
        served(store, **settings) as one,
        served(store, **settings) as two,
        calling(one) as here,
        calling(two) as there,
    ):
        session = await here.create()
        await here.get(f"/invites/{session.invites[0]}")
        session.caller = there
        await session.sign_in(0, Identity.new())
        session.caller = here

        told = await act(session, session.keys[0])

    assert told == (200, {"ok": "Message sent"})


# Profiles


async def update(caller: Caller, body: dict[str, Any]) -> Told:
    return await caller.ask("POST", "/users", json=body)


async def test_a_profile_is_changed_by_the_signature_of_its_user_alone(caller: Caller) -> None:
    ada = Identity.new()

    told = await update(caller, {"userId": "ben", "username": "Ada", **ada.sign("user-update")})
    nameless = await update(caller, {"userId": 5, "from": [], "username": "Ada", **ada.sign("user-update")})
    unsigned = await update(caller, {"userId": ada.user, "username": "Eve"})
    foreign = {**Identity.new().sign("user-update"), "publicKey": ada.public_key}
    wrong = await update(caller, {"username": "Eve", **foreign})

    assert told == nameless == (200, {"userId": ada.user, "username": "Ada"})
    assert unsigned == (400, {"error": "publicKey, signature, and timestamp are required"})
    assert wrong == (401, {"error": "Invalid signature"})
    assert await caller.get("/users") == [{"userId": ada.user, "username": "Ada"}]


async def test_a_captured_signature_changes_nothing_more(caller: Caller) -> None:
    ada = Identity.new()
    signed = ada.sign("user-update")
    first = await update(caller, {"username": "Ada", **signed})

    same = await update(caller, {"username": "Ada", **signed})
    shouted = {**signed, "publicKey": signed["publicKey"].upper(), "timestamp": str(signed["timestamp"])}
    others = [
        await update(caller, {"username": "Eve", **signed}),
        await update(caller, {"username": "Ada", "model": "m", **signed}),
        await update(caller, {"username": "Eve", **shouted}),
        await update(caller, {"username": "Eve", **signed, "timestamp": f"0{signed['timestamp']}"}),
    ]

    assert same == first
    assert [told.status for told in others] == [401] * 4
    assert await caller.get("/users") == [{"userId": ada.user, "username": "Ada"}]


async def test_an_old_change_sent_again_does_not_undo_a_newer_one(guarded: Served, caller: Caller) -> None:
    ada, now = Identity.new(), guarded.arena.clock.now()
    old = {"username": "Ada", **ada.sign("user-update", now - 10)}
    await update(caller, old)
    await update(caller, {"username": "Ada L.", **ada.sign("user-update", now)})

    again = await update(caller, old)

    assert again == (200, {"userId": ada.user, "username": "Ada L."})


# WebSocket


async def test_a_player_signs_in_over_the_socket_and_comes_back_with_the_key_or_the_signature(
    guarded: Served, caller: Caller
) -> None:
    session = await caller.create()
    invite, ada = session.invites[0], Identity.new()
    one, two, three = [await visit(guarded) for _ in range(3)]

    joined = await one.get("join", invite=invite, userId="ignored", **ada.sign(f"join:{invite}"))
    again = await two.get("join", invite=invite, **ada.sign(f"join:{invite}"))
    resumed = await three.get("resume", challengeId=session.id, sessionKey=joined["sessionKey"])
    await session.sign_in(1, Identity.new())
    await act(session, joined["sessionKey"])
    await act(session, session.keys[0])

    assert joined == again == resumed
    assert joined["playerIndex"] == 0
    ended = (await one.hear("game_ended"))["data"]
    assert ended["playerIdentities"][invite] == ada.user
    [dealt] = [m for m in one.messages(f"challenge_{session.id}") if m.get("to") == invite][:1]
    assert dealt["content"].startswith("Your private set is")


async def test_a_socket_that_does_not_sign_or_signs_badly_gets_no_seat(guarded: Served, session: Session) -> None:
    made = await session.caller.create()
    free, taken = made.invites[0], session.invites[0]
    guest = await visit(guarded)

    codes = [
        await guest.refusal("join", invite=free, userId="ada"),
        await guest.refusal("join", invite=free, **Identity.new().sign("join:something")),
        await guest.refusal("join", invite=taken, **Identity.new().sign(f"join:{taken}")),
        await guest.refusal("resume", challengeId=session.id, sessionKey=session.keys[0][:-1]),
    ]

    assert codes == ["VALIDATION", "UNAUTHORIZED", "INVITE_ALREADY_USED", "UNAUTHORIZED"]
    assert (await session.caller.get(f"/invites/{free}"))["state"]["players"] == []


async def test_an_address_that_wants_a_seat_without_a_signature_is_closed(guarded: Served, caller: Caller) -> None:
    invite = (await caller.create()).invites[0]

    closed = await (await visit(guarded, query=f"?invite={invite}")).closed()

    assert closed == 4401
    assert (await caller.get(f"/invites/{invite}"))["state"]["players"] == []


@pytest.mark.parametrize("path", ["/arena/join", "/queue/psi"])
async def test_one_who_signs_too_often_is_refused_from_any_address(store: str, path: str) -> None:
    settings = {"auth": "required", "auth_secret": SECRET, "trusted_proxies": "127.0.0.1"}
    async with served(store, limit_joins_per_second=1, **settings) as arena, calling(arena) as caller:

        async def sign_in(identity: Identity, address: int) -> int:
            invite = NOBODY if path == "/arena/join" else ""
            purpose = f"join:{invite}" if invite else "queue:psi"
            body = {**({"invite": invite} if invite else {}), **identity.sign(purpose)}
            told = await caller.ask("POST", path, json=body, headers={"X-Forwarded-For": f"203.0.113.{address}"})
            return told.status

        one, others = Identity.new(), [Identity.new() for _ in range(5)]
        same = [await sign_in(one, address) for address in range(5)]
        various = [await sign_in(other, address) for address, other in enumerate(others, 10)]

    assert same[-1] == 429
    assert 429 not in various
