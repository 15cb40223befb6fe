import io
import os
import stat
import tarfile
import zlib
from pathlib import Path

import pytest

from arena.packs.sandbox.keeper import archive
from arena.packs.sandbox.keeper.archive import Entry, Room, Unusable, collect, lay
from arena.packs.sandbox.snapshot import EMPTY, Shelf, pack, unpack
from arena.packs.sandbox.tree import Tree

ROOM = Room(1_000_000, 1000)
ODD = Entry(os.fsdecode(b"odd \xff\nname"), "file", b"\0\xff", executable=True)
TREE = Tree([Entry("d", "dir"), Entry("d/l", "link", b"/etc/passwd"), ODD])


def tar(*members: tuple[str, bytes, bytes], **changes: object) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(content)
            for key, value in changes.items():
                setattr(info, key, value)
            made.addfile(info, io.BytesIO(content))
    return out.getvalue()


def opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)


def test_a_snapshot_gives_back_the_same_tree_byte_for_byte() -> None:
    assert sorted(unpack(pack(TREE), ROOM)) == sorted(TREE)
    assert pack(unpack(pack(TREE), ROOM)) == pack(TREE)


def test_equal_trees_have_equal_snapshots_however_they_came_about() -> None:
    one = Tree().write("a", b"1").write("b/c", b"2")
    other = Tree().write("b/c", b"9").write("a", b"1").write("b/c", b"2")

    assert pack(one) == pack(other)
    assert pack(Tree()) == EMPTY
    assert len(unpack(EMPTY, ROOM)) == 0


@pytest.mark.parametrize(
    "raw",
    [
        tar(("../evil", tarfile.REGTYPE, b"x")),
        tar(("/etc/cron.d/evil", tarfile.REGTYPE, b"x")),
        tar(("a/../../evil", tarfile.REGTYPE, b"x")),
        tar(("a", tarfile.REGTYPE, b"x"), ("a", tarfile.REGTYPE, b"y")),
        tar(("l", tarfile.SYMTYPE, b""), ("l/x", tarfile.REGTYPE, b"x"), linkname="/etc"),
        tar(("missing/x", tarfile.REGTYPE, b"x")),
        tar(("h", tarfile.LNKTYPE, b""), linkname="/etc/passwd"),
        tar(("l", tarfile.SYMTYPE, b"")),
        b"no tar at all" * 100,
    ],
    ids=["up", "absolute", "up inside", "twice", "through a link", "orphan", "hard link", "to nowhere", "garbage"],
)
def test_an_archive_with_anything_but_one_plain_tree_is_refused(raw: bytes) -> None:
    with pytest.raises(Unusable):
        unpack(zlib.compress(raw), ROOM)


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_what_is_no_file_is_left_behind(kind: bytes) -> None:
    assert len(unpack(zlib.compress(tar(("x", kind, b""))), ROOM)) == 0


def test_bombs_are_refused_before_they_go_off() -> None:
    with pytest.raises(Unusable, match="too large"):
        unpack(zlib.compress(b"\0" * 50_000_000), ROOM)
    with pytest.raises(Unusable, match="more than 10 bytes"):
        unpack(pack(Tree().write("a", b"x" * 11)), Room(10, 10))
    with pytest.raises(Unusable, match="more than 3 files"):
        unpack(pack(Tree().write("a/b/c/d", b"")), Room(10, 3))


def test_a_snapshot_that_is_cut_off_or_spoiled_is_refused() -> None:
    whole = pack(TREE)

    for spoiled in (whole[:-5], b"x" + whole, whole[:20]):
        with pytest.raises(Unusable):
            unpack(spoiled, ROOM)


def test_a_directory_is_laid_out_and_collected_again(tmp_path: Path) -> None:
    lay(opened(tmp_path), archive.read(archive.write(TREE), ROOM))

    assert sorted(collect(opened(tmp_path), ROOM)) == sorted(TREE)
    assert (tmp_path / ODD.path).stat().st_mode & 0o777 == 0o755


def test_collecting_never_follows_a_link_nor_waits_at_a_pipe(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("host")
    work = tmp_path / "work"
    work.mkdir()
    (work / "file").symlink_to(secret)
    (work / "dir").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(work / "pipe")
    os.mknod(work / "socket", stat.S_IFSOCK | 0o600)

    found = collect(opened(work), ROOM)

    assert [(entry.path, entry.kind) for entry in found] == [("dir", "link"), ("file", "link")]
    assert not any(b"host" in entry.data for entry in found if entry.kind == "file")


def test_huge_sparse_files_are_refused_without_reading_them(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2**40)

    with pytest.raises(Unusable, match="larger than"):
        collect(opened(tmp_path), ROOM)


def test_one_file_under_many_names_counts_each_time(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 400_000)
    for number in range(3):
        (tmp_path / f"g{number}").hardlink_to(tmp_path / "f")

    with pytest.raises(Unusable, match="more than 1000000 bytes"):
        collect(opened(tmp_path), ROOM)


def test_directories_of_any_depth_come_to_an_end(tmp_path: Path) -> None:
    at = opened(tmp_path)
    for _ in range(200):
        os.mkdir("d", dir_fd=at)
        at = os.open("d", os.O_RDONLY, dir_fd=at)

    with pytest.raises(Unusable, match="too deep"):
        collect(opened(tmp_path), ROOM)


def test_the_shelf_gives_the_tree_that_was_just_packed() -> None:
    shelf = Shelf(ROOM, limit=10_000)
    tree = Tree().write("a", b"1")

    assert shelf.unpack(shelf.pack(tree)) is tree
    shelf.pack(Tree().write("b", os.urandom(20_000)))
    assert shelf.unpack(pack(tree)) is not tree
