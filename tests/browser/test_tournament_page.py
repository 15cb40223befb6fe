"""The page of a tournament: standings and bracket move while it is played, and its games can be watched."""

import re

from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.callers import calling
from tests.servers import Served
from tests.tourneys import told

pytestmark = in_browser
LONG = 60_000  # milliseconds that a tournament may take


async def test_a_bracket_is_filled_while_somebody_looks(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/tournaments")).page
    await expect(page.get_by_text("There was no tournament here yet")).to_be_visible()
    async with calling(arena) as caller:
        made = await caller.post("/tournaments", setup=told(4, format="knockout", games_per_pair=2))
        await page.get_by_role("link", name="psi, knockout of 4 agents").click(timeout=LONG)

        await expect(page.locator("tournament-page .facts")).to_contain_text("Finished", timeout=LONG)
        await expect(page.locator(".match .winner")).to_have_count(3)
        await expect(page.locator("tbody tr")).to_have_count(4)
        now = await caller.get(f"/tournaments/{made['id']}")

    first = now["standings"][0]["agent"]
    assert await page.locator("tbody tr").first.get_attribute("data-agent") == first
    assert now["matches"][-1]["winner"] == first
    await page.locator(".over-games a").first.click()
    await expect(page).to_have_url(re.compile("/session/"))
    await expect(page.locator("session-page h1")).to_be_visible()


async def test_long_names_fit_on_a_phone_and_values_have_their_intervals(arena: Served, window: OpenWindow) -> None:
    bots = [{"name": sign * 64, "bot": bot} for sign, bot in (("x", "honest"), ("y", "greedy"))]
    async with calling(arena) as caller:
        made = await caller.post("/tournaments", setup=told(agents=bots, format="knockout", games_per_pair=4))
        page = (await window(arena.url, f"/tournaments/{made['id']}", viewport={"width": 390, "height": 844})).page

        await expect(page.locator("tournament-page .facts")).to_contain_text("Finished", timeout=LONG)

    await expect(page.locator("tbody tr .interval")).to_have_count(6)
    await expect(page.get_by_role("heading", name="On now")).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


async def test_a_tournament_that_is_not_there_says_so(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/tournaments/0000000000000000")
    shown.excuse = "404"

    await expect(shown.page.get_by_role("alert")).to_contain_text("There is no such tournament")
