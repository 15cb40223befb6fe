"""Rerun: plays a recorded game once more from its seed and its inputs, and holds what comes out against the record."""

from typing import Any

from arena import turn
from arena.catalog import Catalog, ChallengeType
from arena.chat import Entry
from arena.models import GameResult
from arena.operator import Operator
from arena.session import Header, Session, challenge_view, result_of
from arena.terminal import plural
from arena.verifying import Finding, Record, Verdict, Wrong

SIGNED_ONLY = frozenset({"game_category"})  # of profiles, which are no part of a game


def check(record: Record, known: Catalog) -> Finding:
    """Whether the rules make the same game of the same inputs; not every game can be played again."""
    game, result = record.game, record.game.result
    kind = known.challenges.get(result.challenge_type)
    if game.opened is None:
        return Finding(Verdict.OPEN, "The game is sealed: its inputs are promised, not shown, so it cannot be re-run.")
    if kind is None:
        return Finding(Verdict.OPEN, f"There are no rules of {result.challenge_type} here to play it by; see --load.")
    if kind.version.content_hash != result.challenge_version.content_hash:
        return Finding(Verdict.OPEN, "The rules here are of another version than those it was played by.")
    return play(record, kind)


def play(record: Record, kind: ChallengeType) -> Finding:
    """Play a record by these rules."""
    try:
        session, told = _played(record, kind.operator(record.game.result.options))
        _compare_messages(record, told)
        _compare_result(record, session)
    except Wrong as reason:
        return Finding(Verdict.WRONG, str(reason))
    count = plural(len(record.inputs), "input", "inputs")
    same = "scorecards and scores" if record.game.sealed else "state and scores"
    words = f"Played again: {count} make the same {plural(len(told), 'message', 'messages')}, {same}."
    return Finding(Verdict.RIGHT, words)


def _played(record: Record, operator: Operator[Any, Any]) -> tuple[Session, list[Entry]]:
    told: list[Entry] = []
    try:
        session = turn.open_session(_header(record), operator)
    except Exception as error:  # whatever rules make of a deal that is none
        raise Wrong(f"line 1: the rules do not deal it: {type(error).__name__}.") from None
    for number, change in enumerate(record.changes, 1):
        try:
            made = turn.apply(operator, session, change)
        except Exception as error:  # whatever rules make of an input that cannot have been
            raise Wrong(f"line {number + 1}: the rules do not take input {number}: {type(error).__name__}.") from None
        told += made.entries
        session = turn.after(made, tag="")
    return session, told


def _header(record: Record) -> Header:
    game, result = record.game, record.game.result
    if game.opened is None:
        raise Wrong("line 1: the deal is not opened.")
    return Header(
        id=result.game_id,
        type=result.challenge_type,
        name=game.name,
        created_at=result.created_at,
        invites=game.invites,
        roles=game.roles,
        options=result.options,
        secret=game.opened.secret,
        seed=game.opened.seed,
        seeded=result.seeded,
        ranked=result.ranked,
        commitment=result.seed_commitment,
        pair=result.pair,
        version=result.challenge_version,
        arena=game.arena,
    )


def _compare_messages(record: Record, told: list[Entry]) -> None:
    first = len(record.inputs) + 2
    for index, (entry, message) in enumerate(zip(told, record.told, strict=False), 1):
        if entry.message(index) != message:
            raise Wrong(f"line {first + index - 1}: the rules say something else in message {index}.")
    if len(told) != len(record.told):
        raise Wrong(f"line {first + min(len(told), len(record.told))}: the rules say {len(told)} messages.")


def _compare_result(record: Record, session: Session) -> None:
    if session.standing.completed_at is None:
        raise Wrong("line 1: by the rules this game is not over.")
    session.standing.revealed = True  # as it is once the last session of a pair has ended
    theirs, ours = record.game.result, result_of(session)
    for name in GameResult.model_fields:
        if name not in SIGNED_ONLY and getattr(theirs, name) != getattr(ours, name):
            raise Wrong(f"line 1: the rules come to another {name.replace('_', ' ')}.")
    if record.game.game_state is not None and challenge_view(session).game_state != record.game.game_state:
        raise Wrong("line 1: the rules leave the game in another state.")
