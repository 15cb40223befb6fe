import os
from pathlib import Path

import pytest

from arena.packs.sandbox.cgroups import Cgroups, find


def hierarchy(root: Path, own: str, *, files: tuple[str, ...]) -> Path:
    """A directory tree that looks like a control group file system; `files` are there in every new group."""
    (root / own.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for place in (root / own.lstrip("/"), root):
        for name in ("cgroup.procs", *files):
            (place / name).touch()
    told = root / "self"
    told.write_text(f"0::{own}\n")
    return told


def test_a_hierarchy_without_controllers_is_of_no_use(tmp_path: Path) -> None:
    told = hierarchy(tmp_path, "/unit/server", files=())

    assert find(tmp_path, told) == Cgroups(None, None)
    assert find(tmp_path, tmp_path / "missing") == Cgroups(None, None)
    assert not list(tmp_path.glob("**/arena-sandbox-*"))


def test_a_group_has_its_limits_and_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, removed = Path.mkdir, Path.rmdir

    def mkdir(self: Path, *args: object, **options: object) -> None:
        made(self, *args, **options)  # type: ignore[arg-type]
        for name in ("memory.max", "pids.max", "memory.swap.max"):
            (self / name).touch()

    def rmdir(self: Path) -> None:
        for each in self.iterdir():
            each.unlink()
        removed(self)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    told = hierarchy(tmp_path, "/unit/server", files=())

    found = find(tmp_path, told)
    with found.group(1000, 20) as group:
        assert group.memory is not None
        limits = {path.name: path.read_text() for path in group.memory.iterdir()}
        doors = group.doors

    assert found.memory == found.processes == tmp_path / "unit/server"
    assert limits == {"memory.max": "1000", "pids.max": "20", "memory.swap.max": "0"}
    assert doors == [str(group.memory / "cgroup.procs")]
    assert not list(tmp_path.glob("**/arena-sandbox-*"))


@pytest.mark.parametrize(("told", "so"), [("oom 1\noom_kill 2\n", True), ("oom 0\noom_kill 0\n", False)])
def test_a_kill_for_memory_is_seen(tmp_path: Path, told: str, so: bool) -> None:
    with Cgroups(tmp_path, None).group(1000, 20) as group:
        assert group.memory is not None
        (group.memory / "memory.events").write_text(told)
        seen = group.ran_out_of_memory
        (group.memory / "memory.events").unlink()

    assert seen is so


def test_groups_of_servers_that_died_are_removed_and_others_kept(tmp_path: Path) -> None:
    gone, ours = tmp_path / "arena-sandbox-999999999-a", tmp_path / f"arena-sandbox-{os.getpid()}-b"
    gone.mkdir()
    ours.mkdir()

    Cgroups(tmp_path, tmp_path).clear()

    assert not gone.exists()
    assert ours.exists()
