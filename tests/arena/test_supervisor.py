import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import Self

import pytest

from arena.errors import CannotStart
from arena.supervisor import bind, bind_all

ROOT = Path(__file__).parents[2]
SECONDS = 60.0  # until we give up waiting for something that should happen

SUPERVISOR = """
import sys
from arena.supervisor import bind_all, run
script, workers, balanced, grace = sys.argv[1:]
listeners = bind_all("127.0.0.1", 0, int(workers), balanced=balanced == "True")
print(listeners[0].getsockname()[1], flush=True)
sys.exit(run([sys.executable, script], listeners, env={"GREETING": "hello"}, grace_seconds=float(grace)))
"""

# Answers each line with its greeting and pid; told to stop, it says goodbye on every line and goes, unless stubborn.
WORKER = """
import os, selectors, signal, sys
from arena.supervisor import take_post, watch_lifeline

post = take_post(sys.argv[1:])
watch_lifeline(post.lifeline, lambda: os._exit(1))
lines = []

def stop(*_):
    for line in lines:
        line.sendall(b"not yet\\n" if STUBBORN else b"goodbye\\n")
    if not STUBBORN:
        sys.exit(0)

signal.signal(signal.SIGTERM, stop)
selector = selectors.DefaultSelector()
selector.register(post.listener, selectors.EVENT_READ)
post.listener.setblocking(False)
while True:
    for key, _ in selector.select():
        if key.fileobj is post.listener:
            try:
                line, _ = post.listener.accept()
            except BlockingIOError:
                continue
            line.setblocking(True)
            lines.append(line)
            selector.register(line, selectors.EVENT_READ)
        elif key.fileobj.recv(100):
            key.fileobj.sendall(f"{os.environ['GREETING']} {os.getpid()} {post.number}\\n".encode())
        else:
            lines.remove(key.fileobj)
            selector.unregister(key.fileobj)
"""


class Line:
    """A connection to whichever worker took it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.reader = self.socket.makefile("r")
        greeting, pid, number = self.ask().split()
        assert greeting == "hello"
        self.pid, self.number = int(pid), int(number)

    def ask(self) -> str:
        self.socket.sendall(b"who?\n")
        return self.hear()

    def hear(self) -> str:
        return self.reader.readline()

    def hung_up(self) -> bool:
        try:
            return self.hear() == ""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.reader.close()
        self.socket.close()


class Crew:
    """A supervisor in a process of its own, and our lines to its workers."""

    def __init__(self, script: Path, workers: int = 2, balanced: bool = True, grace: float = SECONDS) -> None:
        command = [sys.executable, "-c", SUPERVISOR, str(script), str(workers), str(balanced), str(grace)]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())
        self.lines: list[Line] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for line in self.lines:
            line.close()
        self.process.kill()
        self.process.communicate()

    def line(self, wanted: Callable[[Line], bool] = lambda _: True) -> Line:
        """A line to a worker that is wanted: the kernel chooses, so we ring until it chose that one."""
        for line in self.ring():
            if wanted(line):
                self.lines.append(line)
                return line
            line.close()
        raise AssertionError("no worker of this kind answered in time")

    def ring(self) -> Iterator[Line]:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            yield Line(self.port)

    def both(self) -> tuple[Line, Line]:
        return self.line(lambda line: line.number == 0), self.line(lambda line: line.number == 1)

    def end(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, errors


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return write(tmp_path, WORKER.replace("STUBBORN", "False"))


@pytest.fixture
def stubborn(tmp_path: Path) -> Path:
    return write(tmp_path, WORKER.replace("STUBBORN", "True"))


def write(folder: Path, text: str) -> Path:
    script = folder / "worker.py"
    script.write_text(text)
    return script


@pytest.mark.parametrize("balanced", [True, False])
def test_a_worker_that_crashed_comes_back_while_the_other_goes_on(script: Path, balanced: bool) -> None:
    with Crew(script, balanced=balanced) as crew:
        first, second = crew.both()

        os.kill(first.pid, signal.SIGKILL)

        assert first.hung_up()
        assert str(second.pid) in second.ask()
        again = crew.line(lambda line: line.number == 0)
        assert again.pid != first.pid
        assert str(second.pid) in second.ask()


def test_a_worker_that_is_killed_comes_back_every_time(script: Path) -> None:
    with Crew(script, workers=1) as crew:
        pids = set()
        for _ in range(7):
            line = crew.line()
            pids.add(line.pid)
            os.kill(line.pid, signal.SIGKILL)
            assert line.hung_up()

        assert crew.line().pid not in pids
        assert len(pids) == 7


def test_kill_9_of_the_supervisor_ends_its_workers_and_frees_the_port(script: Path) -> None:
    with Crew(script) as crew:
        first, second = crew.both()

        crew.process.kill()

        assert first.hung_up()
        assert second.hung_up()
        bind("127.0.0.1", crew.port).close()


@pytest.mark.parametrize(
    ("number", "send"),
    [(signal.SIGTERM, os.kill), (signal.SIGHUP, os.kill), (signal.SIGINT, os.killpg)],
    ids=["terminate", "terminal closed", "ctrl-c in a terminal"],
)
def test_a_stop_lets_every_worker_finish(
    script: Path, number: signal.Signals, send: Callable[[int, signal.Signals], None]
) -> None:
    with Crew(script) as crew:
        first, second = crew.both()

        send(crew.process.pid, number)

        assert (first.hear(), second.hear()) == ("goodbye\n", "goodbye\n")
        assert crew.end()[0] == 0


def test_a_worker_that_does_not_stop_in_time_is_killed(stubborn: Path) -> None:
    with Crew(stubborn, grace=0.2) as crew:
        line = crew.line()

        crew.process.terminate()

        assert line.hear() == "not yet\n"
        assert line.hung_up()
        code, errors = crew.end()
        assert code == 1
        assert "not done in time" in errors


def test_a_second_ctrl_c_does_not_wait(stubborn: Path) -> None:
    with Crew(stubborn, workers=1, grace=10 * SECONDS) as crew:
        line = crew.line()

        crew.process.send_signal(signal.SIGINT)
        assert line.hear() == "not yet\n"
        crew.process.send_signal(signal.SIGINT)

        assert line.hung_up()
        assert crew.end()[0] == 1


def test_a_worker_that_cannot_start_ends_the_supervisor_with_its_exit_code(tmp_path: Path) -> None:
    script = write(tmp_path, "raise SystemExit(7)")

    with Crew(script) as crew:
        code, errors = crew.end()

    assert code == 7
    assert "giving up" in errors
    assert "Traceback" not in errors


def test_all_workers_get_the_same_free_port() -> None:
    listeners = bind_all("127.0.0.1", 0, 4)

    ports = {listener.getsockname()[1] for listener in listeners}

    assert len(ports) == 1
    assert len({listener.fileno() for listener in listeners}) == (4 if sys.platform == "linux" else 1)
    assert not any(listener.get_inheritable() for listener in listeners)
    for listener in listeners:
        listener.close()


def test_without_balancing_the_workers_share_one_socket() -> None:
    first, second = bind_all("127.0.0.1", 0, 2, balanced=False)

    assert first is second
    first.close()


@pytest.mark.parametrize("theirs", [1, 2])
@pytest.mark.parametrize("ours", [1, 2])
def test_a_port_in_use_is_told_in_a_sentence(theirs: int, ours: int) -> None:
    taken = bind_all("127.0.0.1", 0, theirs)
    port = taken[0].getsockname()[1]

    with pytest.raises(CannotStart, match=f"Port {port} on 127.0.0.1 is in use; choose another with --port"):
        bind_all("127.0.0.1", port, ours)

    for listener in taken:
        listener.close()


def test_a_port_that_is_let_go_in_a_moment_is_waited_for() -> None:
    dying = bind("127.0.0.1", 0)
    port = dying.getsockname()[1]
    Timer(0.2, dying.close).start()

    with bind("127.0.0.1", port) as ours:
        assert ours.getsockname()[1] == port


def test_an_address_of_another_machine_is_told_in_a_sentence() -> None:
    with pytest.raises(CannotStart, match=r"no address 192\.0\.2\.1; choose another with --host"):
        bind("192.0.2.1", 0)


def test_a_name_with_both_families_is_bound_where_every_client_looks() -> None:
    with bind("localhost", 0) as listener:
        assert listener.family == socket.AF_INET


def test_an_ipv6_address_is_bound_as_such() -> None:
    if not Path("/proc/net/if_inet6").exists() and sys.platform == "linux":
        pytest.skip("this machine has no IPv6")

    with bind("::1", 0) as listener:
        assert listener.family == socket.AF_INET6
