"""One script call for each thing that happens to a session, and each may be sent twice."""

import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena import catalog
from arena.chat import Entry, entry, new_tag, operator_channel, player_channel
from arena.errors import Forbidden, KeyReused, NotFound, PlayerNotFound, TooLarge
from arena.models import Invite, Millis, SessionId
from arena.runtime import Arena, open_arena
from arena.session import Act, Input, Join, Session
from arena.settings import Settings
from arena.store import keys
from arena.store.sessions import Committed, Conflict, Key, request_key
from arena.turn import Turn, after, apply
from tests.valkeys import connect

NO_LIMITS = (0, 0, 0)


@pytest.fixture
async def house(store: str) -> AsyncIterator[Arena]:
    async with open_arena(Settings(), catalog.load(), store) as arena:
        yield arena


def turn(house: Arena, session: Session, change: Input) -> Turn:
    operator = house.catalog.challenge("psi").operator(session.header.options)
    return apply(operator, session, change)


async def seated(house: Arena) -> Session:
    """A session with both seats taken."""
    session = await house.engine.create("psi")
    for invite in session.header.invites:
        await house.engine.join(invite)
    return await house.engine.get(session.id)


def guess(session: Session, seat: int = 0, content: str = "1") -> Act:
    return Act(seat=seat, type="guess", content=content, at=Millis(session.header.created_at + 5))


async def commit(house: Arena, made: Turn, key: Key, answer: dict[str, Any] | None = None) -> Committed:
    return await house.sessions.commit(made, after(made, new_tag()), key, answer or {"ok": "yes"}, None)


async def lengths(house: Arena, id_: SessionId) -> tuple[int, int, int]:
    """Inputs, messages of the operator, events in the outbox."""
    names = keys.of(id_)
    inputs = await house.nodes.run(names.inputs, "LLEN", names.inputs)
    messages = await house.nodes.run(names.operator_log, "LLEN", names.operator_log)
    return inputs, messages, await house.nodes.run(names.outbox, "XLEN", names.outbox)


# Commits


async def test_a_commit_under_a_key_that_was_used_gives_the_first_answer_and_writes_nothing(house: Arena) -> None:
    session = await seated(house)
    key = request_key("ada", "k", "move")
    await commit(house, turn(house, session, guess(session)), key, {"ok": "first"})
    fresh = await house.engine.get(session.id)
    before = await lengths(house, session.id)

    again = await commit(house, turn(house, fresh, guess(fresh, 1)), key, {"ok": "second"})

    assert again == Committed({"ok": "first"}, None, ())
    assert await lengths(house, session.id) == before
    assert (await house.engine.get(session.id)).tag == fresh.tag


async def test_the_key_comes_before_the_version(house: Arena) -> None:
    session = await seated(house)
    key = request_key("ada", "k", "move")
    made = turn(house, session, guess(session))
    await commit(house, made, key)
    await house.engine.act(session.id, session.header.invites[1], "guess", "1")

    assert (await commit(house, made, key)).answer == {"ok": "yes"}


async def test_the_same_key_with_another_body_is_refused(house: Arena) -> None:
    session = await seated(house)
    await commit(house, turn(house, session, guess(session)), request_key("ada", "k", "message", "guess", "1"))
    fresh = await house.engine.get(session.id)

    other = request_key("ada", "k", "message", "guess", "2")
    with pytest.raises(KeyReused):
        await commit(house, turn(house, fresh, guess(fresh, 1)), other)
    with pytest.raises(KeyReused):
        await house.sessions.answer(session.id, other)
    assert await house.sessions.answer(session.id, request_key("ben", "k", "message", "guess", "1")) is None


def test_bodies_that_look_alike_are_told_apart() -> None:
    bodies = [("a", None), ("a", ""), ("a",), ("a", "b"), ("ab", ""), ("", "ab"), (None, "ab"), ("a\x00", "b")]
    assert len({request_key("o", "k", *body).digest for body in bodies}) == len(bodies)


async def test_a_commit_on_an_old_version_changes_nothing(house: Arena) -> None:
    session = await seated(house)
    await house.engine.act(session.id, session.header.invites[0], "guess", "1")
    before = await lengths(house, session.id)

    with pytest.raises(Conflict):
        await commit(house, turn(house, session, guess(session, 1)), request_key("ben", None))

    assert await lengths(house, session.id) == before


async def test_a_commit_on_a_session_that_is_gone_does_not_bring_it_back(house: Arena) -> None:
    session = await seated(house)
    await house.sessions.remove(session, house.clock.now())

    with pytest.raises(Conflict):
        await commit(house, turn(house, session, guess(session)), request_key("ada", None))

    assert await house.sessions.load(session.id) is None


async def test_a_turn_with_very_many_messages_is_written_as_a_whole(house: Arena) -> None:
    session = await seated(house)
    made = turn(house, session, guess(session))
    for number in range(9_000):
        made.speak(f"{number}")

    await commit(house, made, request_key("ada", None))

    page = await house.sessions.tail(operator_channel(session.id), 1)
    assert page.length == 2 + 3 + 9_000
    assert page.entries[0].fields(0)["content"] == "8999"


async def test_a_removed_session_leaves_no_key_behind(house: Arena, store: str) -> None:
    session = await seated(house)
    await house.engine.chat(session.id, session.header.invites[0], "hello")
    fresh = await house.engine.get(session.id)

    [(mark, posted)] = await house.sessions.remove(fresh, house.clock.now())

    assert posted.kind == "removed"
    assert mark
    assert await house.sessions.remove(fresh, house.clock.now()) == []
    with connect(store) as redis:
        left = [key for key in redis.keys("*") if session.id.encode() in key or b":i:" in key]
    assert left == []
    with pytest.raises(NotFound):
        await house.engine.session_of(session.header.invites[0])


# Talk


async def talk(house: Arena, session: Session, text: str, key: Key, limits: tuple[int, int, int] = NO_LIMITS) -> int:
    sender = session.header.invites[0]
    said = entry(player_channel(session.id), sender, text, house.clock.now())
    return await house.sessions.talk(session.id, sender, said, key, house.clock.now(), limits)


async def test_talk_under_a_key_that_was_used_gives_the_first_index(house: Arena) -> None:
    session = await seated(house)
    key = request_key("ada", "k", "chat", "hello")

    assert await talk(house, session, "hello", key) == 1
    assert await talk(house, session, "more", request_key("ada", None)) == 2
    assert await talk(house, session, "hello", key) == 1
    with pytest.raises(KeyReused):
        await talk(house, session, "other", request_key("ada", "k", "chat", "other"))
    assert (await house.sessions.tail(player_channel(session.id), 5)).length == 2


async def test_talk_does_not_make_a_move_fail(house: Arena) -> None:
    session = await seated(house)
    made = turn(house, session, guess(session))

    await talk(house, session, "hello", request_key("ada", None))

    assert (await commit(house, made, request_key("ada", None))).session is not None


async def test_who_has_no_seat_says_nothing(house: Arena) -> None:
    session = await house.engine.create("psi")
    with pytest.raises(PlayerNotFound):
        await talk(house, session, "hello", request_key("ada", None))
    await house.sessions.remove(session, house.clock.now())
    with pytest.raises(NotFound):
        await talk(house, session, "hello", request_key("ada", None))


@pytest.mark.parametrize("part", [slice(4), slice(-1), slice(1, None)])
async def test_a_part_of_an_invite_is_no_seat(house: Arena, part: slice) -> None:
    session = await seated(house)
    sender = Invite(session.header.invites[0][part])
    said = entry(player_channel(session.id), sender, "hello", house.clock.now())

    with pytest.raises(PlayerNotFound):
        await house.sessions.talk(session.id, sender, said, request_key("ada", None), house.clock.now(), NO_LIMITS)


async def test_talk_ends_at_its_limits(house: Arena) -> None:
    session = await seated(house)
    await talk(house, session, "x" * 100, request_key("ada", None))

    with pytest.raises(TooLarge):
        await talk(house, session, "x", request_key("ada", None), (1, 0, 0))
    with pytest.raises(TooLarge):
        await talk(house, session, "x" * 1000, request_key("ada", None), (0, 1000, 0))
    assert await talk(house, session, "x", request_key("ada", None), (2, 1000, 0)) == 2
    for invite in session.header.invites:
        await house.engine.act(session.id, invite, "guess", "1")
    assert await talk(house, session, "x", request_key("ada", None), (0, 0, 60_000)) == 3
    house.clock.offset += 61
    with pytest.raises(Forbidden):
        await talk(house, session, "x", request_key("ada", None), (0, 0, 60_000))


# Pages


async def written(house: Arena, *bodies: str) -> tuple[SessionId, list[Entry]]:
    """A players' channel with these messages."""
    session = await seated(house)
    for body in bodies:
        await talk(house, session, body, request_key("ada", None))
    return session.id, (await house.sessions.tail(player_channel(session.id), 100)).entries


async def test_a_page_of_an_empty_log_holds_and_is_empty(house: Arena) -> None:
    id_, _ = await written(house)

    page = await house.sessions.page(player_channel(id_), 1, "", 1000)

    assert (page.holds, page.next, page.epoch, page.length, page.entries) == (True, 1, "", 0, [])


async def test_a_page_ends_before_the_entry_that_is_too_much_for_it_but_takes_one_at_least(house: Arena) -> None:
    id_, entries = await written(house, "a", "b", "x" * 5000, "c", "d")
    channel, small = player_channel(id_), len(entries[0].pack())

    async def read(index: int, epoch: str, most: int) -> tuple[list[Entry], int, str]:
        page = await house.sessions.page(channel, index, epoch, most)
        assert page.holds
        assert page.first == index
        return page.entries, page.next, page.epoch

    assert await read(1, "", 2 * small) == (entries[:2], 3, entries[1].tag)
    assert await read(1, "", 2 * small - 1) == (entries[:1], 2, entries[0].tag)
    assert await read(3, entries[1].tag, 100) == (entries[2:3], 4, entries[2].tag)
    assert await read(3, entries[1].tag, 5000 + 3 * small) == (entries[2:], 6, entries[4].tag)
    assert await read(6, entries[4].tag, 100) == ([], 6, entries[4].tag)
    assert await read(1, "", 1) == (entries[:1], 2, entries[0].tag)


async def test_many_small_entries_fill_a_page_to_the_brim(house: Arena) -> None:
    id_, entries = await written(house, *("m" for _ in range(50)))
    size = len(entries[0].pack())

    page = await house.sessions.page(player_channel(id_), 1, "", 40 * size)

    assert page.entries == entries[:40]
    assert page.length == 50


@pytest.mark.parametrize("cursor", [(3, "wrong"), (3, "*"), (4, "last"), (2**53, "last"), (3, ""), (2, "last")])
async def test_a_cursor_that_does_not_hold_gets_the_whole_log(house: Arena, cursor: tuple[int, str]) -> None:
    id_, entries = await written(house, "a", "b")
    index, epoch = cursor[0], entries[-1].tag if cursor[1] == "last" else cursor[1]

    page = await house.sessions.page(player_channel(id_), index, epoch, 10_000)

    assert page == (False, 1, entries[-1].tag, 2, entries)


async def test_a_cursor_at_the_start_holds_whatever_epoch_it_has(house: Arena) -> None:
    id_, entries = await written(house, "a")

    page = await house.sessions.page(player_channel(id_), 1, secrets.token_hex(8), 10_000)

    assert page == (True, 1, entries[0].tag, 1, entries)


async def test_a_slice_starts_at_an_index_and_beyond_the_end_there_is_nothing(house: Arena) -> None:
    id_, entries = await written(house, "a", "b")
    channel = player_channel(id_)

    assert (await house.sessions.slice(channel, 2, 1000)).entries == entries[1:]
    for index in (3, 4, 1000, 2**53):
        page = await house.sessions.slice(channel, index, 1000)
        assert page.entries == []
        assert page.next == index


async def test_heads_tell_where_a_session_and_its_logs_stand(house: Arena) -> None:
    session = await seated(house)
    await talk(house, session, "hello", request_key("ada", None))

    heads = await house.sessions.heads(session.id)
    assert (heads.tag, heads.end) == (session.tag, None)
    assert (heads.logs[0][0], heads.logs[1][0]) == (2, 1)
    for invite in session.header.invites:
        await house.engine.act(session.id, invite, "guess", "1")
    assert (await house.sessions.heads(session.id)).end == (9, 1)
    assert (await house.sessions.heads(keys.new_session_id())).tag == ""


async def test_the_inputs_of_a_game_are_kept_in_order(house: Arena) -> None:
    session = await seated(house)
    await house.engine.act(session.id, session.header.invites[1], "guess", "7")

    inputs = await house.sessions.inputs(session.id)

    assert [type(each) for each in inputs] == [Join, Join, Act]
    assert [each.invite for each in inputs if isinstance(each, Join)] == session.header.invites
    assert isinstance(inputs[2], Act)
    assert (inputs[2].seat, inputs[2].content) == (1, "7")


async def test_an_invite_leads_to_its_session_in_the_same_shard(house: Arena) -> None:
    session = await house.engine.create("psi")

    for invite in session.header.invites:
        assert await house.sessions.find(invite) == session.id
        assert keys.shard_of(invite) == keys.shard_of(session.id)
    assert await house.sessions.find(Invite(keys.new_invite(session.id))) is None


# The run log


async def test_notes_are_committed_with_their_move_and_only_once(house: Arena) -> None:
    session = await seated(house)
    key = request_key("ada", "k", "move")
    made = turn(house, session, guess(session))
    made.notes = [b'{"seat":0,"case":"one"}', b'{"seat":1,"case":"two"}']
    late = turn(house, session, guess(session, 1))
    late.notes = [b'{"seat":1,"case":"late"}']

    await commit(house, made, key)
    await commit(house, made, key)
    with pytest.raises(Conflict):
        await commit(house, late, request_key("ben", "k", "move"))

    assert await house.sessions.notes(session.id) == [{"seat": 0, "case": "one"}, {"seat": 1, "case": "two"}]
    assert await house.sessions.notes(session.id, 1) == [{"seat": 1, "case": "two"}]


async def test_notes_go_with_their_session(house: Arena) -> None:
    session = await seated(house)
    made = turn(house, session, guess(session))
    made.notes = [b'{"seat":0}']
    await commit(house, made, request_key("ada", "k", "move"))

    await house.sessions.remove(await house.engine.get(session.id), Millis(1))

    assert await house.sessions.notes(session.id) == []
