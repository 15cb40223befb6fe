"""What hostile code tries from inside: everything is contained, and others are served meanwhile."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from arena.packs.sandbox.cgroups import Cgroups
from arena.packs.sandbox.provider import MIB
from tests.callers import Caller
from tests.sandboxes import NO_GROUPS, SMALL, alive, linux_only, marker, python, run, until

pytestmark = linux_only

both_ways = pytest.mark.parametrize("groups", [None, NO_GROUPS], ids=["control groups", "limits per process"])


@pytest.fixture
def secret(tmp_path: Path) -> tuple[Path, str]:
    """A file of the host that everybody on it may read."""
    path, word = tmp_path / "secret.txt", marker()
    path.write_text(word)
    for part in (path, *tmp_path.parents[:3]):
        part.chmod(0o755)
    return path, word


async def test_files_of_the_host_cannot_be_read(secret: tuple[Path, str]) -> None:
    path, word = secret
    ways = [
        str(path),
        f"/workspace/../..{path}",
        f"/proc/1/root{path}",
        f"/proc/self/root{path}",
        f"/proc/1/cwd/..{path}",
        f"/dev/../..{path}",
        "/etc/shadow",
        "/root/.bash_history",
        f"/oldroot{path}",
        f"/tmp/../oldroot{path}",
        "/proc/kcore",
        "/dev/mem",
        "/dev/sda",
    ]

    done = await run(f"ln -s {path} link; cat link {' '.join(ways)}; ls /home /srv /mnt /boot /var/lib /sys")

    assert word not in done.stdout.text
    assert done.stdout.text == ""


async def test_the_system_cannot_be_changed() -> None:
    places = "/usr/x /etc/x /x /dev/x /run/x /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /bin/sh"

    done = await run(f"for f in {places} /proc/sysrq-trigger; do (echo x > $f) && echo wrote $f; done; id -u")

    assert done.stdout.text == "1000\n"


async def test_sandboxes_do_not_see_each_other() -> None:
    word = marker()
    everywhere = "/workspace/f /tmp/f /dev/shm/f"
    first = asyncio.create_task(
        run(f"for f in {everywhere}; do echo {word} > $f; done; sh -c 'sleep 1000; : {word}'", seconds=15)
    )
    await until(word, lives=True)

    done = await run(f"cat {everywhere}; ls -A /workspace /tmp /dev/shm; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ipcs")
    first.cancel()

    assert word not in done.stdout.text.replace(f"cat {word}", "")
    assert word not in done.stderr.text


async def test_nothing_of_the_servers_environment_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    word = marker()
    monkeypatch.setenv("ARENA_AUTH_SECRET", word)

    done = await run("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'", env={"OWN": "value"})

    assert word not in done.stdout.text
    assert "OWN=value" in done.stdout.text.splitlines()
    assert "ARENA_" not in done.stdout.text


async def test_there_is_no_network_at_all() -> None:
    with socket.create_server(("0.0.0.0", 0)) as host, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{(name := marker())}")
        abstract.listen()
        code = f"""
import socket
def attempt(family, address):
    try:
        s = socket.socket(family); s.settimeout(3); s.connect(address); print("reached", address)
    except OSError: pass
for place in ("127.0.0.1", "192.0.2.1", "8.8.8.8", "169.254.169.254", "{_own_address()}"):
    attempt(socket.AF_INET, (place, {host.getsockname()[1]}))
attempt(socket.AF_UNIX, "\\0{name}")
for path in ("/var/run/docker.sock", "/run/dbus/system_bus_socket"): attempt(socket.AF_UNIX, path)
for family in (40, 38, 17):
    try: socket.socket(family); print("got family", family)
    except OSError: pass
try: socket.getaddrinfo("example.org", 80); print("resolved")
except OSError: pass
print([name for _, name in socket.if_nameindex()])
"""
        done = await run(python(code))

    assert done.stdout.text == "['lo']\n", done.stderr.text


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.2"
        return str(probe.getsockname()[0])


@both_ways
async def test_a_fork_bomb_goes_off_in_its_box(groups: Cgroups | None) -> None:
    mark = marker()
    bomb = f"bomb() {{ bomb {mark} | bomb {mark} & }}; bomb; sh -c 'sleep 1000; : {mark}'"
    running = asyncio.create_task(run(bomb, seconds=4, groups=groups))
    most = 0
    while not running.done():
        most = max(most, len(alive("bomb()")))
        await asyncio.sleep(0.02)

    done = await running

    assert done.stopped in {"", "time", "processes"}
    assert most <= 2 * (SMALL.processes + 6)  # a shell that forks shows its parent's words, and the keeper knows them
    assert not alive(mark)


@both_ways
async def test_memory_bombs_of_every_kind_are_stopped(groups: Cgroups | None) -> None:
    fill = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    shared = "import mmap\nm = mmap.mmap(-1, 1 << 31)\nfor at in range(0, 1 << 31, 4096): m[at] = 1"
    many = """
import os, time
for _ in range(16):
    if os.fork() == 0:
        x = bytearray(40 << 20); time.sleep(3); os._exit(0)
if any(os.wait()[1] for _ in range(16)): raise SystemExit(1)
"""
    hidden = """
import os
kept = [os.memfd_create("x") for _ in range(100)]
for each in kept: os.write(each, b"x" * (7 << 20))
"""

    for code in (fill, shared, many, hidden):
        done = await run(f"{python(code)}[ $? = 0 ] && echo survived", groups=groups)

        assert done.stopped == "memory" or done.code not in {0, None}, code
        assert "survived" not in done.stdout.text


@both_ways
async def test_a_full_disk_is_its_own(groups: Cgroups | None) -> None:
    places = "/workspace /tmp /dev/shm"
    fill = f"for d in {places}; do dd if=/dev/zero of=$d/f bs=1M count=100 2>&1; done; du -cm {places} | tail -1"
    free = os.statvfs("/tmp")

    done = await run(fill, groups=groups)

    assert int(done.stdout.text.split()[-2]) <= SMALL.disk // MIB + 1
    assert done.tree.size <= SMALL.disk
    assert os.statvfs("/tmp").f_files == free.f_files


async def test_more_files_than_there_is_room_for_cannot_be_made() -> None:
    done = await run(python("n = 0\ntry:\n    while True: open(f'f{n}', 'w'); n += 1\nexcept OSError: print(n)"))

    assert int(done.stdout.text) < SMALL.files + 100
    assert "more than 500 files" in done.lost
    assert len(done.tree) == 0


async def test_a_sparse_file_larger_than_the_room_is_not_made() -> None:
    done = await run("truncate -s 1T big; ls -s big")

    assert done.tree.size == 0


async def test_odd_files_neither_hang_nor_escape(secret: tuple[Path, str]) -> None:
    path, word = secret
    odd = f"""
mkfifo pipe; ln -s {path} link; ln -s / root; ln -s loop loop; mkdir -p deep/er; chmod 000 deep/er; touch 'new
line' && printf x > "$(printf '\\377')"; ln link hard; mknod dev c 1 1; cp /bin/sh suid; chmod 4755 suid; rm suid
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
"""
    done = await run(odd)

    kinds = {entry.path: entry.kind for entry in done.tree}
    assert {name for name, kind in kinds.items() if kind == "file"} == {"new\nline", os.fsdecode(b"\xff")}
    assert {"pipe", "sock", "dev"}.isdisjoint(kinds)
    assert word.encode() not in b"".join(entry.data for entry in done.tree)
    assert (await run("ls | wc -l", tree=done.tree)).code == 0


async def test_very_deep_directories_are_not_kept() -> None:
    done = await run(python("import os\nfor _ in range(300): os.mkdir('d'); os.chdir('d')"))

    assert "too deep" in done.lost


@pytest.mark.parametrize("end", ["exit 0", "exec sleep 1000"], ids=["at the end", "at the limit"])
async def test_no_process_survives(end: str) -> None:
    mark = marker()
    hide = f"""
import os, signal, sys, time
if os.fork(): sys.exit()
os.setsid()
if os.fork(): sys.exit()
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
os.execvp("sh", ["sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done; : {mark}"])
"""
    done = await run(f"{python(hide)}\n{end}", seconds=3)

    assert done.stopped == ("" if end == "exit 0" else "time")
    assert not alive(mark)


async def test_there_are_no_privileges_to_gain() -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(status["CapEff"].strip("0 "), status["CapBnd"].strip("0 "), status["NoNewPrivs"], status["Seccomp"])
calls = {"unshare user": lambda: libc.unshare(0x10000000), "unshare mounts": lambda: libc.unshare(0x20000),
         "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), "chroot": lambda: libc.chroot(b"/tmp"),
         "ptrace": lambda: libc.ptrace(16, 1, 0, 0), "keyctl": lambda: libc.syscall(250, 0, 0),
         "bpf": lambda: libc.syscall(321, 0, 0, 0), "perf": lambda: libc.syscall(298, 0, 0, -1, -1, 0),
         "io_uring": lambda: libc.syscall(425, 1, 0), "setns": lambda: libc.setns(0, 0),
         "setuid": lambda: libc.setuid(0), "clone3": lambda: libc.syscall(435, 0, 0)}
for name, call in calls.items():
    if call() != -1: print("gained", name)
"""
    done = await run(python(code) + "su -c id; unshare -Ur id; mount -t tmpfs none /tmp; nsenter -t 1 -a id")

    assert done.stdout.text == "  1 2\n", done.stderr.text


async def test_the_first_process_tells_nothing_and_obeys_nobody() -> None:
    tricks = "cat /proc/1/environ /proc/1/mem /proc/1/maps 2>&1 | head -c 100; ls -l /proc/1/fd; kill -9 1"

    done = await run(f"{tricks}; ls /proc | grep -c '^[0-9]'")

    assert done.code == 0
    assert int(done.stdout.text.split()[-1]) < 10
    assert "/tmp/" not in done.stdout.text


async def test_the_server_answers_others_while_bombs_go_off(caller: Caller) -> None:
    bombs = [
        run("bomb() { bomb | bomb & }; bomb; sleep 1000", seconds=3, groups=NO_GROUPS),
        run(python("x = []\nwhile True: x.append(bytearray(1 << 20))"), seconds=3, groups=NO_GROUPS),
        run("yes", seconds=3),
        run("while :; do :; done", seconds=3),
    ]
    exploding = asyncio.gather(*bombs)
    answers = []
    while not exploding.done():
        answers.append((await caller.client.get("/health")).status_code)
    await exploding

    assert len(answers) > 10
    assert set(answers) == {200}
