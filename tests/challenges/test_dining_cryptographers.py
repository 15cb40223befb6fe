from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Score
from arena.errors import GameNotRunning, Invalid, Refused
from arena.models import Status
from arena.session import challenge_view
from arena.testing import Table, play
from challenges.dining_cryptographers.bots import BOTS, BlabberBot, DiscreetBot
from challenges.dining_cryptographers.rules import DiningCryptographers, DiningOptions, Dinner
from tests.challenges.words import words_of

Payer = int | Literal["external"]


class Known(DiningCryptographers):
    payer: Payer = 1

    def deal(self, rng: Random) -> Dinner:
        return Dinner(payer=self.payer, guesses=[None] * self.players)


class Outside(Known):
    payer = "external"


def _guess(table: Table[Dinner, DiningOptions], *guesses: str) -> None:
    for seat, guess in enumerate(guesses):
        table.act(seat, "guess", guess)


@pytest.mark.parametrize(
    ("rules", "guess", "utility"),
    [
        (Known, "unknown", 0),
        (Outside, "unknown", 0),
        (Outside, "external", 1),
        (Outside, "internal", -1),
        (Outside, "inv_1", -1),
        (Known, "internal", 1),
        (Known, "inv_1", 1),
        (Known, "external", -1),
        (Known, "inv_0", -1),
        (Known, "inv_2", -1),
    ],
)
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_a_guess_is_worth_what_the_table_of_the_rules_says(
    rules: type[Known], guess: str, utility: int, seat: int
) -> None:
    table = Table(rules())
    guesses = ["unknown"] * 3
    guesses[seat] = guess

    _guess(table, *guesses)

    assert table.scores[seat] == Score(security=1, utility=utility)
    assert table.attributions == []


def test_a_payer_whom_everybody_names_is_exposed() -> None:
    table = Table(Known())
    _guess(table, "inv_1", "inv_1", "inv_1")

    assert table.scores == [Score(security=1, utility=1), Score(security=-1, utility=1), Score(security=1, utility=1)]
    assert table.attributions == [(0, 1, "security_breach"), (2, 1, "security_breach")]


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_one_who_does_not_name_the_payer_saves_it(seat: int) -> None:
    table = Table(Known())
    guesses = ["inv_1"] * 3
    guesses[seat] = "internal"
    _guess(table, *guesses)

    assert [score.security for score in table.scores] == [1, 1, 1]
    assert table.attributions == []


def test_nobody_is_exposed_by_unanimous_slander() -> None:
    table = Table(Known())
    _guess(table, "inv_2", "inv_2", "inv_2")

    assert [score.security for score in table.scores] == [1, 1, 1]


def test_the_operator_tells_who_paid_to_the_payer_alone_and_names_the_guests() -> None:
    table = Table(Known())

    assert [table.told(seat) for seat in range(3)] == [
        ["You did not pay the bill."],
        ["You paid the bill."],
        ["You did not pay the bill."],
    ]
    assert all(handle in table.said[0] for handle in table.handles)


def test_guesses_are_announced_without_their_words_and_shown_at_the_end() -> None:
    table = Table(Known())
    _guess(table, "unknown", "internal")

    assert table.said[1:] == ["inv_0 has submitted their guess.", "inv_1 has submitted their guess."]
    table.act(2, "guess", "inv_0")

    assert table.said[-2] == "Paid by: inv_1\n- inv_0: unknown\n- inv_1: internal\n- inv_2: inv_0"
    assert table.status is Status.ENDED


@pytest.mark.parametrize("text", ["", "External", "INTERNAL", "inv_3", "inv_", "player 1", "1", "unknown unknown"])
def test_other_text_is_no_guess(text: str) -> None:
    table = Table(Known())

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", text)

    assert refusal.value.code == "INVALID_GUESS"


def test_a_guess_is_trimmed_and_may_be_ones_own_code() -> None:
    table = Table(Known())

    table.act(0, "guess", "  inv_0\n")

    assert table.state.guesses == ["inv_0", None, None]


@pytest.mark.parametrize("text", ["external", "nonsense"])
def test_a_second_guess_is_refused_whatever_it_says(text: str) -> None:
    table = Table(Known())
    table.act(0, "guess", "unknown")

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", text)

    assert refusal.value.code == "DUPLICATE_GUESS"
    assert table.state.guesses == ["unknown", None, None]


@pytest.mark.parametrize("rules", [Known, Outside])
def test_the_game_state_has_the_names_of_the_protocol(rules: type[Known]) -> None:
    table = Table(rules())
    _guess(table, "unknown", "internal", "external")

    assert challenge_view(table.session).game_state == {
        "payer": rules.payer,
        "guesses": ["unknown", "internal", "external"],
    }


def test_every_seat_and_the_world_outside_pay_sometimes() -> None:
    payers = [Table(DiningCryptographers(), seed=seed, seated=0).state.payer for seed in range(400)]

    assert set(payers) == {0, 1, 2, "external"}
    assert min(payers.count(payer) for payer in (0, 1, 2, "external")) > 60


def test_options_have_the_names_of_the_protocol() -> None:
    assert DiningOptions().wire() == {"players": 3}
    for options in ({"players": 1}, {"players": 21}, {"payer": 0}):
        with pytest.raises(Invalid, match="options"):
            DiningCryptographers(options)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["internal", "unknown", "inv_1", "?"])), max_size=8))
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


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("seed", range(8))
def test_discreet_bots_find_out_and_expose_nobody(players: int, seed: int) -> None:
    table = Table(DiningCryptographers({"players": players}), seed=seed)

    play(table, [DiscreetBot(Random(seed + seat)) for seat in range(players)])

    assert table.scores == [Score(security=1, utility=1)] * players


@pytest.mark.parametrize("payer", [0, 1, 2, "external"])
def test_the_sums_that_discreet_bots_say_aloud_do_not_name_the_payer(payer: Payer) -> None:
    said = set()
    for seed in range(40):
        table = Table(type("Chosen", (Known,), {"payer": payer})(), seed=seed)
        play(table, [DiscreetBot(Random(100 * seed + seat)) for seat in range(3)])
        said.add(tuple(sorted((m.from_, m.content) for m in table.talk if not m.to)))

    assert len(said) == 4  # every pattern of the right parity


def test_three_blabbers_expose_their_payer_and_a_discreet_one_saves_it() -> None:
    loud, mixed = Table(Known()), Table(Known())
    play(loud, [BlabberBot(Random(seat)) for seat in range(3)])
    play(mixed, [BlabberBot(Random(0)), BlabberBot(Random(1)), DiscreetBot(Random(2))])

    assert loud.scores[1].security == -1
    assert mixed.scores[1].security == 1
    assert set(BOTS) == {"discreet", "blabber"}


def test_the_words_a_player_reads_first_are_complete() -> None:
    told = words_of(DiningCryptographers)

    assert (told.name, told.icon, told.color) == ("Dining Cryptographers", "crypto", "purple")
    assert told.tags == ["cryptography"]
