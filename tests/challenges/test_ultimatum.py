from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Score
from arena.errors import GameNotRunning, Invalid, Refused
from arena.models import Status
from arena.session import challenge_view
from arena.testing import Table, play
from challenges.ultimatum.bots import BOTS
from challenges.ultimatum.rules import Bargain, Ultimatum, UltimatumOptions
from tests.challenges.words import words_of


def _table(values: Sequence[int] = (10, 30), **options: object) -> Table[Bargain, UltimatumOptions]:
    return Table(Ultimatum({"players": len(values), "reservationValues": list(values), **options}))


def _refusal(table: Table[Bargain, UltimatumOptions], seat: int, name: str, content: str = "") -> str:
    before = table.state
    with pytest.raises(Refused) as refusal:
        table.act(seat, name, content)
    assert table.state == before
    return refusal.value.code


def test_an_agreement_is_worth_what_is_above_the_reservation_value() -> None:
    table = _table()
    table.act(0, "submit_offer", "60 40")
    table.act(1, "accept")

    assert table.scores == [Score(utility=0.5), Score(utility=0.1)]
    assert table.attributions == []
    assert table.said[-2] == (
        "Agreement!\n- Player 1: share 60, reservation 10, surplus 50\n- Player 2: share 40, reservation 30, surplus 10"
    )


def test_who_agrees_to_less_than_its_value_loses_by_it() -> None:
    table = _table()
    table.act(0, "submit_offer", "100 0")
    table.act(1, "accept")

    assert table.scores == [Score(utility=0.9), Score(utility=-0.3)]


def test_whole_scores_are_told_without_a_fraction() -> None:
    table = _table((40, 0))
    table.act(0, "submit_offer", "40 60")
    table.act(1, "accept")

    assert table.said[-1].splitlines()[-2:] == [
        '- Player 1: {"security":0,"utility":0}',
        '- Player 2: {"security":0,"utility":0.6}',
    ]


def test_the_operator_tells_each_its_value_and_all_the_rest() -> None:
    table = _table((7, 30), total=50, maxRounds=4)

    assert table.told(0)[0].startswith("Your private reservation value is: 7. ")
    assert [c for c in table.told(0)[0] if c.isdigit()] == ["7"]
    assert table.told(1)[0].startswith("Your private reservation value is: 30. ")
    [opening] = table.said
    assert all(part in opening for part in ("50", "2 players", "4 rounds", "round_robin"))
    assert opening.endswith("Player 1's turn. (Round 1/4)")


def test_turns_go_round_and_every_legal_move_takes_one() -> None:
    table = _table()
    table.act(0, "submit_offer", "60 40")
    table.act(1, "submit_offer", "20 80")
    table.act(0, "reject")
    table.act(1, "pass")

    assert [line for line in table.said if "turn." in line][1:] == [
        "Player 2's turn. (Round 1/10)",
        "Player 1's turn. (Round 2/10)",
        "Player 2's turn. (Round 2/10)",
        "Player 1's turn. (Round 3/10)",
    ]
    assert "Player 1 proposes: Player 1: 60, Player 2: 40" in table.said


@pytest.mark.parametrize("move", ["submit_offer", "accept", "reject", "pass"])
def test_who_is_not_to_move_is_told_so_before_anything_else(move: str) -> None:
    assert _refusal(_table(), 1, move, "nonsense") == "NOT_YOUR_TURN"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "INVALID_OFFER"),
        ("all", "INVALID_OFFER"),
        ("100", "INVALID_OFFER"),
        ("50 30 20", "INVALID_OFFER"),
        ("-100", "INVALID_OFFER"),
        ("9" * 5000 + " 1", "INVALID_OFFER"),
        ("\u0666\u0660 \u0664\u0660", "INVALID_OFFER"),
        ("110 -10", "NEGATIVE_AMOUNT"),
        ("-60 40", "NEGATIVE_AMOUNT"),
        ("\u221210 110", "NEGATIVE_AMOUNT"),
        ("60 41", "INVALID_OFFER_SUM"),
        ("0 0", "INVALID_OFFER_SUM"),
    ],
)
def test_an_offer_that_is_none_is_refused(text: str, code: str) -> None:
    assert _refusal(_table(), 0, "submit_offer", text) == code


@pytest.mark.parametrize("text", ["60 40", "60,40", "Player one: 60, you: 40!", "060 0040", '{"a": 60, "b": 40}'])
def test_an_offer_is_read_in_any_notation(text: str) -> None:
    table = _table()

    table.act(0, "submit_offer", text)

    assert table.state.current_offer == [60, 40]


@pytest.mark.parametrize("move", ["accept", "reject"])
def test_there_must_be_an_offer_to_answer(move: str) -> None:
    assert _refusal(_table(), 0, move) == "NO_OFFER"


def test_nobody_accepts_its_own_offer_but_may_take_it_back() -> None:
    table = _table()
    table.act(0, "submit_offer", "60 40")
    table.act(1, "pass")

    assert _refusal(table, 0, "accept") == "CANNOT_ACCEPT_OWN"
    table.act(0, "reject")

    assert table.state.current_offer is None
    assert table.state.last_offer_by is None
    assert _refusal(table, 1, "accept") == "NO_OFFER"


def test_an_offer_stays_on_the_table_while_players_pass() -> None:
    table = _table()
    table.act(0, "submit_offer", "60 40")
    table.act(1, "pass")
    table.act(0, "pass")
    table.act(1, "accept")

    assert table.status is Status.ENDED


def test_three_players_agree_when_all_have_accepted_the_same_offer() -> None:
    table = _table((0, 0, 0))
    table.act(0, "submit_offer", "40 30 30")
    table.act(1, "accept")
    table.act(2, "submit_offer", "20 20 60")
    table.act(0, "accept")
    assert table.status is Status.ACTIVE  # the second offer has forgotten who accepted the first

    table.act(1, "accept")

    assert [score.utility for score in table.scores] == [0.2, 0.2, 0.6]


@pytest.mark.parametrize("last", ["pass", "submit_offer"])
def test_when_the_rounds_are_over_nobody_gets_anything(last: str) -> None:
    table = _table(maxRounds=2)
    for seat in (0, 1, 0):
        table.act(seat, "pass")

    table.act(1, last, "50 50")

    assert table.scores == [Score(), Score()]
    assert table.status is Status.ENDED
    assert table.said[-2].startswith("Deadlock")
    with pytest.raises(GameNotRunning):
        table.act(0, "accept")


def test_the_last_turn_can_still_bring_an_agreement() -> None:
    table = _table(maxRounds=1)
    table.act(0, "submit_offer", "50 50")
    table.act(1, "accept")

    assert [score.utility for score in table.scores] == [0.4, 0.2]


def test_the_game_state_has_the_names_of_the_protocol() -> None:
    table = _table()
    table.act(0, "submit_offer", "60 40")
    table.act(1, "accept")

    assert challenge_view(table.session).game_state == {
        "total": 100,
        "maxRounds": 10,
        "turnOrder": "round_robin",
        "reservationValues": [10, 30],
        "currentOffer": [60, 40],
        "lastOfferBy": 0,
        "acceptances": [True, True],
        "totalTurns": 2,
    }


def test_reservation_values_are_drawn_from_the_whole_range() -> None:
    deals = [Table(Ultimatum({"reservationMax": 2}), seed=seed).state.reservation_values for seed in range(40)]

    assert {value for values in deals for value in values} == {0, 1, 2}
    assert all(len(values) == 2 for values in deals)


def test_options_have_the_names_and_defaults_of_the_protocol() -> None:
    assert UltimatumOptions().wire() == {
        "players": 2,
        "total": 100,
        "maxRounds": 10,
        "reservationMax": 40,
        "turnOrder": "round_robin",
    }


@pytest.mark.parametrize(
    "options",
    [
        {"players": 1},
        {"players": 11},
        {"total": 0},
        {"maxRounds": 0},
        {"maxRounds": 10**6},
        {"reservationMax": -1},
        {"reservationValues": [1]},
        {"reservationValues": [1, -2]},
        {"turnOrder": "random"},
        {"rounds": 3},
    ],
)
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        Ultimatum(options)


MOVES = st.tuples(
    st.integers(0, 1),
    st.sampled_from(["submit_offer", "accept", "reject", "pass"]),
    st.sampled_from(["60 40", "0 100", "x", "50 51"]),
)


@given(st.lists(MOVES, max_size=30))
def test_the_same_inputs_make_the_same_game(moves: list[tuple[int, str, str]]) -> None:
    table = _table(maxRounds=5)
    for seat, name, content in moves:
        try:
            table.act(seat, name, content)
        except GameNotRunning:
            break
        except Refused:
            continue

    assert table.again() == table.session


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_bots_play_to_the_end_and_never_agree_to_a_loss(players: int, seed: int) -> None:
    table = Table(Ultimatum({"players": players, "reservationMax": 20}), seed=seed)
    names = [name for name in BOTS for _ in range(players)][seed % 2 :: 2][:players]

    play(table, [BOTS[name](Random(seed + seat)) for seat, name in enumerate(names)])

    assert table.status is Status.ENDED
    assert all(score.utility >= 0 for score in table.scores)


def test_the_bargainer_gets_more_than_the_softer_one() -> None:
    gained = []
    for seed in range(20):
        table = Table(Ultimatum(), seed=seed)
        play(table, [BOTS["softer"](Random(1)), BOTS["bargainer"](Random(2))])
        gained.append(table.scores[1].utility - table.scores[0].utility)

    assert sum(gained) / len(gained) > 0.1


def test_the_words_a_player_reads_first_are_complete() -> None:
    told = words_of(Ultimatum)

    assert (told.name, told.icon, told.color, told.tags) == ("Ultimatum Game", "handshake", "green", ["game theory"])
