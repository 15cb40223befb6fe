"""Replays: a moment of a game to go to, to play on from, to link to, and to take home."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Page, expect

from arena import verifying
from tests.browser.test_session_page import SECRET, address, private_words
from tests.browser.windows import OpenWindow, Window, in_browser
from tests.guests import Game, sit_down
from tests.servers import Served

pytestmark = in_browser

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">'


@pytest_asyncio.fixture(loop_scope="session")
async def game(arena: Served) -> AsyncIterator[Game]:
    """A game that is over, in which ben's secret got out."""
    game = await sit_down(arena, users=("ada", "ben"))
    await game.say(0, "let us begin")
    await game.say(1, SECRET, to=game.invites[0])
    await game.say(1, HOSTILE)
    sets = [
        json.loads(words.partition(": ")[2].translate(str.maketrans("{}", "[]")).rstrip("."))
        for words in await private_words(arena, game)
    ]
    await game.act(0, "guess", " ".join(map(str, sets[1])))
    await game.act(1, "guess", str(sets[1][0]))
    yield game


async def shown(page: Page) -> int:
    return await page.locator(".lines > li").count()


async def whole(page: Page) -> int:
    """How many lines there are at the end."""
    await expect(page.locator(".event").last).to_contain_text("The game ended")
    await expect(page.locator(".redacted")).to_have_count(1)
    return await shown(page)


async def test_turns_that_nobody_said_stand_in_the_log(arena: Served, window: OpenWindow, game: Game) -> None:
    page = (await window(arena.url, address(game))).page

    events = page.locator(".event")

    await expect(events).to_have_count(4)
    words = [text.rsplit(" ", 1)[0] for text in await events.all_inner_texts()]
    assert words == ["Player 1 joined", "Player 2 joined", "The game began", "The game ended"]
    await expect(page.locator(".tick.turn").first).to_be_attached()
    await expect(page.locator(".tick.breach")).to_have_count(1)
    await expect(page.locator(".tick.end")).to_have_count(1)


async def test_the_reader_goes_back_a_moment_at_a_time_and_the_address_follows(
    arena: Served, window: OpenWindow, game: Game
) -> None:
    page = (await window(arena.url, address(game))).page
    lines = await whole(page)

    await page.keyboard.press("ArrowLeft")

    await expect(page.locator("aside table")).to_have_count(0)  # no scores before the end
    await page.wait_for_url("**/session/*?at=*")
    back = await shown(page)
    assert 0 < back < lines

    await page.keyboard.press("ArrowRight")

    await expect(page.locator("aside tbody tr")).to_have_count(2)
    assert await shown(page) == lines
    assert "?" not in page.url


async def test_a_link_to_a_moment_shows_the_game_as_it_stood(arena: Served, window: OpenWindow, game: Game) -> None:
    first = (await window(arena.url, address(game))).page
    await whole(first)
    await first.get_by_role("button", name="Start").click()
    await first.wait_for_url("**?at=0")
    seen = await first.locator(".lines > li").all_inner_texts()

    second = (await window(arena.url, first.url.removeprefix(arena.url))).page

    await expect(second.locator(".moment.figure")).to_contain_text("0:00 of")
    await expect(second.locator(".lines > li")).to_have_count(len(seen))
    assert await second.locator(".lines > li").all_inner_texts() == seen
    await expect(second.locator("aside .free")).to_have_count(1)  # the second player has not come yet


async def test_an_attribution_leads_to_the_message_behind_it(arena: Served, window: OpenWindow, game: Game) -> None:
    page = (await window(arena.url, address(game))).page
    await whole(page)
    await expect(page.locator("deed-arrows .breach-arrow > path")).to_have_count(1)

    await page.get_by_role("link", name="see the message").click()

    chosen = page.locator("li[aria-current]")
    await expect(chosen).to_contain_text("(guess)")
    await expect(chosen).to_contain_text("ada")
    await expect(chosen).to_be_in_viewport()
    await page.wait_for_url("**?line=operator.3")

    late = (await window(arena.url, page.url.removeprefix(arena.url))).page

    await expect(late.locator("li[aria-current]")).to_contain_text("(guess)")


async def test_a_replay_plays_to_the_end_by_itself(arena: Served, window: OpenWindow, game: Game) -> None:
    page = (await window(arena.url, address(game))).page
    lines = await whole(page)
    await page.get_by_label("Speed").select_option("64")
    await page.get_by_role("button", name="Start").click()
    assert await shown(page) < lines

    await page.get_by_role("button", name="Play").click()

    await expect(page.locator("aside tbody tr")).to_have_count(2)
    await expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert await shown(page) == lines


async def test_space_stops_and_goes_on(arena: Served, window: OpenWindow, game: Game) -> None:
    page = (await window(arena.url, address(game))).page
    lines = await whole(page)
    await stop_the_clock(page)

    await page.keyboard.press("Space")

    await expect(page.locator(".play")).to_have_text("Pause")
    assert await shown(page) < lines

    await page.keyboard.press("Space")
    await page.clock.run_for(60_000)

    await expect(page.locator(".play")).to_have_text("Play")
    assert await shown(page) < lines

    await page.keyboard.press("Space")
    await page.clock.run_for(60_000)

    await expect(page.locator("aside tbody tr")).to_have_count(2)
    await expect(page.locator(".play")).to_have_text("Play")
    assert await shown(page) == lines


async def stop_the_clock(page: Page) -> None:
    """Let time pass only when the test says so: the game was over within milliseconds, and so would be its replay."""
    await page.clock.install()
    await page.clock.pause_at(time.time() + 60)


async def test_secrets_are_bars_again_until_the_end_for_those_who_want_it(
    arena: Served, window: OpenWindow, game: Game
) -> None:
    page = (await window(arena.url, address(game))).page
    await whole(page)
    await page.keyboard.press("ArrowLeft")
    opened = await page.locator(".whisper[data-open]").count()
    assert opened

    await page.get_by_role("button", name="Seal secrets").click()

    await expect(page.locator(".whisper[data-open]")).to_have_count(0)
    await expect(page.locator(".redacted")).to_have_count(opened + 1)

    await page.get_by_role("button", name="End").click()

    await expect(page.locator(".redacted")).to_have_count(1)
    await expect(page.locator(".whisper[data-open]").first).to_contain_text("formerly private")


async def test_j_and_k_go_from_line_to_line(arena: Served, window: OpenWindow, game: Game) -> None:
    page = (await window(arena.url, address(game))).page
    await whole(page)

    await page.keyboard.press("k")
    await page.keyboard.press("k")
    above = await page.locator("li[aria-current]").inner_text()
    await page.keyboard.press("j")

    await expect(page.locator("li[aria-current]")).to_have_count(1)
    await expect(page.locator("li[aria-current]")).to_contain_text("The game ended")
    assert "Game ended." in above


async def test_channels_stand_side_by_side_if_the_reader_wants_it(
    arena: Served, window: OpenWindow, game: Game
) -> None:
    page = (await window(arena.url, address(game))).page
    lines = await whole(page)

    await page.get_by_role("button", name="Side by side").click()

    logs = page.locator("chat-log")
    await expect(logs).to_have_count(2)
    await expect(logs.nth(1).locator(".lines > li")).to_have_count(3)
    await expect(logs.nth(0).locator(".lines > li")).to_have_count(lines - 3)
    await expect(logs.nth(0).locator(".speech")).to_have_count(0)

    await page.get_by_role("button", name="Side by side").click()

    await expect(page.locator(".lines > li")).to_have_count(lines)


async def test_a_live_game_can_be_looked_back_at_while_it_goes_on(arena: Served, window: OpenWindow) -> None:
    game = await sit_down(arena)
    await game.say(0, "one")
    page = (await window(arena.url, address(game))).page
    await expect(page.locator(".speech")).to_have_count(1)
    await expect(page.locator(".moment.figure")).to_contain_text("live")

    await page.get_by_role("button", name="Start").click()
    await expect(page.locator(".speech")).to_have_count(0)
    await game.say(1, "two")
    await page.get_by_role("button", name="Live").click()

    await expect(page.locator(".speech")).to_have_count(2)
    await expect(page.locator(".moment.figure")).to_contain_text("live")


async def take_home(at: Window, name: str, folder: Path) -> Path:
    async with at.page.expect_download() as coming:
        await at.page.get_by_role("link", name=name).click()
    file = folder / (await coming.value).suggested_filename
    await (await coming.value).save_as(file)
    return file


async def test_a_replay_taken_home_plays_without_any_server(
    arena: Served, window: OpenWindow, game: Game, tmp_path: Path
) -> None:
    at_home = await window(arena.url, address(game))
    lines = await whole(at_home.page)
    seen = await at_home.page.locator(".lines > li").all_inner_texts()
    file = await take_home(at_home, "Download replay", tmp_path)

    away = await window(file.parent.as_uri(), f"/{file.name}", offline=True)

    await expect(away.page.locator(".lines > li")).to_have_count(lines)
    assert await away.page.locator(".lines > li").all_inner_texts() == seen
    await expect(away.page).to_have_title("Private Set Intersection · replay · Arena")
    await expect(away.page.locator("deed-arrows svg")).to_be_visible()
    assert [url for url in away.addresses if not url.startswith(("file:", "data:"))] == []
    assert await away.page.evaluate("typeof window.hacked") == "undefined"
    assert SECRET not in file.read_text()

    await away.page.keyboard.press("ArrowLeft")

    await expect(away.page.locator("aside table")).to_have_count(0)
    assert "#at=" in away.page.url


async def test_the_record_of_a_game_is_taken_home_when_there_is_one(
    arena: Served, window: OpenWindow, game: Game, tmp_path: Path
) -> None:
    at = await window(arena.url, address(game))
    file = await take_home(at, "Record", tmp_path)
    await at.page.goto(arena.url + address(await sit_down(arena)))
    await expect(at.page.locator(".event").last).to_contain_text("The game began")
    await expect(at.page.get_by_role("link", name="ND-JSON")).to_be_visible()

    assert verifying.check(file.read_bytes())[0] is not None
    await expect(at.page.get_by_role("link", name="Record")).to_be_hidden()


async def test_the_lines_taken_home_are_an_archive(
    arena: Served, window: OpenWindow, game: Game, tmp_path: Path
) -> None:
    file = await take_home(await window(arena.url, address(game)), "ND-JSON", tmp_path)

    lines = [json.loads(line) for line in file.read_text().splitlines()]

    assert [line["kind"] for line in lines] == ["arena", "result", "game"]
    talk = [message["content"] for message in lines[-1]["messages"] if message["channel"] == game.id]
    assert talk == ["let us begin", "", HOSTILE]
    assert SECRET not in file.read_text()
