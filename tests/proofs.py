"""Records for tests: of games at a table, signed with a key that everybody knows."""

from collections.abc import Callable
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena import opening, proof
from arena.catalog import Catalog, describe
from arena.chat import Entry
from arena.identity import Identity
from arena.models import ChatMessage, Millis
from arena.proof import PURPOSE, Blinds, Counted, Opened, digest
from arena.session import Session, commit_to
from arena.testing import Table

KEY = Ed25519PrivateKey.from_private_bytes(b"a key that everybody may know...")
PUBLIC = Identity(KEY).public_key
Change = Callable[[list[dict[str, Any]]], None]


def known(table: Table[Any, Any]) -> Catalog:
    """A catalog with the rules of a table."""
    name = table.session.header.type
    return Catalog(challenges={name: describe(name, type(table.operator))})


def record(table: Table[Any, Any], *, sealed: bool = False) -> bytes:
    """The record of a game that was played at a table."""
    header = table.session.header
    version = known(table).challenge(header.type).version
    promise = commit_to(header.secret, header.seed, header.type, version, header.options)
    named = header.model_copy(update={"version": version, "commitment": promise})
    session = Session(named, table.session.standing, table.session.game)
    strategies = [Counted(name="average", content_hash="0" * 64)]
    counts = (len(table.inputs), len(table.log) + len(table.talk))
    first = proof.head(session, "arena", Millis(table.now + 1), strategies, counts, sealed)
    if sealed:
        first = first.model_copy(update={"opened": None, "game_state": None})
    return proof.write(first, table.inputs, _logs(table), Blinds(b"secret", session.id), KEY)


def openings(table: Table[Any, Any]) -> bytes:
    """What opens the sealed record of a game that was played at a table."""
    header = table.session.header
    deal = Opened(secret=header.secret, seed=header.seed)
    return opening.write(deal, table.inputs, _logs(table), Blinds(b"secret", header.id))


def _logs(table: Table[Any, Any]) -> list[list[Entry]]:
    return [[_entry(message) for message in log] for log in (table.log, table.talk)]


def forged(data: bytes, change: Change) -> bytes:
    """A record that says something else, signed by a server that lies."""
    fields = [orjson.loads(line) for line in data.splitlines()]
    change(fields)
    lines = [orjson.dumps(fields[0])]
    for line in fields[1:]:
        line["prev"] = digest(lines[-1])
        if line["kind"] == "seal":
            line["signature"] = KEY.sign(f"{PURPOSE}{line['prev']}".encode()).hex()
        lines.append(orjson.dumps(line))
    return b"".join(line + b"\n" for line in lines)


def _entry(message: ChatMessage) -> Entry:
    fields = message.wire()
    return Entry("", orjson.dumps({name: fields[name] for name in fields if name != "index"}))
