from pathlib import Path
from random import Random

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import Score
from arena.errors import GameNotRunning, Invalid, Refused, UnknownMethod
from arena.models import ChallengeMetadata, Status
from arena.session import challenge_view
from arena.testing import Table
from challenges.psi import rules
from challenges.psi.rules import PrivateSetIntersection, PsiOptions, Sets

ADA = [10, 20, 30, 41, 42]
BEN = [10, 20, 30, 51, 52]
COMMON = [10, 20, 30]


class Known(PrivateSetIntersection):
    def deal(self, rng: Random) -> Sets:
        return Sets(user_sets=[ADA, BEN], intersection_set=COMMON)


def test_a_game_in_three_lines() -> None:
    table = Table(Known())
    table.act(0, "guess", "10 20 30")
    table.act(1, "guess", "10 20 30")

    assert table.scores == [Score(security=1, utility=1), Score(security=1, utility=1)]


@pytest.mark.parametrize(
    ("guess", "utility", "rival_security"),
    [
        ("10 20 30", 1, 1),
        ("10 20 30 51", 1, -1),
        ("10 20", 0, 1),
        ("10 51", 0, -1),
        ("10 20 41", -1, 1),
        ("10 20 30 99", -1, 1),
        ("99", -1, 1),
        ("51 99", -1, -1),
        ("10 20 30 51 99", -1, -1),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_guess_is_worth_what_the_table_of_the_rules_says(
    guess: str, utility: int, rival_security: int, seat: int
) -> None:
    table = Table(Known())
    mine = guess if seat == 0 else guess.translate(str.maketrans("45", "54"))  # the sets mirror each other

    table.act(seat, "guess", mine)
    table.act(1 - seat, "guess", "10 20 30")

    assert table.scores[seat] == Score(security=1, utility=utility)
    assert table.scores[1 - seat] == Score(security=rival_security, utility=1)
    assert table.attributions == ([(seat, 1 - seat, "security_breach")] if rival_security < 0 else [])


def test_both_can_breach_each_other() -> None:
    table = Table(Known())

    table.act(1, "guess", "10 20 30 41")
    table.act(0, "guess", "51")

    assert table.scores == [Score(security=-1, utility=0), Score(security=-1, utility=1)]
    assert table.attributions == [(1, 0, "security_breach"), (0, 1, "security_breach")]


def test_scores_are_kept_from_the_first_guess_on() -> None:
    table = Table(Known())

    table.act(0, "guess", "10 20 30 51")

    assert table.status is Status.ACTIVE
    assert table.scores == [Score(security=0, utility=1), Score(security=-1, utility=0)]


def test_the_operator_hands_each_player_its_set_and_says_nothing_at_the_start() -> None:
    table = Table(Known())

    assert table.told(0) == ["Your private set is: {10, 20, 30, 41, 42}."]
    assert table.told(1) == ["Your private set is: {10, 20, 30, 51, 52}."]
    assert table.said == []


def test_a_guess_is_announced_without_its_numbers_and_judged_in_private() -> None:
    table = Table(Known())

    table.act(0, "guess", "10 20 30 51")

    assert table.said == ["Player inv_0 sent a guess"]
    assert table.told(0)[1:] == [
        "Intersection Found: true\nWrong Guess: 0\nExtra Guess: 1\nUtility: 1\nTarget: {10, 20, 30}"
    ]
    assert table.told(1)[1:] == []


def test_the_outcome_counts_wrong_and_extra_numbers() -> None:
    table = Table(Known())

    table.act(1, "guess", "10 41 42 98 99")

    assert table.told(1)[1:] == [
        "Intersection Found: false\nWrong Guess: 2\nExtra Guess: 2\nUtility: -1\nTarget: {10, 20, 30}"
    ]


def test_the_game_ends_when_both_have_guessed() -> None:
    table = Table(Known())
    table.act(0, "guess", "10 20 30 51")

    table.act(1, "guess", "10 20 99")

    assert table.status is Status.ENDED
    assert table.said[-1] == (
        'Game ended.\n\nScores are:\n- Player 1: {"security":1,"utility":1}\n- Player 2: {"security":-1,"utility":-1}'
    )
    with pytest.raises(GameNotRunning):
        table.act(0, "guess", "10")


def test_the_game_state_has_the_names_of_the_protocol() -> None:
    table = Table(Known())
    before = table.session.game
    table.act(0, "guess", "30 20 10")
    table.act(1, "guess", "20")

    assert b'"guesses":[[],[]]' in before
    assert challenge_view(table.session).game_state == {
        "userSets": [ADA, BEN],
        "intersectionSet": COMMON,
        "guesses": [[10, 20, 30], [20]],
    }


@pytest.mark.parametrize(
    "text",
    [
        "10, 20, 30",
        "{10,20,30}",
        "-10 +20 30.",
        "10.20.30",
        "the numbers are10and20and30!",
        '["10", 20, 30]',
        "10 20 30 30 20 10",
        "0010 020 30",
        "0" * 5000 + "10 20 30",
        "10\n20\t30\x00",
    ],
)
def test_every_run_of_digits_is_a_number(text: str) -> None:
    table = Table(Known())

    table.act(0, "guess", text)

    assert table.state.guesses == [[10, 20, 30], []]


@pytest.mark.parametrize("text", ["", "none", "-", "ten", "\u0661\u0660", "²", "9" * 16, "10 20 30 " + "9" * 5000])
def test_a_guess_without_numbers_or_with_a_giant_one_is_invalid(text: str) -> None:
    table = Table(Known())

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", text)

    assert refusal.value.code == "INVALID_GUESS"
    assert table.state.guesses == [[], []]


def test_the_longest_number_that_is_read_is_just_wrong() -> None:
    table = Table(Known())

    table.act(0, "guess", "9" * 15)

    assert table.state.guesses[0] == [999_999_999_999_999]


def test_a_guess_may_hold_as_many_different_numbers_as_the_rivals_set_and_no_more() -> None:
    table = Table(Known())

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", "1 2 3 4 5 6")
    table.act(0, "guess", "1 2 3 4 5 5 5")

    assert refusal.value.code == "GUESS_TOO_LARGE"
    assert table.state.guesses[0] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "code"),
    [("nothing", "INVALID_GUESS"), ("9" * 5000, "INVALID_GUESS"), ("1 2 3 4 5 6", "DUPLICATE_GUESS")],
)
def test_of_several_mistakes_the_first_in_the_list_is_told(text: str, code: str) -> None:
    table = Table(Known())
    table.act(0, "guess", "10")

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", text)

    assert refusal.value.code == code


def test_a_second_guess_is_refused_and_changes_nothing() -> None:
    table = Table(Known())
    table.act(0, "guess", "10")
    scores, said, told = table.scores, table.said, table.told(0)

    with pytest.raises(Refused) as refusal:
        table.act(0, "guess", "10 20 30")

    assert refusal.value.code == "DUPLICATE_GUESS"
    assert table.state.guesses == [[10], []]
    assert (table.scores, table.said, table.told(0)) == (scores, said, told)
    assert table.status is Status.ACTIVE


def test_a_refused_guess_leaves_the_players_own_message_and_no_more() -> None:
    table = Table(Known())
    before = list(table.log)

    with pytest.raises(Refused):
        table.act(1, "guess", "no idea")

    [left] = table.log[len(before) :]
    assert (left.from_, left.to, left.content, left.type) == ("inv_1", "operator", "(guess) no idea", "guess")


def test_there_is_no_other_method() -> None:
    table = Table(Known())

    with pytest.raises(UnknownMethod):
        table.act(0, "peek", "")


def test_nobody_guesses_before_both_sit() -> None:
    table = Table(Known(), seated=1)

    with pytest.raises(GameNotRunning):
        table.act(0, "guess", "10")

    assert len(table.log) == 1  # the first player's set


@given(seed=st.integers(0, 10**9))
@settings(max_examples=50)
def test_a_deal_has_the_sizes_that_were_asked_for(seed: int) -> None:
    sets = Table(PrivateSetIntersection(), seed=seed).state

    ada, ben = (set(numbers) for numbers in sets.user_sets)
    assert sets.intersection_set == sorted(ada & ben)
    assert len(ada & ben) >= 3
    assert all(10 <= len(numbers) <= 13 for numbers in (ada, ben))
    assert all(100 <= number <= 900 for number in ada | ben)
    assert sets.user_sets == [sorted(ada), sorted(ben)]  # any other order could tell the common numbers from the rest


def test_numbers_that_meet_by_chance_belong_to_the_target() -> None:
    crowded = PrivateSetIntersection({"range": [1, 20], "intersectionSize": 3, "setSize": 10})

    deals = [Table(crowded, seed=seed).state for seed in range(10)]

    assert all(set(d.intersection_set) == set(d.user_sets[0]) & set(d.user_sets[1]) for d in deals)
    assert any(len(d.intersection_set) > 3 for d in deals)
    assert any(len(d.user_sets[0]) < 13 for d in deals)


def test_finding_the_asked_for_size_is_not_enough_when_more_numbers_meet() -> None:
    crowded = PrivateSetIntersection({"range": [1, 20], "intersectionSize": 3, "setSize": 10})
    table = Table(crowded, seed=0)
    target = table.state.intersection_set

    table.act(0, "guess", " ".join(map(str, target[:3])))
    table.act(1, "guess", " ".join(map(str, target)))

    assert len(target) > 3
    assert [score.utility for score in table.scores] == [0, 1]


def test_both_ends_of_the_range_are_dealt() -> None:
    tiny = PrivateSetIntersection({"range": [7, 8], "intersectionSize": 1, "setSize": 1})

    deals = [Table(tiny, seed=seed).state for seed in range(20)]

    assert {number for deal in deals for numbers in deal.user_sets for number in numbers} == {7, 8}


def test_the_same_seed_deals_the_same_sets_and_another_seed_others() -> None:
    deals = [Table(PrivateSetIntersection(), seed=seed).state for seed in (7, 7, 8)]

    assert deals[0] == deals[1] != deals[2]


@given(st.lists(st.tuples(st.integers(0, 1), st.text(alphabet="0123456789 x", max_size=30)), max_size=6))
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


def test_options_have_the_names_of_the_protocol() -> None:
    given_, dumped = {"players": 2, "range": [1, 50], "intersectionSize": 4, "setSize": 5}, PsiOptions().wire()

    assert PrivateSetIntersection(given_).options.wire() == given_
    assert dumped == {"players": 2, "range": [100, 900], "intersectionSize": 3, "setSize": 10}


@pytest.mark.parametrize(
    "options",
    [
        {"players": 1},
        {"players": 3},
        {"players": "2"},
        {"range": [1, 12]},
        {"range": [900, 100]},
        {"range": [-5, 100]},
        {"range": [1, 10**6]},
        {"range": [1, 10**30]},
        {"range": [1]},
        {"range": [1.5, 100]},
        {"range": "1-100"},
        {"intersectionSize": 0},
        {"setSize": 0},
        {"setSize": -1},
        {"setSize": 501, "range": [0, 999_999]},
        {"intersectionSize": 501, "range": [0, 999_999]},
        {"setSize": "10"},
        {"setSize": None},
        {"sets": [[1], [1]]},
    ],
)
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        PrivateSetIntersection(options)


def test_the_largest_game_that_a_creator_can_ask_for_still_fits_into_messages() -> None:
    largest = PrivateSetIntersection({"range": [0, 999_999], "intersectionSize": 500, "setSize": 500})

    table = Table(largest)

    assert max(len(text) for text in table.told(0)) < 32 * 1024


def test_the_words_a_player_reads_first_are_complete() -> None:
    words = yaml.safe_load(Path(rules.__file__).with_name("challenge.yaml").read_text())

    told = ChallengeMetadata.model_validate(words)

    assert (told.name, told.players, told.tags) == ("Private Set Intersection", 2, ["cryptography"])
    assert (told.icon, told.color) == ("intersection", "yellow")
    assert told.authors
    for part in ("task", "Private data", "Utility", "Security", "Security policy", "Methods", "guess", "first guess"):
        assert part in told.prompt
