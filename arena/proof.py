"""Proof: the record of an ended game as lines that anybody can check without us. Pure.

Each line names the SHA-256 of the line before it, and the last one is signed: docs/records.md has the format.
"""

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, TypeAdapter

from arena import chat
from arena.chat import Entry
from arena.identity import Identity
from arena.models import ChatMessage, GameResult, Invite, Millis, Model, SessionId
from arena.session import Input, Knock, Session, Unveil, challenge_view, line_of, result_of

FORMAT: Literal["arena-record/1"] = "arena-record/1"
PURPOSE = "arena:v1:record:"  # what the signed text begins with
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Opened(Model):
    """What opens the seed commitment of a game."""

    secret: Digest
    seed: str


class Counted(Model):
    """A strategy that counts games of this type, and the code it is made of."""

    name: str
    content_hash: str


class GameLine(Model):
    """The first line: which game this is, how it ended, and what decides every draw in it."""

    kind: Literal["game"] = "game"
    format: Literal["arena-record/1"] = FORMAT
    server: str
    arena: str  # the version of the server that opened the session
    signed_at: Millis
    name: str
    invites: list[Invite]
    roles: list[str] = []
    result: GameResult
    strategies: list[Counted]
    inputs: int  # lines of each kind that follow
    messages: int
    sealed: bool = False  # what was told in private stays so for ever: nothing is opened
    opened: Opened | None = None
    game_state: dict[str, Any] | None = None


class InputLine(Model):
    """Something that happened to the session, or a promise of what it was."""

    kind: Literal["input"] = "input"
    prev: Digest
    number: int
    input: Input | None = None
    withheld: Digest | None = None


class MessageLine(Model):
    """A message as everybody may see it; of one that stays private also a promise of what it was."""

    kind: Literal["message"] = "message"
    prev: Digest
    message: ChatMessage
    withheld: Digest | None = None


class SealLine(Model):
    """The last line: whose signature makes all lines before it one."""

    kind: Literal["seal"] = "seal"
    prev: Digest
    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: Annotated[str, Field(pattern=r"^302a300506032b6570032100[0-9a-f]{64}$")]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


Line = Annotated[GameLine | InputLine | MessageLine | SealLine, Field(discriminator="kind")]
LINE: TypeAdapter[Line] = TypeAdapter(Line)


class Blinds:
    """Promises of what stays private: without the server's secret nobody can try what fits one."""

    def __init__(self, secret: bytes, session: SessionId) -> None:
        self._secret = secret
        self._session = session

    def hide(self, what: str, number: int, text: bytes) -> str:
        """A promise of a text that is not shown."""
        return self.promise(self.key(what, number), text)

    def key(self, what: str, number: int) -> bytes:
        """What a promise is made with, beside the text."""
        return hmac.digest(self._secret, f"arena:v1:withheld:{self._session}:{what}:{number}".encode(), "sha256")

    @staticmethod
    def promise(key: bytes, text: bytes) -> str:
        """What binds to a text without showing it."""
        return hashlib.sha256(key + text).hexdigest()


def played(inputs: Sequence[Input]) -> list[Input]:
    """The inputs up to the one that ended the game; those after it are knocks, and the unveiling of a pair."""
    end = len(inputs)
    while end and isinstance(inputs[end - 1], Knock | Unveil):
        end -= 1
    return list(inputs[:end])


def head(
    session: Session, server: str, now: Millis, strategies: list[Counted], counts: tuple[int, int], sealed: bool
) -> GameLine:
    """The first line of a session's record."""
    header, shown = session.header, challenge_view(session)
    reveal = shown.reveal
    return GameLine(
        server=server,
        arena=header.arena,
        signed_at=now,
        name=header.name,
        invites=header.invites,
        roles=header.roles,
        result=result_of(session),
        strategies=strategies,
        inputs=counts[0],
        messages=counts[1],
        sealed=sealed,
        opened=None if reveal is None else Opened(secret=reveal.secret, seed=reveal.seed),
        game_state=None if reveal is None else shown.game_state,
    )


def write(
    first: GameLine,
    inputs: Iterable[Input],
    logs: Iterable[Sequence[Entry]],
    blinds: Blinds,
    key: Ed25519PrivateKey,
) -> bytes:
    """A record, signed."""
    lines = [orjson.dumps(first.wire())]
    operator, players = logs
    bodies = [
        *_inputs(inputs, first.sealed, blinds),
        *_messages("operator", operator, blinds, revealed=not first.sealed),
        *_messages("players", players, blinds, revealed=False),
    ]
    for body in bodies:
        lines.append(orjson.dumps({"kind": body.pop("kind"), "prev": digest(lines[-1]), **body}))
    last = digest(lines[-1])
    signature = key.sign(f"{PURPOSE}{last}".encode()).hex()
    seal = SealLine(prev=last, public_key=Identity(key).public_key, signature=signature)
    return b"".join(line + b"\n" for line in (*lines, orjson.dumps(seal.wire())))


def digest(line: bytes) -> str:
    """What the next line says of this one."""
    return hashlib.sha256(line).hexdigest()


def _inputs(inputs: Iterable[Input], sealed: bool, blinds: Blinds) -> Iterator[dict[str, Any]]:
    for number, change in enumerate(inputs, 1):
        text = line_of(change)
        shown = {"withheld": blinds.hide("input", number, text)} if sealed else {"input": orjson.loads(text)}
        yield {"kind": "input", "number": number, **shown}


def _messages(what: str, entries: Sequence[Entry], blinds: Blinds, *, revealed: bool) -> Iterator[dict[str, Any]]:
    for index, entry in enumerate(entries, 1):
        shown = chat.view(entry.fields(index), None, revealed=revealed)
        hidden = {"withheld": blinds.hide(what, index, entry.body)} if "redacted" in shown else {}
        yield {"kind": "message", "message": shown, **hidden}
