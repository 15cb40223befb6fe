"""A wall of 200 live games that change ten times a second leaves the tab more than half of its time."""

import asyncio
import json
import time
from collections.abc import Awaitable

from playwright.async_api import Browser, Page, expect

from arena.wire import Push
from tests.browser.windows import OpenWindow, in_browser
from tests.guests import visit
from tests.servers import Served

pytestmark = in_browser

GAMES = 200
RATE = 10  # changes of each game a second
SECONDS = 4
BUSY = "RunTask"  # what a renderer's main thread does, one task after the other


async def busy(browser: Browser, page: Page, work: Awaitable[None]) -> float:
    """For how many seconds, as the processor counts them, the page's main thread was busy while something went on."""
    await browser.start_tracing(
        page=page, categories=["toplevel", "disabled-by-default-devtools.timeline", "__metadata"]
    )
    await work
    events = json.loads(await browser.stop_tracing())["traceEvents"]
    mains = {
        (e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    spent = dict.fromkeys(mains, 0.0)
    for event in events:
        where = (event["pid"], event["tid"])
        if where in mains and event["name"] == BUSY and "tdur" in event:
            spent[where] += event["tdur"] / 1e6
    assert spent, "no renderer in the trace"
    return max(spent.values())


async def test_two_hundred_games_that_change_ten_times_a_second(
    arena: Served, window: OpenWindow, browser: Browser
) -> None:
    host = await visit(arena)
    made = [(await host.get("create", challengeType="psi"))["id"] for _ in range(GAMES)]
    page = (await window(arena.url)).page
    guests = arena.arena.lobby.guests
    await expect(page.locator("session-card").first).to_be_visible()
    frames = [await arena.arena.lobby._frame({"id": id_, "event": "changed", "type": "psi"}) for id_ in made]

    async def change() -> None:
        """Push frames like the lobby does, without its limit of one a second."""
        for turn in range(SECONDS * RATE):
            began = time.monotonic()
            for frame in frames:
                assert frame is not None
                said = {"channel": frame["challenge"]["id"], "from": "operator", "content": f"turn {turn}"}
                said |= {"timestamp": 1, "index": turn + 1}
                push = Push(lambda frame=frame, said=said: {**frame, "lastLine": said})  # type: ignore[misc]
                for guest in guests.values():
                    guest.listener.push(push.encoded(guest.listener.codec))
            await asyncio.sleep(max(0, 1 / RATE - (time.monotonic() - began)))

    spent = await busy(browser, page, change())

    await expect(page.locator("session-card")).to_have_count(GAMES)
    await expect(page.locator("session-card .last").first).to_contain_text(f"turn {SECONDS * RATE - 1}")
    assert 0 < spent < SECONDS / 2
