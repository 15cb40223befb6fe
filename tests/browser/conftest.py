"""A real Chromium in front of a real server, started once for the run. A missing browser is a failure."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.windows import OpenWindow, Window
from tests.servers import Served, served

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000  # milliseconds that anything may take before it counts as broken
QUIET = ("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update")

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser."""
    found = subprocess.run([ROOT / ".ci/chromium", "--find"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """A running browser with a profile of its own."""
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="session")
async def arena(store: str) -> AsyncIterator[Served]:
    """A running server on an empty store."""
    async with served(store) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def window(browser: Browser) -> AsyncIterator[OpenWindow]:
    """Opens windows, and checks at the end of the test that none of them had anything to complain about."""
    opened: list[Window] = []

    async def open_window(url: str, path: str = "/", **options: Any) -> Window:
        context = await browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        made = Window(await context.new_page(), url)
        made.page.set_default_timeout(PATIENCE)
        made.listen()
        opened.append(made)
        await made.visit(path)
        return made

    yield open_window
    for each in opened:
        await each.close()
    for each in opened:
        each.check()
