"""The page of a challenge: what it is, and a form that opens sessions."""

import httpx
from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served

pytestmark = in_browser


async def test_a_session_is_created_with_options_and_its_invites_are_links(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/challenges/psi")).page
    await expect(page.get_by_role("heading", name="What players are told")).to_be_visible()
    await expect(page.locator(".methods dt")).to_contain_text("guess")

    await page.get_by_label("Set size").fill("4")
    await page.get_by_label("Clock, move").fill("30.5")
    await page.get_by_role("button", name="Create a session").click()

    await expect(page.locator(".invites li")).to_have_count(2)
    invites = await page.locator(".invites li copy-line:nth-of-type(1) code").all_inner_texts()
    links = await page.locator(".invites li copy-line:nth-of-type(2) code").all_inner_texts()
    async with httpx.AsyncClient(base_url=arena.url) as web:
        found = (await web.get(f"/api/invites/{invites[0]}")).json()
    assert links == [f"{arena.url}/play/{found['id']}#{invite}" for invite in invites]
    session = await arena.arena.engine.get(found["id"])
    assert session.header.options["setSize"] == 4
    assert session.header.options["clock"] == {"move": 30.5}
    await expect(page.locator("session-card")).to_have_count(1)  # and there it waits for its players


async def test_a_private_session_is_seen_by_those_who_made_it_alone(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/challenges/ultimatum")).page

    await page.get_by_label("Private").check()
    await page.get_by_role("button", name="Create a session").click()

    await expect(page.locator(".invites li")).to_have_count(2)
    await page.get_by_role("link", name="Watch the session").click()
    await expect(page.locator("session-page h1")).to_have_text("Ultimatum Game")
    async with httpx.AsyncClient(base_url=arena.url) as web:
        assert (await web.get("/api/challenges")).json()["total"] == 0


async def test_options_that_do_not_fit_are_refused_with_a_sentence(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/challenges/psi")
    shown.excuse = "400"  # the browser notes the refusal too
    page = shown.page

    await page.get_by_label("Range, from").fill("1")
    await page.get_by_label("Range, to").fill("5")
    await page.get_by_role("button", name="Create a session").click()

    await expect(page.get_by_role("alert")).to_contain_text("too few numbers")
    await expect(page.locator(".invites")).to_have_count(0)
    await expect(page.get_by_role("button", name="Create a session")).to_be_enabled()


async def test_a_challenge_that_is_not_offered_says_so(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/challenges/chess")
    shown.excuse = "404"

    await expect(shown.page.get_by_role("alert")).to_contain_text("No such challenge")
