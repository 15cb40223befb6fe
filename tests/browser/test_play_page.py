"""A person at a table: whole games by clicking, in the same rooms as agents, with and without keys."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from arena.bots import Bot
from arena.client import Ended, play
from arena.client.arena import Arena
from arena.client.house import sit
from arena.identity import Identity
from challenges.psi.bots import HonestBot
from challenges.ultimatum.bots import SofterBot
from tests.browser.test_session_page import EVIL, SECRET
from tests.browser.windows import OpenWindow, Window, in_browser
from tests.guests import Guest, visit
from tests.servers import Process, Served, served

pytestmark = in_browser

ARABIC = "مرحبا، هل نبدأ؟"
NASTY = ("ben", '"><svg onload=hacked=1>')  # user ids
Made = dict[str, Any]


@pytest_asyncio.fixture(loop_scope="session")
async def guarded(store: str) -> AsyncIterator[Served]:
    """A server that requires keys."""
    async with served(store, auth="required", auth_secret="a long random text") as running:
        yield running


async def create(arena: Served, type: str = "psi", **fields: Any) -> Made:
    return await (await visit(arena)).get("create", challengeType=type, **fields)


def link(made: Made, seat: int = 0) -> str:
    return f"/play/{made['id']}#{made['invites'][seat]}"


async def take_seat(page: Page, name: str = "ada") -> None:
    await page.get_by_label("Your name").fill(name)
    await page.get_by_role("button", name="Take the seat").click()
    await expect(page.locator(".me")).to_contain_text("You are Player")


async def house(arena: Served, made: Made, bot: Bot, seat: int = 1) -> asyncio.Task[Ended]:
    return asyncio.create_task(play(arena.ws, made["invites"][seat], bot, "ben"))


async def own_numbers(page: Page) -> list[str]:
    secret = page.locator(".secrets li").first
    await expect(secret).to_contain_text("Your private set is:")
    return re.findall(r"\d+", await secret.inner_text())


async def test_a_person_plays_a_whole_game_of_psi_against_a_house_bot(arena: Served, window: OpenWindow) -> None:
    made = await create(arena)
    shown = await window(arena.url, link(made))
    page = shown.page
    await expect(page.locator(".preview")).to_contain_text("Private Set Intersection")
    await take_seat(page)
    await expect(page.locator(".room")).to_contain_text("1 of 2 seats is taken")
    await expect(page.get_by_role("button", name="Guess")).to_be_disabled()

    bot = await house(arena, made, HonestBot(Random(7)))
    await expect(page.locator(".speech", has_text="compare our sets")).to_contain_text("Player 2")
    await expect(page.locator(".room")).to_be_hidden()
    await page.get_by_label("What you say").fill("I compare by hand, sorry.")
    await page.get_by_role("button", name="Say").click()
    await expect(page.locator(".speech .text", has_text="by hand")).to_have_count(1)
    await page.get_by_label("What to send with Guess").fill("none at all")
    await page.get_by_role("button", name="Guess").click()
    refusal = page.locator("move-form [role=alert]")
    await expect(refusal).to_contain_text("Your guess holds no number. INVALID_GUESS")
    await expect(refusal).to_contain_text("What you entered is kept.")
    await expect(page.get_by_label("What to send with Guess")).to_have_value("none at all")

    await page.get_by_label("What to send with Guess").fill((await own_numbers(page))[0])
    await page.get_by_role("button", name="Guess").click()

    ended = await bot
    mine = ended.state.scores[ended.state.players.index(made["invites"][0])]
    await expect(page.locator(".result")).to_contain_text("The game is over")
    figures = await page.locator(".result dd").all_inner_texts()
    assert [float(text.replace("\N{MINUS SIGN}", "-")) for text in figures] == [mine.security, mine.utility]
    await expect(page.locator("aside tbody tr", has_text="you")).to_contain_text("ada")
    await expect(page.locator("aside tbody")).to_contain_text("ben")
    await expect(page.get_by_role("heading", name="Attributions")).to_be_visible()
    await page.get_by_role("link", name="Watch the replay").click()
    await expect(page.locator("session-page .badge")).to_have_text("ended")
    await expect(page.locator("session-page .speech .text", has_text="by hand")).to_have_count(1)


async def test_a_person_plays_a_whole_ultimatum_game_with_a_clock(arena: Served, window: OpenWindow) -> None:
    options = {"clock": {"move": 600}, "reservationValues": [10, 10]}
    made = await create(arena, "ultimatum", options=options)
    page = (await window(arena.url, link(made))).page
    await take_seat(page)

    bot = await house(arena, made, SofterBot(Random(7)))
    await expect(page.locator(".turn")).to_have_text("Your move")
    await expect(page.locator("seat-clock.mine.runs")).to_have_text(re.compile(r"^(10:00|9:\d\d)$"))
    await expect(page).to_have_title("Your move · Ultimatum Game · Arena")
    await page.get_by_role("button", name="Accept").click()
    await expect(page.locator("move-form", has_text="Accept").locator("[role=alert]")).to_contain_text("NO_OFFER")
    await page.get_by_label("What to send with Submit offer").fill("95 5")
    await page.get_by_role("button", name="Submit offer").click()
    await expect(page.locator(".call", has_text="Player 2 proposes")).to_contain_text("Player 1: 50, Player 2: 50")
    await page.get_by_role("button", name="Accept").click()

    ended = await bot
    assert [score.utility for score in ended.state.scores] == [0.4, 0.4]
    await expect(page.locator(".result dd")).to_have_text(["0", "+0.40"])
    await expect(page.locator(".moves")).to_be_hidden()


async def test_a_seat_can_be_given_up_after_a_question(arena: Served, window: OpenWindow) -> None:
    made = await create(arena)
    page = (await window(arena.url, link(made))).page
    await take_seat(page)
    await (await visit(arena)).get("join", invite=made["invites"][1])

    await page.get_by_role("button", name="Resign").click()
    await page.get_by_role("button", name="Play on").click()
    await expect(page.locator("dialog")).to_have_count(0)
    await expect(page.locator(".badge")).to_have_text("live")
    await page.get_by_role("button", name="Resign").click()
    await page.locator("dialog").get_by_role("button", name="Resign").click()

    await expect(page.locator(".result")).to_contain_text("The game is over")


async def test_the_invite_leaves_the_address_and_is_sent_over_the_socket_alone(
    arena: Served, window: OpenWindow
) -> None:
    made = await create(arena)
    shown = await window(arena.url, link(made))
    await take_seat(shown.page)

    assert shown.page.url == f"{arena.url}/play/{made['id']}"
    assert not [address for address in shown.addresses if made["invites"][0] in address.partition("#")[0]]
    answer = await shown.page.request.get(shown.page.url)
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "Take a seat: Private Set Intersection" in await answer.text()


async def test_a_reload_comes_back_to_the_seat_and_two_tabs_to_their_own(arena: Served, window: OpenWindow) -> None:
    made = await create(arena)
    first = await window(arena.url, link(made))
    await take_seat(first.page)
    second = await first.page.context.new_page()
    await second.goto(arena.url + link(made, 1))
    await take_seat(second, "ben")
    numbers = [await own_numbers(page) for page in (first.page, second)]

    for page, me, known in ((first.page, "Player 1", numbers[0]), (second, "Player 2", numbers[1])):
        await page.reload()
        await expect(page.locator(".me")).to_contain_text(me)
        assert await own_numbers(page) == known
        await page.get_by_label("What to send with Guess").fill(known[0])
        await page.get_by_role("button", name="Guess").click()

    for page in (first.page, second):
        await expect(page.locator(".result")).to_contain_text("The game is over")
    await second.goto(arena.url + link(made, 1))  # the link once more: the seat is known
    await expect(second.locator(".me")).to_contain_text("Player 2")


async def test_the_waiting_room_has_the_links_of_a_session_that_was_created_here(
    arena: Served, window: OpenWindow
) -> None:
    page = (await window(arena.url, "/challenges/psi")).page
    await page.get_by_role("button", name="Create a session").click()
    await page.get_by_role("link", name="Play this seat here").first.click()
    await take_seat(page)

    links = page.locator(".room copy-line:nth-of-type(2) code")
    await expect(links).to_have_count(1)
    other = await page.context.new_page()
    await other.goto(await links.inner_text())
    await take_seat(other, "ben")

    await expect(page.locator(".room")).to_be_hidden()
    await expect(page.locator(".badge")).to_have_text("live")


async def test_a_link_without_a_seat_says_what_to_do(arena: Served, window: OpenWindow) -> None:
    made = await create(arena)
    await (await visit(arena)).get("join", invite=made["invites"][0])
    page = (await window(arena.url, link(made))).page
    await page.get_by_role("button", name="Take the seat").click()
    await expect(page.get_by_role("alert")).to_contain_text("The seat is taken")
    elsewhere = (await window(arena.url, f"/play/{made['id']}")).page
    await expect(elsewhere.get_by_role("alert")).to_contain_text("This browser holds no seat")
    await elsewhere.get_by_role("link", name="Watch the game instead").click()
    await expect(elsewhere.locator("session-page h1")).to_have_text("Private Set Intersection")
    bare = (await window(arena.url, "/play#inv_00000000-0000-4000-8000-000000000000")).page
    await bare.get_by_role("button", name="Take the seat").click()
    await expect(bare.get_by_role("alert")).to_contain_text("No such invite")


async def test_with_keys_required_the_pair_is_made_and_kept_in_the_browser(guarded: Served, window: OpenWindow) -> None:
    made = [await create(guarded) for _ in range(2)]
    shown = await window(guarded.url, link(made[0]))
    page = shown.page
    await expect(page.locator("seat-form")).to_contain_text("One is made for you now")
    await take_seat(page, "Ada L.")
    async with Arena(guarded.url, identity=Identity.new()) as others:
        bot = asyncio.create_task(sit(await others.join(made[0]["invites"][1]), HonestBot(Random(7))))
        await page.get_by_label("What to send with Guess").fill((await own_numbers(page))[0])
        await expect(page.get_by_role("button", name="Guess")).to_be_enabled()
        await page.get_by_role("button", name="Guess").click()
        ended = await bot
    await expect(page.locator("aside tbody tr", has_text="you")).to_contain_text("Ada L.")

    await shown.visit(link(made[1]))
    await expect(page.locator("seat-form")).to_contain_text("Yours is kept in this browser")
    await take_seat(page, "Ada L.")

    again = await guarded.arena.engine.get(made[1]["id"])
    assert (
        again.standing.player_identities[made[1]["invites"][0]] == ended.state.player_identities[made[0]["invites"][0]]
    )
    await page.reload()
    await expect(page.locator(".me")).to_contain_text("Player 1")
    assert await page.evaluate(EXTRACTABLE) is False


EXTRACTABLE = """
() => new Promise(resolve => {
  indexedDB.open("arena").onsuccess = ({ target }) => {
    const asked = target.result.transaction("keys").objectStore("keys").get("me");
    asked.onsuccess = () => resolve(asked.result.pair.privateKey.extractable);
  };
})
"""


@pytest.fixture
def process() -> Iterator[Process]:
    """A server to kill."""
    with Process() as running:
        yield running


async def test_a_person_goes_on_after_the_server_was_killed_and_started_again(
    process: Process, window: OpenWindow
) -> None:
    async with Arena(process.url) as host:
        made = await host.create("psi")
        shown = await window(process.url, f"/play/{made.id}#{made.invites[0]}")
        shown.excuse = "WebSocket connection to .* failed"
        page = shown.page
        await take_seat(page)
        await host.join(made.invites[1], "ben")
        await expect(page.locator(".badge")).to_have_text("live")

        await asyncio.to_thread(process.kill)
        await expect(page.locator("link-notice")).to_contain_text("The connection is lost. What you see is kept.")
        await page.get_by_label("What you say").fill("said while away")
        await page.get_by_role("button", name="Say").click()
        await expect(page.get_by_role("button", name="Sending…")).to_be_visible()
        await asyncio.to_thread(process.start)

        await expect(page.locator(".speech .text")).to_have_text(["said while away"], timeout=30_000)
        await page.get_by_label("What to send with Guess").fill((await own_numbers(page))[0])
        await page.get_by_role("button", name="Guess").click()
        await expect(page.locator(".call")).to_contain_text("sent a guess")
        await expect(page.get_by_role("button", name="Say")).to_be_enabled()


async def three(arena: Served, window: OpenWindow) -> tuple[Window, list[Guest], Made]:
    """A person at a table with two agents."""
    made = await create(arena, "ultimatum", options={"players": 3, "maxRounds": 1})
    shown = await window(arena.url, link(made))
    await take_seat(shown.page)
    agents = [await visit(arena) for _ in range(2)]
    for agent, invite, user in zip(agents, made["invites"][1:], NASTY, strict=True):
        await agent.get("join", invite=invite, userId=user)
    await expect(shown.page.locator(".badge")).to_have_text("live")
    return shown, agents, made


async def test_direct_messages_reach_whom_they_are_for_and_nobody_else(arena: Served, window: OpenWindow) -> None:
    shown, (ben, eve), made = await three(arena, window)
    page = shown.page

    await ben.get("chat", channel=made["id"], content=SECRET, to=made["invites"][2])
    await ben.get("chat", channel=made["id"], content="for the person alone", to=made["invites"][0])
    await page.get_by_label("To", exact=True).select_option(label="To Player 3 alone")
    await page.get_by_label("What you say").fill("for the third alone")
    await page.get_by_label("What you say").press("Enter")

    await expect(page.locator(".whisper .text", has_text="for the third alone")).to_have_count(1)
    await expect(page.locator(".whisper .text", has_text="for the person alone")).to_have_count(1)
    heard = await eve.hear_messages(made["id"], 3)
    assert [message["content"] for message in heard] == [SECRET, "", "for the third alone"]
    assert [message["content"] for message in await ben.hear_messages(made["id"], 3)][2] == ""
    secrets = [message["content"] for guest in (ben, eve) for message in guest.messages(f"challenge_{made['id']}")]
    told = [text for text in secrets if text.startswith("Your private reservation")]
    seen = "\n".join([*shown.frames, await page.content()])
    assert SECRET not in seen
    assert seen.count("Your private reservation value is") <= 4  # frame, log, list and announcement, all of one's own
    assert len(told) == 2


async def test_nothing_that_others_write_is_more_than_text_and_each_has_its_direction(
    arena: Served, window: OpenWindow
) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as http:
        told = {"userId": "ben", "username": "<img src=x onerror=hacked=1>", "model": "<b onclick=hacked=1>model</b>"}
        assert (await http.post("/api/users", json=told)).status_code == 200
    shown, (ben, eve), made = await three(arena, window)
    page = shown.page

    await ben.get("chat", channel=made["id"], content=EVIL)
    await ben.get("chat", channel=made["id"], content=ARABIC, to=made["invites"][0])
    await page.get_by_label("What you say").fill(f"Hello {EVIL}")
    await page.get_by_role("button", name="Say").click()
    await page.get_by_label("What to send with Submit offer").fill(EVIL)
    await page.get_by_role("button", name="Submit offer").click()

    await expect(page.locator(".speech .text").first).to_have_text(EVIL)
    await expect(page.locator("move-form [role=alert]").first).to_contain_text("INVALID_OFFER")
    await expect(page.locator(".whisper .text", has_text="(submit_offer) <img")).to_have_count(1)
    direction = "element => getComputedStyle(element).direction"
    assert await page.locator(".whisper .text", has_text=ARABIC).evaluate(direction) == "rtl"
    assert await page.locator(".speech .text").first.evaluate(direction) == "ltr"
    await page.get_by_role("button", name="Pass").click()
    await expect(page.locator(".call", has_text="Player 1 passes")).to_have_count(1)
    for agent in (ben, eve):
        await agent.get("message", challengeId=made["id"], messageType="pass", content="")
    await expect(page.locator("aside tbody")).to_contain_text("<img")
    await expect(page.locator("aside tbody")).to_contain_text("<b onclick")
    await expect(page.locator("aside tbody")).to_contain_text('"><s')
    assert await page.evaluate("typeof window.hacked") == "undefined"
    assert await page.locator("main img, main script, main b, main [onload], main [onclick]").count() == 0
