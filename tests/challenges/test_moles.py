from collections.abc import Mapping
from random import Random

import pytest

from arena.errors import Invalid, Refused
from arena.models import Status
from arena.testing import Table, play
from challenges.moles.bots import BOTS
from challenges.moles.rules import Moles, MolesOptions, Watch
from tests.challenges.words import words_of

ROLES = ["mole", "mole", "inspector", "guard", "guard", "guard", "guard"]


class Known(Moles):
    def deal(self, rng: Random) -> Watch:
        return Watch(roles=ROLES[: self.players])


def _table(**options: object) -> Table[Watch, MolesOptions]:
    return Table(Known(options))


def _choose(table: Table[Watch, MolesOptions], choices: Mapping[int, int]) -> None:
    """Everybody who is left chooses a player by number; nobody unless it is said."""
    name = "night" if table.state.night else "vote"
    for seat in table.operator.to_move(table.state) or ():
        table.act(seat, name, str(choices.get(seat, 0)))


def test_the_moles_win_when_they_are_half_of_those_who_are_left() -> None:
    table = _table()
    for victim in (4, 5, 6):
        _choose(table, {0: victim, 1: victim})
        if table.status is Status.ACTIVE:
            _choose(table, {})

    assert [score.utility for score in table.scores] == [1, 1, -1, -1, -1, -1, -1]
    assert [score.security for score in table.scores] == [1, 1, 1, 0, 0, 0, 0]
    assert table.said[-2] == "The moles have won."


def test_the_others_win_when_the_last_mole_has_left() -> None:
    table = _table()
    for mole in (1, 2):
        _choose(table, {})
        _choose(table, {2: mole, 3: mole, 4: mole, 5: mole})

    assert [score.utility for score in table.scores] == [-1, -1, 1, 1, 1, 1, 1]
    assert [score.security for score in table.scores] == [-1, -1, 1, 0, 0, 0, 0]
    assert (3, 0, "security_breach") in table.attributions
    assert not any(by == 1 for by, _, _ in table.attributions)
    assert "The moles are found." in table.said


def test_when_the_days_are_over_the_moles_have_got_away() -> None:
    table = _table(days=1)
    _choose(table, {})
    _choose(table, {})

    assert table.status is Status.ENDED
    assert table.scores[0].utility == 1


def test_an_inspector_who_is_struck_was_found_out_by_those_who_struck() -> None:
    table = _table(days=1)
    _choose(table, {0: 3, 1: 3, 4: 3})
    _choose(table, {})

    assert table.scores[2].security == -1
    assert table.attributions == [(0, 2, "security_breach"), (1, 2, "security_breach")]


def test_moles_who_do_not_agree_strike_nobody() -> None:
    table = _table()
    _choose(table, {0: 3, 1: 4})

    assert "The night was quiet." in table.said
    assert table.state.out == []


@pytest.mark.parametrize(("player", "told"), [(1, "Player 1 is a mole."), (4, "Player 4 is no mole."), (0, None)])
def test_the_inspector_learns_about_whom_it_chose_and_all_are_told_something(player: int, told: str | None) -> None:
    table = _table()
    _choose(table, {2: player, 3: 1})

    assert table.told(2)[1:] == [told or "You have seen nothing."]
    assert all(table.told(seat)[1:] == ["You have seen nothing."] for seat in (0, 1, 3, 4, 5, 6))


def test_nobody_can_see_from_the_traffic_of_a_night_who_is_who() -> None:
    table, other = _table(), _table()
    other.session = Table(type("Turned", (Moles,), {"deal": lambda self, rng: Watch(roles=ROLES[::-1])})()).session
    before = [len(table.log), len(other.log)]
    for one in (table, other):
        for seat in range(7):
            one.act(seat, "night", "0")

    seen = [[(m.from_, m.to) for m in t.log[n:]] for t, n in zip((table, other), before, strict=True)]
    assert seen[0] == seen[1]


def test_moles_know_each_other_and_nobody_else_does() -> None:
    table = _table()

    assert table.told(0) == ["You are player 1. Your role: mole. The other moles are players: 2."]
    assert table.told(2) == ["You are player 3. Your role: inspector."]
    assert not any("mole." in line or "inspector" in line for line in table.said)


def test_equal_votes_send_nobody_away_and_votes_are_shown() -> None:
    table = _table()
    _choose(table, {})
    _choose(table, {0: 4, 1: 4, 3: 1, 4: 1})

    assert "Nobody leaves." in table.said
    assert "Votes: 1 for 4, 2 for 4, 3 for 0, 4 for 1, 5 for 1, 6 for 0, 7 for 0." in table.said


@pytest.mark.parametrize(
    ("seat", "move", "content", "code"),
    [
        (0, "vote", "1", "WRONG_TIME"),
        (0, "night", "2", "OWN_KIND"),
        (3, "night", "8", "NO_SUCH_PLAYER"),
        (3, "night", "-1", "NO_SUCH_PLAYER"),
        (3, "night", "", "VALIDATION"),
        (3, "night", "me", "VALIDATION"),
    ],
)
def test_what_cannot_be_chosen_is_refused(seat: int, move: str, content: str, code: str) -> None:
    table = _table()

    with pytest.raises((Refused, Invalid)) as refusal:
        table.act(seat, move, content)

    assert refusal.value.code == code
    assert table.state.chosen == {}


def test_each_chooses_once_and_those_who_are_out_no_more() -> None:
    table = _table()
    table.act(0, "night", "7")
    with pytest.raises(Refused, match="You have chosen"):
        table.act(0, "night", "6")
    _choose(table, {1: 7})

    with pytest.raises(Refused, match="left the game"):
        table.act(6, "vote", "1")
    with pytest.raises(Refused, match="still there"):
        table.act(5, "vote", "7")
    with pytest.raises(Refused, match="day"):
        table.act(5, "night", "1")


@pytest.mark.parametrize("options", [{"players": 3}, {"moles": 0}, {"moles": 4}, {"days": 0}, {"wolves": 1}])
def test_options_that_make_no_game_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="options"):
        Moles(options)


def _won_by_moles(town: str, moles: str, games: int = 40) -> float:
    won = 0
    for seed in range(games):
        table = Table(Moles(), seed=seed)
        roles = table.state.roles
        play(table, [BOTS[moles if role == "mole" else town](Random(f"{seed} {n}")) for n, role in enumerate(roles)])
        assert table.status is Status.ENDED
        won += table.scores[roles.index("mole")].utility > 0
    return won / games


def test_hounds_are_better_than_lambs_on_both_sides() -> None:
    assert _won_by_moles("hound", "hound") < _won_by_moles("lamb", "hound")
    assert _won_by_moles("hound", "lamb") < _won_by_moles("hound", "hound")


def test_bots_play_tables_of_other_sizes() -> None:
    table = Table(Moles({"players": 12, "moles": 3}), seed=1)

    play(table, [BOTS["hound" if seat % 2 else "lamb"](Random(seat)) for seat in range(12)])

    assert table.status is Status.ENDED
    assert table.again() == table.session


def test_the_words_a_player_reads_first_are_complete() -> None:
    assert words_of(Moles).name == "Moles"
