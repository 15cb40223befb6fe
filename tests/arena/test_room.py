"""A room: who is there, on this worker and on those that have been heard of lately."""

from arena.models import Invite, SessionId
from arena.room import Presence, Room

ADA, BEN = Invite("inv_ada"), Invite("inv_ben")


def room() -> Room:
    return Room(SessionId("6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f"), later=lambda work: None)


def test_those_at_other_workers_are_counted_once_per_seat_and_by_number() -> None:
    made = room()

    made.meet("one", Presence(frozenset({ADA}), 2, until=10))
    made.meet("two", Presence(frozenset({ADA, BEN}), 3, until=10))

    assert made.everybody(5)[:2] == (frozenset({ADA, BEN}), 5)


def test_a_peer_that_went_silent_is_forgotten_and_the_others_stay() -> None:
    made = room()
    made.meet("silent", Presence(frozenset({ADA}), 2, until=10))
    made.meet("alive", Presence(frozenset({BEN}), 1, until=20))

    before, after = made.everybody(9.9), made.everybody(10)

    assert before[:2] == (frozenset({ADA, BEN}), 3)
    assert after[:2] == (frozenset({BEN}), 1)
    assert set(made.peers) == {"alive"}
    assert made.everybody(20)[:2] == (frozenset(), 0)


def test_a_peer_that_says_again_what_it_said_lives_on_and_is_no_news() -> None:
    made = room()
    news = [made.meet("one", Presence(frozenset({ADA}), 0, until=until)) for until in (10, 20)]

    assert news == [True, False]
    assert made.everybody(15).seats == {ADA}


def test_a_peer_whose_last_guest_left_is_forgotten_at_once() -> None:
    made = room()
    made.meet("one", Presence(frozenset({ADA}), 1, until=10))

    assert made.meet("one", Presence(frozenset(), 0, until=20))
    assert made.peers == {}
