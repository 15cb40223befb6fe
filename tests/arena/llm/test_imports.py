"""The clients of providers cost seconds to import: nobody pays for them who asks no model."""

import subprocess
import sys

import pytest

HEAVY = ("openai", "anthropic", "arena.llm.clients")


@pytest.mark.parametrize(
    "modules",
    [
        "arena.cli, arena.doctor",
        "arena.server, arena.runtime, arena.web.app",
        "arena.llm.models, arena.packs.judges.run, arena.packs.judges.seat, arena.packs.simulated_user",
    ],
)
def test_no_client_is_imported_before_a_model_is_asked(modules: str) -> None:
    code = f"import sys, {modules}; print(*[name for name in {HEAVY} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
