"""Verifying: checks the record of a game without asking anybody: its chain, its signature, its promise, its course.

What is wrong is said with the line where it is. The rules are asked only about a record that is whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import ValidationError

from arena.auth import SPKI
from arena.chat import operator_channel, player_channel
from arena.models import ChatMessage, complaint
from arena.proof import LINE, PURPOSE, GameLine, InputLine, Line, MessageLine, SealLine, digest
from arena.session import Input, commit_to

Kind = TypeVar("Kind", bound=Line)


class Verdict(StrEnum):
    """What came of a check."""

    RIGHT = "right"
    WRONG = "WRONG"
    OPEN = "not checked"


class Finding(NamedTuple):
    """A check, and what came of it."""

    verdict: Verdict
    words: str


class Wrong(Exception):
    """Why a record is not what it says it is."""


@dataclass(frozen=True)
class Record:
    """A record whose lines make sense, each for itself."""

    lines: list[bytes] = field(repr=False)
    game: GameLine
    inputs: list[InputLine]
    messages: list[MessageLine]
    seal: SealLine

    @property
    def changes(self) -> list[Input]:
        """What happened to the session, where that is shown."""
        return [line.input for line in self.inputs if line.input is not None]

    @property
    def told(self) -> list[ChatMessage]:
        """The operator channel."""
        own = operator_channel(self.game.result.game_id)
        return [line.message for line in self.messages if line.message.channel == own]


def check(data: bytes, key: str | None = None) -> tuple[Record | None, list[Finding]]:
    """A record, if it is one, and all that can be found out about it without its rules."""
    findings: list[Finding] = []
    try:
        record = read(data)
        findings.append(_right(f"{len(record.lines)} lines, all in their places."))
        for step in (_chain, _signature, lambda record: _pinned(record, key), _order, check_promise):
            findings.append(_right(step(record)))
    except Wrong as reason:
        return None, [*findings, Finding(Verdict.WRONG, str(reason))]
    return record, findings


def read(data: bytes) -> Record:
    """The lines of a record; `Wrong` says which one is none."""
    lines = data.split(b"\n")
    if lines.pop() or len(lines) < 2:
        raise Wrong("the last line is not finished, or there is hardly one.")
    found = [_line(number, line) for number, line in enumerate(lines, 1)]
    kinds = [one.kind for one in found]
    for number, (kind, known) in enumerate(zip(kinds, _expected(found[0], len(lines)), strict=True), 1):
        if kind != known:
            raise Wrong(f"line {number}: this is of kind {kind}, and {known} is to stand here.")
    game, seal = found[0], found[-1]
    if not isinstance(game, GameLine) or not isinstance(seal, SealLine):
        raise Wrong("line 1: a record begins with its game and ends with its seal.")
    if lines[-1] != _written(seal):
        raise Wrong(f"line {len(lines)}: the seal is not written as it was.")
    return Record(lines, game, _of(InputLine, found), _of(MessageLine, found), seal)


def _line(number: int, line: bytes) -> Line:
    try:
        return LINE.validate_json(line)
    except ValidationError as error:
        raise Wrong(f"line {number}: {complaint(error)}") from None


def _expected(first: Line, lines: int) -> list[str]:
    """The kinds of all lines, as the first one has it."""
    if not isinstance(first, GameLine):
        raise Wrong(f"line 1: this is of kind {first.kind}, and game is to stand here.")
    if min(first.inputs, first.messages) < 0 or first.inputs + first.messages + 2 != lines:
        raise Wrong(f"line 1: it speaks of {first.inputs} inputs and {first.messages} messages, and there are {lines}.")
    return ["game", *["input"] * first.inputs, *["message"] * first.messages, "seal"]


def _of(kind: type[Kind], lines: Sequence[Line]) -> list[Kind]:
    return [line for line in lines if isinstance(line, kind)]


def _written(seal: SealLine) -> bytes:
    return seal.to_json()


def _chain(record: Record) -> str:
    """Whether each line names the one before it; of two that do not fit, the one that its other neighbour denies."""
    digests = [digest(line) for line in record.lines]
    linked: list[InputLine | MessageLine | SealLine] = [*record.inputs, *record.messages, record.seal]
    named = [line.prev for line in linked]
    for place, (made, told) in enumerate(zip(digests, named, strict=False)):
        if made == told:
            continue
        after = place + 1  # the line that does the naming
        denied = digests[after] != named[after] if after < len(named) else not _is_signed(record.seal, told)
        raise Wrong(f"line {(after if denied else place) + 1}: it was changed; its hash is not the one in the chain.")
    return f"The chain holds, up to {named[-1]}."


def _is_signed(seal: SealLine, hash_: str) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(seal.public_key.removeprefix(SPKI)))
        key.verify(bytes.fromhex(seal.signature), f"{PURPOSE}{hash_}".encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _signature(record: Record) -> str:
    if not _is_signed(record.seal, record.seal.prev):
        raise Wrong(f"line {len(record.lines)}: the signature is not of this record and this key.")
    return f"Signed with the key {record.seal.public_key}."


def _pinned(record: Record, key: str | None) -> str:
    if key is None:
        return "Whose key that is, nobody can tell from the record: name the one that you trust with --key."
    if key.strip().lower() != record.seal.public_key:
        raise Wrong(f"line {len(record.lines)}: it is signed with another key than the one that you trust.")
    return "That is the key that you trust."


def _order(record: Record) -> str:
    """Whether inputs and messages are numbered from 1 without a gap, and everything is there or promised."""
    game, sealed = record.game, record.game.sealed
    for number, line in enumerate(record.inputs, 1):
        if line.number != number or (line.input is None) is (line.withheld is None) or (line.input is None) != sealed:
            raise Wrong(f"line {number + 1}: it is not input {number}.")
    for place, reason in _misplaced(record):
        raise Wrong(f"line {place}: {reason}")
    if sealed is not (game.opened is None) or sealed is not (game.game_state is None):
        raise Wrong("line 1: a game is opened or sealed, and this one is neither.")
    return f"{len(record.inputs)} inputs and {len(record.messages)} messages, none left out."


def _misplaced(record: Record) -> Iterator[tuple[int, str]]:
    id_ = record.game.result.game_id
    index, own, talk = 0, operator_channel(id_), player_channel(id_)
    now = own
    for place, line in enumerate(record.messages, len(record.inputs) + 2):
        said = line.message
        if said.channel == talk and now == own:
            index, now = 0, talk
        index += 1
        if said.channel != now or said.index != index:
            yield place, f"it is not message {index} of {now}."
        if bool(said.redacted) is (line.withheld is None):
            yield place, "what it holds is neither shown nor promised."


def check_promise(record: Record) -> str:
    """Whether the deal is the one that was promised when the session was opened."""
    game, result = record.game, record.game.result
    if game.opened is None:
        return f"The deal was promised as {result.seed_commitment}, and stays closed."
    made = commit_to(
        game.opened.secret, game.opened.seed, result.challenge_type, result.challenge_version, result.options
    )
    if made != result.seed_commitment:
        raise Wrong(f"line 1: secret, seed, rules and options make {made}; promised was {result.seed_commitment}.")
    return f"Secret, seed, rules and options are those of the promise {made}."


def _right(words: str) -> Finding:
    return Finding(Verdict.RIGHT, words)
