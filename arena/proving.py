"""Proving: makes the record of an ended game when somebody first asks for it, and keeps it as it was signed."""

import asyncio
import hashlib
import inspect
from functools import lru_cache
from pathlib import Path

from arena import opening, proof
from arena.archived import IMPORTED
from arena.chat import Entry, operator_channel, player_channel
from arena.errors import Refused
from arena.models import Status
from arena.proof import Blinds, Counted, Opened, SealLine
from arena.recording import WHOLE
from arena.runtime import Arena
from arena.session import Input, Session


async def proof_of(arena: Arena, session: Session, *, keep: bool = True) -> bytes:
    """The signed record of a session; `Refused` if it has none, or none yet."""
    kept = await arena.sessions.proof(session.id)
    if kept is not None and not await arena.signing.is_revoked(seal_of(kept).public_key):
        return kept
    if session.header.arena == IMPORTED:
        return kept if kept is not None else _refuse("NO_RECORD", "This game was imported without its record.")
    if session.standing.status is not Status.ENDED:
        _refuse("GAME_NOT_OVER", "The game is not over: it has no record yet.")
    made = await _make(arena, session, sealed=await _is_sealed(arena, session))
    return await arena.sessions.keep_proof(session.id, made, instead=kept is not None) if keep else made


def seal_of(record: bytes) -> SealLine:
    """The last line of a record of ours."""
    return SealLine.from_json(record.splitlines()[-1])


async def _is_sealed(arena: Arena, session: Session) -> bool:
    """Whether a game that has ended stays closed for ever; one that will be opened has no record before that."""
    if session.standing.revealed:
        return False
    if session.header.pair is None:
        return True
    await arena.catalog.fetch(session.header.type, session.header.version)
    if not await arena.engine.pairs.is_over(session) or not arena.engine.rules(session).sealed:
        _refuse("PAIR_NOT_OVER", "The other session of this pair is not over: nothing of either is shown yet.")
    return True


async def openings_of(arena: Arena, session: Session) -> bytes:
    """What opens all that the record of a session withholds: for the keeper of the store, and nobody else."""
    if session.header.arena == IMPORTED:
        _refuse("NO_OPENINGS", "This game was imported: what its record withholds is known where it was played.")
    await proof_of(arena, session, keep=False)
    inputs, logs = await _history(arena, session)
    deal = Opened(secret=session.header.secret, seed=session.header.seed)
    return await asyncio.to_thread(opening.write, deal, inputs, logs, Blinds(arena.secret, session.id))


async def _history(arena: Arena, session: Session) -> tuple[list[Input], list[list[Entry]]]:
    """All inputs and messages up to the end of a game."""
    end = (await arena.sessions.heads(session.id)).end or (WHOLE, WHOLE)
    channels = (operator_channel(session.id), player_channel(session.id))
    logs = [
        (await arena.sessions.tail(channel, WHOLE)).entries[:length]
        for channel, length in zip(channels, end, strict=True)
    ]
    return proof.played(await arena.sessions.inputs(session.id)), logs


async def _make(arena: Arena, session: Session, *, sealed: bool) -> bytes:
    inputs, logs = await _history(arena, session)
    now = arena.clock.now()
    strategies = [
        Counted(name=strategy.name, content_hash=_hash(inspect.getfile(type(strategy))))
        for strategy in arena.scorer.strategies(session.header.type)
    ]
    counts = (len(inputs), sum(map(len, logs)))
    first = proof.head(session, arena.settings.server, now, strategies, counts, sealed)
    key, blinds = await arena.signing.current(now), Blinds(arena.secret, session.id)
    # A long game has megabytes; others are not to wait for them.
    return await asyncio.to_thread(proof.write, first, inputs, logs, blinds, key.private)


@lru_cache(maxsize=256)
def _hash(source: str) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


def _refuse(code: str, words: str) -> bytes:
    raise Refused(code, words)
