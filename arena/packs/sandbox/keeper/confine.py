"""What a sandbox is made of: the arguments of bubblewrap, and the limits of every process in it."""

import os
import resource
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SCRATCH = "/tmp"  # noqa: S108 - our own tmpfs covers it before anything is written
WORK, TEMPORARY, SHARED, STAGE = (f"{SCRATCH}/{name}" for name in ("work", "tmp", "shm", "stage"))
WORKSPACE = "/workspace"
HOME = "/tmp"  # noqa: S108 - of the sandbox
USER = 1000  # inside

_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Nothing of /etc but what programs need to start, to speak TLS and to tell the time.
_ETC = (
    "alternatives",
    "ca-certificates.conf",
    "crypto-policies",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
)
_FILES = {
    "/etc/passwd": f"agent:x:{USER}:{USER}::{HOME}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "/etc/group": f"agent:x:{USER}:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


class Mount(NamedTuple):
    """A directory of the host that can be read in the sandbox."""

    source: str
    target: str


def arguments(
    mounts: Iterable[Mount], env: Mapping[str, str], cwd: str, *, shares_net: bool, texts: Mapping[str, int]
) -> Iterator[str]:
    """Bubblewrap's arguments up to the command; `texts` are descriptors of the files that we write ourselves."""
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--die-with-parent")
    yield from ("--cap-drop", "ALL", "--uid", str(USER), "--gid", str(USER), "--hostname", "sandbox", "--clearenv")
    if shares_net:
        yield "--share-net"
    yield from system()
    for path, descriptor in texts.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(descriptor), path)
    yield from ("--proc", "/proc", "--dev", "/dev", "--bind", SHARED, "/dev/shm")  # noqa: S108
    yield from ("--bind", TEMPORARY, HOME, "--bind", WORK, WORKSPACE, "--dir", "/run", "--dir", "/var")
    for mount in mounts:
        yield from ("--ro-bind", mount.source, mount.target)
    yield from ("--symlink", HOME, "/var/tmp", "--remount-ro", "/dev", "--remount-ro", "/")  # noqa: S108
    for name, value in env.items():
        yield from ("--setenv", name, value)
    yield from ("--chdir", cwd)


def system() -> Iterator[str]:
    """The programs of the machine, to be read."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _MERGED:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def texts() -> dict[str, int]:
    """Descriptors of the small files that every sandbox has."""
    return {path: in_memory(text.encode()) for path, text in _FILES.items()}


def in_memory(content: bytes) -> int:
    """A descriptor that reads as this content."""
    descriptor = os.memfd_create("arena")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def confine(*, seconds: float, memory: int, disk: int, processes: int | None, counted: bool) -> None:
    """Limit the calling process, and so every process that it starts; others are served first."""
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(seconds) + 5,
        resource.RLIMIT_FSIZE: disk,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_MEMLOCK: 64 * 1024,
        resource.RLIMIT_MSGQUEUE: 64 * 1024,
    }
    if not counted:
        limits[resource.RLIMIT_DATA] = memory
    if processes is not None:
        limits[resource.RLIMIT_NPROC] = processes
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (least, least))
    os.nice(10)
