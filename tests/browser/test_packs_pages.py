"""The pages of packs: the list, a pack with all that it tells, and the race of those who play it."""

import httpx
from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.guests import visit
from tests.servers import Served
from tests.shelves import canary, quiz, vault
from tests.stage import publish, start

pytestmark = in_browser

NASTY = '<img src=x onerror="document.title=1"><script>document.title = 2</script>'


async def test_packs_are_listed_and_one_is_shown_without_what_is_expected(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "lost-luggage")
    await publish(arena, quiz(number=1))
    await publish(arena, quiz(number=2, pack__description="Two sums."))
    secret, canaries = vault()
    await publish(arena, secret)
    shown = await window(arena.url)
    page = shown.page

    await page.get_by_role("link", name="Packs").click()
    await expect(page.locator(".packs li")).to_have_count(3)
    await expect(page).to_have_title("Packs · Arena")
    await page.get_by_role("link", name="Lost luggage").click()

    await expect(page.locator("pack-page h1")).to_have_text("Lost luggage")
    await expect(page).to_have_title("Lost luggage · Pack · Arena")
    await expect(page.get_by_role("region", name="Dimensions, table")).to_contain_text("gate, from 0.66 on")
    await expect(page.get_by_role("region", name="Judges, table")).to_contain_text("rubric")
    await expect(page.get_by_role("region", name="Cases of Two travellers, table")).to_contain_text("cello")
    assert "FQ-31077" not in await page.content()

    await page.goto(f"{arena.url}/packs/quiz")
    versions = page.get_by_role("region", name="Versions, table")
    await expect(versions.locator("tbody tr")).to_have_count(2)
    await expect(versions.locator("[aria-current] th")).to_have_text("Version 2")
    await versions.get_by_role("link", name="Version 1").click()
    await expect(versions.locator("[aria-current] th")).to_have_text("Version 1")
    assert page.url.endswith("?version=1")

    await page.goto(f"{arena.url}/packs/vault")
    await expect(page.get_by_role("heading", name="Security")).to_be_visible()
    told = await page.content()
    assert [each for each in canaries if each in told] == []
    assert canary("planted") not in told


async def test_what_a_pack_says_is_text(arena: Served, window: OpenWindow) -> None:
    await publish(
        arena,
        quiz(
            pack__name=NASTY,
            pack__description=NASTY,
            pack__family=NASTY,
            challenges__0__title=NASTY,
            challenges__0__instructions=NASTY,
            input_sets__0__name=NASTY,
        ),
    )
    race = await start(arena, "quiz", "ada", show_outputs=True)
    await race.submit(0, NASTY, NASTY)
    await race.players[0].hear("game_ended", challengeId=race.id)
    settled = {
        "/packs": ".packs li",
        "/packs/quiz": "result-list tbody",
        "/challenges/quiz": "result-list tbody",
        f"/session/{race.id}": "race-panel .to-cards",
        f"/session/{race.id}/scorecards": ".cards tbody",
    }

    for path, part in settled.items():
        page = (await window(arena.url, path)).page
        await expect(page.locator(part).first).to_be_visible()
        assert await page.locator("main img, main script").count() == 0, path
        assert await page.title() not in {"1", "2"}
        assert "onerror" in await page.locator("main").inner_text() or "scorecards" in path


async def test_spectators_see_which_case_each_seat_is_at(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "unit-prices")
    race = await start(arena, "unit-prices", "ada", "ben", input_set="pantry", show_outputs=True)
    page = (await window(arena.url, f"/session/{race.id}")).page
    places, table = page.locator(".places li"), page.get_by_role("region", name="Progress by case")
    await expect(places).to_have_text(["1at rice0 of 2", "2at rice0 of 2"])

    await race.submit(0, "0.30 Hilltop rice")

    await expect(places.first).to_have_text("1at coffee1 of 2")
    await expect(table.locator("tbody tr").nth(1).locator("td")).to_have_text(["▸at work", "·not begun"])
    await expect(page.locator(".call .text").last).to_have_text("Player 1 finished a case: 1 of 2 are done.")
    assert "Hilltop" not in await page.content()  # the other one is still at it

    await race.submit(0, "0.99 Harbour roast")
    await race.submit(1, "no idea", "none")

    await expect(page.locator(".to-cards")).to_be_visible()
    await expect(page.locator("chat-log")).to_contain_text("answered “rice”:\n0.30 Hilltop rice")
    await page.locator(".to-cards").click()
    await expect(page.locator("scorecard-page h1")).to_have_text("Scorecards · Unit prices")


async def test_seats_of_judges_are_no_free_seats(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "lost-luggage")
    made = await (await visit(arena)).get("create", challengeType="lost-luggage", options={"judge_seat": True})
    assert len(made["invites"]) == 3  # the player's, the judge's, and that of whoever speaks for the user

    session = (await window(arena.url, f"/session/{made['id']}")).page
    home = (await window(arena.url)).page

    await expect(session.locator(".players li")).to_have_count(1)
    await expect(home.locator("session-card .badge")).to_have_text("waiting, 0 of 1 seats taken")


async def test_invites_of_those_who_do_not_play_lead_to_their_own_page(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "lost-luggage")
    page = (await window(arena.url, "/challenges/lost-luggage")).page

    await page.get_by_label("Judge seat").check()
    await page.get_by_role("spinbutton", name="Players").fill("2")
    await page.get_by_label("Votes, seconds").fill("300")
    await page.get_by_role("button", name="Create a session").click()

    await expect(page.locator(".invites h4")).to_have_text(
        ["Seat 1", "Seat 2", "Seat of the judge", "Seat of the user"]
    )
    links = [await link.get_attribute("href") or "" for link in await page.locator(".invites a").all()]
    assert [link.partition("#")[0].split("/")[1] for link in links] == ["play", "play", "sit", "sit"]
    invite = links[0].partition("#")[2]
    async with httpx.AsyncClient(base_url=arena.url) as web:
        found = (await web.get(f"/api/invites/{invite}")).json()
    assert (await arena.arena.engine.get(found["id"])).header.options["votes"] == {"seconds": 300}


async def test_what_is_not_there_is_said(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/packs")
    shown.excuse = "404"
    await expect(shown.page.locator(".empty")).to_contain_text("No pack has been published here yet.")

    await shown.visit("/packs/nothing")

    await expect(shown.page.get_by_role("alert")).to_contain_text("No such pack")
