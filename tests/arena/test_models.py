import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from arena.models import (
    Attribution,
    Challenge,
    ChallengeMetadata,
    ChallengeOperatorState,
    ChatMessage,
    GameResult,
    Key,
    MetricDescriptor,
    Model,
    Outcome,
    RankedEntry,
    Score,
    ScoringEntry,
    UserProfile,
)

MESSAGE = {"channel": "c", "from": "ada", "content": "hi", "timestamp": 5, "index": 1}
STATE = {
    "status": "ended",
    "completedAt": 9,
    "scores": [{"security": 1, "utility": -0.5}],
    "players": ["inv_0"],
    "playerIdentities": {"inv_0": "ada"},
    "attributions": [{"from": "inv_0", "to": "inv_0", "type": "theft"}],
}
CHALLENGE = {
    "id": "s",
    "name": "Duel",
    "createdAt": 1,
    "challengeType": "duel",
    "invites": ["inv_0"],
    "state": STATE,
    "gameState": {"board": [None, 1], "winner": None, "moves": {"first": None}},
    "gameCategory": "benchmark",
    "seedCommitment": "abc",
    "reveal": {"secret": "00", "seed": "1", "version": {"version": "1", "contentHash": "00"}, "options": {}},
}
METADATA = {
    "name": "Duel",
    "description": "A duel.",
    "players": 2,
    "prompt": "Fight.",
    "methods": [{"name": "hit", "description": "Hit.", "arguments": {"type": "object"}}],
    "authors": [{"name": "Ada", "url": "https://example.org"}],
    "tags": ["fight"],
    "url": "https://example.org/duel",
    "icon": "sword",
    "color": "red",
}
RESULT = {
    "gameId": "s",
    "challengeType": "duel",
    "createdAt": 1,
    "startedAt": 2,
    "completedAt": 3,
    "players": ["inv_0", "inv_1"],
    "playerIdentities": {"inv_0": "ada", "inv_1": "ben"},
    "scores": [{"security": 1, "utility": 1}, {"security": -1, "utility": 1}],
    "attributions": [{"from": "inv_0", "to": "inv_1", "type": "security_breach"}],
    "outcomes": ["played", "forfeit"],
    "options": {"size": 3, "mode": None},
    "seedCommitment": "abc",
    "challengeVersion": {"version": "1", "contentHash": "def"},
    "gameCategory": "test",
    "seeded": True,
    "ranked": True,
    "decidedBy": ["utility", "security"],
}
PROFILE = {"userId": "ada", "username": "Ada", "model": "m-1", "isBenchmark": True}
ENTRY = {"playerId": "ada", "gamesPlayed": 3, "metrics": {"average:utility": 0.5, "average:security": 1}}

SHAPES: list[tuple[type[Model], dict[str, Any]]] = [
    (ChatMessage, MESSAGE | {"to": "ben", "type": "guess", "redacted": True}),
    (ChallengeOperatorState, STATE),
    (Challenge, CHALLENGE),
    (ChallengeMetadata, METADATA),
    (GameResult, RESULT),
    (UserProfile, PROFILE),
    (ScoringEntry, ENTRY),
    (RankedEntry, ENTRY | {"username": "Ada", "model": "m-1", "isBenchmark": False}),
    (MetricDescriptor, {"key": "average:utility", "label": "Utility"}),
    (Score, {"security": 1, "utility": 0.25}),
    (Attribution, {"from": "inv_0", "to": "inv_1", "type": "security_breach"}),
]
each_shape = pytest.mark.parametrize(("model", "wire"), SHAPES, ids=[model.__name__ for model, _ in SHAPES])


@each_shape
def test_a_shape_is_written_under_the_names_of_the_protocol(model: type[Model], wire: dict[str, Any]) -> None:
    read = model.from_json(TypeAdapter(dict[str, Any]).dump_json(wire))

    assert read.wire() == wire
    assert model.from_json(read.to_json()) == read


@each_shape
def test_unknown_fields_are_refused(model: type[Model], wire: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        model.model_validate_json(TypeAdapter(dict[str, Any]).dump_json(wire | {"unknown": 1}))


@each_shape
def test_a_missing_field_is_refused_or_has_a_default(model: type[Model], wire: dict[str, Any]) -> None:
    required = {name for name, field in model.model_fields.items() if field.is_required()}

    for name in required:
        alias = model.model_fields[name].alias
        assert alias is not None
        with pytest.raises(ValidationError, match="Field required"):
            model.model_validate({key: value for key, value in wire.items() if key != alias})


@pytest.mark.parametrize(
    ("model", "wire"),
    [
        (ChatMessage, MESSAGE | {"from": 5}),
        (ChatMessage, MESSAGE | {"content": 4}),
        (ChatMessage, MESSAGE | {"timestamp": "5"}),
        (ChatMessage, MESSAGE | {"index": "1"}),
        (ChatMessage, MESSAGE | {"index": 1.5}),
        (ChatMessage, MESSAGE | {"index": True}),
        (ChatMessage, MESSAGE | {"redacted": "true"}),
        (Score, {"security": "1"}),
        (Score, {"utility": True}),
        (Score, {"utility": None}),
        (UserProfile, {"userId": 1}),
        (UserProfile, {"userId": "ada", "isBenchmark": 1}),
        (ScoringEntry, ENTRY | {"metrics": {"a": "1"}}),
        (Attribution, {"from": 0, "to": 1, "type": "security_breach"}),
        (GameResult, RESULT | {"outcomes": ["won"]}),
    ],
)
def test_text_never_passes_for_a_number_nor_a_number_for_text(model: type[Model], wire: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.from_json(TypeAdapter(dict[str, Any]).dump_json(wire))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_score_is_a_number_that_json_can_write(number: float) -> None:
    with pytest.raises(ValidationError):
        Score(utility=number)
    with pytest.raises(ValidationError):
        Score().utility += number


@given(st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_score_keeps_its_number_as_it_is(number: float) -> None:
    read = Score.from_json(Score(utility=number).to_json()).utility

    assert read == number
    assert type(read) is type(number)


def test_absent_fields_are_left_out_and_nulls_inside_a_game_state_are_kept() -> None:
    plain = Challenge.model_validate_json(
        b'{"id":"s","name":"Duel","createdAt":1,"challengeType":"duel","invites":[],"state":{},"gameState":{"a":null}}'
    )

    assert plain.wire() == {
        "id": "s",
        "name": "Duel",
        "createdAt": 1,
        "challengeType": "duel",
        "invites": [],
        "state": {"status": "open", "scores": [], "players": [], "playerIdentities": {}},
        "gameState": {"a": None},
        "gameCategory": "train",
    }
    assert b'"gameState":{"a":null}' in plain.to_json()
    assert b"seedCommitment" not in plain.to_json()


def test_a_message_to_nobody_has_no_to_at_all() -> None:
    assert ChatMessage.model_validate(MESSAGE).wire() == MESSAGE


def test_an_attribution_goes_from_one_invite_to_another() -> None:
    made = Attribution.model_validate({"from": "inv_0", "to": "inv_1", "type": "theft"})

    assert (made.from_, made.to) == ("inv_0", "inv_1")


@pytest.mark.parametrize("key", ["a", " ", "~" * 64, "order-66: execute"])
def test_a_key_is_up_to_64_printable_characters(key: str) -> None:
    assert TypeAdapter(Key).validate_python(key) == key


@pytest.mark.parametrize("key", ["", "x" * 65, "tab\t", "line\n", "ü", "\x7f", "ok\n"])
def test_other_keys_are_refused(key: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Key).validate_python(key)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"playerIdentities": {"inv_0": "ada", "inv_1": "ada"}}, False),
        ({"playerIdentities": {"inv_0": "ada"}}, True),
        ({"playerIdentities": {}}, True),
        ({"outcomes": [Outcome.PLAYED, Outcome.VOID]}, False),
        ({"outcomes": [Outcome.FORFEIT, Outcome.TIMEOUT]}, True),
        ({"ranked": False}, False),
    ],
)
def test_self_play_void_games_and_games_off_the_record_do_not_count(change: dict[str, Any], counts: bool) -> None:
    result = GameResult.from_json(TypeAdapter(dict[str, Any]).dump_json(RESULT | change))

    assert result.counts is counts


def test_players_are_known_by_seat() -> None:
    change = {"playerIdentities": {"inv_1": "ben"}}
    result = GameResult.from_json(TypeAdapter(dict[str, Any]).dump_json(RESULT | change))

    assert (result.user(0), result.user(1)) == (None, "ben")
    assert result.users == ["ben"]
