"""Games that differ only in what is said in private are the same to everybody else, byte by byte."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from arena import chat
from tests.twins import Script, Tapes, play
from tests.valkeys import Valkey

SMALL, USUAL = 4096, 256 * 1024  # bytes of a page
SHORT, LONG = "x", 'It is "42",\nthe é\u2028\U0001f600 of it. ' * 90
KINDS = {"ws-json", "ws-msgpack", "sse", "rest", "mcp", "mcp-arena", "mcp-chat"}

TWINS = {
    "in the text of direct messages": (
        Script(whispers=(SHORT,) * 12, to_the_end=True),
        Script(whispers=(LONG, SHORT, LONG) * 4, to_the_end=True),
    ),
    "in the content and the kind of moves": (
        Script(moves=(("bid", SHORT), ("haggle", SHORT), ("a", SHORT)) * 3),
        Script(moves=(("bid", LONG), ("nonsense" * 9, LONG), ("haggle", LONG)) * 3),
    ),
}


def differences(one: Tapes, other: Tapes) -> list[tuple[str, str, str]]:
    """Where two games are not the same to a third party."""
    return [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]


async def both(store: str, twins: tuple[Script, Script], page: int) -> tuple[Tapes, Tapes]:
    """Play twins at the same time, each on a server of its own."""
    with Valkey() as another:
        one, other = (play(url, script, page) for url, script in zip((store, another.url), twins, strict=True))
        return await asyncio.gather(one, other)


@pytest.mark.parametrize("how", TWINS)
async def test_twins_that_differ_in_private_are_the_same_to_others(store: str, how: str) -> None:
    one, other = await both(store, TWINS[how], SMALL)

    assert {door for _, door, _ in one} == KINDS
    assert differences(one, other) == []


async def test_whoever_could_tell_how_long_a_secret_is_would_be_noticed_at_every_door(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def redact(fields: dict[str, Any]) -> dict[str, Any]:
        return {**real(fields), "content": "*" * len(fields["content"])}

    real = chat.redact
    monkeypatch.setattr(chat, "redact", redact)
    script = Script(whispers=(SHORT,), moves=(("bid", SHORT),))
    one, other = await both(store, (script, replace(script, whispers=(LONG,), moves=(("bid", LONG),))), USUAL)

    assert {door for _, door, _ in differences(one, other)} == KINDS
