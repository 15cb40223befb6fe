"""`view.js`, `wall.js` and `arena.js` by themselves: plain functions, in the browser that has to understand them."""

import json
from typing import Any

import pytest_asyncio
from playwright.async_api import Page

from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served

pytestmark = in_browser

MINUS, NONE = "\N{MINUS SIGN}", "\N{EN DASH}"


@pytest_asyncio.fixture(loop_scope="session")
async def page(arena: Served, window: OpenWindow) -> Page:
    return (await window(arena.url)).page


async def run(page: Page, body: str, given: Any = None) -> Any:
    """Run a script with the modules at hand: `view`, `wall`, `arena`, and what was given."""
    imports = "".join(f"const {name} = await import('/static/{name}.js');" for name in ("view", "wall", "arena"))
    return await page.evaluate(f"async given => {{ {imports} {body} }}", given)


def challenge(id: str, status: str, **state: Any) -> dict[str, Any]:
    told = {"status": status, "scores": [], "players": [], "playerIdentities": {}, **state}
    return {
        "id": id, "name": "Psi", "createdAt": 1, "challengeType": "psi", "invites": ["", ""], "state": told,
        "gameState": {}, "gameCategory": "train",
    }  # fmt: skip


def message(index: int, at: int, channel: str = "s", **fields: Any) -> dict[str, Any]:
    return {"channel": channel, "from": "inv_a", "content": str(index), "timestamp": at, "index": index, **fields}


async def test_an_ended_game_never_comes_back_to_life(page: Page) -> None:
    news = [{"event": "changed", "challenge": challenge("s", status)} for status in ("active", "ended", "active")]

    shown = await run(page, "const w = wall.hearOf(wall.newWall(), given); return [w.live.size, w.ended.length]", news)

    assert shown == [0, 1]


async def test_the_wall_forgets_what_ended_while_nobody_listened(page: Page) -> None:
    given = [{"event": "created", "challenge": challenge(id_, "open")} for id_ in ("gone", "stays", "new")]

    live = await run(
        page,
        """
        let one = wall.doubt(wall.hearOf(wall.newWall(), [given[0], given[1]]));
        one = wall.hearOf(one, [given[2]]);  // heard on the new connection, before the lobby's answer
        return [...wall.enter(one, { challenges: [given[1].challenge], total: 1 }).live.keys()].sort();
        """,
        given,
    )

    assert live == ["new", "stays"]


async def test_the_wall_keeps_the_last_fifty(page: Page) -> None:
    news = [{"event": "ended", "challenge": challenge(f"s{n}", "ended", completedAt=n)} for n in range(60)]

    ids = await run(page, "return wall.results(wall.hearOf(wall.newWall(), given)).map(one => one.id)", news)

    assert ids == [f"s{n}" for n in range(59, 9, -1)]


async def test_channels_merge_by_time_and_keep_their_own_order(page: Page) -> None:
    operator = [message(n, at, "challenge_s", **{"from": "operator"}) for n, at in ((1, 10), (2, 40))]
    chat = [message(n, at) for n, at in ((1, 30), (2, 20), (3, 50))]

    keys = await run(
        page,
        """
        const frame = (channel, messages) => ({ type: "initial", channel, messages, recovered: false });
        const frames = [frame("challenge_s", given[0]), frame("s", given[1])];
        return view.linesOf(view.follow(view.newSession("s"), frames)).map(line => line.key);
        """,
        [operator, chat],
    )

    assert keys == ["challenge_s 1", "s 1", "s 2", "challenge_s 2", "s 3"]


async def test_a_message_that_comes_twice_is_shown_once(page: Page) -> None:
    messages = [message(n, n) for n in (1, 2, 2, 3, 1)]

    indexes = await run(
        page,
        """
        const frames = given.map(message => ({ type: "new_message", message, epoch: "" }));
        return view.follow(view.newSession("s"), frames).chat.map(message => message.index);
        """,
        messages,
    )

    assert indexes == [1, 2, 3]


async def test_a_log_that_was_lost_is_replaced(page: Page) -> None:
    old, new = [message(n, n) for n in (1, 2, 3)], [message(1, 1, content="another past")]

    contents = await run(
        page,
        """
        const frame = messages => ({ type: "initial", channel: "s", messages, recovered: false });
        const session = view.follow(view.newSession("s"), [frame(given[0])]);
        return view.follow(session, [frame(given[1])]).chat.map(message => message.content);
        """,
        [old, new],
    )

    assert contents == ["another past"]


async def test_codes_in_a_text_become_players(page: Page) -> None:
    parts = await run(page, "return view.spell('Player inv_b (not inv_c) beat inv_a.', ['inv_a', 'inv_b'])")

    assert parts == ["Player ", {"seat": 1}, " (not inv_c) beat ", {"seat": 0}, "."]


async def test_the_wall_shows_what_is_wished_for(page: Page) -> None:
    games = [
        challenge("open", "open"),
        challenge("live", "active"),
        {**challenge("other", "open"), "challengeType": "x"},
    ]
    news = [{"event": "created", "challenge": game} for game in games]
    news[1]["lastLine"] = message(1, 1, content="Hello <b>there</b>")

    shown = await run(
        page,
        """
        const all = wall.hearOf(wall.newWall(), given);
        const wishes = [{}, { challenge: "psi" }, { status: "open" }, { words: "B>THERE" }, { words: "nothing" }];
        return wishes.map(wish => wall.cards(all, wish).map(card => card.id).sort());
        """,
        news,
    )

    assert shown == [["live", "open", "other"], ["live", "open"], ["open", "other"], ["live"], []]


async def test_numbers_are_written_honestly(page: Page) -> None:
    script = "return [...given.map(view.signed), ...given.map(view.decimal), view.clock(3_725_000), view.clock(-5)]"

    written = await run(page, script, [1, 0, -1, 0.256, -0.001, None])

    assert written[:6] == ["+1", "0", f"{MINUS}1", "+0.26", "0.00", NONE]
    assert written[6:12] == ["1.00", "0.00", f"{MINUS}1.00", "0.26", "0.00", NONE]
    assert written[12:] == ["1:02:05", "0:00"]


async def test_tries_come_later_and_later_and_not_all_at_once(page: Page) -> None:
    script = "return [0, 1, 5, 30].flatMap(n => [arena.backOff(n, () => 0), arena.backOff(n, () => 1)])"

    assert await run(page, script) == [150, 300, 300, 600, 4800, 9600, 7500, 15000]


async def test_what_a_pack_tells_programs_is_words_and_the_json_of_others_stays(page: Page) -> None:
    progress = {"type": "progress", "player": 2, "done": 1, "of": 3, "failed": True}
    contents = [json.dumps(each) for each in (progress, {"type": "progress"}, {"type": "constructor"})]

    read = await run(page, "return given.map(content => view.callParts(content, []))", [*contents, "{"])

    assert read[0] == ["Player ", {"seat": 1}, " could not finish a case: ", "1 of 3 are done."]
    assert read[1:] == [[contents[1]], [contents[2]], ["{"]]
