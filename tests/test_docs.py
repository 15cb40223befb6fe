"""What we tell people works: examples run, commands exist, links lead somewhere, and the settings are all there."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from typer.testing import CliRunner

from arena.cli import app
from arena.settings import Settings
from arena.version import __version__
from tests.servers import Process

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
ARENA = "127.0.0.1:3001"  # where the examples look for a server

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


class Block(NamedTuple):
    language: str
    file: str | None  # the name under which the text tells the reader to save it
    line: int
    code: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in re.finditer(r"^```(\w+)?([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        named = re.search(r"file=(\S+)", found[2])
        yield Block(found[1] or "", named and named[1], text[: found.start()].count("\n") + 1, found[3])


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def has_python(page: Path) -> bool:
    return any(block.language == "python" for block in blocks(page))


def test_every_document_has_an_example_that_runs_or_needs_none() -> None:
    without = {page.name for page in PAGES if not has_python(page)}

    told_elsewhere = {"javascript.md"}  # test_javascript.py runs it
    needless = {
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "operations.md",
        "packs-reference.md",
        "performance.md",
    }
    assert without == needless | told_elsewhere


@pytest.mark.parametrize("page", [page for page in PAGES if has_python(page)], ids=lambda page: page.name)
def test_the_python_on_a_page_runs_in_its_order(page: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        server = ""
        for block in blocks(page):
            if block.language == "python":
                if ARENA in block.code and not server:
                    server = stack.enter_context(server_of(page, tmp_path)).url.removeprefix("http://")
                run(block, page, tmp_path, server)


def server_of(page: Path, folder: Path) -> Process:
    """The server that a page talks of: it loads what its commands say."""
    commands = [words for _, words in commands_of(page) if words[:2] == ["arena", "serve"]]
    modules = [words[place + 1] for words in commands for place, word in enumerate(words) if word == "--load"]
    for block in blocks(page):
        if block.file and Path(block.file).stem in modules:
            (folder / block.file).write_text(block.code)
    return Process(ARENA_LOAD=",".join(modules), PYTHONPATH=str(folder))


def run(block: Block, page: Path, folder: Path, server: str) -> None:
    path = folder / (block.file or f"example_{block.line}.py")
    path.write_text(block.code.replace(ARENA, server or ARENA))
    command = [sys.executable, str(path)]
    if path.name.startswith("test_"):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(path)]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{page.name}:{block.line}\n{done.stdout}\n{done.stderr}"


def test_the_challenge_of_the_readme_is_offered_under_the_name_it_says(tmp_path: Path) -> None:
    readme = ROOT / "README.md"

    with server_of(readme, tmp_path) as server:
        example = """
            import asyncio
            from arena.client import client

            async def main():
                async with client("ws://127.0.0.1:3001/ws") as ada, client("ws://127.0.0.1:3001/ws") as ben:
                    session = await ada.call("create", challengeType="split-or-steal")
                    for guest, invite in zip((ada, ben), session["invites"]):
                        await guest.call("join", invite=invite)
                    for guest in (ada, ben):
                        await guest.call("message", challengeId=session["id"], messageType="choose", content="split")
                    while (frame := await ben.hear())["type"] != "game_ended":
                        pass
                    assert frame["data"]["scores"][0]["utility"] == frame["data"]["scores"][1]["utility"] > 0

            asyncio.run(main())
        """
        code = "\n".join(line.removeprefix(" " * 12) for line in example.splitlines())
        run(Block("python", None, 0, code), readme, tmp_path, server.url.removeprefix("http://"))


def commands_of(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands of ours, in blocks and in the middle of a sentence."""
    lines = [line for block in blocks(page) if block.language in {"sh", ""} for line in block.code.splitlines()]
    lines += re.findall(r"`((?:arena|make) [^`]+)`", prose(page))
    for line in lines:
        words = shlex.split(line.replace("…", ""), comments=True)
        if words and words[0] in {"arena", "make"}:
            yield line, words


@each_page
def test_commands_on_a_page_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    for line, words in commands_of(page):
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= targets, line
        else:
            check_arena(line, words[1:])


def check_arena(line: str, words: list[str]) -> None:
    path: tuple[str, ...] = ()
    while words and not words[0].startswith("-") and words[0] in subcommands(path):
        path, words = (*path, words[0]), words[1:]
    flags = {word.partition("=")[0] for word in words if word.startswith("-")}
    assert path or flags, f"no command in {line!r}"
    assert flags <= set(re.findall(r"--[a-z-]+", usage(path))), line
    if "─ Arguments ─" in usage(path):
        return
    # Whatever else there is belongs to an option.
    assert all(word.startswith("-") or words[n - 1].startswith("-") for n, word in enumerate(words) if n), line
    assert not words or words[0].startswith("-"), line


@cache
def usage(path: tuple[str, ...]) -> str:
    done = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}, prog_name="arena")
    assert done.exit_code == 0, done.output
    return str(done.output)


@cache
def subcommands(path: tuple[str, ...]) -> set[str]:
    _, found, listed = usage(path).partition("─ Commands ─")
    return set(re.findall(r"^│ ([a-z-]+) ", listed, re.MULTILINE)) if found else set()


@each_page
def test_links_on_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_begins_with_the_two_commands() -> None:
    first = next(blocks(ROOT / "README.md"))

    assert [line.split("#")[0].strip() for line in first.code.splitlines()] == ["make demo", "make test"]


def test_the_table_of_settings_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| `ARENA_(\w+)` \|([^|]*)\|", (ROOT / "README.md").read_text(), re.MULTILINE)

    told = {name.lower(): default.strip() for name, default in rows}
    assert len(rows) == len(told)
    assert told == {name: shown(field.default) for name, field in Settings.model_fields.items()} | {
        "data": "the user's data directory"
    }


def shown(default: object) -> str:
    return "" if default in (None, ()) else str(default)


def test_the_citation_has_the_version_that_is_installed() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())

    assert cited["version"] == __version__
