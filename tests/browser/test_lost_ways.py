"""Addresses that lead nowhere, names that are hard to spell in one, and a server that is gone when a page is wanted."""

from urllib.parse import quote

import httpx
from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.guests import sit_down
from tests.servers import Served

pytestmark = in_browser

HARD = ("org/model:8b", "a b?#%2f&")  # user ids


async def test_an_address_that_leads_nowhere_says_so_and_leads_home(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/boards")
    shown.excuse = "404"
    page = shown.page

    await expect(page.get_by_role("alert")).to_contain_text("There is no such page")
    await expect(page).to_have_title("There is no such page · Arena")
    await page.get_by_role("link", name="See what is being played").click()
    await expect(page.locator("home-page h1")).to_be_visible()


async def test_programs_that_lose_their_way_get_a_line_of_text(arena: Served) -> None:
    async with httpx.AsyncClient(base_url=arena.url, headers={"accept": "text/html"}) as browser:
        for path in ("/api/nothing", "/static/nothing.js"):
            answer = await browser.get(path)
            assert (answer.status_code, answer.text) == (404, "404 Not Found"), path
        assert (await browser.get("/nothing")).status_code == 404
        assert (await browser.post("/nothing")).text == "404 Not Found"


async def test_players_with_hard_names_have_pages_that_can_be_shared(arena: Served, window: OpenWindow) -> None:
    await (await sit_down(arena, users=HARD)).end()
    page = (await window(arena.url, "/boards/psi")).page

    for name, other in (HARD, HARD[::-1]):
        await page.locator(f'board-table tr[data-player="{name}"] a').first.click()
        await expect(page.locator("player-page h1")).to_have_text(name)
        await page.reload()
        await expect(page.locator("player-page h1")).to_have_text(name)
        await expect(page.locator("result-list tbody")).to_contain_text(other)
        await page.goto(f"{page.url}?rival={quote(other, safe='')}")
        await expect(page.locator(".meetings tbody tr")).to_have_count(1)
        await page.go_back()
        await page.go_back()


async def test_a_page_that_cannot_be_fetched_says_so_and_is_there_on_the_second_try(
    arena: Served, window: OpenWindow
) -> None:
    shown = await window(arena.url)
    shown.excuse = "ERR_FAILED"
    page = shown.page
    await page.route("**/static/pages/packs.js", lambda route: route.abort())

    await page.get_by_role("link", name="Packs").click()

    await expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    await page.get_by_role("link", name="Leaderboards").click()
    await expect(page.locator("board-page h1")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    await page.unroute_all()
    await page.get_by_role("link", name="Try again").click()
    await expect(page.locator("packs-page h1")).to_be_visible()
