"""axe-core finds no serious fault on any page, in either theme."""

import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import ROOT
from tests.browser.windows import OpenWindow, in_browser
from tests.callers import calling
from tests.guests import sit_down, visit
from tests.servers import Served
from tests.stage import publish, start
from tests.tourneys import told

pytestmark = in_browser

PAGES = {
    "/": "board-table tbody tr",
    "/boards/psi?strategy=win-rate": ".matrix",
    "/players/ada?rival=ben": ".meetings",
    "/challenges/psi": "result-list tbody",
}


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core. A missing one is a failure."""
    found = subprocess.run([ROOT / ".ci/axe", "--find"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return Path(found.stdout.strip()).read_text("utf-8")


async def faults(page: Page, axe: str) -> list[str]:
    """What axe-core finds serious, with the elements it found it in."""
    await page.evaluate(axe)
    found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then(result => result.violations)")
    serious = [fault for fault in found if fault["impact"] in {"serious", "critical"}]
    return [f"{fault['id']}: {node['html'][:200]}" for fault in serious for node in fault["nodes"]]


async def _packs(arena: Served) -> dict[str, str]:
    """Pages about packs, in every state that they have."""
    for slug in ("unit-prices", "lost-luggage"):
        await publish(arena, slug)
    over = await start(arena, "unit-prices", "ada", "ben", input_set="market")
    voted = await start(arena, "unit-prices", "ada", "ben", input_set="market", votes={"seconds": 3600})
    for race in (over, voted):
        await race.submit(0, "0.17 Olives in a jar")
        await race.submit(1, "0.90 Olives in a bag")
    desk = await start(arena, "lost-luggage", "ada")
    await desk.reply(0, "Which flight?", "Your report is FQ-31077.")
    await over.players[0].hear("game_ended", challengeId=over.id)
    return {
        "/packs": ".packs li",
        "/packs/unit-prices": "result-list tbody",
        f"/session/{over.id}": ".to-cards",
        f"/session/{over.id}/scorecards": ".cards tbody",
        f"/session/{voted.id}": "ballot-box .pair",
        f"/sit#{desk.invites[1]}": "sit-page h1",
    }


async def _tournament(arena: Served) -> dict[str, str]:
    """Pages about tournaments."""
    async with calling(arena) as caller:
        made = await caller.post("/tournaments", setup=told(2, format="knockout", games_per_pair=1))
    return {"/tournaments": ".tournaments li", f"/tournaments/{made['id']}": ".match .winner"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nobody_is_shut_out(arena: Served, window: OpenWindow, axe: str, scheme: str) -> None:
    over, live = await sit_down(arena, users=("ada", "ben")), await sit_down(arena)
    await over.end()
    await live.say(0, "hello")
    await (await visit(arena)).get("create", challengeType="psi")
    tournament = await _tournament(arena)
    packs = await _packs(arena)

    sessions = {
        f"/session/{over.id}": "aside tbody",
        f"/session/{live.id}": ".speech",
        f"/session/{over.id}?at=0": ".event",
    }

    for path, settled in {**PAGES, **sessions, **packs, **tournament}.items():
        shown = await window(arena.url, path, color_scheme=scheme, reduced_motion="reduce")
        page = shown.page
        await expect(page.locator(settled).first).to_be_visible()
        if path.startswith("/sit"):
            await page.get_by_role("button", name="Take the seat").click()
            await expect(page.locator(".ask")).to_be_visible()
        if path.startswith("/challenges"):
            await page.get_by_role("button", name="Create a session").click()
            await expect(page.locator(".invites li")).to_have_count(2)

        assert await faults(page, axe) == [], path
        await shown.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nobody_is_shut_out_of_a_seat(arena: Served, window: OpenWindow, axe: str, scheme: str) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="sealed-bids", options={"clock": {"move": 600}})
    shown = await window(
        arena.url, f"/play/{made['id']}#{made['invites'][0]}", color_scheme=scheme, reduced_motion="reduce"
    )
    page = shown.page
    await expect(page.locator(".preview .prompt")).to_be_visible()
    assert await faults(page, axe) == [], "invite"

    await page.get_by_role("button", name="Take the seat").click()
    await expect(page.locator(".room")).to_contain_text("1 of 4")
    assert await faults(page, axe) == [], "waiting room"

    for invite in made["invites"][1:]:
        await (await visit(arena)).get("join", invite=invite)
    await page.get_by_label("Amount").fill("1000")
    await page.get_by_role("button", name="Bid").click()
    await expect(page.locator(".why")).to_contain_text("VALIDATION")
    assert await faults(page, axe) == [], "table"

    await page.get_by_role("button", name="Resign").click()
    await expect(page.locator("dialog")).to_be_visible()
    assert await faults(page, axe) == [], "question"
