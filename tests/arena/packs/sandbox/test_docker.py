from itertools import pairwise

import pytest

from arena.packs.sandbox.docker import Docker
from arena.packs.sandbox.provider import MIB, Command, Limits, NoSandbox, SandboxError, Way
from arena.packs.sandbox.tree import Tree

LIMITS = Limits(memory=256 * MIB, disk=8 * MIB, files=500, processes=16, most_seconds=60)
DOCKER = Docker(LIMITS, image="some-image:1")


def pairs(arguments: list[str]) -> set[tuple[str, str]]:
    return set(pairwise(arguments))


def test_a_container_has_no_network_no_rights_and_bounded_room() -> None:
    arguments = list(DOCKER.arguments("the-name"))

    assert arguments[0] == "run"
    assert {"--rm", "--detach", "--read-only"} <= set(arguments)
    assert pairs(arguments) >= {
        ("--network", "none"),
        ("--cap-drop", "ALL"),
        ("--security-opt", "no-new-privileges"),
        ("--user", "1000:1000"),
        ("--memory", str(256 * MIB)),
        ("--memory-swap", str(256 * MIB)),
        ("--pids-limit", "20"),
        ("--pull", "never"),
        ("--name", "the-name"),
    }
    mounts = [value for name, value in pairs(arguments) if name == "--tmpfs"]
    assert {mount.partition(":")[0] for mount in mounts} == {"/workspace", "/tmp"}
    assert all(f"size={8 * MIB},nr_inodes=564" in mount and "nosuid,nodev" in mount for mount in mounts)
    assert not any(each in {"--privileged", "--volume", "-v", "--mount"} for each in arguments)


def test_a_container_ends_by_itself_should_the_server_be_gone() -> None:
    arguments = list(DOCKER.arguments("x"))

    assert arguments[-4:-2] == ["--entrypoint", "sleep"]
    assert arguments[-2] == "some-image:1"
    assert 60 <= int(arguments[-1]) <= 600


def test_what_docker_cannot_give_is_refused() -> None:
    assert "network" in DOCKER.refuses(Way(), ())
    assert "jq" in DOCKER.refuses(None, ("jq",))
    assert DOCKER.refuses(None, ()) == ""


async def test_no_daemon_is_a_reason_and_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    with pytest.raises(NoSandbox, match="docker"):
        await DOCKER.probe()
    with pytest.raises(SandboxError, match="docker"):
        await Docker(LIMITS, image="x").run(Tree(), Command.shell("echo unconfined"))


async def test_no_docker_at_all_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(NoSandbox, match="not installed"):
        await DOCKER.probe()
