"""The doctor: finds what is wrong, says how to mend it, and changes nothing."""

import json
import resource
import socket
from pathlib import Path

import pytest

from arena.doctor import Level, believed, durability, readers, system
from arena.settings import Settings
from arena.store import keys
from tests.commands import Done, arena, as_nobody, call, read_only_directory
from tests.servers import Process
from tests.valkeys import Cluster, Valkey, connect

Found = dict[str, tuple[str, str]]  # level and words by check


def doctor(*arguments: str | Path, cwd: Path | None = None) -> tuple[Done, Found]:
    done = call("doctor", "--port", "0", *arguments, "--json", cwd=cwd)
    told = json.loads(done.out)
    assert told["ok"] == (done.code == 0)
    return done, {f["check"]: (f["level"], f["text"] + "; " + f["hint"]) for f in told["findings"]}


def test_a_healthy_machine_gets_a_line_per_check(tmp_path: Path) -> None:
    done = arena("doctor", "--port", "0", "--data", tmp_path)

    lines = done.out.splitlines()
    assert done.code == 0
    assert {line.split()[0] for line in lines} <= {"ok", "warn"}
    assert {line.split()[1] for line in lines} >= {"python", "settings", "store", "data", "port", "challenges"}
    assert any("psi (bots: honest, greedy)" in line for line in lines)
    assert any("average, bradley-terry, consecutive" in line for line in lines)
    assert list(tmp_path.iterdir()) == []
    assert "\x1b" not in done.out


def test_a_directory_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    done, found = doctor("--data", tmp_path / "a/b")

    assert done.code == 0
    assert "not there yet" in found["data"][1]
    assert not (tmp_path / "a").exists()


def test_a_file_in_place_of_the_directory_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done, found = doctor("--data", tmp_path / "file")

    assert done.code == 1
    assert found["data"][0] == "fail"


LOOKING = """
import sys
from pathlib import Path
from arena.doctor import directory
"""


def test_a_directory_that_cannot_be_written_to_fails() -> None:
    with read_only_directory() as data:
        told = as_nobody(LOOKING, "print(*directory(Path(sys.argv[1])), sep='\\n')", data)

    [finding] = [line for line in told.splitlines() if "check='data'" in line]
    assert "Level.FAIL" in finding


def test_a_running_server_is_a_warning_and_its_store_is_looked_at() -> None:
    with Process() as server:
        port = server.url.rpartition(":")[2]

        done, found = doctor("--data", server.data, "--port", port)

        assert done.code == 0
        assert found["data"] == ("warn", found["data"][1])
        assert f"pid {server.pid}" in found["data"][1]
        assert found["port"][0] == "warn"
        assert "in use by arena/" in found["port"][1]
        assert found["schema"][0] == found["durability"][0] == found["clock"][0] == "ok"


def test_a_port_that_something_else_has_fails(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done, found = doctor("--data", tmp_path, "--port", str(taken.getsockname()[1]))

    assert done.code == 1
    assert found["port"][0] == "fail"


def test_broken_plugins_fail_by_name_and_the_others_are_listed(tmp_path: Path) -> None:
    (tmp_path / "wobbly.py").write_text("import no_such_module")
    (tmp_path / "empty.py").touch()

    done = arena("doctor", "--port", "0", "--data", tmp_path, "--load", "wobbly", "--load", "empty", cwd=tmp_path)

    assert done.code == 1
    assert "wobbly does not load: ModuleNotFoundError: No module named 'no_such_module'" in done.out
    assert "empty does not load: TypeError" in done.out
    assert "psi" in done.out
    assert done.err == ""


def test_settings_that_the_server_would_refuse_fail(tmp_path: Path) -> None:
    done, found = doctor("--data", tmp_path, "--host", "0.0.0.0")

    assert done.code == 1
    assert found["settings"][0] == "fail"


def test_a_store_of_ones_own_is_examined_and_not_written_to(valkey: Valkey) -> None:
    with connect(valkey.url) as redis:
        redis.flushall()

        done, found = doctor("--store", valkey.url)

        assert done.code == 0
        assert "single server" in found["store"][1]
        assert "none yet" in found["schema"][1]
        assert found["durability"][0] == "ok"
        assert redis.dbsize() == 0


def test_a_store_with_another_schema_fails(store: str) -> None:
    with connect(store) as redis:
        redis.hset(keys.META, "schema", "99")

        done, found = doctor("--store", store)

        redis.flushall()
    assert done.code == 1
    assert found["schema"] == ("fail", found["schema"][1])
    assert "99" in found["schema"][1]


def test_a_store_that_forgets_is_warned_of() -> None:
    options = {"appendonly": "no", "maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}
    with Valkey(options=options) as forgetful:
        done, found = doctor("--store", forgetful.url)

    assert found["durability"][0] == "warn"
    assert found["memory"][0] == "fail"
    assert done.code == 1


def test_a_cluster_is_recognised() -> None:
    with Cluster() as cluster:
        done, found = doctor("--store", cluster.url)

    assert done.code == 0
    assert "cluster of 3 primaries" in found["store"][1]


@pytest.mark.parametrize("url", ["redis://:sesame@127.0.0.1:1", "unix:///no/such/socket", "redis://no.host.invalid:1"])
def test_a_store_that_is_not_there_fails_without_telling_its_password(url: str) -> None:
    done, found = doctor("--store", url)

    assert done.code == 1
    assert found["store"][0] == "fail"
    assert "sesame" not in done.out + done.err


def test_replicas_are_as_good_as_a_file() -> None:
    assert durability({"aof_enabled": 0, "connected_slaves": 1}).level is Level.OK
    assert durability({"aof_enabled": 0, "connected_slaves": 0}).level is Level.WARN
    assert durability({"aof_enabled": 1, "aof_last_write_status": "err"}).level is Level.FAIL


def test_few_open_files_are_warned_of() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        found = {finding.check: finding for finding in system(own_store=True)}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert found["open files"].level is Level.WARN
    assert "ulimit -n" in found["open files"].hint


@pytest.mark.parametrize(
    ("settings", "level", "word"),
    [
        ({}, "ok", "this machine"),
        ({"host": "0.0.0.0"}, "ok", "off"),
        ({"host": "0.0.0.0", "metrics": "on"}, "warn", "ARENA_METRICS_TOKEN"),
        ({"host": "0.0.0.0", "metrics": "on", "metrics_token": "t-4711"}, "ok", "token"),
        ({"metrics": "off"}, "ok", "off"),
    ],
)
def test_it_says_who_may_read_the_metrics(settings: dict[str, str], level: str, word: str) -> None:
    finding = readers(Settings.model_validate(settings))

    assert finding.level == level
    assert word in finding.text + finding.hint
    assert "4711" not in str(finding)


def test_proxies_that_are_everybody_are_a_warning() -> None:
    [all_of_them] = believed(Settings(trusted_proxies=("10.0.0.1", "::/0")))
    [some] = believed(Settings(trusted_proxies=("10.0.0.0/8", "unix")))

    assert all_of_them.level is Level.WARN
    assert some.level is Level.OK
    assert not list(believed(Settings()))
