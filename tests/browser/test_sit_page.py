"""People at the table who do not play: a judge, and somebody who speaks for a user, each with a page of their own."""

from playwright.async_api import expect

from arena.identity import Identity
from tests.browser.test_scorecards_page import judged
from tests.browser.windows import OpenWindow, in_browser
from tests.guests import sit_down, visit
from tests.servers import Served, served
from tests.stage import Race, publish, start

pytestmark = in_browser

ANSWERS = ("Which flight, please?", "Thank you. Your report is FQ-31077.", "Here are 50 euros.")


async def test_a_person_speaks_for_the_user_and_is_back_after_a_reload(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "lost-luggage")
    race = await start(arena, "lost-luggage", "ada")
    await race.reply(0, *ANSWERS[:2])
    page = (await window(arena.url, f"/sit#{race.invites[1]}")).page
    await expect(page.get_by_role("heading", name="You speak for the user")).to_be_visible()

    await page.get_by_role("button", name="Take the seat").click()
    await expect(page.locator(".ask .evidence")).to_have_text(ANSWERS[1])
    await page.reload()
    await expect(page.locator(".ask .evidence")).to_have_text(ANSWERS[1])
    await page.get_by_label("What the user says").fill("<i>And what shall I wear?</i> שלום")
    await page.get_by_role("button", name="Say it").click()

    await expect(page.get_by_role("status").last).to_contain_text("Nothing waits for you at the moment.")
    told = await race.heard(0, "user", 3)
    assert told[-1]["content"] == "<i>And what shall I wear?</i> שלום"
    await page.reload()
    await expect(page.get_by_role("status").last).to_contain_text("Nothing waits for you at the moment.")


async def test_a_person_judges_until_the_game_is_over(arena: Served, window: OpenWindow) -> None:
    await publish(arena, judged())
    race = await start(arena, "quiz", "ada", judge_seat=True)
    page = (await window(arena.url, f"/sit#{race.invites[1]}")).page
    await page.get_by_role("button", name="Take the seat").click()
    await expect(page.get_by_role("status").last).to_contain_text("Nothing waits for you at the moment.")

    await race.submit(0, "four <u>exactly</u>", "nine")

    await expect(page.locator(".ask")).to_have_count(2)
    await expect(page.locator(".ask").first).to_contain_text("four <u>exactly</u>")
    await expect(page.locator(".ask live-clock").first).to_be_visible()
    for _ in range(2):
        left = await page.locator(".ask").count()
        await page.locator(".ask").first.get_by_label("Score, 1 to 5").fill("5")
        await page.locator(".ask").first.get_by_role("button", name="Give the verdict").click()
        await expect(page.locator(".ask")).to_have_count(left - 1)

    await expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    await page.get_by_role("link", name="See the scorecards").click()
    await expect(page.get_by_role("region", name="Case sum").get_by_role("row", name="Tone").last).to_contain_text(
        "1.00"
    )


async def test_a_seat_is_taken_once_and_players_are_sent_elsewhere(arena: Served, window: OpenWindow) -> None:
    await publish(arena, judged())
    race = await start(arena, "quiz", "ada", judge_seat=True)
    first = (await window(arena.url, f"/sit#{race.invites[1]}")).page
    await first.get_by_role("button", name="Take the seat").click()
    await expect(first.get_by_role("status").last).to_contain_text("Nothing waits for you")

    second = await window(arena.url, f"/sit#{race.invites[1]}")
    second.excuse = "40[0-9]"
    nobody = await window(arena.url, "/sit")
    unknown = await window(arena.url, "/sit#inv_unknown")
    unknown.excuse = "40[0-9]"

    await expect(second.page.get_by_role("alert")).to_contain_text("This seat is taken")
    await expect(nobody.page.get_by_role("alert")).to_contain_text("No invite")
    await expect(unknown.page.get_by_role("alert")).to_contain_text("No such invite")
    game = await sit_down(arena)
    free = await game.players[0].get("create", challengeType="psi")
    player = await window(arena.url, f"/sit#{free['invites'][0]}")
    await expect(player.page.get_by_role("alert")).to_contain_text("This is a player's seat")


async def test_where_keys_are_required_seats_and_votes_are_signed(store: str, window: OpenWindow) -> None:
    async with served(store, auth="required", auth_secret="a long random text") as arena:
        await arena.arena.library.publish(judged())
        guests = [await visit(arena) for _ in range(2)]
        options = {"players": 2, "judge_seat": True, "votes": {"seconds": 3600}}
        made = await guests[0].get("create", challengeType="quiz", options=options)
        for guest, invite in zip(guests, made["invites"], strict=False):
            signed = Identity.new().sign(f"join:{invite}", arena.arena.clock.now())
            await guest.get("join", invite=invite, **signed)
        race = Race(made["id"], "quiz", made["invites"], guests)
        judge = (await window(arena.url, f"/sit#{made['invites'][2]}")).page
        spectator = (await window(arena.url, f"/session/{race.id}")).page

        await judge.get_by_role("button", name="Take the seat").click()
        for seat in range(2):
            await race.submit(seat, f"a{seat}", f"b{seat}")

        await expect(judge.locator(".ask")).to_have_count(4)
        await spectator.get_by_role("button", name="A is better").click()
        await expect(spectator.locator("ballot-box")).to_contain_text("1 of 2 voted")
        for page in (judge, spectator):
            await page.close()  # before its server, which it would miss
