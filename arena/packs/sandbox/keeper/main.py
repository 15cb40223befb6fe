"""Keep one sandbox: make room for its files, let its command run, and hand back what is left.

Everything lives in a mount namespace and on a tmpfs of our own, so however this process ends, the kernel clears up:
no directory, no mount and no process stays behind.
"""

import base64
import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fcntl import ioctl
from pathlib import Path
from typing import IO, Any, NamedTuple

from arena.packs.sandbox.keeper import archive, kernel, seccomp
from arena.packs.sandbox.keeper.confine import (
    SCRATCH,
    SHARED,
    STAGE,
    TEMPORARY,
    WORK,
    Mount,
    arguments,
    confine,
    in_memory,
    texts,
)
from arena.packs.sandbox.keeper.egress import Egress
from arena.packs.sandbox.keeper.proxy import AT_ONCE, PORT, Proxy
from arena.packs.sandbox.keeper.watch import Kept, Watch

LENGTH = struct.Struct(">Q")
_OWN_FILES = 64  # inodes that are not the guest's: our directories and mount points
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_COUNTED_BY_NAMESPACE = (5, 14)  # the kernel that counts processes per user namespace


class Broken(Exception):
    """The sandbox could not be made."""


class Running(NamedTuple):
    """A command in its sandbox, and what is known of it from outside."""

    process: "subprocess.Popen[bytes]"
    status: IO[bytes]
    go: int


def main() -> None:
    """Read a request, keep its sandbox, answer.

    The work is done by a child that is the first process of a namespace: when it ends, or when we do, or whoever
    started us, the kernel ends everything that it has started, at whatever moment that is.
    """
    request = json.loads(_take(sys.stdin.buffer))
    data, packed = _take(sys.stdin.buffer), _take(sys.stdin.buffer)
    try:
        privileged = os.geteuid() == 0
        groups = [os.open(path, os.O_WRONLY | os.O_CLOEXEC) for path in request["groups"]]
        _leave(privileged)
        kernel.die_with_parent()
        if os.getppid() != request["parent"]:
            return
        watched, held = os.pipe()
        child = os.fork()
        if child:
            os.close(watched)
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os.close(held)
        answer, files = keep(request, data, packed, groups, privileged, watched)
    except (Broken, archive.Unusable, OSError) as error:
        answer, files = {"broken": str(error)}, b""
    out = sys.stdout.buffer
    for part in (json.dumps(answer).encode(), files):
        out.write(LENGTH.pack(len(part)) + part)
    out.flush()
    os._exit(0)  # threads of the proxy may still wait for somebody


def _take(stream: IO[bytes]) -> bytes:
    (size,) = LENGTH.unpack(stream.read(LENGTH.size))
    return stream.read(size)


def keep(
    request: dict[str, Any], data: bytes, packed: bytes, groups: list[int], privileged: bool, watched: int
) -> tuple[dict[str, Any], bytes]:
    """Run the command of a request in a sandbox of its own; the answer and the packed work directory."""
    room = archive.Room(request["disk"], request["files"])
    entries = archive.read(packed, room)
    mounts = _furnish(request, privileged)
    with ThreadPoolExecutor(max_workers=1) as inside:
        if request["network"] is not None:
            listener = inside.submit(_listen).result()
            egress = Egress.read(request["network"]["allow"], private=request["network"]["private"])
            Proxy(listener, egress, request["seconds"], request["network"]["bytes"]).start()
        if privileged:
            _become(request["uid"])
        kernel.give_up_privileges_for_good()
        kernel.die_with_parent()
        if select.select([watched], [], [], 0)[0]:
            raise Broken("whoever asked is gone")
        for directory in (WORK, TEMPORARY, SHARED):
            Path(directory).mkdir()
        work = os.open(WORK, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        archive.lay(work, entries)
        # Whoever asks for a network gets that of the thread which has made one.
        running = inside.submit(_launch, request, mounts, groups, privileged).result()
        watch, code = _attend(running, request, data)
    try:
        kept, lost = archive.write(archive.collect(work, room)), ""
    except archive.Unusable as error:
        kept, lost = b"", str(error)
    answer = {
        "code": code,
        "stopped": watch.stopped,
        "lost": lost,
        "stdout": _shown(watch.out),
        "stderr": _shown(watch.err),
    }
    return answer, kept


def _leave(privileged: bool) -> None:
    """Leave the mounts and the processes of the host behind; who is not root needs a user namespace for that."""
    user, group = os.geteuid(), os.getegid()
    flags = kernel.NEWNS | kernel.NEWPID
    try:
        kernel.unshare(flags if privileged else flags | kernel.NEWUSER)
    except OSError as error:
        raise Broken(f"the kernel gives no {'mount' if privileged else 'user'} namespace: {error}") from None
    if not privileged:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")


def _furnish(request: dict[str, Any], privileged: bool) -> list[Mount]:
    """In a mount namespace of our own a bounded tmpfs holds everything that the sandbox writes."""
    kernel.mount("none", "/", None, kernel.REC | kernel.SLAVE)
    kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    sources = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source, _ in request["readable"]]
    owner = request["uid"] if privileged else os.geteuid()
    options = f"size={request['disk']},nr_inodes={request['files'] + _OWN_FILES},mode=0755,uid={owner}"
    kernel.mount("tmpfs", SCRATCH, "tmpfs", kernel.NOSUID | kernel.NODEV, options)
    Path(STAGE).mkdir()
    mounts = []
    for index, (descriptor, (_, target)) in enumerate(zip(sources, request["readable"], strict=True)):
        staged = Path(STAGE, str(index))
        staged.mkdir()
        kernel.mount(f"/proc/self/fd/{descriptor}", str(staged), None, kernel.BIND | kernel.REC)
        mounts.append(Mount(str(staged), target))
    return mounts


def _listen() -> socket.socket:
    """Move this thread into a network that has nothing but a loopback, and listen there."""
    kernel.unshare(kernel.NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        name = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", ioctl(probe, _SIOCGIFFLAGS, name))
        ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
    return socket.create_server(("127.0.0.1", PORT))


def _become(uid: int) -> None:
    """From here on a user whom nobody knows, with no rights on this machine at all."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _launch(request: dict[str, Any], mounts: list[Mount], groups: list[int], privileged: bool) -> Running:
    counted = request["counts"]["memory"]
    rules = seccomp.program(counted=counted)
    told, status = os.pipe()
    block, go = os.pipe()
    files = texts()
    options = [
        *arguments(mounts, request["env"], request["cwd"], shares_net=request["network"] is not None, texts=files),
        *("--json-status-fd", str(status), "--block-fd", str(block)),
    ]
    passed = [*files.values(), status, block]
    if rules is not None:
        passed.append(in_memory(rules))
        options += ["--seccomp", str(passed[-1])]
    # Through a descriptor, so that neither the environment nor the command shows in the list of processes.
    passed.append(in_memory(b"".join(each.encode("utf-8", "surrogateescape") + b"\0" for each in options)))

    def prepare() -> None:
        kernel.die_with_parent()
        for group in groups:
            os.write(group, b"0")
        confine(
            seconds=request["seconds"],
            memory=request["memory"],
            disk=request["disk"],
            processes=_process_limit(request, privileged),
            counted=counted,
        )

    try:
        process = subprocess.Popen(  # noqa: S603
            [request["bwrap"], "--args", str(passed[-1]), "--", *request["argv"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=passed,
            env={},
            cwd="/",
            preexec_fn=prepare,  # noqa: PLW1509 - it only makes system calls
        )
    finally:
        for descriptor in passed:
            os.close(descriptor)
    return Running(process, os.fdopen(told, "rb"), go)


def _process_limit(request: dict[str, Any], privileged: bool) -> int | None:
    release = os.uname().release.split(".")
    own = 4 + (AT_ONCE + 1 if request["network"] is not None else 0)  # bubblewrap's and our threads count too
    if privileged or (int(release[0]), int(release[1])) >= _COUNTED_BY_NAMESPACE:
        return int(request["processes"]) + own
    return None


def _attend(running: Running, request: dict[str, Any], data: bytes) -> tuple[Watch, int | None]:
    process = running.process
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    first = running.status.readline()
    if not first:
        raise Broken(_reason(process.stderr))
    pid = json.loads(first)["child-pid"]
    watch = Watch(os.pidfd_open(pid), pid, seconds=request["seconds"], output=request["output"])
    os.write(running.go, b"1")
    os.close(running.go)
    counts = request["counts"]
    watch.run(
        (process.stdin, process.stdout, process.stderr),
        os.pidfd_open(process.pid),
        data,
        0 if counts["memory"] else request["memory"],
        0 if counts["processes"] else request["processes"] + 2,
    )
    process.wait()
    code = _exit_code(running.status.read())
    if code is None and not watch.stopped:
        raise Broken(_reason(watch.err.parts[0]))
    return watch, code


def _exit_code(told: bytes) -> int | None:
    for line in told.splitlines():
        with contextlib.suppress(ValueError):
            code = json.loads(line).get("exit-code")
            if code is not None:
                return int(code)
    return None


def _reason(said: IO[bytes] | bytes) -> str:
    text = (said if isinstance(said, bytes) else said.read()).decode("utf-8", "replace")
    return text.strip().removeprefix("bwrap: ")[:500] or "bubblewrap ended without a word"


def _shown(kept: Kept) -> dict[str, Any]:
    first, last = kept.parts
    return {
        "first": base64.b64encode(first).decode(),
        "last": base64.b64encode(last).decode(),
        "size": kept.size,
    }
