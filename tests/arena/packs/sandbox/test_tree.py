import pytest

from arena.packs.sandbox.tree import Entry, Listed, NoFile, Room, Tree, Unusable

PLENTY = Room(1000, 100)


def link(path: str, target: str) -> Entry:
    return Entry(path, "link", target.encode())


def test_a_written_file_is_read_again_under_any_spelling_of_its_path() -> None:
    tree = Tree().write("/workspace/a/b.txt", b"hello")

    assert [tree.read(path) for path in ("a/b.txt", "./a//b.txt", "a/../a/b.txt", "/workspace/a/b.txt")] == [
        b"hello"
    ] * 4


def test_writing_changes_nothing_but_the_new_tree() -> None:
    before = Tree().write("a", b"old", executable=True)

    after = before.write("a", b"new")

    assert (before.read("a"), after.read("a")) == (b"old", b"new")
    assert after.find("a").executable


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../etc/passwd", "a/../../etc/passwd", "/workspace/../etc/passwd", "/workspacex/a", "out", "up/x"],
)
def test_no_path_and_no_link_leads_out_of_the_work_directory(path: str) -> None:
    tree = Tree([link("out", "/etc/passwd"), link("up", "../.."), Entry("a", "dir")])

    for ask in (tree.read, tree.find, tree.list, lambda path: tree.write(path, b"x")):
        with pytest.raises(NoFile, match="outside of /workspace"):
            ask(path)


def test_links_that_stay_inside_are_followed() -> None:
    tree = Tree([Entry("d", "dir"), link("l", "d"), link("m", "/workspace/l"), link("n", "../workspace/d")])

    assert [tree.write(f"{way}/f", b"1").read("d/f") for way in ("l", "m", "n")] == [b"1"] * 3


def test_links_in_a_circle_end() -> None:
    with pytest.raises(NoFile, match="circles"):
        Tree([link("a", "b"), link("b", "a")]).read("a")


def test_a_link_to_a_file_is_written_through_and_a_dangling_one_makes_its_target() -> None:
    tree = Tree([link("l", "target")]).write("l", b"x")

    assert tree.read("target") == b"x"
    assert tree.find("l").path == "target"


def test_a_file_is_no_directory_and_a_directory_no_file() -> None:
    tree = Tree().write("d/f", b"x")

    with pytest.raises(NoFile, match="is a directory"):
        tree.read("d")
    with pytest.raises(NoFile, match="is a directory"):
        tree.write("d", b"")
    with pytest.raises(NoFile, match="is not a directory"):
        tree.write("d/f/g", b"")
    with pytest.raises(NoFile, match="is not a directory"):
        tree.list("d/f")
    with pytest.raises(NoFile, match="does not exist"):
        tree.read("d/g")


def test_a_listing_has_full_paths_and_goes_deeper_only_if_asked() -> None:
    tree = Tree().write("d/f", b"xy").write("e", b"")

    assert tree.list(".") == [Listed("/workspace/d", 0, True), Listed("/workspace/e", 0, False)]
    assert tree.list("/workspace", recursive=True)[1] == Listed("/workspace/d/f", 2, False)
    assert tree.list("d") == [Listed("/workspace/d/f", 2, False)]


def test_a_tree_has_to_have_room() -> None:
    with pytest.raises(Unusable, match="more than 1000 bytes"):
        Tree().write("a", b"x" * 1001).within(PLENTY)
    with pytest.raises(Unusable, match="more than 2 files"):
        Tree().write("a/b/c", b"").within(Room(1000, 2))


@pytest.mark.parametrize("path", ["a\0b", "x" * 256, "/".join("d" * 65), "a" * 200 + "/" + "b" * 256])
def test_names_that_no_disk_takes_are_refused(path: str) -> None:
    with pytest.raises((NoFile, Unusable)):
        Tree().write(path, b"")
