import json
from pathlib import Path
from typing import Any

import pytest

from arena.packs.blocks import Bundle
from arena.packs.read import parse_bundle
from arena.packs.sandbox import packages
from arena.packs.sandbox.bubblewrap import Bubblewrap
from arena.packs.sandbox.choice import Choice, choose, limits_of, refusal, way_of
from arena.settings import Settings
from tests.bundles import small
from tests.sandboxes import linux_only

NONE = Choice(None, "nothing works here")
HERE = Choice(Bubblewrap(), "")


def bundle(**changes: Any) -> Bundle:
    return parse_bundle(json.dumps(small(**changes)))


@linux_only
async def test_bubblewrap_is_the_first_choice() -> None:
    choice = await choose(Settings())

    assert choice.sandbox is not None
    assert choice.sandbox.name == "bubblewrap"
    assert "memory is held by" in choice.reason


async def test_a_machine_without_any_provider_tells_all_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    choice = await choose(Settings())

    assert choice.sandbox is None
    assert "bubblewrap is not installed" in choice.reason
    assert "docker is not installed" in choice.reason


async def test_a_provider_that_was_not_asked_for_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    assert (await choose(Settings(sandbox="docker"))).sandbox is None
    assert (await choose(Settings(sandbox="none"))).reason.endswith("(ARENA_SANDBOX=none)")


def test_native_packs_are_refused_without_a_sandbox_and_others_are_not() -> None:
    assert refusal(bundle(), NONE) == "this pack needs a sandbox, and there is none here: nothing works here"
    assert refusal(bundle(version__execution_mode="prompt_eval"), NONE) == ""
    assert refusal(bundle(version__execution_mode="responses"), NONE) == ""
    assert refusal(bundle(), HERE) == ""


def test_networks_are_refused_as_the_server_says() -> None:
    public = bundle(version__sandbox={"network_access": True})
    private = bundle(version__sandbox={"network_access": True, "network_allowlist": ["10.0.0.0/8"]})

    assert "gives none" in refusal(public, Choice(Bubblewrap(network="off"), ""))
    assert refusal(public, Choice(Bubblewrap(network="public"), "")) == ""
    assert "10.0.0.0/8" in refusal(private, Choice(Bubblewrap(network="public"), ""))
    assert refusal(private, Choice(Bubblewrap(network="private"), "")) == ""


def test_a_list_without_access_gives_no_network() -> None:
    assert way_of(bundle(version__sandbox={"network_allowlist": ["8.8.8.0/24"]})) is None
    assert way_of(bundle()) is None


def test_packages_have_to_be_installed(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text(
        "Package: jq\nEssential: yes\nStatus: install ok installed\nArch: any\n\n"
        "Package: gone\nStatus: deinstall ok config-files\n"
    )

    assert packages.refusal(("jq",), status) == ""
    assert "gone, never-heard-of" in packages.refusal(("gone", "jq", "never-heard-of"), status)
    assert packages.is_installed("sh", tmp_path / "missing")
    assert "no-such-package-at-all" in refusal(
        bundle(version__sandbox={"additional_packages": ["no-such-package-at-all"]}), HERE
    )


def test_variables_with_placeholders_are_refused() -> None:
    assert "env_vars[A]" in refusal(bundle(version__sandbox={"env_vars": {"A": "${secrets.X}"}}), HERE)


def test_limits_come_from_the_settings() -> None:
    limits = limits_of(Settings(sandbox_seconds=7, sandbox_memory_bytes=1000, sandbox_most_seconds=1))

    assert (limits.seconds, limits.memory, limits.most_seconds) == (7, 1000, 7)
    assert Settings(sandbox_readable="/opt/a,/opt/b").sandbox_readable == ("/opt/a", "/opt/b")  # type: ignore[arg-type]
