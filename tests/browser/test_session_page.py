"""The view of one session: what a spectator sees, and what it must not see."""

import json
import re

import httpx
from playwright.async_api import Page, expect

from tests.browser.windows import OpenWindow, in_browser
from tests.guests import Game, sit_down, visit
from tests.servers import Served

pytestmark = in_browser

SECRET = "the-secret-is-4711"
EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> & <b>bold</b>'


def address(game: Game) -> str:
    return f"/session/{game.id}"


async def private_words(arena: Served, game: Game) -> list[str]:
    """What the operator told each player alone."""
    heard = [await player.hear_messages(game.operator_channel, 1) for player in game.players]
    return [message["content"] for messages in heard for message in messages if message.get("content")]


async def test_a_spectator_follows_the_talk_as_it_happens(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    await game.say(0, "said before")
    page = (await window(arena.url, address(game))).page
    lines = page.locator(".lines > li")
    await expect(lines.filter(has_text="said before")).to_have_count(1)

    await game.say(1, "said\nlater")
    await game.act(0, "guess", "1")

    await expect(lines.filter(has_text="later")).to_contain_text("Player 2")
    await expect(page.locator(".call")).to_contain_text("Player 1 sent a guess")
    await expect(page.locator("aside li")).to_have_count(2)
    await expect(page.locator("aside")).to_contain_text("connected")
    await expect(page.locator(".facts")).to_contain_text("1 watching")
    await expect(page).to_have_title("Private Set Intersection · live · Arena")


async def test_a_whisper_is_a_bar_that_says_who_to_whom_and_no_more(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    shown = await window(arena.url, address(game))

    await game.say(0, SECRET, to=game.invites[1])
    await game.say(1, "k", to=game.invites[0])

    whispers = shown.page.locator(".whisper", has_not_text="Operator")
    await expect(whispers).to_have_count(2)
    assert (await whispers.nth(0).inner_text()).split("\n")[0].startswith("Player 1")
    assert [await end.inner_text() for end in await whispers.nth(0).locator(".speaker").all()] == [
        "Player 1",
        "Player 2",
    ]
    assert [await end.inner_text() for end in await whispers.nth(1).locator(".speaker").all()] == [
        "Player 2",
        "Player 1",
    ]
    bars = [await bar.bounding_box() for bar in await shown.page.locator(".redacted").all()]
    assert len(bars) == 4  # the operator has told each player its set
    assert {bar["width"] for bar in bars if bar} == {160}


async def test_what_is_hidden_is_in_no_byte_that_the_page_gets(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    private = await private_words(arena, game)
    shown = await window(arena.url, address(game))

    await game.say(0, SECRET, to=game.invites[1])
    await game.act(0, "guess", "815 816")
    await expect(shown.page.locator(".call")).to_have_count(1)
    await expect(shown.page.locator(".redacted")).to_have_count(5)  # two sets, a whisper, a guess, its verdict

    seen = "\n".join([*shown.frames, await shown.page.content()])
    assert any("sent a guess" in frame for frame in shown.frames)
    assert len(private) == 2
    assert not [words for words in [*private, SECRET, "815 816", "ada", "ben", "Target"] if words in seen]


async def test_the_end_opens_what_the_operator_hid_and_not_what_players_whispered(
    arena: Served, window: OpenWindow
) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    await game.say(0, SECRET, to=game.invites[1])
    watching = await window(arena.url, address(game))
    await expect(watching.page.locator(".redacted")).to_have_count(3)

    await game.end()
    late = await window(arena.url, address(game))

    for shown in (watching, late):
        opened = shown.page.locator(".whisper[data-open]")
        await expect(opened).to_have_count(6)  # two sets, two guesses, two verdicts
        await expect(opened.first).to_contain_text("Your private set is:")
        await expect(opened.first).to_contain_text("formerly private")
        await expect(shown.page.locator(".redacted")).to_have_count(1)
        await expect(shown.page.locator("aside tbody tr")).to_have_count(2)
        await expect(shown.page.locator("aside tbody tr").first).to_contain_text("ada")
        await expect(shown.page.locator(".badge")).to_have_text("ended")
        assert SECRET not in "\n".join([*shown.frames, await shown.page.content()])


async def test_breaches_are_listed_with_who_did_them(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    sets = [
        json.loads(words.partition(": ")[2].translate(str.maketrans("{}", "[]")).rstrip("."))
        for words in await private_words(arena, game)
    ]
    alone = sorted(set(sets[1]) - set(sets[0]))

    await game.act(0, "guess", str(alone[0]))
    await game.act(1, "guess", str(sets[1][0]))
    page = (await window(arena.url, address(game))).page

    await expect(page.locator(".deeds li")).to_have_text("adato→bensecurity breachsee the message")


async def test_what_players_type_is_shown_as_text(arena: Served, window: OpenWindow) -> None:
    users = ('<img src=x onerror="hacked=2">', "<script>hacked=3</script>")
    home = await window(arena.url)
    game = await sit_down(arena, users=users)
    session = await window(arena.url, address(game))

    await game.say(0, EVIL)
    await expect(home.page.locator("session-card .last")).to_contain_text(EVIL)
    await game.end()

    await expect(session.page.locator(".speech .text")).to_have_text(EVIL)
    await expect(session.page.locator("aside tbody")).to_contain_text("<img")
    await expect(home.page.locator("result-list tbody")).to_contain_text("<img")
    await expect(home.page.locator("board-table tbody")).to_contain_text("<scr")
    for shown in (home, session):
        assert await shown.page.evaluate("typeof window.hacked") == "undefined"
        assert await shown.page.locator("main img, main script, main b").count() == 0


async def test_no_field_that_a_player_controls_becomes_anything_but_text(arena: Served, window: OpenWindow) -> None:
    users = ("ada", '"><svg onload=hacked=1>')
    async with httpx.AsyncClient(base_url=arena.url) as http:
        told = {"userId": "ada", "username": "<img src=x onerror=hacked=1>", "model": "<b onclick=hacked=1>model</b>"}
        assert (await http.post("/api/users", json=told)).status_code == 200
    game = await sit_down(arena, users=users)
    session = await window(arena.url, f"{address(game)}?at=<script>hacked=1</script>&line=<img src=x onerror=hacked=1>")
    await game.say(0, EVIL)
    await game.say(1, EVIL, to=game.invites[0])
    await game.act(0, "<script>hacked=1</script>", EVIL)
    await game.act(1, "guess", f"{EVIL} 1")
    await game.act(0, "guess", "1")
    page = session.page

    await expect(page.locator("aside tbody")).to_contain_text("<img")
    await expect(page.locator("aside tbody")).to_contain_text("<b onclick")
    await expect(page.locator("aside tbody")).to_contain_text('"><s')
    await expect(page.locator(".whisper .text", has_text="(<script>")).to_have_count(1)
    await expect(page.locator(".whisper .text", has_text="(guess) <img")).to_have_count(1)
    assert await page.evaluate("typeof window.hacked") == "undefined"
    assert (
        await page.locator("main img, main script, main b, main [onload], main [onclick], main [onerror]").count() == 0
    )


async def test_a_name_that_runs_from_right_to_left_turns_nothing_around(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena, users=("\u202eabc", "בני"))
    for seat in range(2):
        await game.say(seat, "hello")
    await game.end()
    page = (await window(arena.url, address(game))).page
    await expect(page.locator(".speech bdi").nth(1)).to_have_text("בני")

    for line in await page.locator(".speech").all():
        mark, name, time = [
            await line.locator(part).first.bounding_box() for part in (".head player-mark", ".head bdi", ".head time")
        ]
        assert mark
        assert name
        assert time
        assert mark["x"] < name["x"] < time["x"]


async def test_clocks_run_for_those_who_are_to_move(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena, options={"clock": {"move": 600, "bank": 900}})
    page = (await window(arena.url, address(game))).page
    await expect(page.locator("seat-clock.runs")).to_have_count(2)

    await game.act(0, "guess", "1")

    await expect(page.locator("seat-clock.runs")).to_have_count(1)
    await expect(page.locator("aside li", has_text="Player 2").locator("seat-clock.runs")).to_have_text(
        re.compile(r"^(10:00|9:\d\d)$")
    )


async def test_time_that_is_up_stands_out_in_the_course_of_the_game(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena, options={"clock": {"move": 0.2}})
    page = (await window(arena.url, address(game))).page

    await expect(page.locator(".call", has_text="has run out of time.")).to_have_count(1)
    await expect(page.locator(".tick.late")).to_have_count(1)
    await expect(page.locator(".badge")).to_have_text("ended")


async def test_joins_and_the_start_are_seen_as_they_happen(arena: Served, window: OpenWindow) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")
    page = (await window(arena.url, f"/session/{made['id']}")).page
    await expect(page.locator("aside .free")).to_have_count(2)

    for invite in made["invites"]:
        await (await visit(arena)).get("join", invite=invite)

    await expect(page.locator(".event")).to_have_count(3)
    await expect(page.locator(".event").last).to_contain_text("The game began")


async def test_text_keeps_its_own_direction(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    await game.say(0, "مرحبا، هل نبدأ؟")
    await game.say(1, "hello \u202eevil")
    page = (await window(arena.url, address(game))).page

    texts = page.locator(".speech .text")
    await expect(texts).to_have_count(2)
    directions = await texts.evaluate_all("all => all.map(one => getComputedStyle(one).direction)")

    assert directions == ["rtl", "ltr"]


async def test_a_long_history_arrives_whole_and_in_order(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    for number in range(20):  # more than one page of 256 KiB
        await game.say(number % 2, f"{number} " + "x" * 20_000)
    page = (await window(arena.url, address(game))).page

    texts = page.locator(".speech .text")
    await expect(texts).to_have_count(20)

    numbers = await texts.evaluate_all("all => all.map(one => parseInt(one.textContent))")
    assert numbers == list(range(20))
    assert await distance_from_end(page) < 4


async def test_the_log_follows_its_end_unless_the_reader_scrolled_up(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    for number in range(40):
        await game.say(number % 2, f"line {number}")
    page = (await window(arena.url, address(game))).page
    await expect(page.get_by_text("line 39")).to_be_in_viewport()

    await game.say(0, "still there?")
    await expect(page.get_by_text("still there?")).to_be_in_viewport()
    await page.locator(".scroller").hover()
    await page.mouse.wheel(0, -600)
    await page.wait_for_function("document.querySelector('.scroller:not(.follows)')")
    await game.say(1, "read later")

    await expect(page.locator(".down")).to_be_visible()
    await expect(page.get_by_text("read later")).not_to_be_in_viewport()

    await page.locator(".down").click()

    await expect(page.get_by_text("read later")).to_be_in_viewport()
    await expect(page.locator(".down")).to_be_hidden()


async def distance_from_end(page: Page) -> float:
    found = await page.locator(".scroller").evaluate("one => one.scrollHeight - one.scrollTop - one.clientHeight")
    return float(found)


async def test_a_session_that_is_not_there_is_said_so(arena: Served, window: OpenWindow) -> None:
    page = (await window(arena.url, "/session/%3Cb%3Enope")).page

    await expect(page.get_by_role("alert")).to_contain_text("No such session")

    await page.get_by_text("See what is being played").click()

    await expect(page.locator("home-page")).to_be_visible()


async def test_an_open_session_shows_its_free_seats(arena: Served, window: OpenWindow) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")
    page = (await window(arena.url, f"/session/{made['id']}")).page
    await expect(page.locator("aside .free")).to_have_count(2)

    await host.get("join", invite=made["invites"][0])

    await expect(page.locator("aside .free")).to_have_count(1)
    await expect(page.locator(".badge")).to_have_text("waiting for players")
