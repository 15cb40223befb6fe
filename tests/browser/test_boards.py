"""`boards.js` and `options.js` by themselves: orders, addresses, scales, fronts and forms."""

from typing import Any

import pytest_asyncio
from playwright.async_api import Page

from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served

pytestmark = in_browser

HEADS = [
    {"challengeType": "psi", "strategy": "average", "metrics": [{"key": "a:security"}, {"key": "a:utility"}]},
    {"challengeType": "psi", "strategy": "elo", "metrics": [{"key": "elo:rating"}]},
]


@pytest_asyncio.fixture(loop_scope="session")
async def page(arena: Served, window: OpenWindow) -> Page:
    return (await window(arena.url)).page


async def run(page: Page, body: str, given: Any = None) -> Any:
    """Run a script with both modules at hand."""
    imports = "".join(f"const {name} = await import('/static/{name}.js');" for name in ("boards", "options"))
    return await page.evaluate(f"async given => {{ {imports} {body} }}", given)


async def test_an_address_leads_to_a_board_and_back(page: Page) -> None:
    addresses = [
        "strategy=elo&metric=elo%3Arating&sort=games&order=up&offset=100",
        "strategy=elo&metric=elo%3Arating",
        "strategy=average&metric=a%3Autility&order=up",
    ]

    back = await run(
        page,
        """
        const [heads, addresses] = given;
        return addresses.map(query => boards.addressOf(boards.choiceOf(heads, "psi", new URLSearchParams(query))));
        """,
        [HEADS, addresses],
    )

    assert back == [f"/boards/psi?{address}" for address in addresses]


async def test_an_address_that_makes_no_sense_leads_to_the_first_board(page: Page) -> None:
    query = "strategy=none&metric=none&sort=constructor&offset=-7"

    chosen = await run(
        page,
        """
        const [heads, query] = given;
        const words = new URLSearchParams(query);
        return [boards.choiceOf(heads, "psi", words), boards.choiceOf(heads, "chess", words) ?? null];
        """,
        [HEADS, query],
    )

    first = {"type": "psi", "strategy": "average", "metric": "a:security", "sort": "a:security", "isUp": False}
    assert chosen == [{**first, "offset": 0, "isByOwner": False}, None]


async def test_rows_are_sorted_by_any_column_both_ways(page: Page) -> None:
    rows = [
        {"playerId": "ada", "gamesPlayed": 3, "wins": 1, "losses": 2, "medianResponse": 30},
        {"playerId": "Ben", "gamesPlayed": 9, "wins": 5, "losses": 0},
        {"playerId": "cid", "gamesPlayed": 5, "wins": 0, "losses": 5, "medianResponse": 20},
    ]

    orders = await run(
        page,
        """
        const [down, up] = [false, true];
        const first = [["a:x", down], ["a:x", up], ["games", down]];
        const orders = [...first, ["player", up], ["response", up], ["results", down]];
        return orders.map(([sort, isUp]) => boards.ordered(given, { sort, isUp }).map(row => row.playerId).join(" "));
        """,
        rows,
    )

    assert orders == ["ada Ben cid", "cid Ben ada", "Ben cid ada", "ada Ben cid", "cid ada Ben", "Ben ada cid"]


async def test_the_front_holds_whom_nobody_beats_in_both_ways(page: Page) -> None:
    dots = [[0, 1], [0.5, 0.9], [0.4, 0.9], [0.5, 0.5], [1, 0], [1, 0], [0.9, 0], [0.7, 0.6]]

    front = await run(page, "return boards.front(given.map(([x, y]) => ({ x, y }))).map(({ x, y }) => [x, y])", dots)

    assert front == [[0, 1], [0.5, 0.9], [0.7, 0.6], [1, 0], [1, 0]]


async def test_an_axis_has_round_numbers_within_its_span(page: Page) -> None:
    spans = [[0, 1], [-0.3, 0.26], [1487, 1612], [5, 5.0001]]

    found = await run(page, "return given.map(span => boards.ticks(span).map(boards.figure))", spans)

    assert found[0] == ["0.00", "0.20", "0.40", "0.60", "0.80", "1.00"]
    assert found[1] == [f"\N{MINUS SIGN}{n}" for n in ("0.30", "0.20", "0.10")] + ["0.00", "0.10", "0.20"]
    assert found[2] == ["1500", "1550", "1600"]
    assert len(found[3]) > 1


async def test_an_interval_without_end_does_not_squeeze_the_values(page: Page) -> None:
    given = [[[0, 1, 0.5], [[-12.7, 12.7], None, [0.4, 0.6]]], [[1, 1], [[0.5, 1], [0.2, 1]]], [[], []]]

    spans = await run(page, "return given.map(one => boards.spanOf(...one))", given)

    assert spans == [[-1, 2], [0.2, 1], [0, 1]]


async def test_a_matrix_shows_each_meeting_from_both_sides(page: Page) -> None:
    met = {"player": "ada", "opponent": "ben", "games": 6, "wins": 3, "ties": 1, "losses": 2}

    cells = await run(
        page,
        """
        const rows = boards.matrixOf(["ben", "ada", "cid"], [given]);
        return rows.map(({ cells }) => cells.map(met => met && [met.wins, met.ties, met.losses, boards.sideOf(met)]));
        """,
        met,
    )

    assert cells == [[None, [2, 1, 3, "behind"], None], [[3, 1, 2, "ahead"], None, None], [None, None, None]]


async def test_a_form_sends_what_was_changed_in_its_own_shape(page: Page) -> None:
    number = {"type": "number", "minimum": 0.1}
    schema = {
        "properties": {
            "players": {"const": 2, "default": 2},
            "setSize": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "range": {"type": "array", "minItems": 2, "maxItems": 2, "default": [1, 9]},
            "open": {"type": "boolean", "default": False},
            "mode": {"enum": ["fast", 7], "default": "fast"},
            "clock": {"$ref": "#/$defs/Clock"},
            "words": {"type": "array", "items": {"type": "string"}},
            "shares": {"type": "array", "items": {"type": "integer"}},
            "more": {"type": "object"},
        },
        "$defs": {
            "Clock": {"type": "object", "properties": {"move": {"anyOf": [number, {"type": "null"}], "default": None}}}
        },
    }

    names, same, changed, refused = await run(
        page,
        """
        const fields = options.fieldsOf(given);
        const given1 = { setSize: "3", range: "1,9", open: false, mode: '"fast"', "clock.move": "", words: "",
          shares: "", more: "" };
        const given2 = { setSize: "4", range: "2,9", open: true, mode: "7", "clock.move": "1.5", words: "a b\\nc",
          shares: "1, 2 3", more: '{"x": 1}' };
        let refused = "";
        try { options.optionsOf(fields, { ...given1, more: "[" }); } catch (error) { refused = error.message; }
        const [same, changed] = [given1, given2].map(one => options.optionsOf(fields, one));
        return [fields.map(field => field.label), same, changed, refused];
        """,
        schema,
    )

    assert names == ["Set size", "Range", "Open", "Mode", "Clock, move", "Words", "Shares", "More"]
    assert same == {}
    assert changed == {
        "setSize": 4, "range": [2, 9], "open": True, "mode": 7, "clock": {"move": 1.5}, "words": ["a b", "c"],
        "shares": [1, 2, 3], "more": {"x": 1},
    }  # fmt: skip
    assert refused.startswith("More is to be JSON")
