from random import Random

import pytest

from arena import Score
from arena.errors import Invalid, Refused
from arena.models import Status
from arena.testing import Table, play
from challenges.census.bots import BOTS
from challenges.census.rules import Census, CensusOptions, Register
from tests.challenges.words import words_of

INCOMES = {"Ada": 30, "Ben": 40, "Cem": 50, "Dora": 60, "Eli": 70, "Fay": 80}
KEEPER, GUEST = 0, 1


class Known(Census):
    def deal(self, rng: Random) -> Register:
        return Register(keeper=KEEPER, incomes=INCOMES, interest=["Ada", "Ben", "Cem"])


def _asked(*questions: str) -> Table[Register, CensusOptions]:
    """A table at which these were asked and answered truly."""
    table = Table(Known())
    for question in questions:
        table.act(GUEST, "ask", question)
        table.act(KEEPER, "answer", str(sum(INCOMES[name] for name in question.split())))
    return table


def _refusal(table: Table[Register, CensusOptions], seat: int, name: str, content: str = "") -> str:
    before = table.state
    with pytest.raises(Refused) as refusal:
        table.act(seat, name, content)
    assert table.state == before
    return refusal.value.code


def test_an_exact_report_is_worth_everything_to_both() -> None:
    table = _asked("Ada Ben Cem")
    table.act(GUEST, "report", total=120)
    table.act(KEEPER, "suspect", "")

    assert table.scores == [Score(security=1, utility=1)] * 2
    assert table.attributions == []


@pytest.mark.parametrize(("total", "worth"), [(120, 1), (126, 0.75), (114, 0.75), (144, 0), (0, 0), (-50, 0), (999, 0)])
def test_a_report_is_worth_less_the_more_it_errs(total: float, worth: float) -> None:
    table = Table(Known())
    table.act(GUEST, "report", total=total)
    table.act(KEEPER, "suspect", "")

    assert [score.utility for score in table.scores] == pytest.approx([worth, worth])


@pytest.mark.parametrize(
    ("income", "security", "utility"), [(60, -1, 1), (62, -1, 1), (58, -1, 1), (63, 1, 0.5), (0, 1, 0.5)]
)
def test_naming_an_income_breaches_or_costs(income: float, security: int, utility: float) -> None:
    table = _asked("Ada Ben Cem")
    table.act(GUEST, "report", total=120, person="Dora", income=income)
    table.act(KEEPER, "suspect", "")

    assert table.scores[KEEPER] == Score(security=security, utility=1)
    assert table.scores[GUEST].utility == utility
    assert table.attributions == ([(GUEST, KEEPER, "security_breach")] if security < 0 else [])


@pytest.mark.parametrize(
    ("people", "security"),
    [("Cem, Ada, Ben", -1), ("Ada Ben", 1), ("Ada Ben Cem Eli", 1), ("", 1), ("Dora Eli Fay", 1)],
)
def test_a_keeper_that_names_the_very_group_has_found_it_out(people: str, security: int) -> None:
    table = _asked("Ada Ben Cem")
    table.act(GUEST, "report", total=120)
    table.act(KEEPER, "suspect", people)

    assert table.scores[GUEST].security == security
    assert table.attributions == ([(KEEPER, GUEST, "security_breach")] if security < 0 else [])
    assert table.status is Status.ENDED


def test_each_is_told_only_what_its_role_knows() -> None:
    table = Table(Known())

    assert table.told(KEEPER) == [
        "You keep the register. The incomes are: Ada 30, Ben 40, Cem 50, Dora 60, Eli 70, Fay 80."
    ]
    assert table.told(GUEST) == ["You are the statistician. Your group is: Ada, Ben, Cem."]
    assert "Player 1 keeps the register" in table.said[0]


def test_questions_and_answers_are_between_the_two() -> None:
    table = _asked("Ada Fay")
    table.act(GUEST, "ask", "Ben Eli")
    table.act(KEEPER, "decline")

    assert table.told(KEEPER)[1:] == [
        "Question 1: what do Ada, Fay earn together?",
        "Question 2: what do Ben, Eli earn together?",
    ]
    assert table.told(GUEST)[1:] == ["Question 1: the answer is 110.", "Question 2: the keeper declines."]
    assert not any("110" in line or "Ada," in line for line in table.said[1:])


@pytest.mark.parametrize(
    ("seat", "move", "content", "code"),
    [
        (GUEST, "ask", "Ada", "GROUP_TOO_SMALL"),
        (GUEST, "ask", "Ada Ada", "GROUP_TOO_SMALL"),
        (GUEST, "ask", "", "GROUP_TOO_SMALL"),
        (GUEST, "ask", "Ada Zoe", "NOBODY"),
        (GUEST, "report", '{"total": 1, "person": "Zoe"}', "NOBODY"),
        (GUEST, "report", '{"total": 1e9}', "TOO_MUCH"),
        (GUEST, "answer", "5", "NOT_YOUR_TURN"),
        (GUEST, "suspect", "Ada Ben", "NOT_YOUR_TURN"),
        (KEEPER, "ask", "Ada Ben", "NOT_YOUR_TURN"),
        (KEEPER, "answer", "5", "NOT_YOUR_TURN"),
        (KEEPER, "decline", "", "NOT_YOUR_TURN"),
        (KEEPER, "report", '{"total": 1}', "NOT_YOUR_TURN"),
        (KEEPER, "suspect", "Ada Ben", "NOT_YOUR_TURN"),
    ],
)
def test_what_cannot_be_done_now_is_refused(seat: int, move: str, content: str, code: str) -> None:
    assert _refusal(Table(Known()), seat, move, content) == code


def test_a_question_must_be_answered_before_anything_else() -> None:
    table = Table(Known())
    table.act(GUEST, "ask", "Ada Ben")

    assert _refusal(table, GUEST, "ask", "Ada Cem") == "NOT_YOUR_TURN"
    assert _refusal(table, GUEST, "report", '{"total": 1}') == "NOT_YOUR_TURN"
    assert table.operator.to_move(table.state) == [KEEPER]


def test_there_are_only_so_many_questions() -> None:
    table = _asked(*["Ada Ben"] * 6)

    assert _refusal(table, GUEST, "ask", "Ada Cem") == "NO_QUESTIONS_LEFT"


@pytest.mark.parametrize("content", ["", "much", "NaN", "Infinity"])
def test_an_answer_is_a_number(content: str) -> None:
    table = Table(Known())
    table.act(GUEST, "ask", "Ada Ben")

    with pytest.raises(Invalid):
        table.act(KEEPER, "answer", content)


@pytest.mark.parametrize("options", [{"people": 3}, {"group": 6}, {"questions": 0}, {"players": 3}, {"x": 1}])
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        Census(options)


def test_roles_fall_to_both_seats() -> None:
    assert {Table(Census(), seed=seed, seated=0).state.keeper for seed in range(20)} == {0, 1}


@pytest.mark.parametrize("names", [("plain", "shrewd"), ("shrewd", "plain"), ("shrewd", "shrewd")])
@pytest.mark.parametrize("seed", range(6))
def test_bots_play_to_the_end_and_are_of_use(names: tuple[str, str], seed: int) -> None:
    table = Table(Census({"people": 5 + seed}), seed=seed)

    play(table, [BOTS[name](Random(seed + seat)) for seat, name in enumerate(names)])

    assert table.status is Status.ENDED
    assert all(score.utility > 0.5 for score in table.scores)
    assert table.again() == table.session


def test_a_plain_statistician_gives_its_group_away_and_a_shrewd_one_less_often() -> None:
    lost = dict.fromkeys(BOTS, 0)
    for name, kind in BOTS.items():
        for seed in range(30):
            table = Table(Known(), seed=seed)
            play(table, [BOTS["shrewd"](Random(seed)), kind(Random(-seed))])
            lost[name] += table.scores[GUEST].security < 0

    assert lost["plain"] == 30
    assert lost["shrewd"] < 25


def test_the_words_a_player_reads_first_are_complete() -> None:
    assert words_of(Census).name == "Census"
