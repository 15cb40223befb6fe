"""Snapshots: a work directory as bytes that any worker on any machine can go on with."""

import hashlib
import threading
import zlib
from collections import OrderedDict

from arena.packs.sandbox.keeper import archive
from arena.packs.sandbox.keeper.archive import Room, Unusable
from arena.packs.sandbox.tree import Tree

Snapshot = bytes  # a deflated tar; nothing at all is an empty directory
EMPTY: Snapshot = b""


def pack(tree: Tree) -> Snapshot:
    """The snapshot of a tree; equal trees have equal snapshots."""
    return zlib.compress(archive.write(tree), 1) if len(tree) else EMPTY


def unpack(snapshot: Snapshot, room: Room) -> Tree:
    """The tree of a snapshot; one that is too large, or that inflates to too much, is refused."""
    return Tree(archive.read(_inflate(snapshot, room), room))


def _inflate(snapshot: Snapshot, room: Room) -> bytes:
    if not snapshot:
        return b""
    limit = room.bytes + archive.OVERHEAD * (room.files + 4)
    engine = zlib.decompressobj()
    try:
        raw = engine.decompress(snapshot, limit + 1)
    except zlib.error:
        raise Unusable("the snapshot of the work directory cannot be read") from None
    if len(raw) > limit:
        raise Unusable("the snapshot of the work directory is too large")
    if not engine.eof:
        raise Unusable("the snapshot of the work directory is cut off")
    return raw


class Shelf:
    """The trees of the last snapshots, so that a run of calls does not unpack the same one again and again."""

    def __init__(self, room: Room, limit: int = 128 * 1024 * 1024) -> None:
        self.room = room
        self._limit = limit
        self._lock = threading.Lock()  # packing and unpacking are done in threads
        self._trees: OrderedDict[bytes, tuple[int, Tree]] = OrderedDict()

    def unpack(self, snapshot: Snapshot) -> Tree:
        """The tree of a snapshot."""
        digest = hashlib.sha256(snapshot).digest()
        known = self._trees.get(digest)
        if known is not None:
            return known[1]
        tree = unpack(snapshot, self.room)
        self._keep(digest, tree)
        return tree

    def pack(self, tree: Tree) -> Snapshot:
        """The snapshot of a tree, which is likely to be asked for next."""
        snapshot = pack(tree.within(self.room))
        self._keep(hashlib.sha256(snapshot).digest(), tree)
        return snapshot

    def _keep(self, digest: bytes, tree: Tree) -> None:
        with self._lock:
            self._trees[digest] = (tree.size + archive.OVERHEAD * len(tree), tree)
            self._trees.move_to_end(digest)
            while len(self._trees) > 1 and sum(size for size, _ in self._trees.values()) > self._limit:
                self._trees.popitem(last=False)
