"""Rules for the sandbox and for who runs a pack by default."""

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_interface

from arena.packs.blocks import DeploymentDefaults, Sandbox
from arena.packs.errors import FieldError, InvalidPack
from arena.packs.rules.references import REQUIRED

Errors = Iterator[FieldError]

ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")
_CIDR = re.compile(r"(?:[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)/[0-9]{1,3}")


def check_sandbox(sandbox: Sandbox, path: str) -> Errors:
    """Networks, variables and packages must look like such."""
    for index, network in enumerate(sandbox.network_allowlist):
        if not is_cidr(network):
            yield FieldError(f"{path}.network_allowlist[{index}]", "must be a network in CIDR form, such as 10.0.0.0/8")
    for name in sandbox.env_vars:
        if not ENV_NAME.fullmatch(name):
            yield FieldError(f"{path}.env_vars[{name}]", "key must match [A-Za-z_][A-Za-z0-9_]*")
    for index, package in enumerate(sandbox.additional_packages):
        if not _PACKAGE.fullmatch(package):
            yield FieldError(f"{path}.additional_packages[{index}]", "must be a valid apt package name")


def is_cidr(text: str) -> bool:
    """Whether a text is an address and a prefix length, host bits allowed."""
    if not _CIDR.fullmatch(text):
        return False
    try:
        ip_interface(text)
    except ValueError:
        return False
    return True


def check_run_env(env_vars: Mapping[str, str], path: str = "version.sandbox") -> None:
    """Refuse values that look like placeholders, when a run starts: variables are literal."""
    bad = [name for name, value in env_vars.items() if "${" in value]
    if bad:
        raise InvalidPack(FieldError(f"{path}.env_vars[{name}]", "must not contain ${") for name in bad)


def check_defaults(defaults: DeploymentDefaults, path: str) -> Errors:
    """Aliases and lineups name deployments, and there is a default lineup."""
    for alias, selector in defaults.aliases.items():
        if not alias:
            yield FieldError(f'{path}.aliases["{alias}"]', "key is required")
        if not selector:
            yield FieldError(f'{path}.aliases["{alias}"]', "selector is required")
    if not defaults.lineups:
        yield FieldError(f"{path}.lineups", "needs a lineup named default")
        return
    if "default" not in defaults.lineups:
        yield FieldError(f"{path}.lineups.default", REQUIRED)
    for name, selectors in defaults.lineups.items():
        yield from _check_lineup(selectors, f'{path}.lineups["{name}"]')


def _check_lineup(selectors: list[str], path: str) -> Errors:
    if not selectors:
        yield FieldError(path, "must include at least one deployment selector")
    for index, selector in enumerate(selectors):
        if not selector:
            yield FieldError(f"{path}[{index}]", "selector is required")
