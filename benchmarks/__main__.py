"""`python -m benchmarks`: measure the arena on this machine, beside raw baselines in the same run."""

import os
import resource
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from benchmarks import report, servers
from benchmarks.calls import calls
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
    ROOMS = "rooms"
    ACTIONS = "actions"
    CHAT = "chat"
    GAMES = "games"
    REST_ACTIONS = "rest-actions"
    REST_SYNC = "rest-sync"
    REST_GAMES = "rest-games"


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
        measure = choose(mode, seconds, subscribers, window)
        if mode is Mode.SSE:
            base = over_websocket(choose(Mode.FAN_OUT, seconds, subscribers, window), cores, workers)
        else:
            with servers.baseline(cores) as server:
                base = uvloop.run(wait_for(measure, server))
        with servers.arena(cores, workers) as server:
            row = uvloop.run(wait_for(measure, server))
        report.compare(row, base)
        rows += [row, base]
    report.show(rows, cores, workers)
    if json is not None:
        json.write_bytes(report.as_json(rows, cores, workers))
    sys.exit(0 if all(row.valid for row in rows) else 1)


def choose(mode: Mode, seconds: float, subscribers: int, window: int) -> Measure:
    """The measurement of a mode."""
    match mode:
        case Mode.FAN_OUT:
            return lambda server: fan_out(server, seconds, subscribers, window)
        case Mode.SSE:
            return lambda server: streams(server, seconds, subscribers, window)
        case Mode.ROOMS:
            return lambda server: rooms(server, seconds, ROOMS, SPECTATORS)
        case Mode.ACTIONS | Mode.CHAT:
            return lambda server: calls(server, seconds, mode.value, SESSIONS)
        case Mode.GAMES:
            return lambda server: (
                games(server, seconds, TABLES)
                if server.name == "arena"
                else calls(server, seconds, "games", TABLES, each=FRAMES)
            )
        case Mode.REST_ACTIONS | Mode.REST_SYNC | Mode.REST_GAMES:
            return lambda server: rest(server, seconds, mode.value, TABLES)


def over_websocket(measure: Measure, cores: Cores, workers: int) -> Row:
    """What event streams are compared with: the arena's own fan-out."""
    with servers.arena(cores, workers) as server:
        row = uvloop.run(wait_for(measure, server))
    return replace(row, mode=Mode.SSE.value, server="baseline", what=f"our own WebSocket: {row.what}")


async def wait_for(measure: Measure, server: Server) -> Row:
    """The row of a server."""
    return await measure(server)


def allow_files() -> None:
    """As many connections as the system lets us have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    typer.run(main)
