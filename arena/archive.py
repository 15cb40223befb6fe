"""Archive: `arena export` writes results and games as ND-JSON, `arena import` reads them into another store."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from arena import catalog, verifying
from arena.archived import (
    LINE,
    Begin,
    GameLine,
    Line,
    ProfileLine,
    ResultLine,
    check_profile,
    check_result,
    entries_of,
    session_of,
)
from arena.errors import ArenaError, CannotStart, Invalid, Refused, Unreadable
from arena.logs import set_up_logging
from arena.models import SessionId, UserId, complaint
from arena.proof import played
from arena.proving import proof_of
from arena.recompute import check_store
from arena.recording import game_of
from arena.runtime import Arena, open_arena
from arena.server import shared_store_of
from arena.session import INPUT, Session
from arena.settings import Settings
from arena.store import index, keys
from arena.store.sessions import post
from arena.terminal import plural
from arena.turn import Event

PAGE = 500  # results, or sessions, that are read at a time


def export(settings: Settings, file: Path | None, type: str | None, *, games: bool) -> None:
    """Write what a store holds, of one challenge or of all."""
    set_up_logging("warning")
    check_store(settings)
    with ExitStack() as stack:
        store = stack.enter_context(shared_store_of(settings))
        out = sys.stdout.buffer if file is None else stack.enter_context(_open(file, "wb"))
        written = asyncio.run(_export(settings, store, out, type, games))
    _say(f"{_counted(written)} written")


async def _export(settings: Settings, store: str, out: BinaryIO, type: str | None, games: bool) -> Counter[str]:
    written: Counter[str] = Counter()
    async with open_arena(settings, catalog.load(settings.load), store) as arena:
        if type and type not in arena.catalog.challenges and not await arena.boards.games(type):
            raise CannotStart(f"There are no games of {type[:64]!r} here, and no such challenge.")
        async for line in _lines(arena, type, games):
            out.write(line.to_json() + b"\n")
            written[line.kind] += 1
    out.flush()
    return written


async def _lines(arena: Arena, type: str | None, games: bool) -> AsyncIterator[Line]:
    yield Begin(server=arena.settings.server, exported_at=arena.clock.now())
    for type_ in [type] if type else arena.catalog.challenges:
        told: set[UserId] = set()
        at = 0
        while results := await arena.boards.results(type_, at, PAGE):
            at += len(results)
            fresh = {user for result in results for user in result.player_identities.values()} - told
            told |= fresh
            for profile in (await arena.users.profiles(sorted(fresh))).values():
                yield ProfileLine(profile=profile)
            for result in results:
                yield ResultLine(result=result)
        if games:
            async for id_ in _sessions(arena, type_):
                line = await _game(arena, id_)
                if line is not None:
                    yield line


async def _sessions(arena: Arena, type: str) -> AsyncIterator[SessionId]:
    """The public sessions of a type, from old to new."""
    listed, at = index.name(type), 0
    while found := await arena.nodes.run(listed, "ZRANGE", listed, at, at + PAGE - 1):
        at += len(found)
        for id_ in found:
            yield SessionId(id_.decode())


async def _game(arena: Arena, id_: SessionId) -> GameLine | None:
    try:
        session = await arena.sessions.load(id_)
        if session is None:
            return None
        line = await game_of(arena, session)
        return line if line.inputs is None else line.model_copy(update={"record": await _record(arena, session)})
    except Unreadable:
        return None


async def _record(arena: Arena, session: Session) -> str | None:
    """The signed record of a game that is written whole, if it has one."""
    try:
        return (await proof_of(arena, session, keep=False)).decode()
    except Refused:
        return None


def import_(settings: Settings, file: Path | None) -> None:
    """Read an archive into a store, and count what is new."""
    set_up_logging("warning")
    with ExitStack() as stack:
        source = sys.stdin.buffer if file is None else stack.enter_context(_open(file, "rb"))
        store = stack.enter_context(shared_store_of(settings))
        taken = asyncio.run(_import(settings, store, source))
    _say(f"{_counted(taken)} taken in, {taken['known']} known already, {taken['unfinished']} unfinished left out")


async def _import(settings: Settings, store: str, source: Iterable[bytes]) -> Counter[str]:
    taken: Counter[str] = Counter()
    types: set[str] = set()
    async with open_arena(settings, catalog.load(settings.load, settings.config), store) as arena:
        for number, text in enumerate(source, 1):
            try:
                line = LINE.validate_json(text, extra="ignore")
                if number == 1 and not isinstance(line, Begin):
                    raise CannotStart("This is no archive of an arena: the first line says nothing of it.")
                taken[await _take(arena, line)] += 1
            except ValidationError as error:
                raise CannotStart(f"line {number} is not understood: {complaint(error)}") from None
            except ArenaError as error:
                raise CannotStart(f"line {number} is not taken: {error}") from None
            if isinstance(line, ResultLine):
                types.add(line.result.challenge_type)
        for type_ in types & set(arena.catalog.challenges):
            await arena.scorer.catch_up(type_)
    return taken


async def _take(arena: Arena, line: Line) -> str:
    """Write one line to the store, unless it is there; says what became of it."""
    match line:
        case Begin():
            return line.kind
        case ProfileLine(profile=profile):
            check_profile(profile)
            if await arena.users.profiles([profile.user_id]):
                return "known"
            told = profile.model_dump(include={"username", "model"}, exclude_none=True)
            await arena.users.update(profile.user_id, told, arena.clock.now())
            return line.kind
        case ResultLine(result=result):
            check_result(result)
            known = await arena.boards.has(result)
            await arena.boards.append(result)
            for entrant in (result.entrants or {}).values():
                await arena.engine.agents.note(entrant, "NX")
            return "known" if known else line.kind
        case GameLine():
            session = session_of(line)
            if session is None:
                return "unfinished"
            check_record(line)
            return line.kind if await _restore(arena, line, session) else "known"


async def _restore(arena: Arena, line: GameLine, session: Session) -> bool:
    """Put a game into the store as it was at its end."""
    operator, player = entries_of(line)
    inputs = [INPUT.dump_json(one, by_alias=True, exclude_none=True) for one in line.inputs or ()]
    names = keys.of(session.id)
    invites = [keys.invite(code) for code in session.header.invites]
    restored = await arena.nodes.script(
        "restore",
        [names.session, names.inputs, names.operator_log, names.player_log, *invites],
        session.id,
        session.tag,
        session.version,
        session.header.to_json(),
        session.standing.to_json(),
        session.game,
        " ".join([*session.standing.players, *session.standing.attendants]),
        session.standing.completed_at or 0,
        len(inputs),
        len(operator),
        len(player),
        *inputs,
        *(entry.pack() for entry in (*operator, *player)),
    )
    if restored and line.record is not None:
        await arena.sessions.keep_proof(session.id, line.record.encode())
    event = post(Event("ended"), session, session.header.created_at)
    await arena.index.take(event)
    return bool(restored)


def check_record(line: GameLine) -> None:
    """Refuse a game with a record that is none, or one of another game."""
    if line.record is None:
        return
    record, findings = verifying.check(line.record.encode())
    if record is None:
        raise Invalid(f"game {line.challenge.id}: its record is not right: {findings[-1].words}")
    if record.game.result != line.result or record.changes != played(line.inputs or ()):
        raise Invalid(f"game {line.challenge.id}: its record is of another game")


def _open(file: Path, mode: str) -> BinaryIO:
    try:
        return file.open(mode)  # type: ignore[return-value]
    except OSError as error:
        raise CannotStart(f"{file} cannot be opened: {error.strerror}.") from None


def _counted(lines: Counter[str]) -> str:
    names = {"result": ("result", "results"), "game": ("game", "games"), "profile": ("profile", "profiles")}
    return ", ".join(plural(lines[kind], *words) for kind, words in names.items())


def _say(words: str) -> None:
    """Tell people; the output may be the archive itself."""
    print(words, file=sys.stderr)  # noqa: T201
