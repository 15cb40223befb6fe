"""What a sandbox is to the rest of the arena: a function from files and a command to an outcome and files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from arena.packs.sandbox.snapshot import Shelf
from arena.packs.sandbox.tree import WORKSPACE, Room, Tree

MIB = 1024 * 1024


class SandboxError(Exception):
    """The sandbox failed, not what ran in it."""


class NoSandbox(SandboxError):
    """There is no sandbox here, and why."""


class Limits(NamedTuple):
    """What one command may use up."""

    seconds: float = 30
    memory: int = 512 * MIB
    disk: int = 64 * MIB
    files: int = 10_000
    processes: int = 64
    output: int = 64 * 1024
    most_seconds: float = 300

    @property
    def room(self) -> Room:
        """How much a work directory may hold."""
        return Room(self.disk, self.files)


USUAL = Limits()


class Way(NamedTuple):
    """A way into the network: the networks that a pack lists; none means every public one."""

    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be run; without a shell unless it is one."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = WORKSPACE
    seconds: float | None = None  # none is the usual limit
    output: int | None = None
    network: Way | None = None

    @classmethod
    def shell(cls, line: str) -> "Command":
        """A line for the shell."""
        return cls(("/bin/sh", "-c", line))


class Output(NamedTuple):
    """What is left of a stream: its beginning and its end."""

    first: bytes = b""
    last: bytes = b""
    size: int = 0

    @property
    def missing(self) -> int:
        """Bytes that were left out between the two."""
        return self.size - len(self.first) - len(self.last)

    @property
    def text(self) -> str:
        """The stream as text, with a note where something is missing."""
        note = f"\n[{self.missing} bytes left out]\n".encode() if self.missing else b""
        return (self.first + note + self.last).decode("utf-8", "replace")


class Finished(NamedTuple):
    """How a command ended, and the work directory after it."""

    tree: Tree
    code: int | None = None
    stdout: Output = Output()
    stderr: Output = Output()
    stopped: str = ""  # the limit that ended it: time, memory or processes
    lost: str = ""  # why its files could not be kept; the tree is then the one before


class Sandbox(Protocol):
    """A provider of sandboxes."""

    @property
    def name(self) -> str:
        """What the provider is called."""
        ...

    @property
    def limits(self) -> Limits:
        """What a command gets at most."""
        ...

    @property
    def shelf(self) -> Shelf:
        """Where snapshots are packed and unpacked."""
        ...

    @property
    def python(self) -> str:
        """The Python that our own programs run with inside."""
        ...

    async def probe(self) -> str:
        """Try it: what it relies on, or NoSandbox with the reason why it does not work."""
        ...

    async def run(self, tree: Tree, command: Command) -> Finished:
        """Run a command on a work directory; raises SandboxError if that cannot be done."""
        ...

    def refuses(self, way: Way | None, packages: tuple[str, ...]) -> str:
        """Why a pack that asks for this cannot be run here; nothing if it can."""
        ...
