"""`arena pack publish` and its kin against a running server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Done, arena, call
from tests.servers import Process
from tests.shelves import quiz, written

TOKEN = "a-token-of-the-keeper-of-this-server"


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with Process(ARENA_ADMIN_TOKEN=TOKEN) as running:
        yield running


def ask(server: Process, *arguments: str | Path, token: str = TOKEN) -> Done:
    return call("pack", *arguments, env={"ARENA_URL": server.url, "ARENA_ADMIN_TOKEN": token})


def test_a_pack_is_published_with_its_files_listed_archived_and_downloaded(server: Process, tmp_path: Path) -> None:
    assets = [{"key": key, "path": path} for key, path in (("t", "data/t.csv"), ("gone", "no"), ("out", "../out"))]
    text = quiz("clerk", version__assets=assets)
    (tmp_path / "packs" / "data").mkdir(parents=True)
    pack = written(tmp_path / "packs", text)
    (tmp_path / "packs" / "data" / "t.csv").write_bytes(b"1,2")
    (tmp_path / "out").write_bytes(b"not of the pack")

    made = ask(server, "publish", pack)
    again = ask(server, "publish", "--json", pack)
    listed = ask(server, "list")
    archived = ask(server, "archive", "clerk", "--json")
    back = ask(server, "unarchive", "clerk")
    printed = ask(server, "download", "clerk")
    saved = ask(server, "download", "clerk", "--version", "1", "--to", tmp_path / "copy.yaml")

    assert (made.code, made.out.split()[1:4]) == (0, ["clerk", "version", "1"])
    assert [line.partition(": ")[2].split()[0] for line in made.err.splitlines()] == ["no", "../out"]
    [told] = json.loads(again.out)
    assert (told["slug"], told["number"], told["file"]) == ("clerk", 1, str(pack))
    assert listed.out.split() == ["clerk", "version", "1", "Quiz"]
    assert json.loads(archived.out)["archived"] is True
    assert (back.code, back.out) == (0, "clerk version 1: offered\n")
    assert printed.out.encode() == text
    assert (saved.code, (tmp_path / "copy.yaml").read_bytes()) == (0, text)


def test_what_is_refused_is_told_and_fails_but_the_others_are_published(server: Process, tmp_path: Path) -> None:
    good, bad = written(tmp_path, quiz("fine"), "good.yaml"), written(tmp_path, b"pack: {slug: b}\n", "bad.yaml")

    done = ask(server, "publish", bad, good)
    stranger = ask(server, "publish", good, token="x" * 40)
    unknown = ask(server, "archive", "nobody")
    missing = ask(server, "publish", tmp_path / "none.yaml")

    assert done.code == 1
    assert f"{good}: fine version 1" in done.out
    assert f"{bad}: arena: line 1: pack.name is required" in done.err
    assert (stranger.code, unknown.code, missing.code) == (1, 1, 1)
    assert "Packs are kept by admins" in stranger.err
    assert unknown.err == "arena: There is no such pack.\n"


def test_a_server_that_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    gone = arena("pack", "publish", written(tmp_path, quiz()), "--url", "http://127.0.0.1:1")

    assert (gone.code, gone.out) == (1, "")
    assert gone.err.startswith("arena: No arena answers at http://127.0.0.1:1")
