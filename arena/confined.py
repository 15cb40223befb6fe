"""Confined: a program in a sandbox for as long as it lives, with nothing but its standard input and output.

It sees the system's programs, the directory it was started in and the files that its command names, all of them
read-only, and a small directory of its own at /tmp. No network, no other processes, no environment of ours.
"""

import asyncio
import os
import resource
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.errors import CannotStart
from arena.identity import default_folder
from arena.packs.sandbox.bubblewrap import hint
from arena.packs.sandbox.keeper import seccomp
from arena.packs.sandbox.keeper.confine import in_memory, system

MIB = 1024 * 1024
SCRATCH = 64 * MIB  # bytes that it may write
MEMORY = 1024 * MIB  # bytes of one process
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
PATH = "/usr/local/bin:/usr/bin:/bin"
PATIENCE = 30.0  # seconds for the trial


@dataclass(frozen=True)
class Cage:
    """What a program in a sandbox may have beside what all have."""

    network: bool = False
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()  # files that it must not see, wherever they lie

    def words(self, command: Sequence[str], here: Path) -> Iterator[str]:
        """The command that runs another one in a sandbox."""
        if Path.home().is_relative_to(here):
            raise CannotStart(f"In a sandbox the program could read all of {here}: start it in a directory of its own.")
        yield from (_bwrap(), "--unshare-all", "--unshare-user", "--disable-userns", "--new-session")
        yield from ("--die-with-parent", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox")
        yield from system()
        if self.network:
            yield "--share-net"
            for name in ("resolv.conf", "hosts", "nsswitch.conf"):
                yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        yield from ("--proc", "/proc", "--dev", "/dev", "--size", str(SCRATCH), "--tmpfs", "/tmp")  # noqa: S108
        seen = [*self.readable, here, *_files(command, here)]
        for path in dict.fromkeys(path.absolute() for path in seen):
            yield from ("--ro-bind", str(path), str(path))
        yield from self._covered([path.absolute() for path in seen])
        yield from ("--remount-ro", "/", "--clearenv", "--setenv", "PATH", PATH, "--setenv", "HOME", "/tmp")  # noqa: S108
        yield from ("--setenv", "LANG", "C.UTF-8", "--chdir", str(here.absolute()), "--", *command)

    def _covered(self, seen: Sequence[Path]) -> Iterator[str]:
        """Nothing in place of keys, should they lie in a directory that can be read."""
        for path in (default_folder().absolute(), *(path.absolute() for path in self.hidden)):
            if path.exists() and any(path.is_relative_to(each) for each in seen):
                yield from ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", "/dev/null", str(path))

    async def check(self, here: Path) -> None:
        """Try it; says what is missing on this machine."""
        async with self.around(["/bin/true"], here) as (words, more):
            trial = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE, **more)
            try:
                async with asyncio.timeout(PATIENCE):
                    _, trouble = await trial.communicate()
            except TimeoutError:
                trial.kill()
                raise CannotStart("bubblewrap does not work here: it does not answer.") from None
        if trial.returncode != 0:
            last = trouble.decode(errors="replace").strip().rpartition("\n")[2]
            raise CannotStart(f"bubblewrap does not work here: {last or trial.returncode}{hint()}")

    @asynccontextmanager
    async def around(self, command: Sequence[str], here: Path) -> AsyncIterator[tuple[list[str], dict[str, Any]]]:
        """The words to start in place of a command, and what its process needs."""
        words, rules = list(self.words(command, here)), seccomp.program(counted=False)
        if rules is None:  # a processor for which we have no filter
            yield words, {"preexec_fn": _limit}
            return
        passed = in_memory(rules)

        def prepare() -> None:
            os.lseek(passed, 0, os.SEEK_SET)  # whoever was started before has read it to its end
            _limit()

        words[1:1] = ["--seccomp", str(passed)]
        try:
            yield words, {"pass_fds": [passed], "preexec_fn": prepare}
        finally:
            os.close(passed)


def _bwrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise CannotStart("No sandbox: bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap).")
    return found


def _files(command: Sequence[str], here: Path) -> Iterator[Path]:
    """The files that a command names and that are not the system's."""
    found = shutil.which(command[0])
    for word in (*((found,) if found else ()), *command[1:]):
        path = Path(here, word)
        if path.is_file():
            for each in (path, path.resolve()):  # a link and what it leads to
                if not any(each.is_relative_to(root) for root in SYSTEM) and not each.is_relative_to(here):
                    yield each


def _limit() -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: SCRATCH,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_DATA: MEMORY,
    }
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (least, least))
