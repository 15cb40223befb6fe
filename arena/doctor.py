"""Doctor: whether this machine, these settings and their store will do; looks at everything and changes nothing."""

import asyncio
import ipaddress
import json
import logging
import os
import platform
import resource
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import typer

from arena import catalog, client, config, server, supervisor
from arena.errors import ArenaError, CannotStart
from arena.llm.routes import Route
from arena.packs.sandbox.choice import providers
from arena.packs.sandbox.provider import NoSandbox
from arena.settings import UNIX, Settings, is_loopback
from arena.store import keys
from arena.store.nodes import Nodes
from arena.store.program import binary
from arena.terminal import harmless

FILES = 4096  # open files: every connection is one
LITTLE = 2**30  # bytes free on a disk
FAR = 1.0  # seconds between two clocks


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


class Finding(NamedTuple):
    """What one check found."""

    level: Level
    check: str
    text: str
    hint: str = ""


def ok(check: str, text: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, check, text)


def warn(check: str, text: str, hint: str) -> Finding:
    """It will work, up to a point."""
    return Finding(Level.WARN, check, text, hint)


def fail(check: str, text: str, hint: str) -> Finding:
    """It will not work."""
    return Finding(Level.FAIL, check, text, hint)


def examine(settings: Settings) -> list[Finding]:
    """All findings, in the order in which one would mend them."""
    logging.disable()  # what is wrong is a finding, and told once
    checks: dict[str, Callable[[], Iterable[Finding]]] = {
        "python": python,
        "settings": lambda: permitted(settings),
        "store": lambda: asyncio.run(_all(remote(settings.store))) if settings.store else own(settings),
        "port": lambda: port(settings),
        "plugins": lambda: plugins(settings),
        "models": lambda: models(settings),
        "sandbox": lambda: asyncio.run(_all(sandboxes(settings))),
        "system": lambda: system(own_store=settings.store is None),
    }
    findings: list[Finding] = []
    for name, check in checks.items():
        try:
            findings += check()
        except Exception as error:  # a check that breaks down is a finding too
            findings.append(fail(name, f"could not be checked: {type(error).__name__}: {error}", "please report this"))
    return findings


def exit_code(findings: Iterable[Finding]) -> int:
    """0 if nothing failed."""
    return int(any(finding.level is Level.FAIL for finding in findings))


def as_line(finding: Finding) -> str:
    """For people."""
    level = typer.style(f"{finding.level:<4}", fg=COLOURS[finding.level])
    hint = f"; {finding.hint}" if finding.hint else ""
    return f"{level}  {finding.check:<12} {harmless(finding.text + hint, 1000)}"


def as_json(findings: Iterable[Finding]) -> str:
    """For programs."""
    found = list(findings)
    return json.dumps({"ok": exit_code(found) == 0, "findings": [f._asdict() for f in found]}, indent=2)


def python() -> Iterator[Finding]:
    """The interpreter."""
    version = f"{platform.python_implementation()} {platform.python_version()}"
    if tuple(map(int, platform.python_version_tuple()[:2])) < (3, 11):
        yield fail("python", version, "install Python 3.11 or newer")
    else:
        yield ok("python", version)


def permitted(settings: Settings) -> Iterator[Finding]:
    """Whether the server would accept these settings."""
    try:
        server.check(settings)
    except CannotStart as reason:
        yield fail("settings", str(reason), "the server would not start")
    else:
        yield ok("settings", f"host {settings.host}, port {settings.port}, workers {settings.workers}")
    yield readers(settings)
    yield from believed(settings)


def readers(settings: Settings) -> Finding:
    """Who may read the metrics."""
    if settings.metrics == "off":
        return ok("metrics", "off")
    if settings.metrics_token:
        return ok("metrics", "for whoever shows the token")
    if settings.metrics is None:
        return ok("metrics", "for this machine" if is_loopback(settings.host) else "off, since others reach this host")
    if is_loopback(settings.host):
        return ok("metrics", "on")
    return warn("metrics", "whoever reaches the server may read them", "set ARENA_METRICS_TOKEN")


def believed(settings: Settings) -> Iterator[Finding]:
    """Whose word about a client's address is taken."""
    for network in settings.trusted_proxies:
        if network != UNIX and ipaddress.ip_network(network).prefixlen == 0:
            hint = "name your proxies in ARENA_TRUSTED_PROXIES, or anybody has any address it likes"
            yield warn("proxies", f"{network} is everybody", hint)
            return
    if settings.trusted_proxies:
        yield ok("proxies", f"{settings.proxy_header} of {', '.join(settings.trusted_proxies)} is believed")


def own(settings: Settings) -> Iterator[Finding]:
    """The store that a server starts by itself: its program, its directory, and whether it runs."""
    try:
        program = binary()
    except CannotStart as reason:
        yield fail("store", str(reason), "see above")
    else:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
        says = told.stdout.strip()
        yield (
            ok("store", f"{says} ({program})")
            if says
            else fail(
                "store", f"{program} does not run: {told.stderr.strip()}", "install valkey-server or give --store"
            )
        )
    yield from directory(settings.data)
    try:
        running = server.running_store(settings.data)
    except CannotStart as reason:
        yield warn("data", str(reason), "look again in a moment")
        return
    if running is not None:
        yield from asyncio.run(_all(remote(running.url)))


def directory(data: Path) -> Iterator[Finding]:
    """The data directory, or where it would be made."""
    there = next(path for path in (data.absolute(), *data.absolute().parents) if path.exists())
    if not there.is_dir():
        yield fail("data", f"{there} is not a directory", "choose another with --data")
        return
    if not os.access(there, os.W_OK | os.X_OK):
        yield fail("data", f"{there} cannot be written to", "change its owner, or choose another with --data")
        return
    free = shutil.disk_usage(there).free
    owner = server.owner_of(data)
    if owner is not None:
        yield warn(
            "data", f"{data} is in use by a server (pid {owner})", "fine if that is yours; a second needs --data"
        )
    elif free < LITTLE:
        yield warn("data", f"{data} has {free / 2**20:.0f} MiB left", "make room: a full disk stops the store")
    else:
        yield ok("data", f"{data} ({'' if there == data.absolute() else 'not there yet, '}{free / 2**30:.0f} GiB free)")


async def remote(url: str) -> AsyncIterator[Finding]:
    """A store that runs."""
    nodes = Nodes(url, timeout=5, patience=1)
    try:
        await nodes.connect()
        info: dict[str, Any] = await nodes.of(keys.META).client.info()
        kind = f"cluster of {len(nodes.all)} primaries" if info.get("cluster_enabled") else "single server"
        name = info.get("server_name", "redis")
        version = info.get(f"{name}_version") or info["redis_version"]
        yield ok("store", f"{name} {version} at {nodes.shown}, {kind}")
        yield await schema(nodes)
        yield durability(info)
        if info.get("maxmemory") and info.get("maxmemory_policy") != "noeviction":
            policy = f"maxmemory-policy is {info['maxmemory_policy']}: a full store would forget games"
            yield fail("memory", policy, "set maxmemory-policy noeviction")
        offset = await nodes.clock_offset()
        yield (
            ok("clock", f"{offset * 1000:+.0f} ms from here to the store")
            if abs(offset) < FAR
            else warn("clock", f"the store's clock is {offset:+.1f} s off ours", "synchronise both with NTP")
        )
    except (CannotStart, ArenaError, OSError) as reason:
        yield fail("store", str(reason), "start it, or correct --store or ARENA_STORE")
    finally:
        await nodes.close()


async def schema(nodes: Nodes) -> Finding:
    """Whether what is in the store is of our kind."""
    found = await nodes.run(keys.META, "HGET", keys.META, "schema")
    if found is None:
        return ok("schema", "none yet; the first server makes it")
    if found.decode() != keys.SCHEMA:
        trouble = f"{found.decode()}, and this version has {keys.SCHEMA}"
        return fail("schema", trouble, "use the version of the arena that wrote it, or another store")
    return ok("schema", keys.SCHEMA)


def durability(info: dict[str, Any]) -> Finding:
    """What is left of an answered move when the store dies."""
    replicas = int(info.get("connected_slaves", 0))
    if info.get("aof_enabled"):
        if info.get("aof_last_write_status", "ok") != "ok":
            return fail("durability", "the store cannot write its append-only file", "look at its log and its disk")
        return ok("durability", f"append-only file on, replicas: {replicas}")
    if replicas:
        return ok("durability", f"no append-only file, replicas: {replicas}")
    return warn("durability", "neither append-only file nor replica: a crash loses games", "set appendonly yes")


def port(settings: Settings) -> Iterator[Finding]:
    """Whether the port is free, and if not whether it is an arena that has it."""
    try:
        supervisor.bind(settings.host, settings.port).close()
    except CannotStart as reason:
        found = asyncio.run(_who_listens(settings))
        if found is None:
            yield fail("port", str(reason), "or end what listens there")
        else:
            yield warn("port", f"{settings.port} is in use by {harmless(found)}", "fine if that is yours")
    else:
        yield ok("port", f"{settings.port} on {settings.host} is free" if settings.port else "any free one")


async def _who_listens(settings: Settings) -> str | None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        async with asyncio.timeout(3), client.client(f"ws://{host}:{settings.port}/ws") as guest:
            return str(guest.welcome.get("server"))
    except Exception:  # whatever it is, it does not speak our language
        return None


def plugins(settings: Settings) -> Iterator[Finding]:
    """What loads and what does not."""
    try:
        found = catalog.load(settings.load, settings.config)
    except CannotStart as error:
        yield fail("configuration", str(error), "mend the file, or start without --config")
        found = catalog.load(settings.load)
    for kind, names in {
        "challenges": [f"{name} ({_bots(c)})" for name, c in found.challenges.items()],
        "strategies": [*found.strategies, *found.global_strategies],
    }.items():
        listed = ", ".join(sorted(names))
        yield ok(kind, listed) if names else fail(kind, "none", "reinstall the arena, or name a module with --load")
    for name, reason in found.broken.items():
        yield fail("plugin", f"{name} does not load: {reason}", "mend or uninstall it; the server runs without it")


def _bots(challenge: catalog.ChallengeType) -> str:
    try:
        return f"bots: {', '.join(challenge.bots) or 'none'}"
    except Exception as error:  # a plugin may raise anything
        return f"bots do not load: {type(error).__name__}"


async def sandboxes(settings: Settings) -> AsyncIterator[Finding]:
    """Where the tools of challenge packs would run."""
    wanted = providers(settings)
    if not wanted:
        yield ok("sandbox", "off: native challenge packs are refused")
        return
    works = False
    for provider in wanted:
        try:
            yield ok("sandbox", f"{provider.name}{' works too' if works else ''}: {await provider.probe()}")
            works = True
        except NoSandbox as reason:
            if not works and provider is wanted[-1]:
                hint = (
                    "native challenge packs are refused; install bubblewrap, or set ARENA_SANDBOX=none if you have none"
                )
                yield warn("sandbox", str(reason), hint)
            elif not works:
                yield warn("sandbox", str(reason), "the next one is tried")


def models(settings: Settings) -> Iterator[Finding]:
    """Which language models can be asked; nobody is asked now, for that costs money."""
    try:
        told = config.read(settings.config).models
    except CannotStart:
        return  # a finding already
    if not told.routes:
        yield ok("models", "no routes: judges and simulated users that need one are unavailable")
    for route in told.routes:
        yield _route(route)


def _route(route: Route) -> Finding:
    shown = f"{route.match} by {route.address}"
    if route.key_env and not os.environ.get(route.key_env):
        return warn("models", f"{shown}: {route.key_env} is not set", "put the key into that variable")
    address = urlsplit(route.address)
    if route.key_env and address.scheme == "http" and not is_loopback(address.hostname or ""):
        return warn("models", f"{shown}: the key goes there in the clear", "use https")
    return ok("models", shown)


def system(*, own_store: bool) -> Iterator[Finding]:
    """Limits of the operating system."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < FILES:
        yield warn("open files", f"{files} per process", f"ulimit -n {FILES * 16}, or LimitNOFILE= in a systemd unit")
    else:
        yield ok("open files", "unlimited" if files == resource.RLIM_INFINITY else f"{files} per process")
    backlog = _kernel("net/core/somaxconn")
    if backlog is not None and backlog < supervisor.BACKLOG:
        hint = f"sysctl -w net.core.somaxconn={supervisor.BACKLOG}"
        yield warn("somaxconn", f"{backlog}: bursts of connections are turned away", hint)
    elif backlog is not None:
        yield ok("somaxconn", str(backlog))
    overcommit = _kernel("vm/overcommit_memory") if own_store else None
    if overcommit is not None and overcommit != 1:
        trouble = f"{overcommit}: the store may fail to rewrite its file when memory is short"
        yield warn("overcommit", trouble, "sysctl -w vm.overcommit_memory=1")
    elif overcommit is not None:
        yield ok("overcommit", str(overcommit))


def _kernel(name: str) -> int | None:
    """A setting of the Linux kernel; other systems have none of that name."""
    try:
        return int(Path("/proc/sys", name).read_text())
    except (OSError, ValueError):
        return None


async def _all(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]
