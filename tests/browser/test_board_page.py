"""The pages of boards and players: what can be compared, linked, printed and followed live."""

import json

import httpx
from playwright.async_api import Page, expect

from arena.models import SessionId
from tests.browser.windows import OpenWindow, in_browser
from tests.guests import sit_down
from tests.servers import Served

pytestmark = in_browser

NASTY = "<img src=x onerror=alert(1)>"


async def play(arena: Served, first: str, second: str, *, winner: bool = True) -> str:
    """A game that the first player wins by the right guess, or ties by a wrong one; its session."""
    game = await sit_down(arena, users=(first, second))
    dealt = json.loads((await arena.arena.engine.get(SessionId(game.id))).game)
    common = next(value for key, value in dealt.items() if key.lower().startswith("intersection"))
    await game.act(0, "guess", " ".join(map(str, common)) if winner else "1")
    await game.act(1, "guess", "1")
    return game.id


async def names(page: Page) -> list[str]:
    """The players of the table, from above."""
    return [text.strip() for text in await page.locator("board-table tbody th .name").all_inner_texts()]


async def test_a_board_is_sorted_by_a_click_and_by_its_address(arena: Served, window: OpenWindow) -> None:
    for winner, loser in (("cid", "ada"), ("cid", "ada"), ("ben", "ada")):
        await play(arena, winner, loser)
    shown = (await window(arena.url, "/boards/psi?strategy=win-rate&metric=win-rate:utility")).page
    await expect(shown.locator("board-table tbody tr")).to_have_count(3)
    assert (await names(shown))[-1] == "ada"

    await shown.get_by_role("link", name="Games", exact=True).click()
    await expect(shown.locator("th[aria-sort=descending]")).to_have_text("Games")
    assert await names(shown) == ["ada", "cid", "ben"]
    await shown.get_by_role("link", name="Games", exact=True).click()
    await expect(shown.locator("th[aria-sort=ascending]")).to_have_text("Games")
    assert await names(shown) == ["ben", "cid", "ada"]
    assert "sort=games&order=up" in shown.url

    again = (await window(arena.url, shown.url.removeprefix(arena.url))).page
    await expect(again.locator("th[aria-sort=ascending]")).to_have_text("Games")
    assert await names(again) == ["ben", "cid", "ada"]
    await expect(again.get_by_label("Metric")).to_have_value("win-rate:utility")

    await again.get_by_role("link", name="Player").click()
    await expect(again.locator("th[aria-sort=ascending]")).to_have_text("Player")
    await again.go_back()
    await expect(again.locator("th[aria-sort=ascending]")).to_have_text("Games")


async def test_a_board_draws_how_far_it_can_be_believed_and_moves_live(arena: Served, window: OpenWindow) -> None:
    await play(arena, "ada", "ben")
    shown = await window(arena.url, "/boards/psi?strategy=win-rate")
    page, ada = shown.page, shown.page.locator('board-table tr[data-player="ada"]')
    await expect(ada.locator(".interval[data-provisional] .whisker")).to_have_count(2)
    await expect(ada).to_contain_text("provisional")
    await expect(ada.locator(".rank")).to_contain_text("1\N{EN DASH}2")
    await expect(page.locator(".facts")).to_contain_text("1 game")

    await play(arena, "ada", "cid")

    await expect(page.locator("board-table tbody tr")).to_have_count(3)
    await expect(ada.locator("td").nth(4)).to_have_text("2/0/0")
    await expect(page.locator(".facts")).to_contain_text("2 games")


async def test_a_box_shows_one_line_per_owner_with_all_its_variants(arena: Served, window: OpenWindow) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as web:
        for model in ("m-1", NASTY):
            await web.post("/api/agents", json={"userId": "ada", "owner": "acme", "model": model})
            await play(arena, "ada", "ben")
    page = (await window(arena.url, "/boards/psi?strategy=win-rate")).page
    await expect(page.locator("board-table tbody tr")).to_have_count(3)
    await expect(page.locator("board-table .declared")).to_have_count(2)

    await page.get_by_label("One line per owner").check()

    await expect(page.locator("board-table tbody tr")).to_have_count(2)
    await expect(page.locator(".facts")).to_contain_text("2 owners")
    owned = page.locator("details.variants", has_text="acme")
    await expect(owned.locator("summary")).to_have_text("acme: 2 entrants, self-reported")
    await owned.locator("summary").click()
    await expect(owned.locator("li", has_text=NASTY)).to_be_visible()
    assert "by=owner" in page.url
    await page.reload()
    await expect(page.get_by_label("One line per owner")).to_be_checked()
    await page.get_by_label("One line per owner").uncheck()
    await expect(page.locator("board-table tbody tr")).to_have_count(3)


async def test_scatter_meetings_and_ways_stand_beside_the_table(arena: Served, window: OpenWindow) -> None:
    await play(arena, "ada", "ben")
    await play(arena, "ada", "ben", winner=False)
    async with httpx.AsyncClient(base_url=arena.url) as web:
        await web.post("/api/users", json={"userId": "ben", "username": NASTY, "model": NASTY})

    page = (await window(arena.url, "/boards/psi")).page

    await expect(page.locator(".chart .player-dot")).to_have_count(2)
    await expect(page.locator(".chart .player-dot[data-front]")).to_have_count(1)
    await expect(page.locator(".chart .player-dot[data-front] .name")).to_have_text("ada")
    await page.get_by_text("The same as a table").click()
    await expect(page.locator(".as-table tbody tr").first.locator("th, td:last-child")).to_have_text(["ada", "yes"])
    ada = page.locator(".matrix tbody tr").filter(has=page.get_by_role("rowheader", name="ada"))
    await expect(ada.locator(".met")).to_contain_text("1/1/0")
    await expect(page.locator(".series")).to_have_count(2)
    await expect(page.locator("board-table", has_text=NASTY)).to_be_visible()
    assert await page.locator("main img").count() == 0


async def test_a_player_has_a_page_with_results_games_and_a_rival(arena: Served, window: OpenWindow) -> None:
    game = await play(arena, "ada", "ben")
    page = (await window(arena.url, "/players/ada")).page
    await expect(page.locator("h1")).to_have_text("ada")
    await expect(page.locator(".board tbody tr", has_text="win-rate")).to_contain_text("1 of 2")
    await expect(page.locator("result-list a", has_text="Private Set")).to_have_attribute("href", f"/session/{game}")

    await page.get_by_label("Against").select_option("ben")

    await expect(page.locator(".meetings tbody tr td")).to_have_text(["1", "1", "0", "0"])
    assert page.url.endswith("/players/ada?rival=ben")

    await play(arena, "ada", "ben", winner=False)

    await expect(page.locator("result-list tbody")).to_have_count(2)
    await expect(page.locator(".meetings tbody tr td")).to_have_text(["2", "1", "1", "0"])


async def test_a_player_that_nobody_knows_and_a_board_that_is_not_there_say_so(
    arena: Served, window: OpenWindow
) -> None:
    player = (await window(arena.url, "/players/nobody")).page
    await expect(player.get_by_text("This player is on no board yet.")).to_be_visible()

    board = (await window(arena.url, "/boards/chess")).page

    await expect(board.get_by_role("alert")).to_contain_text("No such board")


async def test_a_board_on_paper_is_the_board_alone(arena: Served, window: OpenWindow) -> None:
    await play(arena, "ada", "ben")
    page = (await window(arena.url, "/boards/psi")).page
    await expect(page.locator("board-table tbody tr")).to_have_count(2)

    await page.emulate_media(media="print")

    await expect(page.locator(".masthead nav")).to_be_hidden()
    await expect(page.get_by_label("Find a player")).to_be_hidden()
    await expect(page.locator("board-table tbody tr").first).to_be_visible()
