"""What can be measured of the looks: contrast in both themes, and that nothing sticks out of a phone."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.windows import OpenWindow, in_browser
from tests.guests import sit_down
from tests.servers import Served
from tests.stage import publish, start

pytestmark = in_browser

PHONE = {"width": 390, "height": 844}
TEXTS = ["h1", "h2", ".badge", ".speaker", ".name", ".text", "time", ".note", ".facts", ".handle", "td", "thead th"]
TEXTS += [".last", ".since", ".empty", ".motto", ".back", ".breach", ".kept", ".presence", "select", "code", ".about a"]
PACK_TEXTS = [".value", ".stage", ".place", "summary", "dd", "dt", ".primary", ".label", "button:enabled"]

# The colour that a browser paints is read back from a canvas, so that any notation will do.
CONTRAST = """
selectors => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const paint = colours => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
  };
  const light = ([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return [...document.querySelectorAll(selectors.join())]
    .filter(one => one.checkVisibility() && one.textContent.trim() && !one.closest(".unseen"))
    .map(one => {
      const behind = [];
      for (let at = one; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
      const ground = light(paint(behind)), ink = light(paint([...behind, getComputedStyle(one).color]));
      const ratio = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
      return [`${one.localName}.${one.className} ${one.textContent.slice(0, 20)}`, ratio];
    });
}
"""


async def sticks_out(page: Page) -> bool:
    found: bool = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_can_be_read(arena: Served, window: OpenWindow, scheme: str) -> None:
    game, going_on = await sit_down(arena, users=("ada", "ben")), await sit_down(arena)
    home = await window(arena.url, color_scheme=scheme)
    session = await window(arena.url, f"/session/{game.id}", color_scheme=scheme)
    live = await window(arena.url, f"/session/{going_on.id}", color_scheme=scheme)
    for seat in range(2):
        await game.say(seat, "hello")
        await going_on.say(seat, "hello")
    await game.end()
    await expect(home.page.locator("result-list tbody")).to_have_count(1)
    await expect(session.page.locator(".whisper[data-open]")).to_have_count(6)
    await expect(live.page.locator(".speech")).to_have_count(2)

    measured = [pair for shown in (home, session, live) for pair in await shown.page.evaluate(CONTRAST, TEXTS)]

    assert len(measured) > 60
    assert [pair for pair in measured if pair[1] < 4.5] == []


async def test_nothing_sticks_out_of_a_phone(arena: Served, window: OpenWindow) -> None:
    users = ("a" * 128, "ben")
    game = await sit_down(arena, users=users)
    home = (await window(arena.url, viewport=PHONE)).page
    session = (await window(arena.url, f"/session/{game.id}", viewport=PHONE)).page
    await game.say(0, "x" * 2000)
    await game.say(1, "hm", to=game.invites[0])

    await expect(session.locator(".redacted")).to_have_count(3)
    await expect(home.locator("session-card .last")).to_contain_text("xxx")
    assert not await sticks_out(home)
    assert not await sticks_out(session)

    await game.end()

    await expect(home.locator("result-list tbody")).to_have_count(1)
    await expect(home.locator("board-table tbody tr")).to_have_count(2)
    await expect(session.locator("aside tbody tr")).to_have_count(2)
    assert not await sticks_out(home)
    assert not await sticks_out(session)


async def test_boards_players_and_challenges_fit_on_a_phone(arena: Served, window: OpenWindow) -> None:
    long = "a" * 128
    await (await sit_down(arena, users=(long, "ben"))).end()
    settled = {
        "/boards/psi": ".matrix",
        f"/players/{long}?rival=ben": ".meetings",
        "/challenges/psi": "result-list tbody",
    }

    for path, part in settled.items():
        page = (await window(arena.url, path, viewport=PHONE)).page
        await expect(page.locator(part).first).to_be_visible()
        assert not await sticks_out(page), path


async def test_pages_of_packs_fit_on_a_phone_and_can_be_read(arena: Served, window: OpenWindow) -> None:
    long = "a" * 128
    await publish(arena, "unit-prices")
    over = await start(arena, "unit-prices", long, "ben", input_set="market")
    voted = await start(arena, "unit-prices", long, "ben", input_set="market", votes={"seconds": 3600})
    for race in (over, voted):
        await race.submit(0, "x" * 2000)
        await race.submit(1, "0.90 Olives in a bag")
    settled = {
        "/packs": ".packs li",
        "/packs/unit-prices": "result-list tbody",
        f"/session/{over.id}": ".to-cards",
        f"/session/{over.id}/scorecards": ".cards tbody",
        f"/session/{voted.id}": "ballot-box .pair",
    }

    for path, part in settled.items():
        for scheme in ("light", "dark"):
            page = (await window(arena.url, path, viewport=PHONE, color_scheme=scheme)).page
            await expect(page.locator(part).first).to_be_visible()
            assert not await sticks_out(page), path
            measured = await page.evaluate(CONTRAST, [*TEXTS, *PACK_TEXTS])
            assert [pair for pair in measured if pair[1] < 4.5] == [], path


async def test_those_who_want_no_motion_get_none(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    page = (await window(arena.url, f"/session/{game.id}", reduced_motion="reduce")).page
    await expect(page.locator(".redacted")).to_have_count(2)

    await game.end()

    await expect(page.locator(".whisper[data-open]")).to_have_count(6)
    assert await page.evaluate("document.getAnimations().length") == 0


async def test_the_page_is_small(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url)
    await expect(shown.page.locator("home-page .empty").first).to_be_visible()

    sizes = await shown.page.evaluate("performance.getEntriesByType('resource').map(one => one.transferSize)")

    assert sum(sizes) < 150_000
