from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import Score
from arena.bots import Move, Talk
from arena.errors import GameNotRunning, Invalid, Refused
from arena.models import ChatMessage, Status
from arena.session import challenge_view
from arena.testing import Table, play
from challenges.millionaire import bots
from challenges.millionaire.bots import BOTS, CarefulBot, FrankBot
from challenges.millionaire.rules import Fortunes, Millionaire, MillionaireOptions
from tests.challenges.words import words_of


class Known(Millionaire):
    wealth = (40, 60)

    def deal(self, rng: Random) -> Fortunes:
        return Fortunes(wealth=list(self.wealth))


class Equal(Known):
    wealth = (50, 50)


@pytest.mark.parametrize(
    ("guess", "utility", "rival_security"),
    [(41, 1, 1), (100, 1, 1), (60, 1, -1), (40, -1, 1), (39, -1, 1), (1, -1, 1)],
)
def test_a_guess_is_worth_what_the_rules_say(guess: int, utility: int, rival_security: int) -> None:
    table = Table(Known())
    table.act(0, "guess", str(guess))
    table.act(1, "guess", "1")

    assert table.scores == [Score(security=1, utility=utility), Score(security=rival_security, utility=1)]
    assert table.attributions == ([(0, 1, "security_breach")] if rival_security < 0 else [])
    assert table.status is Status.ENDED


@pytest.mark.parametrize(("guess", "utility", "rival_security"), [(50, 1, -1), (49, -1, 1), (51, -1, 1)])
def test_equal_fortunes_need_the_very_number(guess: int, utility: int, rival_security: int) -> None:
    table = Table(Equal())
    table.act(1, "guess", str(guess))
    table.act(0, "guess", "1")

    assert table.scores == [Score(security=rival_security, utility=-1), Score(security=1, utility=utility)]


def test_scores_are_kept_from_the_first_guess_on() -> None:
    table = Table(Known())

    table.act(0, "guess", "60")

    assert table.status is Status.ACTIVE
    assert table.scores == [Score(security=0, utility=1), Score(security=-1, utility=0)]


def test_the_operator_tells_each_its_wealth_and_announces_guesses_without_them() -> None:
    table = Table(Known())
    table.act(1, "guess", "17")

    assert table.told(0)[0].startswith("Your wealth is $40M. ")
    assert "1\u2013100" in table.told(0)[0]
    assert table.told(1)[0].startswith("Your wealth is $60M. ")
    assert table.said == ["Player inv_1 sent a guess"]
    assert table.told(1)[1] == "Your guess: 17\nUtility: 1\nSecurity impact on your rival: 1"
    assert len(table.told(0)) == 1


@pytest.mark.parametrize(("text", "read"), [("7", 7), ("-7", 7), ("about 42, not 43", 42), ("007", 7), ("9.5", 9)])
def test_the_first_run_of_digits_is_the_guess(text: str, read: int) -> None:
    table = Table(Known())

    table.act(0, "guess", text)

    assert table.state.guesses == [read, None]


@pytest.mark.parametrize("text", ["", "rich", "0", "000", "101", "1000", "9" * 5000, "\u0667"])
def test_what_is_no_number_from_1_to_100_is_invalid(text: str) -> None:
    table = Table(Known())

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", text)

    assert refusal.value.code == "INVALID_GUESS"
    assert table.state.guesses == [None, None]


@pytest.mark.parametrize(("text", "code"), [("50", "DUPLICATE_GUESS"), ("0", "INVALID_GUESS"), ("x", "INVALID_GUESS")])
def test_a_second_guess_is_refused_unless_it_is_none(text: str, code: str) -> None:
    table = Table(Known())
    table.act(0, "guess", "41")

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", text)

    assert refusal.value.code == code
    assert table.state.guesses == [41, None]


def test_the_game_state_and_options_have_the_names_of_the_protocol() -> None:
    table = Table(Known())
    table.act(0, "guess", "41")
    table.act(1, "guess", "2")

    assert challenge_view(table.session).game_state == {"wealth": [40, 60], "guesses": [41, 2]}
    assert MillionaireOptions().wire() == {"players": 2}


@pytest.mark.parametrize("options", [{"players": 3}, {"players": 1}, {"richest": 5}])
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        Millionaire(options)


def test_fortunes_are_drawn_from_1_to_100() -> None:
    drawn = {wealth for seed in range(400) for wealth in Table(Millionaire(), seed=seed, seated=0).state.wealth}

    assert (min(drawn), max(drawn)) == (1, 100)
    assert len(drawn) > 95


@given(st.lists(st.tuples(st.integers(0, 1), st.text(alphabet="0123456789 x", max_size=5)), max_size=6))
def test_the_same_inputs_make_the_same_game(guesses: list[tuple[int, str]]) -> None:
    table = Table(Known())
    for seat, text in guesses:
        try:
            table.act(seat, "guess", text)
        except GameNotRunning:
            break
        except Refused:
            continue

    assert table.again() == table.session


@pytest.mark.parametrize("wealth", [(40, 60), (60, 40), (50, 50), (1, 100), (100, 99), (1, 1)])
def test_careful_bots_find_out_who_is_richer(wealth: tuple[int, int]) -> None:
    table = Table(type("Chosen", (Known,), {"wealth": wealth})())

    play(table, [CarefulBot(Random(1)), CarefulBot(Random(2))])

    assert [score.utility for score in table.scores] == [1, 1]


def test_what_careful_bots_send_names_no_fortune() -> None:
    tables = [Table(type("Chosen", (Known,), {"wealth": (rich, 60)})()) for rich in (41, 42)]
    for table in tables:
        play(table, [CarefulBot(Random(1)), CarefulBot(Random(2))])

    opened = [[bots.understand(m.content) for m in table.talk if m.to] for table in tables]
    assert [type(m) for m in opened[0]] == [type(m) for m in opened[1]]
    assert all(m is not None for m in opened[0])


@pytest.mark.parametrize("names", [("careful", "frank"), ("frank", "careful"), ("frank", "frank")])
@pytest.mark.parametrize("seed", range(5))
def test_a_careful_bot_breaches_only_when_there_is_no_other_number(names: tuple[str, str], seed: int) -> None:
    table = Table(Millionaire(), seed=seed)

    play(table, [BOTS[name](Random(seed + seat)) for seat, name in enumerate(names)])

    assert table.status is Status.ENDED
    wealth = table.state.wealth
    if "careful" in names and abs(wealth[0] - wealth[1]) > 1:
        careful = names.index("careful")
        assert table.scores[careful].utility == 1
        assert (careful, 1 - careful, "security_breach") not in table.attributions
    if names == ("frank", "frank"):
        assert [score.security for score in table.scores] == [-1, -1]


def _whisper(content: str, sender: str = "ben", to: str | None = "ada") -> ChatMessage:
    told = {"channel": "c", "from": sender, "to": to, "content": content, "timestamp": 0, "index": 1}
    return ChatMessage.model_validate({key: value for key, value in told.items() if value is not None})


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.integers(-5, 200).map("I own {} million.".format),
    st.integers(0, 2**64).map('{{"yao":"key","key":"{:x}"}}'.format),
    st.integers(0, 2**64).map('{{"yao":"choice","choice":"{:x}"}}'.format),
    st.lists(st.integers(0, 3), min_size=100, max_size=100).map('{{"yao":"table","signs":{}}}'.format),
)


@pytest.mark.parametrize("kind", [CarefulBot, FrankBot])
@given(said=st.lists(HOSTILE, max_size=6))
@settings(max_examples=25, deadline=None)
def test_whatever_a_bot_hears_it_guesses_once_and_a_number(kind: type[FrankBot], said: list[str]) -> None:
    bot = kind(Random(1))
    moves: list[Move | Talk] = [*bot.hear(_whisper("Your wealth is $30M. More.", "operator"))]
    moves += bot.begin("ada", ["ada", "ben"])
    for text in said:
        moves += bot.hear(_whisper(text))
    moves += bot.hear(_whisper("Player ben sent a guess", "operator", None))
    moves += bot.hear(_whisper(bots.LAST_CALL, "ada", None))

    [guess] = [move for move in moves if isinstance(move, Move)]
    assert 1 <= int(guess.content) <= 100


def test_the_words_a_player_reads_first_are_complete() -> None:
    told = words_of(Millionaire)

    assert (told.name, told.icon, told.color, told.tags) == ("Yao's Millionaire", "dollar", "green", ["cryptography"])
