"""A server that goes away and comes back: the page catches up by itself, and shows nothing twice."""

import asyncio
from collections.abc import Iterator

import pytest
from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.guests import guest_at, sit_down
from tests.servers import Process, Served

pytestmark = in_browser


@pytest.fixture
def other(store: str) -> Iterator[Process]:
    """A second server on the same store, to be stopped and started again."""
    with Process(store=store) as running:
        yield running


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_the_page_catches_up_after_a_restart(arena: Served, other: Process, window: OpenWindow, end: str) -> None:
    game = await sit_down(arena, users=("ada", "ben"))
    home, session = await window(other.url), await window(other.url, f"/session/{game.id}")
    home.excuse = session.excuse = "WebSocket connection to .* failed"
    await game.say(0, "before")
    await game.say(1, "whispered", to=game.invites[0])
    await expect(session.page.locator(".speech")).to_have_count(1)
    await expect(home.page.locator("session-card")).to_have_count(1)

    await asyncio.to_thread(getattr(other, end))

    for shown in (home, session):
        await expect(shown.page.get_by_role("status")).to_contain_text("The connection is lost. What you see is kept.")
    await expect(session.page.get_by_text("before")).to_be_visible()

    await game.say(0, "meanwhile")
    await game.end()
    await sit_down(arena)
    await asyncio.to_thread(other.start)

    await expect(session.page.get_by_role("status")).to_be_empty()
    await expect(home.page.get_by_role("status")).to_be_empty()
    await expect(session.page.locator(".speech .text")).to_have_text(["before", "meanwhile"])
    await expect(session.page.locator(".whisper[data-open]")).to_have_count(6)
    await expect(session.page.locator(".redacted")).to_have_count(1)
    await expect(session.page.locator(".call")).to_have_count(3)
    await expect(session.page.locator("aside tbody")).to_contain_text("ada")
    await expect(home.page.locator("session-card")).to_have_count(1)
    await expect(home.page.locator("board-table tbody tr")).to_have_count(2)
    assert await home.page.locator(f"session-card a[href$='{game.id}']").count() == 0


async def test_after_a_restart_new_messages_arrive_again(other: Process, window: OpenWindow) -> None:
    async with guest_at(other.ws) as host:
        made = await host.get("create", challengeType="psi")
        joined = await host.get("join", invite=made["invites"][0])
        await host.get("chat", channel=made["id"], content="one")
    shown = await window(other.url, f"/session/{made['id']}")
    shown.excuse = "WebSocket connection to .* failed"
    await expect(shown.page.locator(".speech .text")).to_have_text(["one"])

    await asyncio.to_thread(other.kill)
    await asyncio.to_thread(other.start)
    async with guest_at(other.ws) as again:
        await again.get("resume", challengeId=made["id"], sessionKey=joined["sessionKey"])
        await again.get("chat", channel=made["id"], content="two")
        await expect(shown.page.locator(".speech .text")).to_have_text(["one", "two"])
        await again.get("chat", channel=made["id"], content="three")

        await expect(shown.page.locator(".speech .text")).to_have_text(["one", "two", "three"])
    initials = [frame for frame in shown.frames if '"type":"initial"' in frame]
    assert sum('"recovered":true' in frame for frame in initials) == 2
