"""What every request has: an id, a line in the log, an answer, and limits."""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import orjson
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from websockets.exceptions import InvalidStatus

from arena.logs import Console, Json, Stamp
from tests.agents import sender_at
from tests.callers import Told, calling
from tests.guests import comes_true, guest_at, sit_down, visit
from tests.servers import Process, Served, served


class Lines(logging.Handler):
    """Keeps log lines as they would be written."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.addFilter(Stamp())
        self.setFormatter(formatter)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def of(self, text: str) -> list[str]:
        return [line for line in self.lines if text in line]


@pytest.fixture
def log() -> Iterator[Lines]:
    handler, ours = Lines(Console("%(levelname)s %(name)s %(message)s")), logging.getLogger("arena")
    ours.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    yield handler
    ours.removeHandler(handler)
    ours.setLevel(logging.NOTSET)


@pytest.fixture
async def browser(arena: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        yield client


async def boom(request: Request) -> Response:
    raise RuntimeError("the secret is forty-two")


async def swallow(request: Request) -> Response:
    return JSONResponse({"size": len(await request.body())})


def add_routes(arena: Served) -> None:
    arena.app.router.routes[:0] = [
        Route("/boom/{invite}", boom),
        Route("/swallow", swallow, methods=["POST"]),
    ]


# Ids and lines


async def test_a_well_formed_id_is_kept(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/health", headers={"X-Request-ID": "Root=1-67891233/abc.DEF:1"})

    assert answer.headers.get_list("x-request-id") == ["Root=1-67891233/abc.DEF:1"]


@pytest.mark.parametrize("id_", ["", "x" * 65, "a b", "inv_1", "s_0.ff", "a\tb", 'a"b', "a%0ab", None])
async def test_any_other_id_is_drawn(browser: httpx.AsyncClient, id_: str | None) -> None:
    answer = await browser.get("/health", headers={} if id_ is None else {"X-Request-ID": id_})
    other = await browser.get("/health")

    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])
    assert answer.headers["x-request-id"] != other.headers["x-request-id"]


async def test_every_kind_of_answer_has_an_id(browser: httpx.AsyncClient, arena: Served) -> None:
    add_routes(arena)
    for path, status in {"/": 200, "/static/app.js": 200, "/nowhere": 404, "/boom/x": 500, "/ready": 200}.items():
        answer = await browser.get(path)
        assert (answer.status_code, "x-request-id" in answer.headers) == (status, True), path


async def test_a_socket_has_an_id_too(arena: Served) -> None:
    async with guest_at(arena.ws, additional_headers={"X-Request-ID": "mine"}) as guest:
        assert guest.socket.response is not None
        assert guest.socket.response.headers["x-request-id"] == "mine"


async def test_a_request_leaves_one_line_with_its_route_and_without_its_address(
    browser: httpx.AsyncClient, arena: Served, log: Lines
) -> None:
    answer = await browser.get("/static/app.js?key=hidden", headers={"X-Request-ID": "mine"})
    await browser.get("/no/such/page-hidden")
    await browser.request("PROPFIND", "/")

    assert answer.status_code == 200
    [line], [other], [strange] = (log.of(f"method={word}") for word in ("GET route=/static", "GET route=u", "unknown"))
    assert re.fullmatch(r"INFO arena.access request method=GET route=/static status=200 ms=[0-9.]+ request=mine", line)
    assert "route=unknown status=404" in other
    assert "method=unknown" in strange
    assert not [line for line in log.lines if "hidden" in line.lower()]


async def test_a_failure_is_told_in_one_line_and_not_to_the_client(
    browser: httpx.AsyncClient, arena: Served, log: Lines
) -> None:
    add_routes(arena)

    answer = await browser.get("/boom/inv_hidden", headers={"X-Request-ID": "mine"})

    assert (answer.status_code, answer.json()) == (500, {"error": "Internal server error"})
    assert answer.headers["x-content-type-options"] == "nosniff"
    [line] = log.of("request failed")
    assert "RuntimeError" in line
    assert line.endswith("request=mine")
    assert log.of("route=/boom/{invite} status=500")
    assert not log.of("forty-two")
    assert not log.of("inv_hidden")


async def test_what_is_done_for_a_socket_is_logged_under_its_id(arena: Served, log: Lines) -> None:
    guest = await visit(arena, additional_headers={"X-Request-ID": "mine"})
    made = await guest.get("create", challengeType="psi")
    await guest.get("join", invite=made["invites"][0])
    arena.arena.index.page = arena.arena.sessions.talk = None  # type: ignore[method-assign, assignment]

    codes = [await guest.refusal("lobby"), await guest.refusal("chat", channel=made["id"], content="hello")]

    assert codes == ["INTERNAL", "INTERNAL"]
    assert [line.rpartition(" ")[2] for line in log.of("frame failed")] == ["request=mine"] * 2


@pytest.mark.parametrize("format", ["console", "json"])
async def test_no_line_holds_a_secret(store: str, format: str) -> None:
    with Process(store=store, ARENA_LOG_LEVEL="debug", ARENA_LOG_FORMAT=format) as process:
        async with guest_at(process.ws) as host, httpx.AsyncClient(base_url=process.url) as browser:
            made = await host.get("create", challengeType="psi")
            secrets = [*made["invites"], "whisper-4711", "user-4711", "agent-4711"]
            ada, ben = made["invites"]
            async with guest_at(f"{process.ws}?invite={ada}") as first, guest_at(process.ws) as second:
                secrets.append((await first.hear("reply"))["result"]["sessionKey"])
                secrets.append((await second.get("join", invite=ben, userId="user-4711"))["sessionKey"])
                await first.get("chat", channel=made["id"], content="whisper-4711", to=ben)
                await first.ask("message", challengeId=made["id"], messageType="guess", content="whisper-4711")
            for secret in secrets:
                header = {"Authorization": f"Bearer {secret}", "User-Agent": "agent-4711", "Cookie": f"a={secret}"}
                header |= {"X-Request-ID": secret} if "_" in secret else {}
                await browser.get(f"/api/invites/{secret}?key={secret}", headers=header)
        process.stop()
        text = process.log.read_text()

    assert "arena.access" in text
    assert [secret for secret in secrets if secret in text] == []


def test_json_lines_are_objects_and_quote_no_error() -> None:
    handler = Lines(Json())
    logger = logging.getLogger("tests.json")
    logger.addHandler(handler)
    try:
        raise ValueError("the secret is swordfish")
    except ValueError:
        logger.exception("failed id=%s", 'a"b')
    finally:
        logger.removeHandler(handler)

    [line] = handler.lines
    told = orjson.loads(line)
    assert told["message"] == 'failed id=a"b'
    assert told["level"] == "error"
    assert "ValueError" in told["error"]
    assert "swordfish" not in line
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["time"])


# Limits


async def test_an_address_that_asks_too_often_is_told_when_to_come_back(store: str) -> None:
    async with served(store, limit_requests_per_second=5) as arena, httpx.AsyncClient(base_url=arena.url) as browser:
        answers = [await browser.get("/nowhere") for _ in range(40)]
        free = [await browser.get(path) for path in ("/health", "/ready", "/metrics")]

        refused = [answer for answer in answers if answer.status_code == 429]
        assert 5 <= len(answers) - len(refused) <= 20
        assert refused[0].json() == {"error": "Too many requests.", "code": "RATE_LIMITED"}
        assert int(refused[0].headers["retry-after"]) >= 1
        assert [answer.status_code for answer in free] == [200, 200, 200]
        assert 'arena_refusals_total{limit="requests"}' in free[2].text

        async def is_served() -> bool:
            return (await browser.get("/nowhere")).status_code == 404

        await comes_true(is_served, "it is served again")


async def test_joins_are_limited_and_resumes_are_not(store: str) -> None:
    async with served(store, limit_joins_per_second=2) as arena:
        game = await sit_down(arena)
        guest = await visit(arena)

        joins = [await guest.ask("join", invite=game.invites[0]) for _ in range(20)]
        resumes = [
            await guest.ask("resume", challengeId=game.id, sessionKey=game.keys[0], cursors={}) for _ in range(20)
        ]

        codes = Counter(answer["code"] for answer in joins)
        assert codes["RATE_LIMITED"] >= 10
        assert all(answer["retryAfter"] > 0 for answer in joins if answer["code"] == "RATE_LIMITED")
        assert {answer["type"] for answer in resumes} == {"reply"}


async def test_sessions_are_created_at_a_limited_rate(store: str) -> None:
    async with served(store, limit_creates_per_second=2) as arena:
        guest = await visit(arena)

        answers = [await guest.ask("create", challengeType="psi") for _ in range(20)]

        assert Counter(answer.get("code") for answer in answers)["RATE_LIMITED"] >= 10


async def test_joins_and_new_sessions_of_an_address_are_counted_together_at_all_doors(store: str) -> None:
    hardly: dict[str, Any] = {"limit_joins_per_second": 0.001, "limit_creates_per_second": 0.001}
    async with (
        served(store, **hardly) as arena,
        calling(arena) as caller,
        sender_at(arena, "/api/arena/mcp") as sender,
        guest_at(arena.ws) as guest,
    ):
        nobody = {"invite": "inv_none"}
        await spend_all(lambda: caller.ask("POST", "/challenges/psi"))
        await spend_all(lambda: caller.ask("POST", "/arena/join", json=nobody))

        answers = [
            *[await guest.ask("create", challengeType="psi") for _ in range(3)],
            *[(await sender.call(("challenge_join", nobody)))[0] for _ in range(3)],
            *[await guest.ask("join", **nobody) for _ in range(3)],
        ]

        assert [answer.get("code") for answer in answers] == ["RATE_LIMITED"] * 9


async def spend_all(ask: Callable[[], Awaitable[Told]]) -> None:
    """Do something until the two times are spent that an address has before it waits: the worker's and the store's."""
    done = 0
    async with asyncio.timeout(60):
        while done < 2:
            done += (await ask()).status != 429


async def test_two_workers_count_requests_and_connections_together() -> None:
    rate, most = "50", "10"
    with Process(workers=2, ARENA_LIMIT_REQUESTS_PER_SECOND=rate, ARENA_LIMIT_CONNECTIONS_PER_ADDRESS=most) as process:
        loop = asyncio.get_running_loop()
        begun, codes = loop.time(), Counter[int]()
        while loop.time() - begun < 3:
            async with httpx.AsyncClient(base_url=process.url) as browser:  # a new connection, to any worker
                for _ in range(20):
                    codes[(await browser.get("/nowhere")).status_code] += 1
        elapsed = loop.time() - begun
        async with AsyncExitStack() as guests:
            held = await connect_until_refused(process, guests)

    assert codes[404] + codes[429] == codes.total()
    assert min(0.6 * 50 * elapsed, codes.total() / 2) <= codes[404] <= 50 * (elapsed + 2) + 5
    assert 5 <= held <= 15  # what a worker gives away before it has heard of the other


async def connect_until_refused(process: Process, guests: AsyncExitStack) -> int:
    """Open connections for as long as that is allowed; how many there were."""
    held = 0
    while True:
        try:
            guest = await guests.enter_async_context(guest_at(process.ws))
        except InvalidStatus as refused:
            if refused.response.status_code != 429:
                raise
            return held
        await guest.get("create", challengeType="psi")
        held += 1


async def test_a_body_that_is_too_large_is_refused(store: str) -> None:
    async with served(store, limit_body_bytes=1000) as arena, httpx.AsyncClient(base_url=arena.url) as browser:
        add_routes(arena)

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(200):
                yield b"x" * 1000

        fits = await browser.post("/swallow", content=b"x" * 1000)
        announced = [await browser.post(path, content=b"x" * 200_000) for path in ("/swallow", "/nowhere")]
        streamed = await browser.post("/swallow", content=pieces())

    assert fits.json() == {"size": 1000}
    assert {answer.status_code for answer in (*announced, streamed)} == {413}
    assert {answer.json()["code"] for answer in (*announced, streamed)} == {"TOO_LARGE"}


@pytest.mark.parametrize("header", ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
async def test_the_rest_of_a_body_that_is_too_large_is_not_waited_for(store: str, header: str) -> None:
    async with served(store, limit_body_bytes=1000) as arena:
        add_routes(arena)
        host, _, port = arena.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))

        writer.write(f"POST /swallow HTTP/1.1\r\nHost: arena\r\n{header}\r\n\r\n".encode())
        writer.write(b"7d0\r\n" + b"x" * 2000 + b"\r\n")
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 413 ")
