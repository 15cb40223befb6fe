"""Which sandbox this server has, and whether it will do for a pack."""

import os
from typing import NamedTuple

from arena.packs.blocks import Bundle
from arena.packs.errors import PackError
from arena.packs.rules.sandbox import check_run_env
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.docker import Docker
from arena.packs.sandbox.provider import Limits, NoSandbox, Sandbox, Way
from arena.settings import Settings

_TRIED: dict[tuple[type, str, str], str] = {}  # providers that work, and what they rely on; tried once per process

NATIVE = frozenset({"native", ""})  # an older bundle has no mode


class Choice(NamedTuple):
    """The sandbox of this server, or why it has none."""

    sandbox: Sandbox | None
    reason: str


def limits_of(settings: Settings) -> Limits:
    """What a command may use up, by the settings."""
    return Limits(
        seconds=settings.sandbox_seconds,
        memory=settings.sandbox_memory_bytes,
        disk=settings.sandbox_disk_bytes,
        files=settings.sandbox_files,
        processes=settings.sandbox_processes,
        output=settings.sandbox_output_bytes,
        most_seconds=max(settings.sandbox_seconds, settings.sandbox_most_seconds),
    )


def providers(settings: Settings) -> list[Sandbox]:
    """Those that the settings name, in the order in which they are tried."""
    limits, slots = limits_of(settings), settings.sandbox_slots
    bubblewrap = Bubblewrap(limits, readable=settings.sandbox_readable, network=settings.sandbox_network, slots=slots)
    docker = Docker(limits, image=settings.sandbox_image, slots=slots)
    by_name: dict[str, list[Sandbox]] = {
        "auto": [bubblewrap, docker],
        "bubblewrap": [bubblewrap],
        "docker": [docker],
        "none": [],
    }
    return by_name[settings.sandbox]


async def choose(settings: Settings) -> Choice:
    """The first provider that works."""
    reasons = []
    for provider in providers(settings):
        try:
            return Choice(provider, await _try(provider, settings.sandbox_image))
        except NoSandbox as error:
            reasons.append(str(error))
    return Choice(None, "; ".join(reasons) or "this server has sandboxes switched off (ARENA_SANDBOX=none)")


async def _try(provider: Sandbox, image: str) -> str:
    key = (type(provider), image, os.environ.get("PATH", ""))
    if key not in _TRIED:
        _TRIED[key] = await provider.probe()
    return _TRIED[key]


def way_of(bundle: Bundle) -> Way | None:
    """The network that a pack asks for."""
    sandbox = bundle.version.sandbox
    return Way(tuple(sandbox.network_allowlist)) if sandbox is not None and sandbox.network_access else None


def refusal(bundle: Bundle, choice: Choice) -> str:
    """Why a pack cannot be played on this server; nothing if it can. It is never run unconfined."""
    wanted = bundle.version.sandbox
    if bundle.version.execution_mode not in NATIVE and wanted is None:
        return ""
    if choice.sandbox is None:
        return f"this pack needs a sandbox, and there is none here: {choice.reason}"
    try:
        check_run_env(wanted.env_vars if wanted else {})
    except PackError as error:
        return str(error)
    return choice.sandbox.refuses(way_of(bundle), tuple(wanted.additional_packages) if wanted else ())
