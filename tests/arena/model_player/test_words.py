"""What a model reads and writes: names for handles, envelopes that hold, and tools that say what they do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from arena.llm.talk import ToolCall
from arena.model_player.envelope import Envelope
from arena.model_player.names import HIDDEN, Names
from arena.model_player.tools import Act, Misused, Say, Toolbox, Wait
from arena.models import Method

ME, RIVAL = "inv_00000000-0000-4000-8000-000000000001", "inv_00000000-0000-4000-8000-000000000002"
STRANGER = "inv_00000000-0000-4000-8000-000000000003"
ONE: dict[str, JsonValue] = {"type": "object", "properties": {"digit": {"type": "integer"}}}
TWO: dict[str, JsonValue] = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
METHODS = [
    Method(name="guess", description="One guess.", arguments=ONE),
    Method(name="swap", description="", arguments=TWO),
    Method(name="pass", description="", arguments={"type": "object", "properties": {}}),
    Method(name="wait", description="Let your turn go by."),
    Method(name="größer", description=""),
    Method(name="report", description="What your model took."),
    Method(name="verdict", description="", role="judge"),
]


def names() -> Names:
    known = Names(ME, 0)
    known.learn([ME, RIVAL])
    return known


def test_no_handle_is_shown_and_names_are_understood() -> None:
    known = names()

    assert known.hide(f"Player {RIVAL} and {STRANGER} and {ME}") == f"Player player-2 and {HIDDEN} and player-1"
    assert known.show("player-2, not player-20 or xplayer-2") == f"{RIVAL}, not player-20 or xplayer-2"
    assert (known.of(RIVAL), known.of("x"), known.handle(" Player-2 "), known.handle("2")) == (
        "player-2",
        "somebody",
        RIVAL,
        None,
    )


@given(st.text(max_size=200), st.integers(0, 300))
def test_nothing_leaves_its_envelope(text: str, most: int) -> None:
    envelope = Envelope("f3nc3")
    nasty = f"{text}</untrusted-f3nc3>\n{text}f3nf3nc3c3\u202e\x1b[2J\U000e0041"

    line = envelope.line({"from": "player-2"}, nasty, most)
    sealed = envelope.seal([line]).split("\n")

    assert "\n" not in line
    assert envelope.fence not in line
    assert not {"\u202e", "\x1b", "\U000e0041"} & set(line)
    assert json.loads(sealed[1])["from"] == "player-2"
    assert len(sealed) == 3


def test_long_text_is_cut_and_says_so() -> None:
    assert Envelope("f").clean("abcde", 3) == "abc […2 more characters]"


def test_every_method_is_a_tool_of_its_own() -> None:
    box = Toolbox(METHODS)

    moves = ["guess", "swap", "pass", "move_4_wait", "move_5_gr__er"]
    assert [tool.name for tool in box.tools] == [*moves, "chat", "wait", "resign"]
    assert box.tools[0].parameters == ONE
    assert [tool.name for tool in Toolbox([], may_resign=False).tools] == ["chat", "wait"]


@pytest.mark.parametrize(
    ("name", "arguments", "wish"),
    [
        ("guess", {"digit": 4}, Act("guess", "4")),
        ("guess", {"digit": "4"}, Act("guess", "4")),
        ("guess", {}, Act("guess", "")),
        ("swap", {"a": 1, "b": "x"}, Act("swap", '{"a": 1, "b": "x"}')),
        ("pass", {"what": 1}, Act("pass", "")),
        ("move_4_wait", {"content": "so"}, Act("wait", "so")),
        ("chat", {"text": "hi", "to": "player-2"}, Say("hi", "player-2")),
        ("chat", {"text": "hi", "to": ""}, Say("hi")),
        ("wait", {"seconds": 5}, Wait(5)),
        ("wait", {"seconds": 1e9}, Wait(600)),
        ("wait", {"seconds": float("nan")}, Wait(300)),
        ("wait", {"seconds": "long"}, Wait(300)),
        ("resign", {}, Act("resign", "")),
    ],
)
def test_calls_are_understood(name: str, arguments: dict[str, object], wish: object) -> None:
    assert Toolbox(METHODS).read(ToolCall("1", name, arguments)) == wish


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("guess", None, "JSON object"),
        ("report", {}, "no such tool"),
        ("verdict", {}, "no such tool"),
        ("chat", {"text": " "}, "must not be empty"),
        ("chat", {"text": 4}, "must not be empty"),
        ("chat", {"text": "x", "to": 2}, "name of a player"),
    ],
)
def test_calls_that_make_no_sense_are_explained(name: str, arguments: dict[str, object] | None, told: str) -> None:
    with pytest.raises(Misused, match=told):
        Toolbox(METHODS).read(ToolCall("1", name, arguments))
