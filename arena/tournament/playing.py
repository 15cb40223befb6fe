"""Playing a file to its report: on a server of our own or on one that is running, from wherever it stands."""

import asyncio
import hashlib
import itertools
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer
import uvloop

from arena import files
from arena.errors import CannotStart
from arena.options import settings_of
from arena.settings import Settings
from arena.tournament import hosting, report_text, screen
from arena.tournament.entry import Phase
from arena.tournament.hosting import Host
from arena.tournament.report import report as report_of
from arena.tournament.runner import Runner, players_of
from arena.tournament.setup import Setup, read

STOPPED = 3  # exit code of a tournament whose budget is used up
INTERRUPTED = 130
POLL = 0.3  # seconds between looks at how it stands


def _json(told: dict[str, Any]) -> str:
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


WRITERS = {"md": report_text.markdown, "html": report_text.html, "json": _json}


def key_of(setup: Setup) -> str:
    """What makes two files the same tournament: all but how much of it is played at a time, and how far."""
    told = {name: value for name, value in setup.plain().items() if name not in {"concurrency", "budget"}}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def folder_of(file: Path, data: Path | None) -> Path:
    """Where the games and reports of a file are kept."""
    return data or file.with_suffix(".tournament")


def begin(
    file: Path,
    url: str | None,
    data: Path | None,
    token: str | None,
    port: int,
    load: list[str] | None,
    as_json: bool,
    *,
    fresh: bool = False,
) -> int:
    """Play a file, or go on with it; the exit code."""
    setup, folder = read(file), folder_of(file, data)
    settings = settings_of(load).model_copy(update={"port": port})
    play = Play(setup, file, folder, settings, as_json, fresh)
    with (
        nullcontext() if url else hosting.own_store(settings, folder) as store,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        try:
            return runner.run(play.there(Host(url, token)) if url else play.here(store or ""))
        except (KeyboardInterrupt, asyncio.CancelledError):
            where = f" --url {url}" if url else f" --data {data}" if data else ""
            typer.echo(f"\nStopped. Go on with: arena tournament run {file}{where}", err=True)
            return INTERRUPTED


class Play:
    """One call of `run`: the file on a server, from wherever it stands."""

    def __init__(self, setup: Setup, file: Path, folder: Path, settings: Settings, as_json: bool, fresh: bool) -> None:
        self.setup = setup
        self.file = file
        self.folder = folder
        self.settings = settings
        self.as_json = as_json
        self.fresh = fresh
        self.players = players_of(setup, settings.load) if any(not agent.is_ours for agent in setup.agents) else {}

    async def here(self, store: str) -> int:
        """Play on a server of our own."""
        async with hosting.own_server(self.settings, store, self.folder) as host:
            return await self._play(host)

    async def there(self, host: Host) -> int:
        """Play on a server that is running."""
        return await self._play(host)

    async def _play(self, host: Host) -> int:
        told = await self._found(host)
        games = told["games"]
        if told["phase"] != Phase.FINISHED and (told["phase"] != Phase.RUNNING or games["played"] + games["playing"]):
            told = await host.ask("POST", "tournaments", told["id"], "resume", body=self._changed())
        scene = screen.Scene(host.url, told, quiet=self.as_json)
        running = asyncio.create_task(self._run_agents(host, told["id"]), name="agents")
        try:
            with scene:
                while told["phase"] == Phase.RUNNING:
                    await asyncio.wait([running], timeout=POLL)
                    if running.done() and self.players:
                        running.result()
                    if running.done():
                        await asyncio.sleep(POLL)
                    told = await host.ask("GET", "tournaments", told["id"])
                    scene.show(told)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        await self._report(host, told["id"])
        return 0 if told["phase"] == Phase.FINISHED else STOPPED

    async def _found(self, host: Host) -> dict[str, Any]:
        """The tournament of the file, new or begun before; if it is to be played again, the first not yet finished."""
        for number in itertools.count():
            key = key_of(self.setup) + (f".{number}" if number else "")
            told: dict[str, Any] = await host.ask("POST", "tournaments", body={"setup": self._sent(), "key": key})
            if not self.fresh or told["phase"] != Phase.FINISHED:
                break
        return told

    async def _run_agents(self, host: Host, id_: str) -> None:
        if self.players:
            signs = await host.must_sign()
            await Runner(host.url, id_, self.setup, self.players, signs=signs).run(host.ask)

    def _sent(self) -> dict[str, Any]:
        """The file as a server may know it: commands and models stay here."""
        told = self.setup.plain()
        told["agents"] = [_as_remote(agent) for agent in told["agents"]]
        return told

    def _changed(self) -> dict[str, Any]:
        budget = self.setup.budget.model_dump(mode="json", exclude_none=True)
        return {"budget": budget, "concurrency": self.setup.concurrency}

    async def _report(self, host: Host, id_: str) -> None:
        told = await host.ask("GET", "tournaments", id_, "report")
        told["again"]["file"] |= {"agents": self.setup.plain()["agents"]}
        files.make_folder(self.folder)
        for form, write in WRITERS.items():
            files.write(self.folder / f"report.{form}", write(told).encode())
        if self.as_json:
            typer.echo(_json(told), nl=False)
        else:
            typer.echo(screen.summary(told["tournament"]))
            typer.echo(f"Reports: {self.folder}/report.md, report.html and report.json")


def _as_remote(agent: dict[str, Any]) -> dict[str, Any]:
    if "bot" in agent:
        return agent
    kept = {name: value for name, value in agent.items() if name not in {"cmd", "model"}}
    return {**kept, "remote": "a program" if "cmd" in agent else f"model {agent['model']}"}


def told_of(which: str, url: str | None, data: Path | None) -> dict[str, Any]:
    """The report of a tournament from wherever it is."""
    if url is not None:
        return _asked(Host(url), which)
    file = Path(which)
    setup, folder = read(file), folder_of(file, data)
    if (host := hosting.playing_host(folder)) is not None:
        listed = asyncio.run(host.ask("GET", "tournaments"))["tournaments"]
        return _asked(host, listed[0]["id"])
    if not folder.is_dir():
        raise CannotStart(f"There is no tournament in {folder}; `arena tournament run {which}` begins it.")
    settings = settings_of(None)
    with hosting.own_store(settings, folder) as store:
        entry = asyncio.run(hosting.stored(settings, store, key_of(setup)))
    told = report_of(entry)
    told["again"]["file"] |= {"agents": setup.plain()["agents"]}
    return told


def _asked(host: Host, id_: str) -> dict[str, Any]:
    told: dict[str, Any] = asyncio.run(host.ask("GET", "tournaments", id_, "report"))
    return told
