"""The home page: what is being played, who leads, what has ended."""

from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.guests import comes_true, sit_down, visit
from tests.servers import Served

pytestmark = in_browser


async def test_with_nothing_going_on_the_page_says_what_to_do(arena: Served, window: OpenWindow) -> None:
    home = (await window(arena.url)).page

    await expect(home.get_by_text("No game is being played right now.")).to_be_visible()
    await expect(home.locator("copy-line", has_text="arena demo")).to_be_visible()
    await expect(home.get_by_text("Nobody is on this board yet.")).to_be_visible()
    await expect(home).to_have_title("Arena")


async def test_a_game_is_on_the_wall_from_its_first_seat_to_its_end(arena: Served, window: OpenWindow) -> None:
    home = (await window(arena.url)).page
    host = await visit(arena)

    made = await host.get("create", challengeType="psi")

    card = home.locator("session-card")
    await expect(card).to_have_count(1)
    await expect(card).to_contain_text("waiting, 0 of 2 seats taken")

    ada, ben = await visit(arena), await visit(arena)
    await ada.get("join", invite=made["invites"][0], userId="ada")
    await ben.get("join", invite=made["invites"][1], userId="ben")
    await ada.get("chat", channel=made["id"], content="shall we?")

    await expect(card).to_have_attribute("data-status", "active")
    await expect(card.locator(".seats player-mark")).to_have_count(2)
    await expect(card.locator(".last")).to_contain_text("Player 1 shall we?")
    await expect(home).to_have_title("1 live · Arena")

    for player in (ada, ben):
        await player.get("message", challengeId=made["id"], messageType="guess", content="1")

    await expect(card).to_have_count(0)
    ended = home.locator("result-list tbody")
    await expect(ended).to_have_count(1)
    await expect(ended).to_contain_text("ada")
    await expect(ended).to_contain_text("\N{MINUS SIGN}1")


async def test_the_leaderboard_moves_with_every_game(arena: Served, window: OpenWindow) -> None:
    home = (await window(arena.url)).page

    await (await sit_down(arena, users=("ada", "ben"))).end()

    lines = home.locator("board-table tbody tr")
    await expect(lines).to_have_count(2)
    await expect(lines.filter(has_text="ada").locator("td").last).to_have_text("1")

    await (await sit_down(arena, users=("ada", "cid"))).end()

    await expect(lines).to_have_count(3)
    await expect(lines.filter(has_text="ada").locator("td").last).to_have_text("2")
    await expect(lines.filter(has_text="ben").locator("td").last).to_have_text("1")


async def test_a_challenge_has_a_board_of_its_own(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url)
    await (await sit_down(arena, users=("ada", "ben"))).end()
    await expect(shown.page.locator("result-list tbody")).to_have_count(1)

    await shown.page.get_by_label("Board of").select_option("Private Set Intersection")

    await expect(shown.page.locator("board-table tbody tr")).to_have_count(2)
    told = '"challengeType":"psi","strategy":"average"'
    await comes_true(lambda: any(told in frame for frame in shown.frames), "the board was subscribed to")


async def test_the_wall_works_by_keyboard(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    home = (await window(arena.url)).page
    await expect(home.locator("session-card")).to_have_count(1)

    await home.keyboard.press("Tab")
    await expect(home.get_by_text("Skip to the content")).to_be_focused()
    await home.keyboard.press("Enter")
    await expect(home.locator("main")).to_be_focused()
    for _ in ("search", "challenge", "status", "card"):
        await home.keyboard.press("Tab")
    await expect(home.locator("session-card a")).to_be_focused()
    await home.keyboard.press("Enter")

    await expect(home.locator("session-page h1")).to_be_focused()
    assert home.url.endswith(f"/session/{game.id}")

    await home.go_back()

    await expect(home.locator("session-card")).to_have_count(1)


async def test_games_that_had_ended_before_and_the_numbers_are_there_at_once(arena: Served, window: OpenWindow) -> None:
    await (await sit_down(arena, users=("ada", "ben"))).end()

    home = (await window(arena.url)).page

    await expect(home.locator("result-list tbody")).to_have_count(1)
    await expect(home.locator(".numbers")).to_contain_text("games played1")
    await expect(home.locator(".numbers")).to_contain_text("players ranked2")
    challenge = home.locator(".challenges li", has_text="Private Set Intersection")
    await expect(challenge).to_contain_text("Find the numbers that both of you hold")


async def test_filters_stand_in_the_address(arena: Served, window: OpenWindow) -> None:
    playing = await sit_down(arena)
    host = await visit(arena)
    await host.get("create", challengeType="ultimatum")
    home = (await window(arena.url)).page
    cards = home.locator("session-card")
    await expect(cards).to_have_count(2)

    await home.get_by_label("Games of").select_option("Private Set Intersection")
    await expect(cards).to_have_count(1)
    await expect(home).to_have_url(arena.url + "/?challenge=psi")
    await home.get_by_label("Status").select_option("Waiting for players")
    await expect(home.get_by_text("No live game is like that.")).to_be_visible()

    again = (await window(arena.url, "/?challenge=psi&status=active")).page
    await expect(again.locator("session-card")).to_have_count(1)
    await expect(again.locator("session-card a")).to_have_attribute("href", f"/session/{playing.id}")


async def test_a_card_says_what_was_said_last_and_how_many_watch(arena: Served, window: OpenWindow) -> None:
    game, spectator = await sit_down(arena), await visit(arena)
    await game.say(0, "before anybody looked")
    home = (await window(arena.url)).page
    card = home.locator("session-card")
    await expect(card.locator(".last")).to_contain_text("before anybody looked")

    await spectator.get("watch", challengeId=game.id)

    await expect(card).to_contain_text("1 watching")


async def test_a_slash_leads_to_the_search_and_a_question_mark_to_the_keys(arena: Served, window: OpenWindow) -> None:
    home = (await window(arena.url)).page
    await expect(home.locator("home-page .empty").first).to_be_visible()

    await home.keyboard.press("/")
    await expect(home.get_by_label("Search games")).to_be_focused()
    await home.keyboard.type("a?")
    await expect(home.get_by_label("Search games")).to_have_value("a?")
    await home.locator("main").focus()
    await home.keyboard.press("?")

    await expect(home.get_by_role("dialog", name="Keys")).to_be_visible()
    await home.keyboard.press("Escape")
    await expect(home.get_by_role("dialog")).to_have_count(0)
