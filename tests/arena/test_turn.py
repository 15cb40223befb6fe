from dataclasses import replace
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel

from arena import Effects, Operator, Outcome, Refused, Score, Seat, action, attribute, deadline, end, job, say, score
from arena.errors import GameNotRunning, Internal, InviteAlreadyUsed, InviteNotFound, PlayerNotFound
from arena.models import Attribution, Category, Invite, Millis, Status, UserId, UserProfile
from arena.operator import JobFailed
from arena.session import INPUT, Act, Expire, Finish, Header, Join, Session, Standing, line_of
from arena.testing import START, Table
from arena.turn import Turn, after, apply, categorise


class Pot(BaseModel):
    coins: list[int] = []


class Potluck(Operator[Pot]):
    """Everybody puts coins in until somebody says stop."""

    players = 3

    def deal(self, rng: Random) -> Pot:
        return Pot(coins=[rng.randrange(100)])

    def joined(self, pot: Pot, seat: Seat) -> Effects:
        yield say(f"Player {seat + 1} is here.")

    def start(self, pot: Pot) -> Effects:
        yield say("Begin.")

    @action
    def put(self, pot: Pot, seat: Seat, coins: int) -> Effects:
        if coins < 1:
            raise Refused("TOO_FEW", "At least one.")
        pot.coins.append(coins)
        yield score(seat, utility=coins)

    @action
    def steal(self, pot: Pot, seat: Seat, victim: int) -> Effects:
        yield attribute(by=seat, of=victim, type="theft")

    @action
    def wait(self, pot: Pot, seat: Seat, seconds: float) -> Effects:
        yield deadline("dinner", after=seconds)

    def expired(self, pot: Pot, name: str) -> Effects:
        yield say(f"It is time for {name}.")

    @action
    def cook(self, pot: Pot, seat: Seat) -> Effects:
        yield job("cook", "soup")
        yield job("cook", "cake")

    @action
    def stop(self, pot: Pot, seat: Seat) -> Effects:
        yield end()

    @action
    def settle(self, pot: Pot, seat: Seat) -> Effects:
        yield end((Score(utility=n) for n in range(3)), outcomes=(Outcome.PLAYED, Outcome.FORFEIT, Outcome.TIMEOUT))


POTLUCK = Potluck()


def _put(seat: int, coins: int) -> Act:
    return Act(seat=seat, type="put", content=str(coins), at=START)


def _join(invite: str, user: str | None = None) -> Join:
    return Join(invite=Invite(invite), user=None if user is None else UserId(user), at=START)


def _contents(turn: Turn) -> list[str]:
    return [entry.message(1).content for entry in turn.entries]


def test_a_session_is_open_until_the_last_seat_is_taken() -> None:
    table = Table(POTLUCK, seated=2)
    before = table.status

    table.advance(5)
    table.join(2)

    assert before is Status.OPEN
    assert table.status is Status.ACTIVE
    assert table.session.standing.started_at == START + 5000
    assert table.said == ["Player 1 is here.", "Player 2 is here.", "Player 3 is here.", "Begin."]


def test_seats_are_numbered_in_the_order_of_joining_whatever_the_invites() -> None:
    table = Table(POTLUCK, seated=0)

    for seat, user in ((2, "cleo"), (0, None), (1, "ben")):
        table.join(seat, user)

    assert table.handles == ["inv_2", "inv_0", "inv_1"]
    assert table.session.standing.player_identities == {"inv_2": "cleo", "inv_1": "ben"}
    assert [table.session.seat_of(invite) for invite in ("inv_2", "inv_0", "inv_9", None)] == [0, 1, None, None]


def test_an_invite_is_good_for_one_seat() -> None:
    table = Table(POTLUCK, seated=1)

    with pytest.raises(InviteAlreadyUsed) as refusal:
        table.join(0)

    assert refusal.value.code == "INVITE_ALREADY_USED"
    assert table.handles == ["inv_0"]


def test_nobody_joins_with_an_invite_of_another_session() -> None:
    with pytest.raises(InviteNotFound, match="inv_7"):
        apply(POTLUCK, Table(POTLUCK, seated=0).session, _join("inv_7"))


def test_the_start_is_told_to_the_world_once() -> None:
    session = Table(POTLUCK, seated=1).session

    second = apply(POTLUCK, session, _join("inv_1"))
    third = apply(POTLUCK, after(second, "t2"), _join("inv_2"))

    assert second.events == []
    assert [event.kind for event in third.events] == ["started"]
    assert (second.seat, third.seat) == (1, 2)


def test_a_move_leaves_the_players_message_with_its_type_and_then_what_the_operator_says() -> None:
    table = Table(POTLUCK)
    session = table.session

    turn = apply(POTLUCK, session, Act(seat=1, type="wait", content="5", at=Millis(START + 1)))

    [message] = [entry.message(9) for entry in turn.entries]
    assert message.wire() == {
        "channel": f"challenge_{session.id}",
        "from": "inv_1",
        "to": "operator",
        "content": "(wait) 5",
        "timestamp": START + 1,
        "index": 9,
        "type": "wait",
    }


def test_a_move_without_a_type_has_no_prefix() -> None:
    turn = apply(POTLUCK, Table(POTLUCK).session, Act(seat=0, content="hello", at=START))

    assert _contents(turn) == ["hello"]
    assert turn.refusal is not None
    assert turn.refusal.code == "UNKNOWN_METHOD"


def test_a_refused_move_leaves_its_message_and_changes_nothing_else() -> None:
    session = Table(POTLUCK).session

    turn = apply(POTLUCK, session, _put(0, 0))

    assert turn.refusal is not None
    assert turn.refusal.code == "TOO_FEW"
    assert _contents(turn) == ["(put) 0"]
    assert turn.game == session.game
    assert turn.standing.scores == []
    assert turn.events == []


@pytest.mark.parametrize("seated", [0, 2])
def test_a_move_before_the_start_is_refused_and_leaves_nothing(seated: int) -> None:
    table = Table(POTLUCK, seated=seated)

    with pytest.raises(GameNotRunning):
        table.act(0, "put", coins=1)

    assert len(table.log) == seated


def test_a_move_after_the_end_is_refused_and_leaves_nothing() -> None:
    table = Table(POTLUCK)
    table.act(0, "stop")
    before = table.session

    with pytest.raises(GameNotRunning):
        table.act(0, "put", coins=1)

    assert table.session == before


def test_a_move_from_a_seat_that_does_not_exist_is_refused_and_leaves_nothing() -> None:
    with pytest.raises(PlayerNotFound):
        apply(POTLUCK, Table(POTLUCK).session, _put(3, 1))


def test_playing_an_input_does_not_touch_the_session_it_is_played_on() -> None:
    table = Table(POTLUCK)
    table.act(0, "put", coins=1)
    table.act(0, "steal", victim=1)
    table.act(0, "wait", seconds=1)
    table.act(0, "cook")
    session = table.session
    kept = (session.standing.to_json(), session.game)

    for content, type_ in (("5", "put"), ("2", "steal"), ("9", "wait"), ("", "cook"), ("", "stop")):
        apply(POTLUCK, session, Act(seat=1, type=type_, content=content, at=START))

    assert (session.standing.to_json(), session.game) == kept


def test_the_same_session_and_input_make_the_same_turn() -> None:
    session = Table(POTLUCK).session

    one, two = (apply(POTLUCK, session, _put(1, 7)) for _ in range(2))

    assert after(one, "t") == after(two, "t")
    assert [e.body for e in one.entries] == [e.body for e in two.entries]
    assert [e.tag for e in one.entries] != [e.tag for e in two.entries]  # tags are never derived from content


def test_a_committed_turn_is_the_next_version_of_the_session() -> None:
    session = Table(POTLUCK).session
    turn = apply(POTLUCK, session, _put(1, 7))

    made = after(turn, "tag of the commit")

    assert (made.version, made.tag) == (session.version + 1, "tag of the commit")
    assert made.header is session.header
    assert made.standing.scores == [Score(), Score(utility=7), Score()]


def test_the_standing_counts_what_lies_in_the_operator_channel() -> None:
    table = Table(POTLUCK)
    table.act(0, "put", coins=1)

    turn = apply(POTLUCK, table.session, Act(seat=1, type="stop", content="", at=START))

    assert turn.standing.messages == len(table.log) + 2
    assert turn.standing.bytes == table.session.standing.bytes + sum(len(e.body) for e in turn.entries)


def test_of_a_turn_a_seat_has_said_its_own_move_and_not_what_the_operator_answered() -> None:
    session = Table(POTLUCK).session

    turn = apply(POTLUCK, session, Act(seat=1, type="stop", content="", at=START))

    assert len(turn.entries) > 1
    assert [said.messages for said in turn.standing.spoken] == [0, 1, 0]
    assert [said.bytes for said in turn.standing.spoken] == [0, len(turn.entries[0].body), 0]


def test_the_end_announces_the_scores_so_far() -> None:
    table = Table(POTLUCK)
    table.act(1, "put", coins=3)
    table.advance(60)

    table.act(0, "stop")

    assert table.status is Status.ENDED
    assert table.said[-1] == (
        "Game ended.\n\nScores are:\n"
        '- Player 1: {"security":0,"utility":0}\n'
        '- Player 2: {"security":0,"utility":3}\n'
        '- Player 3: {"security":0,"utility":0}'
    )
    assert table.session.standing.completed_at == START + 60_000
    assert table.session.standing.outcomes == [Outcome.PLAYED] * 3


def test_the_end_may_name_scores_and_outcomes() -> None:
    table = Table(POTLUCK)
    table.act(1, "put", coins=99)

    table.act(0, "settle")

    assert [s.utility for s in table.scores] == [0, 1, 2]
    assert table.result.outcomes == [Outcome.PLAYED, Outcome.FORFEIT, Outcome.TIMEOUT]


def test_the_end_is_told_to_the_world_and_opens_the_operator_channel() -> None:
    turn = apply(POTLUCK, Table(POTLUCK).session, Act(seat=0, type="stop", content="", at=START))

    assert [event.kind for event in turn.events] == ["ended"]
    assert turn.standing.revealed


def test_a_paired_session_keeps_its_secrets_at_the_end() -> None:
    session = Table(POTLUCK).session
    paired = replace(session, header=session.header.model_copy(update={"pair": "twins"}))

    turn = apply(POTLUCK, paired, Act(seat=0, type="stop", content="", at=START))

    assert turn.standing.status is Status.ENDED
    assert not turn.standing.revealed


def test_attributions_name_invites_and_pile_up() -> None:
    table = Table(POTLUCK)

    table.act(0, "steal", victim=2)
    table.act(1, "steal", victim=0)

    assert table.session.standing.attributions == [
        Attribution.model_validate({"from": "inv_0", "to": "inv_2", "type": "theft"}),
        Attribution.model_validate({"from": "inv_1", "to": "inv_0", "type": "theft"}),
    ]
    assert table.attributions == [(0, 2, "theft"), (1, 0, "theft")]


def test_a_firing_that_is_no_longer_due_does_nothing() -> None:
    table = Table(POTLUCK)
    table.act(0, "wait", seconds=10)
    table.advance(1)
    table.act(0, "wait", seconds=10)

    stale = apply(POTLUCK, table.session, Expire(name="dinner", at=Millis(START + 10_000)))
    unknown = apply(POTLUCK, table.session, Expire(name="lunch", at=Millis(START + 11_000)))
    due = apply(POTLUCK, table.session, Expire(name="dinner", at=Millis(START + 11_000)))

    assert stale.entries == unknown.entries == []
    assert stale.standing.deadlines == {"dinner": START + 11_000}
    assert _contents(due) == ["It is time for dinner."]
    assert due.standing.deadlines == {}


def test_the_next_deadline_is_the_earliest_and_only_a_running_game_has_one() -> None:
    table = Table(POTLUCK)
    standing = table.session.standing.model_copy(update={"deadlines": {"b": 5, "a": 5, "c": 4, "d": 9}})
    running = replace(table.session, standing=standing)
    waiting = replace(running, standing=standing.model_copy(update={"status": Status.OPEN}))

    assert running.due == ("c", 4)
    assert waiting.due is None
    assert table.session.due is None


def test_each_job_of_a_turn_has_an_id_of_its_own_and_is_told_to_the_world() -> None:
    session = Table(POTLUCK).session

    turn = apply(POTLUCK, session, Act(seat=0, type="cook", content="", at=START))

    jobs = [event.job for event in turn.events if event.job is not None]
    assert [(j.kind, j.payload) for j in jobs] == [("cook", "soup"), ("cook", "cake")]
    assert list(turn.standing.jobs) == [j.id for j in jobs]
    assert all(j.id.startswith(f"{session.id}:{session.version + 1}") for j in jobs)


def test_the_end_forgets_jobs_and_their_late_results_change_nothing() -> None:
    table = Table(POTLUCK)
    table.act(0, "cook")
    [first, _] = table.jobs
    table.act(0, "stop")
    before = table.session

    table.finish(first, "ready")
    table.finish(first, JobFailed("burnt"))

    assert table.jobs == []
    assert (table.session.standing, table.session.game) == (before.standing, before.game)


class Hasty(Operator[Pot]):
    def deal(self, rng: Random) -> Pot:
        return Pot()

    def joined(self, pot: Pot, seat: Seat) -> Effects:
        yield end()


def test_a_game_cannot_end_before_it_has_begun() -> None:
    table = Table(Hasty(), seated=0)

    with pytest.raises(Internal, match="not running"):
        table.join(0)

    assert table.handles == []


class Instant(Operator[Pot]):
    players = 1

    def deal(self, rng: Random) -> Pot:
        return Pot()

    def start(self, pot: Pot) -> Effects:
        yield end([Score(utility=1)])


def test_a_game_may_end_at_its_start() -> None:
    table = Table(Instant())

    assert table.status is Status.ENDED
    assert table.result.started_at == table.result.completed_at == START


@pytest.mark.parametrize(
    ("users", "category"),
    [
        ([None, None, None], Category.TRAIN),
        (["robot", "machine", None], Category.BENCHMARK),
        (["robot", "ada", "machine"], Category.TEST),
        (["ada", None, None], Category.TEST),
        (["robot", "ada", "ben"], Category.TRAIN),
        (["ada", "ben", "stranger"], Category.TRAIN),
        (["robot", "stranger", None], Category.TEST),
    ],
)
def test_a_game_is_categorised_by_how_many_of_its_players_are_no_benchmark(
    users: list[str | None], category: Category
) -> None:
    table = Table(POTLUCK, seated=0)
    for seat, user in enumerate(users):
        table.join(seat, user)
    turn = apply(POTLUCK, table.session, Act(seat=0, type="stop", content="", at=START))

    categorise(turn, {p.user_id: p for p in (_profile("robot", True), _profile("machine", True), _profile("ada"))})

    assert turn.standing.category is category


def _profile(user: str, benchmark: bool | None = None) -> UserProfile:
    return UserProfile(user_id=UserId(user), is_benchmark=benchmark)


@pytest.mark.parametrize(
    "change",
    [
        Join(invite=Invite("inv_0"), user=UserId("ada"), at=START),
        Act(seat=0, type="put", content='{"coins": null}', at=START),
        Expire(name="dinner", at=START),
        Finish(id="x", result={"a": None, "b": [None]}, at=START),
        Finish(id="x", failed="three deaths", at=START),
    ],
)
def test_an_input_survives_the_log(change: Any) -> None:

    assert INPUT.validate_json(line_of(change)) == change


def test_a_session_survives_the_store() -> None:
    table = Table(POTLUCK, seated=0)
    for seat in range(3):
        table.join(seat, f"user {seat}")
    for name, content in (("put", "5"), ("steal", "1"), ("wait", "9"), ("cook", "")):
        table.act(0, name, content)
    kept = table.session

    header = Header.from_json(kept.header.to_json())
    standing = Standing.from_json(kept.standing.to_json())

    assert Session(header, standing, kept.game, kept.tag, kept.version) == kept
