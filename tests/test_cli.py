"""The command line: what a person gets who does it right, and who does it wrong."""

import asyncio
import hmac
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from typer.testing import CliRunner

from arena.cli import app
from arena.client import client
from arena.identity import Identity
from arena.settings import Settings
from arena.version import __version__
from tests.commands import arena, call, environment
from tests.servers import Process
from tests.valkeys import eventually


def commands(of: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command that there is, groups included."""
    yield words
    for name, command in getattr(of, "commands", {}).items():
        yield from commands(command, (*words, name))


def test_the_version_is_told() -> None:
    assert arena("--version").out == f"arena {__version__}\n"


def test_bare_arena_shows_what_there_is() -> None:
    done = arena()

    assert done.code == 0
    assert re.findall(r"^│ (\w+) ", done.out.partition("Commands")[2], re.MULTILINE) == [
        "serve", "demo", "doctor", "watch", "export", "import", "play", "simulate", "queue", "record", "verify", "gate",
        "scoring", "identity", "challenges", "chat", "users",
        "pack", "eval", "tournament", "baseline", "compare", "challenge", "seed", "signing",
    ]  # fmt: skip


@pytest.mark.parametrize("command", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_every_command_has_help(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*command, "--help"])

    assert done.exit_code == 0
    assert "Usage" in done.output


def test_the_help_of_serve_names_the_variables_and_defaults() -> None:
    told = call("serve", "--help").out

    for name in ("HOST", "PORT", "WORKERS", "STORE", "DATA", "AUTH", "LOAD", "LOG_FORMAT", "METRICS"):
        assert f"ARENA_{name}" in told
    assert "Default: 3001" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--port", "70000"], "65535"),
        (["serve", "--port", "many"], "integer"),
        (["serve", "--workers", "0"], "1"),
        (["serve", "--auth", "maybe"], "open"),
        (["serve", "--store", "http://localhost"], "redis://"),
        (["serve", "--colour", "blue"], "--colour"),
        (["serve", "everything"], "everything"),
        (["dance"], "dance"),
        (["demo", "--tables", "0"], "--tables"),
        (["demo", "--seconds", "soon"], "--seconds"),
        (["doctor", "--port", "-1"], "--port"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_in_one_line(arguments: list[str], words: str) -> None:
    done = call(*arguments)

    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("arena: ")
    assert done.err.count("\n") == 1
    assert words in done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARENA_LIMIT_FRAME_BYTES", "a few"),
        ("ARENA_LIMIT_FRAME_BYTES", "-1"),
        ("ARENA_LOG_LEVEL", "loud"),
        ("ARENA_LOG_FORMAT", "xml"),
        ("ARENA_METRICS", "perhaps"),
        ("ARENA_TRUSTED_PROXIES", "10.0.0.1,my-proxy"),
        ("ARENA_TRUSTED_PROXIES", "10.0.0.1/8"),
        ("ARENA_FSYNC", "never"),
        ("ARENA_PORT", "99999"),
        ("ARENA_AUTH", "maybe"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str) -> None:
    done = call("serve", env={name: value})

    assert done.code == 2
    assert done.err.count("\n") == 1
    assert name in done.err


def test_a_password_in_a_bad_store_url_is_not_repeated() -> None:
    done = arena("serve", "--store", "http://user:sesame@localhost")

    assert done.code == 2
    assert "sesame" not in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--auth", "required"], "AUTH_SECRET"),
        (["--host", "0.0.0.0"], "--auth open"),
        (["--host", "no.such.host.invalid", "--auth", "open"], "not known"),
        (["--store", "redis://127.0.0.1:1"], "cannot be reached"),
        (["--store", "unix:///no/such/socket"], "cannot be reached"),
        (["--store", "redis://:sesame@127.0.0.1:1"], "redis://127.0.0.1:1"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_server_that_cannot_start_says_why(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = call("serve", "--port", "0", "--data", tmp_path, *arguments, env={"ARENA_LOG_LEVEL": "warning"})

    assert done.code == 1
    assert done.err.startswith("arena: ")
    assert done.err.count("\n") == 1
    assert words in done.err
    assert "sesame" not in done.err


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_data_directory_that_is_a_file_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = call(command, "--port", "0", "--data", tmp_path / "file")

    assert done.code == 1
    assert "is not a directory" in done.err


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        served = arena("serve", "--port", port, "--data", tmp_path)
        shown = arena("demo", "--port", port, "--no-browser")

    for done in (served, shown):
        assert done.code == 1
        assert done.err == f"arena: Port {port} on 127.0.0.1 is in use; choose another with --port\n"


def test_a_second_server_on_the_same_data_is_refused() -> None:
    with Process() as first:
        done = arena("serve", "--port", "0", "--data", first.data)

    assert done.code == 1
    assert f"in use by another arena server (pid {first.pid})" in done.err


CHALLENGE = """
from arena import *

class {0}(Operator[Model]):
    def deal(self, rng): return Model()
    @action
    def go(self, state, seat): yield end()
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_modules_come_from_the_flag_and_the_variable_and_a_broken_one_is_only_reported(
    tmp_path: Path, workers: int
) -> None:
    for name in ("One", "Two", "Three"):
        (tmp_path / f"{name.lower()}_rules.py").write_text(CHALLENGE.format(name))
    (tmp_path / "broken_rules.py").write_text("raise RuntimeError('not today')")
    # Like the console script: without the current directory on the path.
    command = [sys.executable, "-P", "-c", "from arena.cli import main; main()", "serve", "--workers", str(workers)]
    command += ["--port", "0", "--data", "data", "--load", "three_rules,broken_rules", "--load", "one_rules"]
    env = environment(ARENA_LOAD="one_rules, two_rules", ARENA_PORT="")
    log = tmp_path / "log"

    with log.open("wb") as out, subprocess.Popen(command, cwd=tmp_path, env=env, stderr=out) as server:
        try:
            complaint = "plugin does not load name=broken_rules reason=RuntimeError: not today"
            eventually(lambda: log.read_text().count(complaint) == workers, "every worker reports the broken module")
            found = re.search(r"listening url=http://(\S+)", log.read_text())
            assert found
            asyncio.run(create_each(f"ws://{found[1]}/ws", "one", "two", "three", "psi"))
        finally:
            server.terminate()
    assert server.returncode == 0


async def create_each(url: str, *types: str) -> None:
    async with client(url) as guest:
        for name in types:
            assert (await guest.call("create", challengeType=name))["challengeType"] == name


def test_an_option_goes_before_its_variable() -> None:
    with Process(ARENA_PORT="1", ARENA_WORKERS="3") as server:  # which starts it with options for both
        assert httpx.get(server.url + "/health").json() == {"status": "ok"}
        assert server.worker_pids() == []


def test_empty_variables_mean_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.setenv(f"ARENA_{name.upper()}", "")

    assert Settings().model_dump() == Settings.model_construct().model_dump() | {"data": Settings().data}


@pytest.mark.parametrize("variable", ["AUTH_SECRET", "ARENA_AUTH_SECRET"])
def test_the_secret_of_session_keys_comes_from_either_variable_and_reaches_every_worker(variable: str) -> None:
    secret: dict[str, Any] = {variable: "sesame"}
    with Process(workers=2, ARENA_AUTH="required", **secret) as server:
        made = httpx.post(server.url + "/api/challenges/psi").json()
        invite = made["invites"][0]
        body = {"invite": invite, **Identity.new().sign(f"join:{invite}")}
        joined = httpx.post(server.url + "/api/arena/join", json=body).json()
        log = server.log.read_text()

    proof = hmac.new(b"sesame", f"arena:v1:session:{made['id']}:0".encode(), "sha256").hexdigest()
    assert joined["sessionKey"] == f"s_0.{proof}"
    assert "sesame" not in log + repr(Settings(auth_secret="sesame"))


def test_the_demo_does_not_ask_its_bots_for_keys() -> None:
    done = call("demo", "--auth", "required", env={"AUTH_SECRET": "sesame"})

    assert done.code == 1
    assert "open mode only" in done.err


def test_a_user_is_marked_as_a_benchmark_agent_beside_a_running_server() -> None:
    with Process() as server:
        profile = httpx.post(server.url + "/api/users", json={"userId": "ada", "username": "Ada"}).json()

        done = arena("users", "benchmark", "--user", "ada", "--data", server.data)
        marked = httpx.get(server.url + "/api/users/ada").json()
        arena("users", "benchmark", "--user", "ada", "--off", "--data", server.data)

        assert json.loads(done.out) == marked == {**profile, "isBenchmark": True}
        assert httpx.get(server.url + "/api/users/ada").json() == profile


def test_marking_a_user_where_there_is_no_store_says_so(tmp_path: Path) -> None:
    done = call("users", "benchmark", "--user", "ada", "--data", tmp_path)

    assert done.code == 1
    assert "There is no store" in done.err
