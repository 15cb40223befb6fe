"""What an archive holds: the lines of an export, and the sessions that can be made of them again. Pure.

Everything in it may be seen by everybody: of a game that is not over, that is little.
"""

import re
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, TypeAdapter

from arena import chat
from arena.chat import Entry, new_tag
from arena.errors import Invalid
from arena.models import (
    LONGEST,
    Challenge,
    ChatMessage,
    Entrant,
    GameResult,
    Invite,
    Millis,
    Model,
    Status,
    UserId,
    UserProfile,
)
from arena.pace import MOST
from arena.session import Header, Input, Session, Standing, commit_to, result_of
from arena.store import keys
from arena.store.boards import GLOBAL

TYPE = re.compile(r"[^{}\s]{1,64}")
IMPORTED = "imported"  # in place of the version of the server that opened a session
LATEST = 2**53  # milliseconds
LARGEST = 10**12  # a score: sums of as many games as there may be are still numbers


class Begin(Model):
    """The first line."""

    kind: Literal["arena"] = "arena"
    format: Literal[1] = 1
    server: str
    exported_at: Millis


class ProfileLine(Model):
    """What a player told about itself."""

    kind: Literal["profile"] = "profile"
    profile: UserProfile


class ResultLine(Model):
    """A game as scoring sees it; the order of these lines is the order in which a challenge's games count."""

    kind: Literal["result"] = "result"
    result: GameResult


class GameLine(Model):
    """A session as everybody may see it, with what happened in it once that lies open."""

    kind: Literal["game"] = "game"
    challenge: Challenge
    messages: list[ChatMessage]
    inputs: list[Input] | None = None
    result: GameResult | None = None
    record: str | None = None  # as it was signed where the game was played


Line = Annotated[Begin | ProfileLine | ResultLine | GameLine, Field(discriminator="kind")]
LINE: TypeAdapter[Line] = TypeAdapter(Line)


def game_line(session: Session, challenge: Challenge, messages: list[dict[str, Any]], inputs: list[Input]) -> GameLine:
    """A session for an archive; its inputs, which tell every secret, only when everything has been revealed."""
    over = session.standing.status is Status.ENDED
    return GameLine(
        challenge=challenge,
        messages=[ChatMessage.model_validate(message) for message in messages],
        inputs=inputs if over and session.standing.revealed else None,
        result=result_of(session) if over else None,
    )


def session_of(line: GameLine) -> Session | None:
    """The session that a line was made of, as far as everybody may see it; None if its game is not over."""
    challenge, result = line.challenge, line.result
    if result is None or challenge.reveal is None or line.inputs is None:
        return None
    check_result(result)
    _check(challenge, result)
    header = Header(
        id=challenge.id,
        type=challenge.challenge_type,
        name=challenge.name,
        created_at=challenge.created_at,
        invites=[Invite(code) for code in challenge.invites],
        options=result.options,
        roles=[challenge.roles[Invite(invite)] for invite in challenge.invites] if challenge.roles else [],
        secret=challenge.reveal.secret,
        seed=challenge.reveal.seed,
        seeded=result.seeded,
        ranked=result.ranked,
        commitment=result.seed_commitment,
        pair=result.pair,
        version=result.challenge_version,
        arena=IMPORTED,
    )
    standing = Standing(
        **challenge.state.model_dump(),
        joined_at=challenge.course.joined if challenge.course else [],
        started_at=result.started_at,
        causes=(challenge.course and challenge.course.causes) or [],
        category=result.game_category,
        outcomes=result.outcomes,
        times=result.response_times or [],
        entrants=result.entrants or {},
        revealed=True,
        messages=sum(message.channel == chat.operator_channel(challenge.id) for message in line.messages),
    )
    return Session(header, standing, orjson.dumps(challenge.game_state), new_tag(), len(line.inputs))


def check_profile(profile: UserProfile) -> None:
    """Refuse names that no door would have taken."""
    if not all(0 < len(name) <= LONGEST for name in (profile.user_id, profile.username or "-", profile.model or "-")):
        raise Invalid(f"a profile has names of 1 to {LONGEST} characters")


def check_result(result: GameResult) -> None:
    """Refuse a game that no arena can have written: strategies would stand still at it for ever."""
    seats, known = len(result.players), result.player_identities
    fits = (
        TYPE.fullmatch(result.challenge_type) is not None
        and result.challenge_type != GLOBAL
        and all(0 < len(name) <= LONGEST for name in (result.game_id, *result.players, *known.values()))
        and seats == len(set(result.players)) == len(result.scores) == len(result.outcomes) > 0
        and set(known) <= set(result.players)
        and _are_of(result.entrants or {}, known)
        and all(0 <= moment < LATEST for moment in (result.created_at, result.started_at, result.completed_at))
        and _are_times(result.response_times, seats)
        and all(abs(value) <= LARGEST for score in result.scores for value in (score.security, score.utility))
    )
    if not fits:
        raise Invalid(f"game {result.game_id[:LONGEST]}: this is no result of a game")


def _are_of(entrants: dict[Invite, Entrant], users: dict[Invite, UserId]) -> bool:
    """Whether these are makes of the agents that played."""
    return all(
        seat in users and made.variant is not None and made.id == made.entrant_of(users[seat])
        for seat, made in entrants.items()
    )


def _are_times(times: list[list[int]] | None, seats: int) -> bool:
    """Whether these are the times of all seats, if there are any."""
    if times is None:
        return True
    return len(times) == seats and all(len(some) <= MOST and all(0 <= t < LATEST for t in some) for some in times)


def _check(challenge: Challenge, result: GameResult) -> None:
    """Refuse a game whose parts do not belong together."""
    reveal = challenge.reveal
    fits = (
        keys.is_session_id(challenge.id)
        and all(map(keys.is_invite, challenge.invites))
        and result.game_id == challenge.id
        and result.challenge_type == challenge.challenge_type
        and challenge.state.status is Status.ENDED
        and reveal is not None
        and commit_to(reveal.secret, reveal.seed, result.challenge_type, result.challenge_version, result.options)
        == challenge.seed_commitment
        == result.seed_commitment
    )
    if not fits:
        raise Invalid(f"game {challenge.id}: its parts do not belong together")


def entries_of(line: GameLine) -> tuple[list[Entry], list[Entry]]:
    """The messages of a line as they lie in the two logs of its session."""
    id_ = line.challenge.id
    logs: dict[str, list[Entry]] = {chat.operator_channel(id_): [], chat.player_channel(id_): []}
    for message in line.messages:
        if message.channel not in logs or message.index != len(logs[message.channel]) + 1:
            raise Invalid(f"game {id_}: its messages are not in order")
        fields = message.wire()
        logs[message.channel].append(
            Entry(new_tag(), orjson.dumps({key: fields[key] for key in fields if key not in {"index", "redacted"}}))
        )
    operator, player = logs.values()
    return operator, player
