import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.packs.sandbox import bubblewrap
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.cgroups import Cgroups
from arena.packs.sandbox.provider import Command, NoSandbox, SandboxError
from arena.packs.sandbox.tree import Tree
from tests.commands import as_nobody
from tests.sandboxes import NO_GROUPS, SMALL, alive, linux_only, marker, python, run, until

pytestmark = linux_only


async def test_a_command_finds_its_files_and_leaves_new_ones() -> None:
    tree = Tree().write("in.txt", b"hello").write("bin/tool", b"#!/bin/sh\necho ran\n", executable=True)

    done = await run("bin/tool; tr a-z A-Z < in.txt > out.txt; rm in.txt; pwd", tree=tree)

    assert (done.code, done.stdout.text, done.stderr.text) == (0, "ran\n/workspace\n", "")
    assert done.tree.read("out.txt") == b"HELLO"
    assert {entry.path for entry in done.tree} == {"bin", "bin/tool", "out.txt"}


async def test_exit_codes_input_and_both_outputs_come_through() -> None:
    done = await Bubblewrap(SMALL).run(
        Tree(), Command(("/bin/sh", "-c", "cat; echo no >&2; exit 7"), stdin=b"x" * 300_000)
    )

    assert (done.code, done.stdout.size, done.stderr.text, done.stopped) == (7, 300_000, "no\n", "")


async def test_a_program_that_is_not_there_is_the_commands_own_failure() -> None:
    done = await Bubblewrap(SMALL).run(Tree(), Command(("no-such-program",)))

    assert done.code == 127


async def test_a_directory_that_is_not_there_is_told() -> None:
    with pytest.raises(SandboxError, match="chdir to /nowhere"):
        await Bubblewrap(SMALL).run(Tree(), Command(("true",), cwd="/nowhere"))


async def test_a_command_that_takes_too_long_is_stopped_and_its_files_are_kept() -> None:
    done = await run("echo early > f; echo said; exec sleep 1000", seconds=1)

    assert (done.stopped, done.code, done.stdout.text) == ("time", None, "said\n")
    assert done.tree.read("f") == b"early\n"


async def test_of_a_flood_the_beginning_and_the_end_are_kept() -> None:
    done = await run("echo first; yes | head -c 5000000; echo last")

    assert done.stdout.size == 5_000_011
    assert done.stdout.text.startswith("first\ny\n")
    assert done.stdout.text.endswith("y\nlast\n")
    assert len(done.stdout.text) < SMALL.output + 100
    assert "bytes left out" in done.stdout.text


async def test_commands_wait_for_a_free_slot() -> None:
    sandbox = Bubblewrap(SMALL, slots=1)
    command = Command.shell("date +%s%N; sleep 0.2; date +%s%N")

    done = await asyncio.gather(*(sandbox.run(Tree(), command) for _ in range(2)))

    times = sorted([int(word) for word in each.stdout.text.split()] for each in done)
    assert times[0][1] < times[1][0]


async def test_a_cancelled_call_leaves_no_process_behind() -> None:
    mark = marker()
    task = asyncio.create_task(
        run(f"sh -c 'sleep 1000; : {mark}'", limits=SMALL._replace(seconds=1000, most_seconds=1000))
    )
    await until(mark, lives=True)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(mark, lives=False)


async def test_a_server_that_is_killed_takes_its_sandboxes_along(tmp_path: Path) -> None:
    mark = marker()
    code = f"""
import asyncio
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.provider import Command, Limits
from arena.packs.sandbox.tree import Tree
patient = Limits(seconds=1000, most_seconds=1000)
asyncio.run(Bubblewrap(patient).run(Tree(), Command.shell("setsid sh -c 'sleep 1000; : {mark}' & sleep 1000")))
"""
    script = tmp_path / "server.py"  # so that its own command line has no mark
    script.write_text(code)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    server = await asyncio.create_subprocess_exec(sys.executable, str(script), env=env)
    await until(mark, lives=True)

    server.kill()
    await server.wait()

    await until(mark, lives=False)


def left_behind(mark: str) -> list[Path]:
    files = [path for place in ("/tmp", "/dev/shm", "/var/tmp") for path in Path(place).glob(f"**/{mark}")]
    return [*files, *Path("/sys/fs/cgroup").glob(f"**/arena-sandbox-{os.getpid()}-*")]


@pytest.mark.parametrize("groups", [None, NO_GROUPS], ids=["control groups", "limits per process"])
async def test_nothing_is_left_on_the_host_after_a_run(groups: Cgroups | None) -> None:
    mark = marker()

    await run(
        f"echo x > {mark}; echo x > /tmp/{mark}; echo x > /dev/shm/{mark}; (setsid sleep 1000 {mark} &)", groups=groups
    )

    assert not alive(mark)
    assert left_behind(mark) == []


NOBODY = """
import asyncio, sys
import encodings.idna
from pathlib import Path
from arena.packs.sandbox import bubblewrap
from arena.packs.sandbox.provider import Command
from arena.packs.sandbox.tree import Tree
"""
TRYING = """
bubblewrap._PYTHON, bubblewrap._ROOT, sys.base_prefix = sys.argv[1], Path(sys.argv[2]), "/usr"
async def main():
    sandbox = bubblewrap.Bubblewrap()
    await sandbox.probe()
    return await sandbox.run(Tree().write("a", b"hello"), Command.shell("id -u; cat a; echo x > b"))
done = asyncio.run(main())
print(done.code, done.stdout.text.split(), sorted(e.path for e in done.tree))
"""


def test_a_server_without_the_rights_of_root_has_sandboxes_too() -> None:
    interpreter = "/usr/bin/python3"
    if not Path(interpreter).exists():
        pytest.skip("needs a Python that everybody may run")
    home = Path("/tmp", marker())
    try:
        shutil.copytree(Path(bubblewrap.__file__).parent, home / "arena/packs/sandbox")
        home.chmod(0o755)

        told = as_nobody(NOBODY, TRYING, interpreter, home)
    finally:
        shutil.rmtree(home)

    assert told.strip() == "0 ['1000', 'hello'] ['a', 'b']"


async def test_a_machine_without_bubblewrap_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(NoSandbox, match="apt-get install bubblewrap"):
        await Bubblewrap().probe()


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A bubblewrap as it is where the kernel gives it nothing."""
    stub = Path("/tmp", marker())
    stub.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    stub.chmod(0o755)
    monkeypatch.setattr(Bubblewrap, "_program", str(stub))
    yield
    stub.unlink()


@pytest.mark.usefixtures("refusing")
async def test_a_kernel_that_gives_no_namespaces_is_told_with_a_reason() -> None:
    with pytest.raises(NoSandbox, match="does not work here: "):
        await Bubblewrap().probe()


async def test_directories_that_the_server_names_can_be_read_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/greet").write_text("#!/bin/sh\necho hello\n")
    for part in (tmp_path, tmp_path / "bin/greet"):
        part.chmod(0o755)
    sandbox = Bubblewrap(SMALL, readable=[str(tmp_path)])

    done = await sandbox.run(Tree(), Command.shell(f"greet; touch {tmp_path}/x"))

    assert done.stdout.text == "hello\n"
    assert "Read-only file system" in done.stderr.text


async def test_every_sandbox_has_a_python() -> None:
    done = await run(python("import json, sqlite3, ssl; print('fine')"))

    assert done.stdout.text == "fine\n"
