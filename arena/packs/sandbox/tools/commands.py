"""Primitives that run something in the sandbox."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from arena.packs.sandbox.provider import Command, Finished
from arena.packs.sandbox.tools.bench import Bench, Done, ToolFailure
from arena.packs.sandbox.tools.data import ask
from arena.packs.sandbox.tree import WORKSPACE, NoFile

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


async def execute(bench: Bench, arguments: dict[str, Any]) -> Done:
    """A line for the shell."""
    return await _run(bench, Command.shell(arguments["command"]), arguments)


async def run_tests(bench: Bench, arguments: dict[str, Any]) -> Done:
    """The tests of the work directory: as the pack says, or as its files suggest."""
    given = bench.policy.get("test_command")
    path = arguments.get("path")
    if isinstance(given, str) and given.strip():
        return await _run(bench, Command.shell(given + (f" {shlex.quote(path)}" if path else "")), arguments)
    return await _run(bench, Command((*_first(_test_runners(bench), "tests"), *([path] if path else []))), arguments)


def _test_runners(bench: Bench) -> Iterator[tuple[str, ...]]:
    if _has(bench, "package.json"):
        yield ("npm", "test", "--silent", "--")
    if _has(bench, "go.mod"):
        yield ("go", "test")
    if _has(bench, "Cargo.toml"):
        yield ("cargo", "test", "--offline")
    if any(entry.path.endswith(".py") for entry in bench.tree):
        yield ("python3", "-m", "pytest", "-q")
    if _has(bench, "Makefile"):
        yield ("make", "test")


async def build(bench: Bench, arguments: dict[str, Any]) -> Done:
    """Build the work directory: as the pack says, or as its files suggest."""
    given = bench.policy.get("build_command")
    target = arguments.get("target")
    if isinstance(given, str) and given.strip():
        return await _run(bench, Command.shell(given + (f" {shlex.quote(target)}" if target else "")), arguments)
    return await _run(bench, Command((*_first(_builders(bench), "build"), *([target] if target else []))), arguments)


def _builders(bench: Bench) -> Iterator[tuple[str, ...]]:
    if _has(bench, "Makefile"):
        yield ("make",)
    if _has(bench, "package.json"):
        yield ("npm", "run", "build", "--silent", "--")
    if _has(bench, "go.mod"):
        yield ("go", "build", "./...")
    if _has(bench, "Cargo.toml"):
        yield ("cargo", "build", "--offline")
    if any(entry.path.endswith(".py") for entry in bench.tree):
        yield ("python3", "-m", "compileall", "-q", WORKSPACE)


def _has(bench: Bench, path: str) -> bool:
    try:
        return bench.tree.find(path).kind == "file"
    except NoFile:
        return False


def _first(found: Iterator[tuple[str, ...]], what: str) -> tuple[str, ...]:
    argv = next(found, None)
    if argv is None:
        raise ToolFailure(f"nothing in {WORKSPACE} says how to run its {what}")
    return argv


async def http_request(bench: Bench, arguments: dict[str, Any]) -> Done:
    """One request through the proxy, which checks every address."""
    method = arguments.get("method", "GET").upper()
    if method not in _METHODS:
        raise ToolFailure(f"method has to be one of {', '.join(_METHODS)}", "arguments")
    seconds = min(arguments.get("timeout_seconds", bench.limits.seconds), bench.limits.most_seconds)
    limit = bench.limits.output // 4
    request = {
        "url": arguments["url"],
        "method": method,
        "headers": arguments.get("headers", {}),
        "body": arguments.get("body", ""),
        "seconds": seconds,
        "bytes": limit,
    }
    output = 8 * limit + 128 * 1024
    return Done(await ask(bench, "fetch", request, network=bench.way, seconds=seconds, output=output))


async def _run(bench: Bench, command: Command, arguments: dict[str, Any]) -> Done:
    limit = bench.limits.output // 4
    seconds = arguments.get("timeout_seconds")
    done = await bench.run(replace(command, env=bench.env, network=bench.way, seconds=seconds, output=limit))
    if done.stopped:
        raise ToolFailure(_stopped(done), "limit")
    if done.lost:
        raise ToolFailure(f"nothing was kept: {done.lost}", "limit")
    return Done({"exit_code": done.code, "stdout": done.stdout.text, "stderr": done.stderr.text}, done.tree)


def _stopped(done: Finished) -> str:
    said = (done.stdout.text + done.stderr.text).strip()[-1000:]
    return f"the command was stopped: the limit of {done.stopped} was reached" + (f"\n{said}" if said else "")
