"""Sandboxes by bubblewrap: each command gets a keeper, and with it namespaces, a tmpfs and limits of its own."""

import asyncio
import base64
import contextlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from arena.packs.sandbox import cgroups, packages
from arena.packs.sandbox.keeper import archive
from arena.packs.sandbox.keeper.main import LENGTH
from arena.packs.sandbox.keeper.proxy import PORT
from arena.packs.sandbox.provider import (
    MIB,
    USUAL,
    Command,
    Finished,
    Limits,
    NoSandbox,
    Output,
    SandboxError,
    Way,
)
from arena.packs.sandbox.snapshot import Shelf
from arena.packs.sandbox.tree import Tree, Unusable

_GRACE = 20.0  # seconds to make a sandbox and to pack its files
_TRAFFIC = 64 * MIB
_STRANGERS = 0x70000000  # user ids that no system gives to anybody
_NOBODY = 65534
_SYSTEM = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
_ROOT = Path(__file__).parents[3]
_PYTHON = str(Path(sys.executable).resolve())
# The packages above the keeper are left unread: it needs none of the arena, and it is started for every command.
_START = """
import sys, types
for name in ("arena", "arena.packs", "arena.packs.sandbox"):
    package = types.ModuleType(name)
    package.__path__ = [f"{sys.argv[1]}/{name.replace('.', '/')}"]
    sys.modules[name] = package
from arena.packs.sandbox.keeper.main import main
main()
"""


class Bubblewrap:
    """The provider for Linux machines: no daemon, no image, no rights."""

    name = "bubblewrap"

    def __init__(
        self,
        limits: Limits = USUAL,
        *,
        readable: Iterable[str] = (),
        network: str = "public",
        slots: int = 2,
        groups: cgroups.Cgroups | None = None,
    ) -> None:
        self.limits = limits
        self.shelf = Shelf(limits.room)
        self.network = network
        self.python = _PYTHON
        self._readable = tuple(dict.fromkeys((*readable, *_interpreter())))
        self._path = ":".join((*(f"{each}/bin" for each in readable), _SYSTEM, str(Path(self.python).parent)))
        self._slots = asyncio.Semaphore(slots)
        self._groups = groups

    @cached_property
    def _program(self) -> str | None:
        return shutil.which("bwrap")

    def _found_groups(self) -> cgroups.Cgroups:
        """Where control groups can be made: looked for once, and cleared of what killed servers left."""
        if self._groups is None:
            self._groups = cgroups.find()
            self._groups.clear()
        return self._groups

    def refuses(self, way: Way | None, wanted: tuple[str, ...]) -> str:
        """Why a pack that asks for this cannot be run here."""
        return _refused_network(way, self.network) or packages.refusal(wanted)

    async def probe(self) -> str:
        """Try it; raises NoSandbox with the reason if it does not work, and else tells what it relies on."""
        if self._program is None:
            raise NoSandbox("bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)")
        try:
            done = await self.run(Tree(), Command(("/bin/true",)))
        except SandboxError as error:
            raise NoSandbox(f"bubblewrap does not work here: {error}{hint()}") from None
        if done.code != 0:
            raise NoSandbox(f"bubblewrap does not work here: /bin/true ended with {done.code}, {done.stderr.text:.200}")
        groups = await asyncio.to_thread(self._found_groups)
        counted = "a control group" if groups.memory else "limits per process and a watch over their sum"
        return f"memory is held by {counted}"

    async def run(self, tree: Tree, command: Command) -> Finished:
        """Run a command in a sandbox of its own."""
        if self._program is None:
            raise NoSandbox("bubblewrap is not installed")
        packed = await asyncio.to_thread(archive.write, tree)
        async with self._slots, self._group() as group:
            request = self._request(command, group)
            answer, files = await _ask(request, command.stdin, packed)
            out_of_memory = group.ran_out_of_memory
        if "broken" in answer:
            raise SandboxError(answer["broken"])
        stopped = answer["stopped"] or ("memory" if out_of_memory and answer["code"] != 0 else "")
        code = None if stopped else answer["code"]
        lost = answer["lost"]
        if not lost:
            try:
                tree = Tree(await asyncio.to_thread(archive.read, files, self.limits.room))
            except Unusable as error:
                lost = str(error)
        return Finished(tree, code, _output(answer["stdout"]), _output(answer["stderr"]), stopped, lost)

    @contextlib.asynccontextmanager
    async def _group(self) -> AsyncIterator[cgroups.Group]:
        found = await asyncio.to_thread(self._found_groups)
        making = found.group(self.limits.memory, self.limits.processes + 2)
        try:
            group = await asyncio.to_thread(making.__enter__)
        except OSError as error:
            raise SandboxError(f"no control group: {error}") from None
        try:
            yield group
        finally:
            await asyncio.shield(asyncio.to_thread(making.__exit__, None, None, None))

    def _request(self, command: Command, group: cgroups.Group) -> dict[str, Any]:
        limits = self.limits
        seconds = limits.seconds if command.seconds is None else command.seconds
        way = command.network
        env = {"PATH": self._path, "HOME": "/tmp", "TMPDIR": "/tmp", "USER": "agent", "LANG": "C.UTF-8"}  # noqa: S108
        return {
            "parent": os.getpid(),
            "bwrap": self._program,
            # A program that is not there is the command's failure, not ours.
            "argv": ["/bin/sh", "-c", 'exec "$@"', "sh", *command.argv],
            "cwd": command.cwd,
            "env": {**env, **command.env, **(_proxied() if way else {})},
            "seconds": min(seconds, limits.most_seconds),
            "output": limits.output if command.output is None else command.output,
            "memory": limits.memory,
            "disk": limits.disk,
            "files": limits.files,
            "processes": limits.processes,
            "network": way and {"allow": way.allow, "private": self.network == "private", "bytes": _TRAFFIC},
            "readable": [(each, each) for each in self._readable],
            "groups": group.doors,
            "counts": {"memory": group.memory is not None, "processes": group.processes is not None},
            "uid": _stranger(),
        }


async def _ask(request: dict[str, Any], data: bytes, packed: bytes) -> tuple[dict[str, Any], bytes]:
    """Have a keeper do it; whatever happens here, it does not outlive the question."""
    try:
        keeper = await asyncio.create_subprocess_exec(
            *(_PYTHON, "-I", "-S", "-X", "utf8", "-c", _START, str(_ROOT)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"no keeper can be started: {error}") from None
    head = json.dumps(request).encode()
    sent = b"".join(LENGTH.pack(len(part)) + part for part in (head, data, packed))
    try:
        async with asyncio.timeout(request["seconds"] + _GRACE):
            answer, trouble = await keeper.communicate(sent)
    except TimeoutError:
        raise SandboxError("the keeper of the sandbox did not answer in time") from None
    finally:
        if keeper.returncode is None:
            keeper.kill()
            await asyncio.shield(keeper.wait())
    if keeper.returncode != 0 or len(answer) < LENGTH.size:
        last = trouble.decode(errors="replace").strip().rpartition("\n")[2]
        raise SandboxError(f"the keeper of the sandbox failed: {last[:300] or keeper.returncode}")
    (size,) = LENGTH.unpack_from(answer)
    return json.loads(answer[LENGTH.size : LENGTH.size + size]), answer[LENGTH.size * 2 + size :]


def _output(told: dict[str, Any]) -> Output:
    return Output(base64.b64decode(told["first"]), base64.b64decode(told["last"]), told["size"])


def _proxied() -> dict[str, str]:
    proxy = f"http://127.0.0.1:{PORT}"
    return dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)


def _interpreter() -> tuple[str, ...]:
    """Our Python's own directory, if the system's do not hold it."""
    prefix = str(Path(sys.base_prefix).resolve())
    return () if prefix == "/usr" or prefix.startswith("/usr/") else (prefix,)


def _stranger() -> int:
    """A user id of nobody; a container may have too few ids for that."""
    wanted = _STRANGERS + secrets.randbelow(2**24)
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/uid_map").read_text().splitlines():
            first, _, count = map(int, line.split())
            if first <= wanted < first + count:
                return wanted
    return _NOBODY


def _refused_network(way: Way | None, network: str) -> str:
    if way is None:
        return ""
    if network == "off":
        return "the pack needs a network, and this server gives none (ARENA_SANDBOX_NETWORK=off)"
    hidden = [each for each in way.allow if not ip_network(each, strict=False).is_global]
    if hidden and network != "private":
        return (
            f"the pack needs {', '.join(hidden)}, and this server gives public addresses only "
            "(ARENA_SANDBOX_NETWORK=private permits what a pack lists)"
        )
    return ""


def hint() -> str:
    """What on this machine is known to be in the way."""
    hints = {
        "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=10000"),
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "give bwrap an AppArmor profile with `userns`, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    }
    for path, (bad, mend) in hints.items():
        with contextlib.suppress(OSError):
            if Path(path).read_text().strip() == bad:
                return f"; try {mend}"
    return "; in a container it has to be allowed user namespaces and mounts" if _in_container() else ""


def _in_container() -> bool:
    return os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv")  # noqa: PTH110
