"""Players as values: whatever the kind, one call plays a seat to the end."""

import asyncio
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

from arena.client import Arena, Identity
from arena.errors import CannotStart
from arena.players import BotSpec, CommandSpec, play, player_of
from tests.servers import Served, served

PROGRAM = """
    import json, sys
    for line in sys.stdin:
        frame = json.loads(line)
        if frame["type"] == "state" and frame["state"]["status"] == "active":
            print(json.dumps({"type": "message", "messageType": "guess", "content": "1"}), flush=True)
            break
"""


async def test_a_bot_and_a_program_play_each_other(arena: Served, tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text(textwrap.dedent(PROGRAM))
    bot, program = player_of(bot="psi/honest"), player_of(cmd=f"{sys.executable} {path}")
    async with Arena(arena.url) as host:
        invites = (await host.create("psi")).invites

    ends = await asyncio.gather(
        play(bot, invites[0], arena.url, user="ada", rng=Random(7)), play(program, invites[1], arena.url, user="ben")
    )

    assert ends[0] == ends[1]
    assert sorted(ends[0].state.player_identities.values()) == ["ada", "ben"]
    assert (bot.label, program.label) == ("psi/honest", "agent")


async def test_players_sign_in_where_they_have_to(store: str) -> None:
    async with served(store, auth="required", auth_secret="long enough to be a secret") as arena:
        ada, ben = Identity.new(), Identity.new()
        async with Arena(arena.url) as host:
            invites = (await host.create("millionaire")).invites

        bot = player_of(bot="millionaire/frank")
        ended, _ = await asyncio.gather(
            play(bot, invites[0], arena.url, identity=ada), play(bot, invites[1], arena.url, identity=ben)
        )

    assert sorted(ended.state.player_identities.values()) == sorted([ada.user, ben.user])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"bot": "psi/nobody"}, "psi/honest"),
        ({"bot": "chess/honest"}, "TYPE/NAME, with TYPE of"),
        ({"bot": "honest"}, "TYPE/NAME, with TYPE of"),
        ({"cmd": "half 'a quote"}, "not understood"),
        ({}, "either"),
        ({"bot": "psi/honest", "cmd": "x"}, "either"),
    ],
)
def test_what_makes_no_player_is_told_before_any_seat_is_taken(words: dict[str, str], told: str) -> None:
    with pytest.raises(CannotStart, match=told):
        player_of(**words)  # type: ignore[arg-type]


def test_players_are_values() -> None:
    assert player_of(bot="psi/honest") == BotSpec("psi/honest")
    assert player_of(cmd="./agent -v") == CommandSpec(("./agent", "-v"))
