"""`moves.js` and `options.js` by themselves: what a form sends is what the operator's action reads."""

from typing import Annotated, Any, Literal

import pytest
import pytest_asyncio
from playwright.async_api import Page
from pydantic import BaseModel, Field

from arena.operator import Action
from tests.browser.windows import OpenWindow, in_browser
from tests.servers import Served

pytestmark = in_browser

FORM = """
async ([method, given, raw]) => {
  const moves = await import("/static/moves.js");
  const move = moves.moveOf(method);
  try {
    const kinds = move.fields.map(field => field.kind);
    return { kinds, isRaw: move.isRaw, content: moves.contentOf(move, given, raw) };
  } catch (error) {
    return { problem: error.message };
  }
}
"""


class Place(BaseModel):
    row: int
    name: str = "here"


def everything(
    self: Any, state: Any, seat: int, amount: Annotated[int, Field(ge=0, le=9)], share: float, sure: bool,
    colour: Literal["red", "blue"], numbers: list[int], words: list[str], place: Place, span: tuple[int, int],
    more: dict[str, int] | None = None, rival: int | None = None, kind: Literal["only"] = "only",
) -> None: ...  # fmt: skip


def raw(self: Any, state: Any, seat: int, content: str) -> None: ...


def nothing(self: Any, state: Any, seat: int) -> None: ...


def number(self: Any, state: Any, seat: int, player: int) -> None: ...


def numbers(self: Any, state: Any, seat: int, values: list[float]) -> None: ...


def choice(self: Any, state: Any, seat: int, colour: Literal["red", "blue"]) -> None: ...


def place(self: Any, state: Any, seat: int, where: Place) -> None: ...


def short(self: Any, state: Any, seat: int, word: Annotated[str, Field(max_length=5)]) -> None: ...


def maybe(self: Any, state: Any, seat: int, price: int | None = None) -> None: ...


@pytest_asyncio.fixture(loop_scope="session")
async def page(arena: Served, window: OpenWindow) -> Page:
    return (await window(arena.url, "/docs")).page


async def send(page: Page, action: Action, given: dict[str, Any], typed: str = "") -> Any:
    return await page.evaluate(FORM, [action.method.wire(), given, typed])


async def test_a_form_of_many_fields_sends_what_the_action_reads(page: Page) -> None:
    action = Action("everything", everything)
    given = {
        "amount": "4", "share": "0.5", "sure": True, "colour": '"blue"', "numbers": "1, 2 3", "words": "a b\n c",
        "place.row": "7", "place.name": "there", "span": "3,5", "more": '{"x": 1}', "rival": "",
    }  # fmt: skip

    sent = await send(page, action, given)

    assert action.read(sent["content"]) == {
        "amount": 4, "share": 0.5, "sure": True, "colour": "blue", "numbers": [1, 2, 3], "words": ["a b", "c"],
        "place": Place(row=7, name="there"), "span": (3, 5), "more": {"x": 1}, "rival": None, "kind": "only",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("handler", "given", "typed", "arguments"),
    [
        (raw, {}, '120 345 {"not": json}', {"content": '120 345 {"not": json}'}),
        (nothing, {}, "", {}),
        (number, {"player": "3"}, "", {"player": 3}),
        (numbers, {"values": "1 2.5; 3"}, "", {"values": [1, 2.5, 3]}),
        (choice, {"colour": '"red"'}, "", {"colour": "red"}),
        (place, {"where.row": "2", "where.name": ""}, "", {"where": Place(row=2)}),
        (short, {}, "two 2", {"word": "two 2"}),
        (maybe, {"price": ""}, "", {"price": None}),
        (maybe, {"price": "5"}, "", {"price": 5}),
    ],
)
async def test_one_argument_is_the_whole_content(
    page: Page, handler: Any, given: dict[str, Any], typed: str, arguments: dict[str, Any]
) -> None:
    action = Action(handler.__name__, handler)

    sent = await send(page, action, given, typed)

    assert action.read(sent["content"]) == arguments


async def test_what_is_missing_or_no_number_is_told_before_it_is_sent(page: Page) -> None:
    action = Action("numbers", numbers)

    assert await send(page, action, {"values": "1 two"}) == {"problem": "Values is to be a number."}
    assert await send(page, Action("number", number), {"player": ""}) == {"problem": "Player is needed."}


async def test_a_move_whose_arguments_are_not_described_takes_any_text(page: Page) -> None:
    sent = await page.evaluate(FORM, [{"name": "shout", "description": ""}, {}, "hello"])

    assert sent == {"kinds": [], "isRaw": True, "content": "hello"}
