"""Environments of TextArena as challenges: played to their end by scripts, the same everywhere, on a real server."""

import os
import random
import re
import subprocess
import sys
from typing import Any

import nltk
import pytest

from arena import catalog, rerun, verifying
from arena.adapters import textarena, worlds
from arena.adapters.textarena import TextArenaGame, challenge
from arena.errors import CannotStart, Internal, Invalid, Refused
from arena.testing import Table
from arena.verifying import Verdict
from tests.callers import Caller, calling
from tests.servers import served

MODULE = "arena.adapters.textarena"
NAME = "textarena-tictactoe-v0"
GAMES: dict[str, tuple[list[str], list[float]]] = {
    "TicTacToe-v0": (["[0]", "[3]", "[1]", "4", "[2]"], [1, -1]),
    "ConnectFour-v0": (["[col 0]", "[col 1]"] * 3 + ["[col 0]"], [1, -1]),
    "GuessTheNumber-v0": ([f"[{number}]" for number in range(1, 21)], []),
    "ThreePlayerTicTacToe-v0": (["[0]", "[5]", "[24]", "[1]", "[6]", "[20]", "[2]", "[7]", "[4]", "[3]"], [1, -1, -1]),
    "IteratedPrisonersDilemma-v0": (
        ["hello", "hi", "hello", "hi", "hello", "hi", "[defect]", "[cooperate]"] * 5,
        [1, -1],
    ),
}


def play(environment: str, actions: list[str], seed: int = 3) -> Table[Any, Any]:
    """A game by a script: whoever is to act says the next thing in it."""
    table = Table(challenge(environment)(), seed=seed)
    for said in actions:
        if table.status == "ended":
            break
        table.act(table.state.current, "act", said)
    return table


@pytest.mark.parametrize("environment", GAMES)
def test_a_game_is_played_to_its_end_and_rewards_are_utility(environment: str) -> None:
    actions, rewards = GAMES[environment]

    table = play(environment, actions)

    assert table.status == "ended"
    assert not rewards or [score.utility for score in table.scores] == rewards
    assert {score.security for score in table.scores} == {0}


def test_every_seat_is_told_what_it_observes_and_nobody_else() -> None:
    table = play("KuhnPoker-v0", [])
    cards = [re.search(r"Your card is: '(.)'", " ".join(table.told(seat))) for seat in (0, 1)]

    assert all(cards)
    assert len({card[1] for card in cards if card}) == 2
    assert table.said == []


def test_a_player_hears_what_others_do_and_not_its_own_words() -> None:
    table = play("TicTacToe-v0", ["[4] for luck"])

    assert any("for luck" in words for words in table.told(1))
    assert not any("for luck" in words for words in table.told(0))


def test_a_game_that_nobody_remembers_is_played_again_from_its_actions() -> None:
    table = play("LiarsDice-v0", ["[Bid: 1, 3]"])
    before = table.session
    TextArenaGame._ready.clear()
    table.act(table.state.current, "act", "[Bid: 2, 3]")
    remembered = table.session.game

    table.session = before
    table.act(table.state.current, "act", "[Bid: 2, 3]")

    assert table.session.game == remembered
    assert table.again().game == remembered


def test_an_environment_that_plays_otherwise_is_stopped() -> None:
    table = play("TicTacToe-v0", ["[4]"])
    TextArenaGame._ready.clear()
    state = table.state.model_copy(update={"mark": "0" * 64})

    rules: Any = table.operator
    with pytest.raises(Internal, match="the same game twice"):
        rules._world(state)


def test_the_chance_of_a_game_is_its_own() -> None:
    random.seed(5)
    expected = [random.random() for _ in range(2)]
    random.seed(5)

    first = random.random()
    marks = [play("LiarsDice-v0", ["[Bid: 1, 3]"], seed).state.mark for seed in (1, 1, 2)]

    assert [first, random.random()] == expected
    assert marks[0] == marks[1] != marks[2]


def test_nothing_is_downloaded_and_what_needs_it_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(worlds, "_download", lambda *names, **_: asked.append(names))

    with pytest.raises(CannotStart, match="Wordle-v0 cannot be played here"):
        challenge("Wordle-v0")
    assert asked == []
    nltk.download("words")  # by somebody else
    assert asked == [("words",)]


def test_an_environment_that_asks_a_model_is_not_offered_even_where_there_is_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "a key")

    for environment in ("TwentyQuestions-v0", "Debate-v0"):
        with pytest.raises(CannotStart, match="asks a model"):
            challenge(environment)


def test_the_number_of_players_is_an_option_where_the_environment_takes_several() -> None:
    liars = challenge("LiarsDice-v0")

    assert (liars().players, liars({"players": 4}).players) == (2, 4)
    assert Table(liars({"players": 4}), seed=1).told(3)
    with pytest.raises(Invalid, match="options: players"):
        challenge("TicTacToe-v0")({"players": 3})


def test_who_is_not_to_act_is_refused() -> None:
    table = play("TicTacToe-v0", [])

    with pytest.raises(Refused, match="Player 0 is to act"):
        table.act(1, "act", "[4]")


def test_environments_are_loaded_by_name_and_unknown_ones_are_told() -> None:
    found = catalog.load([f"{MODULE}:Nim-v0", f"{MODULE}:NoSuchGame-v0", "tests.plugins.nim:Nim"])

    kind = found.challenge("textarena-nim-v0")
    assert (kind.metadata.name, kind.metadata.players) == ("Nim-v0", 2)
    assert "no environment 'NoSuchGame-v0'" in found.broken[f"{MODULE}:NoSuchGame-v0"]
    assert "makes no challenges by name" in found.broken["tests.plugins.nim:Nim"]


MARKS = """
from arena.adapters import textarena
from arena.testing import Table
for name, rules in textarena.challenges([]).items():
    table = Table(rules(), seed=11)
    for said in ("[0]", "[1]", "[Check]", "[Bid: 1, 3]", "[cooperate]", "[rock]"):
        if table.status == "active":
            table.act(table.state.current, "act", said)
    print(name, table.state.mark)
"""


def test_all_that_is_offered_plays_the_same_whatever_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    env = {**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    elsewhere = subprocess.run(
        [sys.executable, "-c", MARKS], env=env, capture_output=True, text=True, check=True
    ).stdout

    exec(MARKS, {})

    here = capsys.readouterr().out
    assert here == elsewhere
    assert here.count("\n") == len(textarena.ENVIRONMENTS)


async def test_a_server_offers_a_game_and_its_record_can_be_played_again(store: str) -> None:
    async with served(store, load=(f"{MODULE}:TicTacToe-v0",)) as arena, calling(arena) as caller:
        data = await play_over_rest(caller)

    found, findings = verifying.check(data)
    assert found is not None, findings
    assert [score.utility for score in found.game.result.scores] == [1, -1]
    assert rerun.check(found, catalog.load([f"{MODULE}:TicTacToe-v0"])).verdict is Verdict.RIGHT


async def play_over_rest(caller: Caller) -> bytes:
    session = await caller.sit_down("ada", "ben", type=NAME)
    for turn, said in enumerate(("[0]", "[3]", "[1]", "[4]", "[2]")):
        assert (await session.act(turn % 2, said, "act")).status == 200
    assert any("Current Board" in message["content"] for message in await session.operator(0))
    return (await caller.client.get(f"/api/challenges/{NAME}/{session.id}/record")).content
