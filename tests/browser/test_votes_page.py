"""Votes of spectators: two outputs without names, one vote for each pair, which is remembered."""

import json

from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served
from tests.stage import publish, start

pytestmark = in_browser

NASTY = "<b onclick=alert(1)>the bag</b>"


async def test_pairs_are_voted_on_without_names(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "unit-prices")
    race = await start(arena, "unit-prices", "ada", "ben", "cyd", "dan", input_set="market", votes={"seconds": 3600})
    shown = await window(arena.url, f"/session/{race.id}")
    page = shown.page
    for seat, output in enumerate(("the jar", NASTY, "neither", "both")):
        await race.submit(seat, output)
    ballots = {each["ballot"]: each for each in await race.heard(0, "ballot", 2)}

    box = page.locator("ballot-box")
    await expect(box).to_contain_text("0 of 2 voted")
    texts = await box.locator("article .text").all_inner_texts()
    first = ballots["b1"]
    assert texts == [first["A"], first["B"]]  # the order is the server's
    html = await box.inner_html()
    assert "<b " not in html
    assert not any(name in html for name in ("Player", "player-mark", "data-seat", *race.invites, "ada", "ben"))
    assert await page.locator("article b").count() == 0

    await box.get_by_role("button", name="A is better").click()
    await expect(box).to_contain_text("1 of 2 voted")
    await page.reload()
    await expect(box).to_contain_text("1 of 2 voted")
    await box.get_by_role("button", name="Both the same").press("Enter")
    await expect(box).to_contain_text("2 of 2 voted")
    await expect(box.locator("h2")).to_be_focused()

    state = json.loads((await arena.arena.engine.get(race.id)).game)
    assert sorted(vote for each in state["ballots"].values() for vote in each["votes"].values()) == ["A", "tie"]


async def test_a_vote_that_was_cast_elsewhere_counts_as_cast(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "unit-prices")
    race = await start(arena, "unit-prices", "ada", "ben", input_set="market", votes={"seconds": 3600})
    await race.submit(0, "the jar")
    await race.submit(1, "the bag")
    await race.heard(0, "ballot")
    one, other = await window(arena.url, f"/session/{race.id}"), await window(arena.url, f"/session/{race.id}")
    other.excuse = "409|400"  # the browser notes the refusal too

    await one.page.get_by_role("button", name="B is better").click()
    await expect(one.page.locator("ballot-box h2")).to_have_text("Thank you for your votes")
    await other.page.get_by_role("button", name="A is better").click()  # from the same address

    await expect(other.page.locator("ballot-box h2")).to_have_text("Thank you for your votes")
    state = json.loads((await arena.arena.engine.get(race.id)).game)
    assert list(state["ballots"]["b1"]["votes"].values()) == ["B"]
