from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import chat
from arena.chat import Entry, may_read, redact, view
from arena.models import Channel, Millis, SessionId

HERE = Channel("room")
NOW = Millis(1_700_000_000_000)

names = st.text(min_size=1, max_size=12)
texts = st.text(max_size=200)


def _fields(content: str, to: str | None = "ben", type: str | None = None, index: int = 1) -> dict[str, Any]:
    return chat.entry(HERE, "ada", content, NOW, to=to, type=type).fields(index)


@pytest.mark.parametrize(
    ("to", "viewer", "readable"),
    [
        (None, None, True),
        (None, "eve", True),
        ("", "eve", True),
        ("ben", "ben", True),
        ("ben", "ada", True),
        ("ben", "eve", False),
        ("ben", None, False),
        ("ben", "", False),
        ("ben", "BEN", False),
    ],
)
def test_a_message_is_for_everybody_or_for_its_two_ends(to: str | None, viewer: str | None, readable: bool) -> None:
    assert may_read("ada", to, viewer) is readable


@pytest.mark.parametrize(("sender", "to"), [("ada", "operator"), ("operator", "ada")])
def test_nobody_reads_along_by_calling_itself_operator(sender: str, to: str) -> None:
    assert not may_read(sender, to, "operator")
    assert may_read(sender, to, "ada")


@given(first=texts, second=texts, first_type=st.none() | names, second_type=st.none() | names)
def test_outsiders_cannot_tell_two_whispers_apart_by_what_they_say(
    first: str, second: str, first_type: str | None, second_type: str | None
) -> None:
    one, two = _fields(first, type=first_type), _fields(second, type=second_type)

    assert view(one, "eve") == view(two, "eve")
    assert view(one, None) == view(two, "eve")


def test_a_redacted_message_shows_that_it_happened_and_no_more() -> None:
    seen = redact(_fields("it is 4", type="guess", index=7))

    assert seen == {
        "channel": "room",
        "from": "ada",
        "to": "ben",
        "content": "",
        "timestamp": NOW,
        "index": 7,
        "redacted": True,
    }


@given(content=texts, viewer=st.none() | st.sampled_from(["ada", "ben", "eve", "operator", ""]), to=st.none() | names)
def test_a_view_is_either_the_whole_message_or_the_redacted_one(
    content: str, viewer: str | None, to: str | None
) -> None:
    whole = _fields(content, to=to, type="guess")

    seen = view(whole, viewer)

    assert seen == (whole if may_read("ada", to, viewer) else redact(whole))
    assert view(whole, viewer, revealed=True) == whole


def test_those_who_may_read_a_message_get_all_of_it() -> None:
    whole = _fields("it is 4", type="guess")

    assert view(whole, "ben") == view(whole, "ada") == whole
    assert (whole["content"], whole["type"]) == ("it is 4", "guess")
    assert "redacted" not in whole


def test_a_stretch_of_a_log_has_consecutive_indexes_for_every_viewer() -> None:
    entries = [chat.entry(HERE, "ada", f"{n}", NOW, to="ben" if n % 2 else None) for n in range(6)]

    seen, revealed = (chat.read(entries, 11, "eve", revealed=revealed) for revealed in (False, True))

    assert [m["index"] for m in seen] == [m["index"] for m in revealed] == [11, 12, 13, 14, 15, 16]
    assert [m["content"] for m in seen] == ["0", "", "2", "", "4", ""]
    assert [m["content"] for m in revealed] == ["0", "1", "2", "3", "4", "5"]


@given(content=texts, to=st.none() | names, type_=st.none() | names, index=st.integers(1, 10**6))
def test_an_entry_survives_the_store(content: str, to: str | None, type_: str | None, index: int) -> None:
    made = chat.entry(HERE, "ada", content, NOW, to=to, type=type_)

    kept = Entry.unpack(made.pack())
    message = kept.message(index)

    assert kept == made
    assert (message.from_, message.to, message.content, message.type) == ("ada", to, content, type_)
    assert (message.channel, message.timestamp, message.index) == (HERE, NOW, index)


def test_a_message_to_nobody_in_particular_has_no_addressee_at_all() -> None:
    assert all("to" not in _fields("hello", to=to) for to in (None, ""))


def test_tags_are_random_and_tell_nothing_about_the_message() -> None:
    made = [chat.entry(HERE, "ada", "the same", NOW) for _ in range(100)]

    assert len({e.tag for e in made}) == 100
    assert {len(e.tag) for e in made} == {chat.TAG}
    assert len({e.body for e in made}) == 1


def test_a_session_has_two_channels_and_each_leads_back_to_it() -> None:
    session = SessionId("5e55")

    channels = [chat.operator_channel(session), chat.player_channel(session)]

    assert channels == ["challenge_5e55", "5e55"]
    assert [chat.session_of(channel) for channel in channels] == [session, session]
