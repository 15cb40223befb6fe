"""Ten thousand messages: the page draws what the reader sees, and nothing is missing where the reader looks."""

from playwright.async_api import Page, expect

from arena import chat
from arena.models import Channel, Millis
from arena.store import keys
from tests.browser.test_session_page import address, distance_from_end
from tests.browser.windows import OpenWindow, in_browser
from tests.guests import Game, sit_down
from tests.servers import Served

pytestmark = in_browser

MANY = 9_990  # some less than a channel holds
DRAWN = 1_000  # lines that a page may have drawn at a time


async def fill(arena: Served, game: Game) -> None:
    """Put many messages into the log at once, a second apart."""
    channel, first = Channel(game.id), arena.arena.clock.now()
    made = [
        chat.entry(channel, game.invites[number % 2], f"message {number}.", Millis(first + 1000 * number)).pack()
        for number in range(1, MANY + 1)
    ]
    await arena.arena.nodes.run(keys.log(channel), "RPUSH", keys.log(channel), *made)


async def drawn(page: Page) -> int:
    return await page.locator(".lines > li").count()


async def test_ten_thousand_messages_cost_what_a_few_screens_of_them_cost(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    await fill(arena, game)
    page = (await window(arena.url, address(game))).page
    await expect(page.get_by_text(f"message {MANY}.", exact=True)).to_be_in_viewport()
    assert await drawn(page) < DRAWN
    assert await distance_from_end(page) < 4

    await page.evaluate(
        """() => {
            window.touched = 0;
            const count = changes => { for (const { addedNodes } of changes) window.touched += addedNodes.length; };
            new MutationObserver(count).observe(document.querySelector(".chunks"), { childList: true, subtree: true });
        }"""
    )
    await game.say(0, "one more")
    await expect(page.get_by_text("one more", exact=True)).to_be_in_viewport()
    assert await page.evaluate("window.touched") < 100  # a line, and not the log

    await page.locator(".scroller").evaluate("one => one.scrollTo(0, 0)")

    await expect(page.get_by_text("message 1.", exact=True)).to_be_in_viewport()
    assert await drawn(page) < DRAWN


async def test_a_long_game_can_be_held_anywhere(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    await fill(arena, game)
    page = (await window(arena.url, f"{address(game)}?line=chat.5000")).page

    await expect(page.locator("li[aria-current]")).to_contain_text("message 5000.")
    await expect(page.locator("li[aria-current]")).to_be_in_viewport()

    await page.keyboard.press("ArrowLeft")

    await expect(page.get_by_text("message 4999.", exact=True)).to_be_in_viewport()
    assert await drawn(page) < DRAWN
