"""`timeline.js` and `replay.js` by themselves: plain functions, called in the browser that has to understand them."""

from typing import Any

import pytest_asyncio
from playwright.async_api import Page

from tests.browser.test_view import challenge, message
from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served

pytestmark = in_browser


@pytest_asyncio.fixture(loop_scope="session")
async def page(arena: Served, window: OpenWindow) -> Page:
    return (await window(arena.url)).page


async def run(page: Page, body: str, given: Any = None) -> Any:
    """Run a script with the modules at hand, `session` as made of what was given, and what was given."""
    names = ("view", "timeline", "replay")
    imports = "\n".join(f"const {name} = await import('/static/{name}.js');" for name in names)
    made = "const session = given?.id ? { ...view.newSession(given.id), ...given } : undefined;"
    return await page.evaluate(f"async given => {{ {imports} {made} {body} }}", given)


def game() -> dict[str, Any]:
    """A game of two, from 100 to 900; the second player came at 200, and was robbed at 500."""
    state = {
        "players": ["inv_a", "inv_b"], "completedAt": 900, "scores": [{"security": 1, "utility": 1}] * 2,
        "attributions": [{"from": "inv_a", "to": "inv_b", "type": "security_breach"}],
    }  # fmt: skip
    move = message(2, 500, "challenge_s", to="operator", type="guess")
    return {
        "id": "s",
        "challenge": challenge("s", "ended", **state),
        "course": {"joined": [100, 200], "started": 200, "causes": [2]},
        "operator": [message(1, 100, "challenge_s", **{"from": "operator", "to": "inv_a"}), move],
        "chat": [message(1, 300), message(2, 900)],
    }


async def test_turns_stand_where_they_happened_and_the_end_after_what_was_said_with_it(page: Page) -> None:
    names = await run(page, "return timeline.timelineOf(session).lines.map(line => line.name)", game())

    assert names == ["joined.0", "operator.1", "joined.1", "started", "chat.1", "operator.2", "chat.2", "ended"]


async def test_an_attribution_knows_its_moment_and_its_message(page: Page) -> None:
    deeds = await run(page, "return timeline.timelineOf(session).deeds", game())

    assert [(deed["at"], deed["name"], deed["isBreach"]) for deed in deeds] == [(500, "operator.2", True)]


async def test_a_session_whose_course_is_not_known_is_shown_all_the_same(page: Page) -> None:
    given = {**game(), "course": None}

    found = await run(
        page,
        "const { lines, deeds, begin } = timeline.timelineOf(session); return [lines.map(l => l.name), deeds, begin]",
        given,
    )

    assert found[0] == ["operator.1", "chat.1", "operator.2", "chat.2", "ended"]
    assert [(deed["at"], deed["name"]) for deed in found[1]] == [(900, None)]
    assert found[2] == 100


async def test_a_game_at_a_moment_has_nothing_of_what_came_later(page: Page) -> None:
    script = """
    return [150, 250, 899, 900].map(at => {
      const { challenge } = replay.asOf(session, at);
      const { lines } = timeline.timelineOf(session);
      const { status, players, scores } = challenge.state;
      return [status, players.length, scores.length, replay.upTo(lines, at)];
    });
    """

    assert await run(page, script, game()) == [
        ["open", 1, 0, 2],
        ["active", 2, 0, 4],
        ["active", 2, 0, 6],
        ["ended", 2, 2, 8],
    ]


async def test_moments_follow_one_another(page: Page) -> None:
    script = """
    const { lines } = timeline.timelineOf(session);
    return [replay.nextMoment(lines, 200), replay.lastMoment(lines, 200), replay.nextMoment(lines, 900) ?? null,
      replay.lastMoment(lines, 100) ?? null];
    """

    assert await run(page, script, game()) == [300, 100, None, None]


async def test_a_replay_does_not_wait_out_a_long_silence(page: Page) -> None:
    script = """
    const lines = [0, 1_000_000].map(at => ({ at }));
    return [replay.advance(lines, 0, 50, 1), replay.advance(lines, 0, 50, 4), replay.advance(lines, 999_990, 50, 1)];
    """

    assert await run(page, script) == [998_550, 994_200, 1_000_040]


async def test_what_was_private_is_sealed_and_nothing_else(page: Page) -> None:
    script = (
        "return replay.seal(timeline.timelineOf(session).lines).filter(l => l.isHidden).map(l => [l.name, l.parts])"
    )

    assert await run(page, script, game()) == [["operator.1", []], ["operator.2", []]]


async def test_only_a_moment_is_taken_for_one(page: Page) -> None:
    texts = ["0", "12.5", "", "-1", "1e9", "NaN", "<b>", "1.2345", None]

    read = await run(page, "return given.map(text => replay.readMoment(text) ?? null)", texts)

    assert read == [0, 12_500, None, None, None, None, None, None, None]


async def test_density_is_a_share_of_the_busiest_stretch(page: Page) -> None:
    ticks = [{"at": at, "kind": kind} for at, kind in ((0, "talk"), (1, "hidden"), (90, "call"), (100, "end"))]

    bars = await run(page, "return timeline.densityOf(given, 0, 100, 4)", ticks)

    assert bars == [
        {"open": 0.5, "hidden": 0.5}, {"open": 0, "hidden": 0}, {"open": 0, "hidden": 0}, {"open": 0.5, "hidden": 0},
    ]  # fmt: skip
