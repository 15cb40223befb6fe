"""How a connection begins: addresses, subprotocols, origins, and what the query or a header asks for."""

import asyncio
import socket
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from arena.web.protocol import ArenaProtocol
from arena.wire import JSON, MSGPACK, Codec
from tests.guests import Guest, guest_at, sit_down, visit
from tests.servers import Process, Served, served

NOBODY = "00000000-0000-4000-8000-000000000000"
WRONG_KEY = "s_0." + "0" * 64


async def refusal(arena: Served, **options: Any) -> tuple[int, str]:
    """The HTTP status and body that a handshake is refused with."""
    with pytest.raises(InvalidStatus) as refused:
        async with guest_at(arena.ws, None, **options):
            pass
    return refused.value.response.status_code, (refused.value.response.body or b"").decode()


@pytest.mark.parametrize("path", ["/ws", "/api/ws", "/api/v1/ws"])
async def test_the_door_is_at_three_addresses(arena: Served, path: str) -> None:
    async with guest_at(arena.url.replace("http", "ws") + path) as guest:
        welcome = await guest.hear("welcome")

    assert welcome["protocol"] == "arena.v1"


@pytest.mark.parametrize("path", ["/", "/ws/", "/api", "/api/v2/ws", "/websocket"])
async def test_there_is_no_door_elsewhere(arena: Served, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with guest_at(arena.url.replace("http", "ws") + path):
            pass

    assert refused.value.response.status_code in {403, 404}


async def test_small_frames_are_not_held_back_to_wait_for_more(arena: Served) -> None:
    await (await visit(arena)).hear("welcome")

    [connection] = arena.uvicorn.server_state.connections

    assert isinstance(connection, ArenaProtocol)
    accepted = connection.transport.get_extra_info("socket")
    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_without_a_subprotocol_json_is_spoken_and_none_is_named(arena: Served) -> None:
    guest = await visit(arena, None)

    welcome = await guest.hear("welcome")

    assert guest.socket.subprotocol is None
    assert welcome["type"] == "welcome"


@pytest.mark.parametrize(
    ("offered", "spoken"),
    [
        (["arena.v1.json"], JSON),
        (["arena.v1.msgpack"], MSGPACK),
        (["arena.v1.msgpack", "arena.v1.json"], MSGPACK),
        (["arena.v1.json", "arena.v1.msgpack"], JSON),
        (["arena.v9", "graphql-ws", "arena.v1.msgpack"], MSGPACK),
    ],
)
async def test_the_first_known_subprotocol_is_spoken(arena: Served, offered: list[str], spoken: Codec) -> None:
    guest = await visit(arena, spoken, subprotocols=[Subprotocol(name) for name in offered])

    await guest.hear("welcome")

    assert guest.socket.subprotocol == spoken.protocol


@pytest.mark.parametrize("offered", [["arena.v2.json"], ["graphql-ws", "ARENA.V1.JSON"]])
async def test_only_unknown_subprotocols_are_a_bad_request(arena: Served, offered: list[str]) -> None:
    status, body = await refusal(arena, subprotocols=[Subprotocol(name) for name in offered])

    assert status == 400
    assert "subprotocol" in body


async def test_a_page_of_another_origin_may_not_connect(arena: Served) -> None:
    host = arena.url.removeprefix("http://")
    port = host.partition(":")[2]

    near = [f"http://evil.example:{port}", f"http://{host}.evil.example", host]
    strangers = ["https://evil.example", *near, "null", "", "http://[", "http://[::1"]
    answers = [await refusal(arena, origin=Origin(origin)) for origin in strangers]

    assert [status for status, _ in answers] == [403] * len(strangers)


async def test_our_own_page_may_connect(arena: Served) -> None:
    guest = await visit(arena, origin=Origin(arena.url))

    assert (await guest.ask("ping"))["type"] == "reply"


async def test_a_name_that_somebody_pointed_at_this_machine_does_not_pass_for_our_own_page(arena: Served) -> None:
    port = int(arena.url.rpartition(":")[2])

    def page(host: str) -> dict[str, Any]:
        """A browser that has this host in its address bar, and was led to our port."""
        return {"origin": Origin(f"http://{host}"), "host": "127.0.0.1", "port": port}

    refused = []
    for host in ("evil.example", *(f"{name}evil.example:{port}" for name in ("", "localhost.", "127.0.0.1."))):
        with pytest.raises(InvalidStatus) as answer:
            async with guest_at(f"ws://{host}/ws", **page(host)):
                pass
        refused.append(answer.value.response.status_code)
    for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
        async with guest_at(f"ws://{host}/ws", **page(host)) as guest:
            await guest.get("ping")

    assert refused == [403] * 4


async def test_an_origin_in_the_settings_may_connect_and_no_other(store: str) -> None:
    async with served(store, origins="https://arena.example,https://play.example") as arena:
        guest = await visit(arena, origin=Origin("https://play.example"))

        assert (await guest.ask("ping"))["type"] == "reply"
        assert (await refusal(arena, origin=Origin("https://other.example")))[0] == 403
        assert (await refusal(arena, origin=Origin("http://play.example")))[0] == 403


async def reply(guest: Guest) -> dict[str, Any]:
    frame = await guest.hear("reply")
    assert "id" not in frame
    result: dict[str, Any] = frame["result"]
    return result


async def test_an_invite_in_the_query_joins(arena: Served) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")

    guest = await visit(arena, query=f"?invite={made['invites'][0]}")

    joined = await reply(guest)
    assert guest.frames[0]["type"] == "welcome"
    assert joined["ChallengeID"] == made["id"]
    assert joined["playerIndex"] == 0
    assert (await guest.hear("initial", channel=f"challenge_{made['id']}"))["messages"]
    assert (await guest.get("chat", channel=made["id"], content="here I am"))["from"] == made["invites"][0]


async def test_watch_in_the_query_watches(arena: Served) -> None:
    game = await sit_down(arena)

    guest = await visit(arena, MSGPACK, query=f"?watch={game.id}")

    assert (await reply(guest))["id"] == game.id
    assert len((await guest.hear("initial", channel=game.operator_channel))["messages"]) == 2


async def test_key_and_challenge_in_the_query_resume(arena: Served) -> None:
    game = await sit_down(arena)

    guest = await visit(arena, query=f"?key={game.keys[1]}&challenge={game.id}")

    assert (await reply(guest))["playerIndex"] == 1
    messages = (await guest.hear("initial", channel=game.operator_channel))["messages"]
    assert ["redacted" in message for message in messages] == [True, False]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
async def test_a_bearer_resumes_and_is_preferred_to_the_query(arena: Served, scheme: str) -> None:
    game = await sit_down(arena)
    header = {"Authorization": f"{scheme} {game.keys[1]}"}

    guest = await visit(arena, query=f"?challenge={game.id}", additional_headers=header)
    other = await visit(arena, query=f"?challenge={game.id}&key={game.keys[0]}", additional_headers=header)

    assert (await reply(guest))["playerIndex"] == 1
    assert (await reply(other))["playerIndex"] == 1


async def test_a_bad_bearer_is_not_rescued_by_a_good_key(arena: Served) -> None:
    game = await sit_down(arena)
    header = {"Authorization": f"Bearer {WRONG_KEY}"}

    guest = await visit(arena, query=f"?challenge={game.id}&key={game.keys[0]}", additional_headers=header)

    assert await guest.closed() == 4401


async def test_one_address_may_join_one_session_and_watch_another(arena: Served) -> None:
    game = await sit_down(arena)
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")

    guest = await visit(arena, query=f"?invite={made['invites'][0]}&watch={game.id}")

    await guest.hear("initial", channel=f"challenge_{made['id']}")
    await guest.until(lambda: guest.of("initial", channel=game.operator_channel) or None, "the other session")
    assert len(guest.of("reply")) == 2


VAIN = [
    ("?watch={nobody}", 4404, "NOT_FOUND"),
    ("?watch=x", 4404, "NOT_FOUND"),
    ("?watch=", 4404, "NOT_FOUND"),
    ("?invite=inv_{nobody}", 4404, "INVITE_NOT_FOUND"),
    ("?invite=", 4404, "INVITE_NOT_FOUND"),
    ("?invite={used}", 4409, "INVITE_ALREADY_USED"),
    ("?challenge={id}&key={wrong}", 4401, "UNAUTHORIZED"),
    ("?challenge={id}&key={free}", 4401, "UNAUTHORIZED"),
    ("?challenge={other}&key={key}", 4401, "UNAUTHORIZED"),
    ("?challenge={id}&key=", 4401, "UNAUTHORIZED"),
    ("?challenge={id}", 4401, "UNAUTHORIZED"),
    ("?challenge={id}&key={used}", 4401, "UNAUTHORIZED"),
    ("?key={key}", 4401, "UNAUTHORIZED"),
    ("?challenge={nobody}&key={key}", 4404, "NOT_FOUND"),
]


@pytest.fixture
async def names(arena: Served) -> dict[str, str]:
    game = await sit_down(arena)
    made = await game.players[0].get("create", challengeType="psi")
    await game.players[0].get("join", invite=made["invites"][0])
    return {
        "id": game.id,
        "key": game.keys[0],
        "used": game.invites[0],
        "other": made["id"],
        "free": made["invites"][1],
        "nobody": NOBODY,
        "wrong": WRONG_KEY,
    }


async def test_what_the_query_asks_for_in_vain_closes_the_connection(arena: Served, names: dict[str, str]) -> None:
    guests = [await visit(arena, query=query.format(**names)) for query, _, _ in VAIN]

    closed = [await guest.closed() for guest in guests]

    assert closed == [close_code for _, close_code, _ in VAIN]
    assert [[f["code"] for f in guest.of("error")] for guest in guests] == [[code] for _, _, code in VAIN]
    assert {guest.frames[0]["type"] for guest in guests} == {"welcome"}


async def test_a_name_too_long_to_be_ours_is_like_any_other_that_is_not_known(
    arena: Served, names: dict[str, str]
) -> None:
    long = "x" * 2000
    queries = [f"?watch={long}", f"?invite={long}", f"?challenge={names['id']}&key={long}"]

    guests = [await visit(arena, query=query) for query in queries]

    assert [await guest.closed() for guest in guests] == [4404, 4404, 4401]


async def test_a_query_that_asks_for_nothing_known_is_ignored(arena: Served) -> None:
    guest = await visit(arena, query="?colour=blue&%ff=%00&&=")

    assert (await guest.ask("ping"))["type"] == "reply"


async def test_what_a_frame_asks_for_in_vain_gets_an_error_and_closes_nothing(
    arena: Served, names: dict[str, str]
) -> None:
    guest = await visit(arena)

    codes = [
        await guest.refusal("watch", challengeId=NOBODY),
        await guest.refusal("join", invite=names["used"]),
        await guest.refusal("resume", challengeId=names["id"], sessionKey=WRONG_KEY),
    ]

    assert codes == ["NOT_FOUND", "INVITE_ALREADY_USED", "UNAUTHORIZED"]
    assert (await guest.ask("ping"))["type"] == "reply"


async def test_a_refused_handshake_is_no_fault_of_the_server(arena: Served, caplog: pytest.LogCaptureFixture) -> None:
    statuses = [
        (await refusal(arena, origin=Origin("https://evil.example")))[0],
        (await refusal(arena, subprotocols=[Subprotocol("arena.v2.json")]))[0],
    ]

    assert statuses == [403, 400]
    assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]


@pytest.mark.parametrize(
    ("query", "headers"),
    [("?watch=" + "x" * 9000, {}), ("", {"Cookie": "x" * 9000}), ("", {f"X-{n}": "x" for n in range(200)})],
    ids=["address", "header", "headers"],
)
async def test_a_handshake_that_is_too_long_is_refused_and_not_left_open(
    arena: Served, query: str, headers: dict[str, str]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with asyncio.timeout(60), guest_at(arena.ws + query, additional_headers=headers):
            pass

    assert refused.value.response.status_code == 400


async def test_bytes_in_the_address_that_are_no_text_are_refused_without_a_fault(
    arena: Served, caplog: pytest.LogCaptureFixture
) -> None:
    host, port = arena.url.removeprefix("http://").split(":")
    lines = [
        b"GET /ws?watch=\xff\xfe HTTP/1.1",
        b"Host: " + host.encode(),
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ]

    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
    async with asyncio.timeout(60):
        status = await reader.readline()
    writer.close()

    assert status.startswith(b"HTTP/1.1 400")
    assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]


@pytest.mark.slow
async def test_the_log_of_a_server_never_tells_a_query(store: str) -> None:
    with Process(store=store, ARENA_LOG_LEVEL="debug") as process:
        async with guest_at(process.ws) as host:
            made = await host.get("create", challengeType="psi")
            async with guest_at(f"{process.ws}?invite={made['invites'][0]}") as guest:
                key = (await guest.hear("reply"))["result"]["sessionKey"]
            async with guest_at(f"{process.ws}?challenge={made['id']}&key={key}") as guest:
                await guest.hear("reply")
            async with guest_at(f"{process.ws}?watch={NOBODY}") as guest:
                await guest.closed()
        process.stop()
        log = process.log.read_text()

    assert "listening" in log
    assert made["invites"][0] not in log
    assert key not in log
    assert NOBODY not in log
