"""A work directory as a list of entries, as a tar, and on a disk: no link is ever followed, nothing special is kept.

What comes in here was made by whoever had the sandbox: names, links, sizes and modes are all hostile.
"""

import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

DEPTH = 64
NAME = 255
PATH = 4096
OVERHEAD = 4096  # bytes of a tar for one entry, at most: three headers, a long name and a long target


class Unusable(Exception):
    """A work directory that cannot be kept, and why."""


class Entry(NamedTuple):
    """A file, a directory or a link; `data` is the content, or where the link points."""

    path: str
    kind: Literal["file", "dir", "link"]
    data: bytes = b""
    executable: bool = False


class Room(NamedTuple):
    """How much a work directory may hold."""

    bytes: int
    files: int


def write(entries: Iterable[Entry]) -> bytes:
    """A tar that is the same for the same entries, whoever makes it and whenever."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as archive:
        for entry in sorted(entries, key=lambda each: each.path.split("/")):
            archive.addfile(_member(entry), io.BytesIO(entry.data) if entry.kind == "file" else None)
    return out.getvalue()


def _member(entry: Entry) -> tarfile.TarInfo:
    member = tarfile.TarInfo(entry.path)
    match entry.kind:
        case "dir":
            member.type, member.mode = tarfile.DIRTYPE, 0o755
        case "link":
            member.type, member.mode, member.linkname = tarfile.SYMTYPE, 0o777, os.fsdecode(entry.data)
        case "file":
            member.size, member.mode = len(entry.data), 0o755 if entry.executable else 0o644
    return member


def read(raw: bytes, room: Room) -> list[Entry]:
    """The entries of a tar; anything but plain files, directories and links that belong together is refused."""
    if not raw:
        return []
    if len(raw) > room.bytes + OVERHEAD * (room.files + 4):
        raise Unusable("the archive of the work directory is too large")
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:", errors="surrogateescape") as archive:
            return checked(_entries(archive), room)
    except (tarfile.TarError, ValueError, EOFError, OverflowError) as error:
        raise Unusable(f"the archive of the work directory cannot be read: {type(error).__name__}") from None


def _entries(archive: tarfile.TarFile) -> Iterator[Entry]:
    for member in archive:
        path = member.name.removeprefix("./").rstrip("/")
        if path in {"", "."}:
            continue
        if member.isdir():
            yield Entry(path, "dir")
        elif member.issym():
            yield Entry(path, "link", os.fsencode(member.linkname))
        elif member.type in {tarfile.REGTYPE, tarfile.AREGTYPE} and not member.issparse():
            content = archive.extractfile(member)
            assert content is not None
            yield Entry(path, "file", content.read(), bool(member.mode & 0o100))
        elif member.islnk():
            raise Unusable(f"{path!r:.100} is a hard link")


def checked(entries: Iterable[Entry], room: Room) -> list[Entry]:
    """The entries, parents first; raises unless they make one tree within its room."""
    kinds: dict[str, str] = {}
    kept: list[Entry] = []
    used = 0
    for entry in entries:
        check_path(entry.path)
        parent = entry.path.rpartition("/")[0]
        if entry.path in kinds or (parent and kinds.get(parent) != "dir"):
            raise Unusable(f"{entry.path!r:.100} has no place in the work directory")
        if entry.kind == "link" and not (0 < len(entry.data) < PATH and b"\0" not in entry.data):
            raise Unusable(f"{entry.path!r:.100} is a link to nowhere")
        used += len(entry.data)
        kinds[entry.path] = entry.kind
        if used > room.bytes:
            raise Unusable(f"the work directory holds more than {room.bytes} bytes")
        if len(kinds) > room.files:
            raise Unusable(f"the work directory holds more than {room.files} files")
        kept.append(entry)
    return kept


def check_path(path: str) -> None:
    """Refuse what is no path below the work directory."""
    parts = path.split("/")
    encoded = os.fsencode(path)
    if len(encoded) > PATH or len(parts) > DEPTH or any(len(os.fsencode(part)) > NAME for part in parts):
        raise Unusable(f"{path!r:.100} is too long or too deep")
    if any(part in {"", ".", ".."} for part in parts) or "\0" in path:
        raise Unusable(f"{path!r:.100} is no path in the work directory")


def lay(directory: int, entries: Iterable[Entry]) -> None:
    """Make the entries in an empty directory, given by its descriptor."""
    for entry in entries:
        match entry.kind:
            case "dir":
                os.mkdir(entry.path, 0o755, dir_fd=directory)
            case "link":
                os.symlink(entry.data, os.fsencode(entry.path), dir_fd=directory)
            case "file":
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                made = os.open(entry.path, flags, 0o755 if entry.executable else 0o644, dir_fd=directory)
                with os.fdopen(made, "wb") as file:
                    file.write(entry.data)


def collect(directory: int, room: Room) -> list[Entry]:
    """What is in a directory now that nobody works there any more; pipes, sockets and devices are left behind."""
    return checked(_found(directory, "", room), room)


def _found(directory: int, prefix: str, room: Room) -> Iterator[Entry]:
    if prefix.count("/") >= DEPTH:
        raise Unusable(f"{prefix!r:.100} is too long or too deep")
    for name in sorted(os.listdir(directory)):
        about = os.stat(name, dir_fd=directory, follow_symlinks=False)
        path = prefix + name
        if stat.S_ISLNK(about.st_mode):
            yield Entry(path, "link", os.fsencode(os.readlink(name, dir_fd=directory)))
        elif stat.S_ISDIR(about.st_mode):
            yield Entry(path, "dir")
            below = _open(directory, name, about, 0o700, os.O_DIRECTORY)
            try:
                yield from _found(below, f"{path}/", room)
            finally:
                os.close(below)
        elif stat.S_ISREG(about.st_mode):
            if about.st_size > room.bytes:
                raise Unusable(f"{path!r:.100} is larger than {room.bytes} bytes")
            with os.fdopen(_open(directory, name, about, 0o600, os.O_NONBLOCK), "rb") as file:
                yield Entry(path, "file", file.read(about.st_size), bool(about.st_mode & 0o100))


def _open(directory: int, name: str, about: os.stat_result, needed: int, flags: int) -> int:
    """Open what is not a link; its owner may have taken its own rights away."""
    if about.st_mode & needed != needed:
        os.chmod(name, needed, dir_fd=directory)
    return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=directory)
