"""Sandboxes by docker: a container per command, without a network, for machines where bubblewrap does not work."""

import asyncio
import contextlib
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator

from arena.packs.sandbox.keeper import archive
from arena.packs.sandbox.keeper.watch import Kept
from arena.packs.sandbox.provider import USUAL, Command, Finished, Limits, NoSandbox, Output, SandboxError, Way
from arena.packs.sandbox.snapshot import Shelf
from arena.packs.sandbox.tree import WORKSPACE, Tree, Unusable

LABEL = "arena.sandbox"
_GRACE = 60.0  # seconds for the daemon to answer
_USER = "1000:1000"
_PIECE = 64 * 1024


class Docker:
    """The provider that leaves the work to a docker daemon and its image; the image needs sh, sleep and tar."""

    name = "docker"
    python = "python3"

    def __init__(self, limits: Limits = USUAL, *, image: str, slots: int = 2) -> None:
        self.limits = limits
        self.shelf = Shelf(limits.room)
        self.image = image
        self._slots = asyncio.Semaphore(slots)

    def refuses(self, way: Way | None, wanted: tuple[str, ...]) -> str:
        """Why a pack that asks for this cannot be run here."""
        if way is not None:
            return "the pack needs a network, and sandboxes by docker have none; use bubblewrap"
        if wanted:
            return f"the pack needs packages ({', '.join(wanted)}); put them into an image, and out of the pack"
        return ""

    async def probe(self) -> str:
        """Whether a daemon answers and has the image."""
        if shutil.which("docker") is None:
            raise NoSandbox("docker is not installed")
        code, out, err = await self._docker("version", "--format", "{{.Server.Version}}")
        if code != 0:
            raise NoSandbox(f"no docker daemon answers: {_line(err)}")
        code, _, err = await self._docker("image", "inspect", "--format", "{{.Id}}", self.image)
        if code != 0:
            raise NoSandbox(f"docker has no image {self.image} (docker pull {self.image}): {_line(err)}")
        return f"daemon {_line(out)}, image {self.image}"

    async def run(self, tree: Tree, command: Command) -> Finished:
        """Run a command in a container of its own."""
        packed = await asyncio.to_thread(archive.write, tree)
        async with self._slots, self._container() as container:
            await self._lay(container, packed)
            code, out, err, stopped = await self._execute(container, command)
            kept, lost = await self._files(container)
        if not lost:
            tree = kept
        return Finished(tree, None if stopped else code, out, err, stopped, lost)

    @contextlib.asynccontextmanager
    async def _container(self) -> AsyncIterator[str]:
        name = f"arena-sandbox-{secrets.token_hex(8)}"
        code, _, err = await self._docker(*self.arguments(name))
        if code != 0:
            raise SandboxError(f"docker: {_line(err)}")
        try:
            yield name
        finally:
            await asyncio.shield(self._docker("rm", "--force", name))

    def arguments(self, name: str) -> Iterator[str]:
        """How the container is started: it does nothing, and ends by itself should we be gone."""
        limits = self.limits
        mount = f"rw,exec,nosuid,nodev,size={limits.disk},nr_inodes={limits.files + 64},uid=1000,gid=1000,mode=0755"
        yield from ("run", "--detach", "--rm", "--pull", "never", "--name", name, "--label", LABEL)
        yield from ("--network", "none", "--hostname", "sandbox", "--ipc", "private", "--shm-size", "16m")
        yield from ("--read-only", "--tmpfs", f"{WORKSPACE}:{mount}", "--tmpfs", f"/tmp:{mount}")  # noqa: S108
        yield from ("--user", _USER, "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
        yield from ("--pids-limit", str(limits.processes + 4), "--memory", str(limits.memory))
        yield from ("--memory-swap", str(limits.memory), "--cpus", "1", "--ulimit", "nofile=256", "--ulimit", "core=0")
        yield from ("--ulimit", f"fsize={limits.disk}", "--env", "HOME=/tmp", "--workdir", WORKSPACE)
        yield from ("--entrypoint", "sleep", self.image, str(int(limits.most_seconds + 3 * _GRACE)))

    async def _lay(self, container: str, packed: bytes) -> None:
        code, _, err = await self._docker("exec", "-i", container, "tar", "-xf", "-", "-C", WORKSPACE, data=packed)
        if code != 0:
            raise SandboxError(f"docker: {_line(err)}")

    async def _execute(self, container: str, command: Command) -> tuple[int | None, Output, Output, str]:
        env = [part for name, value in command.env.items() for part in ("--env", f"{name}={value}")]
        shell = ("/bin/sh", "-c", 'exec "$@"', "sh", *command.argv)
        limit = self.limits.output if command.output is None else command.output
        seconds = self.limits.seconds if command.seconds is None else command.seconds
        out, err = Kept(limit), Kept(limit)
        process = await self._start("exec", "-i", *env, "--workdir", command.cwd, container, *shell)
        stopped = ""
        try:
            async with asyncio.timeout(min(seconds, self.limits.most_seconds)):
                await _converse(process, command.stdin, out, err)
        except TimeoutError:
            stopped = "time"
        finally:
            if process.returncode is None:
                process.kill()
                await asyncio.shield(process.wait())
        # The first process of the container cannot be killed from inside; everything else ends here.
        await self._docker("exec", container, "/bin/sh", "-c", "kill -9 -1")
        return process.returncode, _output(out), _output(err), stopped

    async def _files(self, container: str) -> tuple[Tree, str]:
        room = self.limits.room
        limit = room.bytes + archive.OVERHEAD * (room.files + 4)
        code, raw, err = await self._docker("exec", container, "tar", "-cf", "-", "-C", WORKSPACE, ".", limit=limit)
        try:
            if code != 0:
                raise Unusable(_line(err))
            return Tree(await asyncio.to_thread(archive.read, raw, room)), ""
        except Unusable as error:
            return Tree(), str(error)

    async def _docker(self, *arguments: str, data: bytes = b"", limit: int = _PIECE) -> tuple[int | None, bytes, bytes]:
        """Call docker; more output than the limit counts as a failure."""
        process = await self._start(*arguments)
        out, err = Kept(2 * limit), Kept(_PIECE)
        try:
            async with asyncio.timeout(_GRACE):
                await _converse(process, data, out, err)
        except TimeoutError:
            raise SandboxError(f"docker {arguments[0]} did not answer in time") from None
        finally:
            if process.returncode is None:
                process.kill()
                await asyncio.shield(process.wait())
        if out.size > limit:
            return 1, b"", b"more output than can be kept"
        return process.returncode, out.parts[0], err.parts[0]

    async def _start(self, *arguments: str) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *("docker", *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={name: os.environ[name] for name in _CLIENT if name in os.environ},
            )
        except OSError as error:
            raise SandboxError(f"docker cannot be run: {error}") from None


_CLIENT = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")


async def _converse(process: asyncio.subprocess.Process, data: bytes, out: Kept, err: Kept) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    await asyncio.gather(_feed(process.stdin, data), _drain(process.stdout, out), _drain(process.stderr, err))
    await process.wait()


async def _feed(stdin: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()


async def _drain(stream: asyncio.StreamReader, kept: Kept) -> None:
    while piece := await stream.read(_PIECE):
        kept.add(piece)


def _output(kept: Kept) -> Output:
    return Output(*kept.parts, kept.size)


def _line(said: bytes) -> str:
    return said.decode(errors="replace").strip().rpartition("\n")[2][:300]
