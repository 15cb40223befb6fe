"""Headers of every answer, and pages of other origins."""

from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers import Served, served

FRIEND, STRANGER = "https://friend.example", "https://stranger.example"


@pytest.fixture
async def browser(arena: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/static/icon.svg", "/nowhere"])
async def test_a_page_can_do_nothing_but_what_ours_does(browser: httpx.AsyncClient, path: str) -> None:
    headers = (await browser.get(path)).headers

    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/health", "/ready"])
async def test_data_is_kept_by_nobody(browser: httpx.AsyncClient, path: str) -> None:
    headers = (await browser.get(path)).headers

    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" not in headers


async def test_what_a_route_says_itself_stays_and_is_said_once(arena: Served, browser: httpx.AsyncClient) -> None:
    async def stream(request: Request) -> Response:
        return JSONResponse(
            {}, headers={"Cache-Control": "no-cache, no-transform", "X-Content-Type-Options": "nosniff"}
        )

    arena.app.router.routes.insert(0, Route("/stream", stream))

    headers = (await browser.get("/stream")).headers

    assert headers.get_list("cache-control") == ["no-cache, no-transform"]
    assert headers.get_list("x-content-type-options") == ["nosniff"]


async def test_without_origins_nothing_is_said_to_pages_of_others(browser: httpx.AsyncClient) -> None:
    simple = await browser.get("/health", headers={"Origin": FRIEND})
    asking = {"Origin": FRIEND, "Access-Control-Request-Method": "POST"}
    preflight = await browser.options("/health", headers=asking)

    assert not [name for name in simple.headers if name.startswith("access-control")]
    assert (preflight.status_code, preflight.text) == (404, "404 Not Found")


async def test_pages_of_the_origins_in_the_settings_may_use_the_server_and_no_others(store: str) -> None:
    async with served(store, origins=FRIEND) as arena, httpx.AsyncClient(base_url=arena.url) as browser:
        asking = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type",
        }
        simple = await browser.get("/health", headers={"Origin": FRIEND})
        preflight = await browser.options("/api/chat/send", headers={"Origin": FRIEND, **asking})
        strange = await browser.get("/health", headers={"Origin": STRANGER})
        refused = await browser.options("/api/chat/send", headers={"Origin": STRANGER, **asking})

    assert simple.headers["access-control-allow-origin"] == FRIEND
    assert "x-request-id" in simple.headers["access-control-expose-headers"]
    assert "Origin" in simple.headers["vary"]
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == FRIEND
    assert set(preflight.headers["access-control-allow-methods"].split(", ")) >= {"GET", "POST", "DELETE"}
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-origin" not in strange.headers
    assert "access-control-allow-origin" not in refused.headers
    assert refused.status_code == 400
