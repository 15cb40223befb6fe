"""`python -m benchmarks`: measure the arena on this machine, beside raw baselines in the same run."""

import os
import resource
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
import uvloop

from benchmarks import report, servers
from benchmarks.calls import calls
from benchmarks.dead import dead_reader
from benchmarks.games import FRAMES, games
from benchmarks.gauge import Row
from benchmarks.relay import fan_out, rooms, streams
from benchmarks.rest import rest
from benchmarks.servers import Cores, Server

ROOMS, SPECTATORS = 200, 2
SESSIONS = 200
TABLES = 64


class Mode(StrEnum):
    """What can be measured."""

    FAN_OUT = "fan-out"
    SSE = "sse"
    DEAD_READER = "dead-reader"
    ROOMS = "rooms"
    ACTIONS = "actions"
    CHAT = "chat"
    GAMES = "games"
    REST_ACTIONS = "rest-actions"
    REST_SYNC = "rest-sync"
    REST_GAMES = "rest-games"


class Load(NamedTuple):
    """How much of it."""

    seconds: float
    subscribers: int
    window: int


Measure = Callable[[Server], Awaitable[Row]]


def main(
    modes: Annotated[list[Mode] | None, typer.Argument(help="All of them if none is named.")] = None,
    seconds: Annotated[float, typer.Option(help="Of each measurement, after a warm-up of one second.")] = 5.0,
    subscribers: Annotated[int, typer.Option(help="Spectators of the fan-out.")] = 1_000,
    window: Annotated[int, typer.Option(help="Messages in flight in the fan-out.")] = 8,
    workers: Annotated[int, typer.Option(help="Of the arena; the baseline has one.")] = 1,
    json: Annotated[Path | None, typer.Option(help="Write the rows here, too.")] = None,
) -> None:
    """Measure this machine; any message lost, doubled, changed or out of order makes the exit code 1."""
    allow_files()
    cores = servers.share_out(workers)
    if cores.generator:
        os.sched_setaffinity(0, cores.generator)
    rows = list[Row]()
    for mode in modes or list(Mode):
        row, base = measure_both(mode, Load(seconds, subscribers, window), cores, workers)
        report.compare(row, base)
        rows += [row, base]
    report.show(rows, cores, workers)
    if json is not None:
        json.write_bytes(report.as_json(rows, cores, workers))
    sys.exit(0 if all(row.valid for row in rows) else 1)


def measure_both(mode: Mode, load: Load, cores: Cores, workers: int) -> tuple[Row, Row]:  # noqa: PLR0911
    """The arena, and what it is compared with."""
    match mode:
        case Mode.DEAD_READER:  # with it and without, on one server
            with servers.arena(cores, workers) as server:
                return uvloop.run(dead_reader(server, *load))
        case Mode.SSE:
            base = measure_arena(lambda server: fan_out(server, *load), cores, workers)
            base = replace(base, mode=mode.value, server="baseline", what=f"our own WebSocket: {base.what}")
            return measure_arena(lambda server: streams(server, *load), cores, workers), base
        case Mode.FAN_OUT:
            return beside_baseline(lambda server: fan_out(server, *load), cores, workers)
        case Mode.ROOMS:
            return beside_baseline(lambda server: rooms(server, load.seconds, ROOMS, SPECTATORS), cores, workers)
        case Mode.ACTIONS | Mode.CHAT:
            return beside_baseline(lambda server: calls(server, load.seconds, mode.value, SESSIONS), cores, workers)
        case Mode.GAMES:
            return beside_baseline(lambda server: play(server, load.seconds), cores, workers)
        case Mode.REST_ACTIONS | Mode.REST_SYNC | Mode.REST_GAMES:
            return beside_baseline(lambda server: rest(server, load.seconds, mode.value, TABLES), cores, workers)


def play(server: Server, seconds: float) -> Awaitable[Row]:
    """Whole games, or as many echoes as a game has frames."""
    if server.name == "arena":
        return games(server, seconds, TABLES)
    return calls(server, seconds, "games", TABLES, each=FRAMES)


def beside_baseline(measure: Measure, cores: Cores, workers: int) -> tuple[Row, Row]:
    """The arena, and a baseline that does the same work with less behind it."""
    with servers.baseline(cores) as server:
        base = uvloop.run(wait_for(measure, server))
    return measure_arena(measure, cores, workers), base


def measure_arena(measure: Measure, cores: Cores, workers: int) -> Row:
    """The arena alone."""
    with servers.arena(cores, workers) as server:
        return uvloop.run(wait_for(measure, server))


async def wait_for(measure: Measure, server: Server) -> Row:
    """The row of a server."""
    return await measure(server)


def allow_files() -> None:
    """As many connections as the system lets us have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    typer.run(main)
