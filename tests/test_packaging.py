"""What a user gets from `pip install`: everything the arena needs, away from the checkout."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def test_the_wheel_has_the_page_the_scripts_and_the_built_in_plugins(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())

    scripts = {path.relative_to(ROOT).as_posix() for path in (ROOT / "arena/store").rglob("*.lua")}
    assert scripts
    assert scripts <= names
    assert names >= {
        "arena/static/index.html",
        "arena/py.typed",
        "challenges/psi/rules.py",
        "challenges/psi/challenge.yaml",
        "challenges/packs/night-porter.yaml",
        "challenges/packs/assets/log_detective/day.log",
        "arena/packs/starters/prompt_eval.yaml",
        "scoring_strategies/average.py",
        "scoring_strategies/global_average.py",
    }


def test_the_plugin_folders_stay_open_for_the_plugins_of_others(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())

    assert not names & {"challenges/__init__.py", "scoring_strategies/__init__.py"}
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "static/"))]


def test_the_lock_pins_versions_and_names_no_place_to_get_them() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()

    assert lines
    assert all(re.fullmatch(r"[a-z0-9.-]+==[\w.]+( ; .+)?", line) for line in lines)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that begins empty."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder / "venv")
    return folder / "venv" / "bin"


def test_the_demo_plays_from_an_installed_wheel(wheel: Path, commands: Path, tmp_path: Path) -> None:
    install(commands, tmp_path, str(wheel))

    output = demo(commands, tmp_path)

    assert games_played(output) >= 1
    assert ROOT not in home(commands, tmp_path).parents
    for name in ("pettingzoo", "textarena"):
        assert f"pip install 'arena-server[{name}]'" in failure(commands, f"import arena.adapters.{name}")


def test_the_demo_plays_from_an_editable_install(commands: Path, tmp_path: Path) -> None:
    install(commands, tmp_path, "--editable", str(ROOT))

    output = demo(commands, tmp_path)

    assert games_played(output) >= 1
    assert ROOT in home(commands, tmp_path).parents


def install(commands: Path, folder: Path, *what: str) -> None:
    """Install as a user would; what an environment has already is not fetched again."""
    command = [sys.executable, "-m", "pip", "--python", str(commands / "python"), "install", "--quiet", "--no-compile"]
    command += ["-c", str(ROOT / "requirements.lock")]
    subprocess.run([*command, *what], check=True, cwd=folder, env=bare_environment())


def failure(commands: Path, code: str) -> str:
    """What a user is told by an import of something that was not installed."""
    command = [str(commands / "python"), "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=bare_environment())
    assert done.returncode == 1
    return done.stderr


def home(commands: Path, folder: Path) -> Path:
    """Where the installed arena lies."""
    command = [str(commands / "python"), "-c", "import arena.version; print(arena.version.__file__)"]
    return Path(subprocess.check_output(command, cwd=folder, env=bare_environment(), text=True).strip())


def demo(commands: Path, folder: Path) -> str:
    command = [str(commands / "arena"), "demo", "--seconds", "5", "--port", "0", "--no-browser"]
    done = subprocess.run(
        [*command, "--data", str(folder / "data")],
        check=False,
        cwd=folder,
        env=bare_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout


def games_played(output: str) -> int:
    found = re.search(r"(\d+) games? played", output)
    assert found, output
    return int(found[1])


def bare_environment() -> dict[str, str]:
    """Our environment without what would lead back to the checkout or change the arena's settings."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "PYTHON", "VIRTUAL_ENV"))
    }
