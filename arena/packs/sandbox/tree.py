"""A work directory in memory: what tools read and write without a disk, so that no link leads to a host's file."""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from arena.packs.sandbox.keeper.archive import Entry, Room, Unusable, check_path, checked

WORKSPACE = "/workspace"
_HOPS = 40


class NoFile(Exception):
    """A path that does not lead where it should, and why."""


class Listed(NamedTuple):
    """One line of a listing: the full path, the size, and whether it is a directory."""

    path: str
    size: int
    is_dir: bool


class Tree:
    """Files, directories and links below `/workspace`; every change makes a new tree."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = {entry.path: entry for entry in entries}

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Bytes of all contents."""
        return sum(len(entry.data) for entry in self)

    def within(self, room: Room) -> "Tree":
        """The same tree, if it has room; raises Unusable if not."""
        checked(sorted(self, key=lambda each: each.path.split("/")), room)
        return self

    def find(self, path: str) -> Entry:
        """What a path leads to, following links that stay in the work directory."""
        place = self._follow(path)
        if place == "":
            return Entry("", "dir")
        if place not in self._entries:
            raise NoFile(f"{shown(path)} does not exist")
        return self._entries[place]

    def read(self, path: str) -> bytes:
        """The content of a file."""
        entry = self.find(path)
        if entry.kind != "file":
            raise NoFile(f"{shown(path)} is a directory")
        return entry.data

    def write(self, path: str, content: bytes, *, executable: bool | None = None) -> "Tree":
        """The tree with a file written, and the directories above it made; a link to a file leads to that file."""
        place = self._follow(path)
        before = self._entries.get(place)
        if place == "" or (before is not None and before.kind == "dir"):
            raise NoFile(f"{shown(path)} is a directory")
        check_path(place)
        changed = dict(self._entries)
        parts = place.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            if changed.setdefault(above, Entry(above, "dir")).kind != "dir":
                raise NoFile(f"{shown(above)} is not a directory")
        mode = executable if executable is not None else before is not None and before.executable
        changed[place] = Entry(place, "file", content, mode)
        return Tree(changed.values())

    def list(self, path: str, *, recursive: bool = False) -> list[Listed]:
        """What is in a directory, by full paths, sorted; links count as what they are: small files."""
        entry = self.find(path)
        if entry.kind != "dir":
            raise NoFile(f"{shown(path)} is not a directory")
        prefix = f"{entry.path}/" if entry.path else ""
        below = (each for each in self if each.path.startswith(prefix))
        near = (each for each in below if recursive or "/" not in each.path[len(prefix) :])
        rows = (Listed(f"{WORKSPACE}/{each.path}", len(each.data), each.kind == "dir") for each in near)
        return sorted(rows)

    def files(self, path: str) -> Iterator[Entry]:
        """The file of that path, or all files of that directory."""
        entry = self.find(path)
        if entry.kind == "file":
            yield entry
            return
        prefix = f"{entry.path}/" if entry.path else ""
        yield from sorted(each for each in self if each.kind == "file" and each.path.startswith(prefix))

    def _follow(self, path: str) -> str:
        """The place of a path in the tree, which need not exist yet."""
        left = _parts(path, path)
        place: list[str] = []
        hops = 0
        while left:
            part = left.pop(0)
            if part == "..":
                if place:
                    place.pop()
                elif [f"/{each}" for each in left[:1]] == [WORKSPACE]:
                    left.pop(0)  # out of the door and in again
                else:
                    raise NoFile(f"{shown(path)} is outside of {WORKSPACE}")
                continue
            place.append(part)
            entry = self._entries.get("/".join(place))
            if entry is not None and entry.kind == "link":
                hops += 1
                if hops > _HOPS:
                    raise NoFile(f"{shown(path)} goes round in circles")
                target = os.fsdecode(entry.data)
                place = [] if target.startswith("/") else place[:-1]
                left = [*_parts(target, path), *left]
        return "/".join(place)


def _parts(path: str, asked: str) -> list[str]:
    """The steps of a path from the work directory on; absolute ones have to be inside."""
    if "\0" in path:
        raise NoFile("a path has no null byte")
    if path.startswith("/"):
        if path != WORKSPACE and not path.startswith(f"{WORKSPACE}/"):
            raise NoFile(f"{shown(asked)} is outside of {WORKSPACE}")
        path = path.removeprefix(WORKSPACE)
    return [part for part in path.split("/") if part not in {"", "."}]


def shown(path: str) -> str:
    """A path for a message: short, and only text."""
    return path.encode("utf-8", "replace").decode()[:200]


__all__ = ["WORKSPACE", "Entry", "Listed", "NoFile", "Room", "Tree", "Unusable", "shown"]
