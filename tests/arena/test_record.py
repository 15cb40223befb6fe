"""The record: what every board shows beside its numbers."""

from arena import GameResult
from arena.models import UserId
from arena.record import Facts, Meetings, Record, Tally, field_of, pair_of, pairs_of
from tests.results import game, tied, won


def record_of(*games: GameResult) -> Record:
    record = Record({}, {})
    for one in games:
        record.add(one)
    return record


def facts(record: Record, player: str) -> Facts:
    return record.facts[UserId(player)]


def test_games_are_counted_as_they_ended_and_by_seat() -> None:
    record = record_of(won("A", "B"), won("A", "B"), won("B", "A"), tied("B", "A"), won("A", "C", completedAt=77))

    found = facts(record, "A")
    assert (found.games, found.wins, found.ties, found.losses) == (5, 3, 1, 1)
    assert found.seats == [Tally(3, 3, 0, 0), Tally(2, 0, 1, 1)]
    assert found.opponents == 2
    assert found.last_played == 77
    assert facts(record, "C").opponents == 1


def test_meetings_are_counted_from_either_side() -> None:
    record = record_of(won("A", "B"), won("B", "A"), won("B", "A"), tied("A", "B"))

    [(pair, met)] = record.meetings.items()
    assert pair == pair_of(UserId("B"), UserId("A")) == ("A", "B")
    assert met == Meetings(games=4, wins=1, ties=1, losses=2)
    assert met.turned() == Meetings(games=4, wins=2, ties=1, losses=1)


def test_at_a_table_of_many_only_the_first_place_wins_but_everybody_meets_everybody() -> None:
    record = record_of(game(["A", "B", "C"], [(0, 3), (0, 2), (0, 1)]))

    assert [(facts(record, p).wins, facts(record, p).losses) for p in "ABC"] == [(1, 0), (0, 1), (0, 1)]
    assert record.meetings[UserId("B"), UserId("C")] == Meetings(games=1, wins=1)
    assert [facts(record, p).opponents for p in "ABC"] == [2, 2, 2]


def test_forfeits_timeouts_and_voids_are_counted_apart() -> None:
    record = record_of(
        won("A", "B", outcomes=["forfeit", "played"]),
        won("A", "B", outcomes=["played", "timeout"]),
        won("A", "B", outcomes=["void", "void"]),
    )

    ada, ben = facts(record, "A"), facts(record, "B")
    assert (ada.games, ada.wins, ada.losses, ada.forfeits, ada.timeouts, ada.voids) == (2, 1, 1, 1, 0, 1)
    assert (ben.games, ben.wins, ben.losses, ben.forfeits, ben.timeouts, ben.voids) == (2, 1, 1, 0, 1, 1)


def test_self_play_and_games_off_the_record_leave_nothing() -> None:
    record = record_of(won("A", "A"), won("A", "B", ranked=False))

    assert record.facts == {}
    assert record.meetings == {}


def test_an_unknown_player_is_nobodys_opponent() -> None:
    record = record_of(game(["A", None], [(0, 0), (0, 1)]))

    assert facts(record, "A").losses == 1
    assert facts(record, "A").opponents == 0
    assert list(pairs_of(game(["A", None], [(0, 0), (0, 1)]))) == []


def test_names_with_any_characters_keep_their_pairs_apart() -> None:
    odd = {field_of(pair_of(UserId(a), UserId(b))) for a, b in [("a", 'b","c'), ('a","b', "c"), ("a,b", "c")]}

    assert len(odd) == 3
