"""The documentation at /docs: all routes, what they take and answer, and a way to try what changes nothing."""

import pytest
from playwright.async_api import expect

from tests.browser.test_appearance import CONTRAST, PHONE, sticks_out
from tests.browser.windows import OpenWindow, in_browser
from tests.documents import fetch, operations
from tests.servers import Served, served

pytestmark = in_browser

TEXTS = ["h1", "h2", "h3", ".facts", ".mode", ".note", ".kind", ".what", ".path", ".method", ".status", "code", "dd p"]
TEXTS += ["nav a", "summary", "pre", "button", ".elsewhere a", ".opening p", ".motto", ".reasons"]


async def test_every_route_is_on_the_page_in_its_chapter(arena: Served, window: OpenWindow) -> None:
    document = await fetch(arena)

    page = (await window(arena.url, "/docs")).page

    expected = {(operation["tags"][0], method, path) for method, path, operation in operations(document)}
    await expect(page.locator("api-operation")).to_have_count(len(expected))
    shown = await page.evaluate("""[...document.querySelectorAll("api-operation")].map(one => [
        one.closest("section").querySelector("h2").textContent,
        one.querySelector(".method").textContent,
        one.querySelector(".path").textContent,
    ])""")
    assert {tuple(line) for line in shown} == expected
    await expect(page.locator(".opening copy-line code")).to_have_text(arena.url)
    await expect(page.locator(".mode")).to_have_text("open mode")


async def test_a_route_opens_by_its_address_and_shows_what_it_takes_and_answers(
    arena: Served, window: OpenWindow
) -> None:
    page = (await window(arena.url, "/docs#act")).page
    route = page.locator("#act")

    await expect(route.locator("schema-view").first.locator("dt code")).to_have_text(
        ["challengeId", "from", "messageType", "content", "key"]
    )
    await expect(route.locator("pre").first).to_contain_text('"messageType": "guess"')
    await expect(route.locator(".answer .status")).to_have_text(["200", "400", "409", "413", "429", "500", "503"])
    await expect(route.locator("form")).to_have_count(0)


async def test_shapes_inside_open_on_demand(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/docs#listSessions")).page
    route = page.locator("#listSessions")

    await route.get_by_text("Fields of Challenge", exact=True).click()
    await route.get_by_text("Fields of ChallengeOperatorState").click()

    await expect(route.get_by_text("playerIdentities").first).to_be_visible()


async def test_what_changes_nothing_can_be_tried(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/docs#describeChallenge")
    form = shown.page.locator("#describeChallenge form")
    shown.excuse = "404"

    await form.locator("input").fill("psi")
    await form.get_by_text("Send").click()
    await expect(shown.page.locator("#describeChallenge .shown pre")).to_contain_text("Private Set Intersection")

    await form.locator("input").fill("a/b?c")
    await form.get_by_text("Send").click()
    await expect(shown.page.locator("#describeChallenge .shown .status")).to_have_text("404")
    assert shown.addresses[-1].endswith("/api/metadata/a%2Fb%3Fc")


async def test_routes_are_found_by_their_words(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/docs")).page
    await expect(page.locator("api-operation").first).to_be_visible()

    await page.keyboard.press("/")
    await page.keyboard.type("arena/join")
    await expect(page.locator("api-operation:visible")).to_have_count(1)
    await expect(page.locator("nav li:visible")).to_have_text(["Take the seat of an invite"])

    await page.keyboard.type(" nothing")
    await expect(page.locator("nav .empty")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_can_be_read(store: str, window: OpenWindow, scheme: str) -> None:
    async with served(store, auth="required", auth_secret="x" * 40) as arena:
        page = (await window(arena.url, "/docs#act", color_scheme=scheme)).page
        await expect(page.locator("#act pre").first).to_be_visible()
        await page.locator("#act .answer").nth(1).locator("summary").first.click()

        measured = await page.evaluate(CONTRAST, TEXTS)

        assert len(measured) > 100
        assert [pair for pair in measured if pair[1] < 4.5] == []


async def test_nothing_sticks_out_of_a_phone(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/docs#join", viewport=PHONE)).page
    await expect(page.locator("#join pre").first).to_be_visible()

    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    await expect(page.locator("#lookUpInvite pre").first).to_be_visible()

    assert not await sticks_out(page)
