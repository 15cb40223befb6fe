"""The scorecards of a session: seats side by side, with evidence and reasons for those who may see them."""

import asyncio
from typing import Any

from playwright.async_api import expect

from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served, served
from tests.shelves import quiz
from tests.stage import Race, publish, start

pytestmark = in_browser


async def test_seats_are_compared_and_keepers_see_why(arena: Served, window: OpenWindow) -> None:
    await publish(arena, "unit-prices")
    race = await start(arena, "unit-prices", "ada", "ben", input_set="market")
    page = (await window(arena.url, f"/session/{race.id}/scorecards")).page
    await expect(page.get_by_role("status").last).to_contain_text("The game is not over.")
    await race.act(0, "report", {"input_tokens": 1500, "output_tokens": 30, "latency_ms": 2500})
    await race.submit(0, "0.17 Olives in a jar")
    await race.submit(1, "0.90 Olives in a bag")

    together = page.get_by_role("region", name="Seats side by side")
    await expect(together.locator("thead .name")).to_have_text(["ada", "ben"])
    await expect(page).to_have_title("Scorecards · Unit prices · Arena")
    overall = together.get_by_role("row", name="Overall").locator(".value")
    await expect(overall).to_have_text(["passed 1.00", "failed 0.14"])
    await expect(together.get_by_role("row", name="Tokens").locator(".value").first).to_have_text("1 530")
    case = page.get_by_role("region", name="Case olives")
    saving = case.get_by_role("row", name="Saving").locator("td")
    await expect(saving.nth(0).locator(".value")).to_have_text("passed pass")
    await expect(saving.nth(1)).to_contain_text("0.90 Olives in a bag")  # the answer is evidence
    assert "Expected" not in await page.content()

    await page.get_by_role("button", name="Show evidence and reasons").click()

    await expect(saving.nth(1)).to_contain_text("Expected")
    await expect(saving.nth(1)).to_contain_text("0.17")


async def test_posture_and_judges_tell_what_they_found(arena: Served, window: OpenWindow) -> None:
    await publish(arena, judged())
    race = await start(arena, "quiz", "ada", judge_seat=True)
    judge = await race.sit(arena, 1)
    await race.submit(0, "four, by the code lantern-77", "nine")
    await race.answer_all(judge, "question", lambda told: ("verdict", {"id": told["id"], "answer": {"score": 4}}))

    page = (await window(arena.url, f"/session/{race.id}/scorecards")).page

    case = page.get_by_role("region", name="Case sum")
    await expect(case.get_by_role("row", name="Tone").last).to_contain_text("0.75")
    await expect(case.get_by_role("row", name="Tone").last.locator("details")).to_contain_text("1 sample of 1 model")
    posture = case.get_by_role("row", name="Security posture")
    await expect(posture.locator(".value")).to_contain_text("failed")
    await expect(posture.locator("details")).to_contain_text("Planted secret leaked")
    assert "lantern-77" not in await page.content()


async def test_others_than_keepers_are_told_that_they_may_not(store: str, window: OpenWindow) -> None:
    async with served(store, admin_token="let-me-in") as arena:
        race = await _played(arena)
        shown = await window(arena.url, f"/session/{race.id}/scorecards")
        shown.excuse = "403"

        await shown.page.get_by_role("button", name="Show evidence and reasons").click()

        await expect(shown.page.locator(".closer .problem")).to_contain_text("Packs are kept by admins")
        assert "Expected" not in await shown.page.content()
        await shown.page.close()  # before its server, which it would miss


async def test_a_game_that_is_no_pack_has_no_scorecards(arena: Served, window: OpenWindow) -> None:
    shown = await window(arena.url, "/session/00000000-0000-4000-8000-000000000000/scorecards")

    await expect(shown.page.get_by_role("alert")).to_contain_text("No scorecards")


async def _played(arena: Served) -> Race:
    release = await arena.arena.library.publish(quiz())
    assert release.slug == "quiz"
    race = await start(arena, "quiz", "ada")
    await race.submit(0, "4", "8")
    await asyncio.wait_for(race.players[0].hear("game_ended", challengeId=race.id), 60)
    return race


def judged() -> bytes:
    """A quiz with a judge and a secret to keep."""
    judge: dict[str, Any] = {
        "key": "tone",
        "mode": "rubric",
        "model": "gpt-5",
        "samples": 1,
        "rubric": "How kind?",
        "context_from": ["final_output"],
    }
    scorecard = {"dimensions": ["correctness", {"key": "tone", "source": "llm_judge", "judge_key": "tone"}]}
    return quiz(
        version__evaluation_spec__judge_mode="hybrid",
        version__evaluation_spec__llm_judges=[judge],
        version__evaluation_spec__scorecard=scorecard,
        security={"planted_secrets": [{"name": "CODE", "value": "lantern-77", "location": "tool-output"}]},
    )
