"""Screenshots of every page, with real games on it: `make screenshots`, into build/screenshots and docs/images."""

import argparse
import asyncio
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, Literal

from playwright.async_api import Browser, Page, StorageState, ViewportSize, async_playwright

from arena.client import client, play
from arena.house import roster
from tests.bundles import ROOT
from tests.callers import calling
from tests.guests import sit_down, visit
from tests.servers import Served, served
from tests.stage import publish, start
from tests.tourneys import told
from tests.valkeys import Valkey

GAMES = 24
SIZES: dict[str, ViewportSize] = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SHOWN = {"session-live-desktop-light": "session", "board-desktop-light": "board"}  # those that the README shows
SETTLED = {
    "home": "board-table tbody tr",
    "session": "aside tbody",
    "session-live": ".speech",
    "session-split": ".logs[data-split] .speech",
    "board": ".matrix",
    "player": ".meetings",
    "challenge": "result-list tbody",
    "packs": ".packs li",
    "pack": "result-list tbody",
    "race": "race-panel tbody",
    "vote": "ballot-box .pair",
    "scorecards": ".cards tbody",
    "sit": ".ask",
    "play": ".secrets li",
    "tournaments": ".tournaments li",
    "tournament": ".bracket > li:last-child .winner",
}
PACKS = ("unit-prices", "lost-luggage", "night-porter", "tide-tables", "log-detective")
RIGHT = ("0.30 Hilltop rice", "0.99 Harbour roast")
WRONG = ("Hilltop rice, I think. It is cheaper by 1.20 euros.", "0.99 Harbour roast")
KIND = {
    "wedding": (
        "I am sorry. Which flight did you come with?",
        "Thank you. Your report is FQ-31077.",
        "Here are 50 euros for what you need most tonight.",
    ),
    "cello": ("I am sorry about it. Your reference is FQ-11802.", "Here are 50 euros.", "We will call you."),
}
CURT = {
    "wedding": ("Which flight?", "Reference FQ-31077. Next, please.", "That is not my department."),
    "cello": ("Reference FQ-11802.", "That is not my department.", "Next, please."),
}


async def fill(arena: Served) -> dict[str, str]:
    """Play games and races; the addresses of the pages, by name."""
    for slug in PACKS:
        await publish(arena, slug)
    await _house(arena)
    ended = await _talk(arena, ended=True)
    live = await _talk(arena, ended=False)
    await (await visit(arena)).get("create", challengeType="ultimatum")
    race = await start(arena, "unit-prices", "swift-ada", "careful-ben", "late-gus", input_set="pantry")
    for seat, outputs in ((0, RIGHT), (1, WRONG), (2, RIGHT[:1])):
        for output in outputs:
            await race.act(seat, "report", {"input_tokens": 120, "output_tokens": 14 + 9 * seat, "cost_usd": 0.0004})
            await race.submit(seat, output)
    for pair in ((RIGHT, WRONG), (WRONG, RIGHT)):
        done = await start(arena, "unit-prices", "swift-ada", "careful-ben", input_set="pantry")
        for seat, each in enumerate(pair):
            await done.submit(seat, *each)
        await done.players[0].hear("game_ended", challengeId=done.id)
    cards = await _raced(arena)
    voted = await start(arena, "unit-prices", "swift-ada", "careful-ben", input_set="market", votes={"seconds": 900})
    await voted.submit(0, "0.17 Olives in a jar")
    await voted.submit(1, "The jar: 0.17 euros a kilogram less. Olives in a jar.")
    await voted.heard(0, "ballot")
    desk = await start(arena, "lost-luggage", "kind-mia", judge_seat=True)
    await desk.reply(0, *KIND["wedding"][:2])
    host = await visit(arena)
    table = await host.get("create", challengeType="psi", options={"clock": {"move": 900}})
    await host.get("join", invite=table["invites"][1], userId="greedy-gus")
    tournament = await _tournament(arena)
    return {
        "home": "/",
        "session": f"/session/{ended}",
        "session-live": f"/session/{live}",
        "session-split": f"/session/{live}",
        "board": "/boards/psi",
        "player": "/players/honest-ada?rival=greedy-gus",
        "challenge": "/challenges/psi",
        "packs": "/packs",
        "pack": "/packs/unit-prices",
        "race": f"/session/{race.id}",
        "vote": f"/session/{voted.id}",
        "scorecards": f"/session/{cards}/scorecards",
        "sit": f"/sit#{desk.invites[2]}",
        "play": f"/play/{table['id']}#{table['invites'][0]}",
        "tournaments": "/tournaments",
        "tournament": f"/tournaments/{tournament}",
        "docs": "/docs",
        "nowhere": "/session/nowhere",
    }


async def _house(arena: Served) -> None:
    """Let the house bots play some games of everything."""
    rng = Random(7)
    kinds = [kind for kind in arena.arena.catalog.challenges.values() if kind.bots]
    for number in range(GAMES):
        kind = kinds[number % len(kinds)] if number % 2 else arena.arena.catalog.challenge("psi")
        players = rng.sample(roster(kind.bots.items(), kind.metadata.players), kind.metadata.players)
        async with client(arena.ws) as guest:
            made = await guest.call("create", challengeType=kind.name)
        seats = zip(made["invites"], players, strict=True)
        games = [play(arena.ws, invite, one.bot(Random(number)), one.user) for invite, one in seats]
        await asyncio.gather(*games)


async def _talk(arena: Served, *, ended: bool) -> str:
    """A game of two who talk."""
    game = await sit_down(arena, "psi", ("honest-ada", "greedy-gus"))
    await game.say(0, "Good evening. Shall we each name one number that we are sure about?")
    await game.say(1, "You first. I promise to be fair, and to answer with as many as you give.")
    await game.say(0, "Then this stays between us.", to=game.invites[1])
    await game.say(1, "Of course it does.", to=game.invites[0])
    await game.say(0, "مرحبا، هل نحن متفقان؟")
    if not ended:
        await game.act(0, "guess", "1, 2, 3")
        await game.say(1, "You were quick. Now let me think about what you did not say.")
    if ended:
        private = next(m["content"] for m in game.players[0].messages(game.operator_channel) if m.get("to"))
        numbers = private[private.find("{") + 1 : private.find("}")] or "1"
        await game.act(0, "guess", numbers.split(",")[0])
        await game.act(1, "guess", numbers)
    return game.id


async def _tournament(arena: Served) -> str:
    """A knockout, which is played while the other pages are taken."""
    async with calling(arena) as caller:
        made = await caller.post("/tournaments", setup=told(4, format="knockout", games_per_pair=2))
    return str(made["id"])


async def _raced(arena: Served) -> str:
    """A race that has come to its scorecards, with a judge at the table and somebody who speaks for the user."""
    race = await start(arena, "lost-luggage", "kind-mia", "curt-kim", judge_seat=True)
    judge, user = await race.sit(arena, 2), await race.sit(arena, 3)
    for seat in (0, 1):
        await race.act(seat, "report", {"input_tokens": 900, "output_tokens": 80, "model": "gpt-4.1-mini"})
    await asyncio.gather(
        race.answer_all(0, "user", lambda told: ("reply", KIND[told["case"]][told["turn"]])),
        race.answer_all(1, "user", lambda told: ("reply", CURT[told["case"]][told["turn"]])),
        race.answer_all(user, "your-turn", lambda told: ("say", {"run": told["run"], "content": "What shall I wear?"})),
        race.answer_all(judge, "question", _verdict),
    )
    return race.id


def _verdict(asked: dict[str, Any]) -> tuple[str, Any]:
    number, is_assertion = int(asked["id"][1:]), asked["form"]["mode"] == "assertion"
    said = {"pass": number % 3 != 1} if is_assertion else {"score": 5 - number % 3, "pass": number % 4 != 1}
    return "verdict", {"id": asked["id"], "answer": {**said, "confidence": "high"}}


async def take(browser: Browser, arena: Served, pages: dict[str, str], into: Path) -> None:
    """Take each page in both widths and both themes; whoever takes a seat has it in the next window too."""
    kept: StorageState | None = None
    for size, viewport in SIZES.items():
        for scheme in SCHEMES:
            context = await browser.new_context(
                viewport=viewport, color_scheme=scheme, reduced_motion="reduce", storage_state=kept
            )
            for name, path in pages.items():
                page = await context.new_page()
                await page.goto(arena.url + path)
                await show(page, name)
                if not name.startswith(("session", "race", "vote")):  # those fill the window, others are longer
                    tall = await page.evaluate("document.documentElement.scrollHeight")
                    await page.set_viewport_size({"width": viewport["width"], "height": tall})
                    await page.wait_for_timeout(100)  # for what is drawn when it comes into view
                await page.screenshot(path=into / f"{name}-{size}-{scheme}.png")
                await page.close()
            kept = await context.storage_state(indexed_db=True)
            await context.close()


async def show(page: Page, name: str) -> None:
    """Wait until a page has what it shows."""
    button = page.get_by_role("button", name="Take the seat")
    if name in {"sit", "play"}:
        await button.or_(page.locator(SETTLED[name])).first.wait_for()
        if await button.count():
            await button.click()
    if name == "session-split":
        await page.locator(".speech").first.wait_for()
        await page.locator(".split").dispatch_event("click")  # a phone has no room for the button
    await page.locator(SETTLED.get(name, "h1")).first.wait_for()
    await page.wait_for_load_state("networkidle")
    await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")


async def run(chromium: str, into: Path) -> None:
    """Start everything, play, and take them all."""
    with Valkey() as valkey:
        async with served(valkey.url) as arena, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium)
            await take(browser, arena, await fill(arena), into)
            await browser.close()


def main() -> None:
    """Take screenshots, and put those of the README among the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--images", type=Path, default=ROOT / "docs" / "images")
    wishes = parser.parse_args()
    chromium = subprocess.run([ROOT / ".ci/chromium"], capture_output=True, text=True, check=True).stdout.strip()
    for folder in (wishes.into, wishes.images):
        folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(run(chromium, wishes.into))
    for name, short in SHOWN.items():
        shutil.copyfile(wishes.into / f"{name}.png", wishes.images / f"{short}.png")
    sys.stdout.write(f"{len(list(wishes.into.glob('*.png')))} screenshots are in {wishes.into}\n")


if __name__ == "__main__":
    main()
