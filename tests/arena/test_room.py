"""A room: who is there, on this worker and elsewhere, and what they are given when."""

from collections.abc import Callable
from dataclasses import replace

from arena.chat import Entry, entry
from arena.models import Invite, Millis, SessionId
from arena.room import START, Position, Presence, Room, Subscription
from arena.session import Session
from arena.testing import Table
from arena.wire import FRAMED, JSON, Push
from tests.plugins.tally import Tally, TallyOptions
from tests.servers import Served

ADA, BEN = Invite("inv_ada"), Invite("inv_ben")


class Later:
    """What was put off, for how long."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.work: list[Callable[[], None]] = []

    def __call__(self, pause: float, work: Callable[[], None]) -> "Later":
        self.pauses.append(pause)
        self.work.append(work)
        return self

    def cancel(self) -> None:
        self.work.clear()

    def run(self) -> None:
        work, self.work = self.work, []
        for each in work:
            each()


class Ear:
    """A listener that keeps each write."""

    codec = FRAMED[JSON.protocol]
    has_room = True

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.push = self.writes.append

    def lag(self) -> None:
        """Nobody brings it anything."""

    def removed(self, session: SessionId) -> None:
        """Its session stays."""


def room(later: Later | None = None) -> Room:
    return Room(SessionId("6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f"), later or Later())


def session(version: int, tag: str) -> Session:
    return replace(Table(Tally(TallyOptions())).session, version=version, tag=tag)


def fill(made: Room, spectators: int) -> list[Ear]:
    """Spectators who are live in the players' channel."""
    ears = [Ear() for _ in range(spectators)]
    for ear in ears:
        subscription = Subscription(ear, made, None, [None, None])
        made.subscriptions.add(subscription)
        assert made.settle(subscription, made.logs[1], made.logs[1].head)
    return ears


def tell(made: Room, *texts: str) -> list[Entry]:
    """News of the players' channel."""
    log = made.logs[1]
    entries = [entry(log.channel, ADA, text, Millis(1)) for text in texts]
    assert made.advance(log, log.head, entries)
    return entries


def test_what_comes_in_one_turn_is_one_write_of_the_same_bytes_for_all() -> None:
    later = Later()
    made = room(later)
    ears = fill(made, 3)

    tell(made, "one")
    tell(made, "two", "three")
    assert [ear.writes for ear in ears] == [[], [], []]
    later.run()

    [[data], *others] = [ear.writes for ear in ears]
    assert all(len(writes) == 1 and writes[0] is data for writes in others)
    assert [data.index(b'"%s"' % word) for word in (b"one", b"two", b"three")] == sorted(
        data.index(b'"%s"' % word) for word in (b"one", b"two", b"three")
    )


def test_a_busy_log_with_many_listeners_waits_a_moment_for_more_and_any_other_does_not() -> None:
    later, few = Later(), Later()
    crowd, couple = room(later), room(few)
    fill(crowd, 2_000)
    fill(couple, 2)

    for made, put_off in ((crowd, later), (couple, few)):
        for texts in (("one",), ("two", "three"), ("four",), ("five",)):
            tell(made, *texts)
            put_off.run()

    assert later.pauses == [0, 0, 0.002, 0]
    assert few.pauses == [0, 0, 0, 0]


def test_a_busy_log_waits_no_longer_once_as_many_have_come_as_the_last_time() -> None:
    later = Later()
    made = room(later)
    [ear, *_] = fill(made, 2_000)
    tell(made, "one", "two", "three")
    later.run()

    tell(made, "four", "five")
    tell(made, "six")

    assert later.pauses == [0, 0.002, 0]
    assert len(later.work) == 1  # the long wait is off
    later.run()
    assert len(ear.writes) == 2


def test_no_log_waits_longer_than_anybody_would_notice() -> None:
    later = Later()
    made = room(later)
    fill(made, 20_000)

    tell(made, "one", "two")
    later.run()
    tell(made, "three")

    assert later.pauses == [0, 0.005]


def test_whoever_becomes_live_gets_nothing_twice_although_something_waits_to_be_joined() -> None:
    later = Later()
    made = room(later)
    [early] = fill(made, 1)
    [told] = tell(made, "one")

    late = Subscription(ear := Ear(), made, None, [None, Position(2, told.tag)])
    made.subscriptions.add(late)
    assert made.settle(late, made.logs[1], Position(2, told.tag))
    later.run()

    assert len(early.writes) == 1
    assert ear.writes == []
    assert made.logs[1].head != START


def test_a_way_out_that_fails_costs_the_others_nothing_and_its_owner_is_served_from_the_log() -> None:
    made = room(later := Later())
    first, broken, last = fill(made, 3)
    log, [_, theirs, _] = made.logs[1], list(made.logs[1].live[broken.codec, None])
    log.live[broken.codec, None][theirs] = fail

    tell(made, "hello")
    later.run()

    assert len(first.writes) == len(last.writes) == 1
    assert theirs.behind[1] is not None
    assert [each.listener for each in log.live[first.codec, None]] == [first, last]


def fail(data: bytes) -> None:
    """What a closed transport does."""
    raise RuntimeError("the handler is closed")


def test_whoever_falls_behind_while_something_waits_to_be_joined_misses_none_of_it() -> None:
    made = room(later := Later())
    [ear] = fill(made, 1)
    [theirs] = made.subscriptions

    tell(made, "hello")
    made.demote(theirs)
    later.run()

    behind = theirs.behind[1]
    assert behind is not None
    assert behind.next == 1 + sum(write.count(b"hello") for write in ear.writes)


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


async def test_the_end_of_a_game_comes_after_its_last_message_although_that_waits_to_be_joined(arena: Served) -> None:
    made = room(Later())
    [ear] = fill(made, 1)
    [subscription] = made.subscriptions
    assert made.settle(subscription, made.logs[0], made.logs[0].head)
    subscription.begun, subscription.state_stale = [True, True], False

    tell(made, "the last word")
    made.end, made.end_push = (0, 1), Push(lambda: {"type": "game_ended"})
    assert await arena.arena.hub.bring(subscription)

    assert [b"the last word" in ear.writes[0], b"game_ended" in ear.writes[1]] == [True, True]


def test_a_session_stands_where_it_was_announced_or_further_on() -> None:
    made = room()

    made.stand("b", 2)

    assert made.stands_at(session(2, "b"))
    assert made.stands_at(session(3, "c"))  # this worker was faster than the news
    assert not made.stands_at(session(1, "a"))
    assert not made.stands_at(session(2, "lost"))


def test_where_the_number_of_a_version_is_not_known_only_its_tag_counts() -> None:
    made = room()

    made.stand("a", 1)
    made.stand("b")

    assert made.stands_at(session(2, "b"))
    assert not made.stands_at(session(3, "c"))
