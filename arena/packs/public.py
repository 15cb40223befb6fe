"""What everybody may know of a pack: the task and how it is scored, never what is expected or planted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

HIDDEN = "[hidden]"
DIMENSION = ("key", "source", "weight", "gate", "pass_threshold", "better_direction")


def public_manifest(manifest: bytes) -> bytes:
    """The manifest of a pack without anything that would give an answer or a secret away.

    What may be told is named here, one by one: a field that a later pack brings along is not shown by accident.
    """
    return json.dumps(
        scrubbed(_shown(whole := json.loads(manifest)), secrets_of(whole)), separators=(",", ":")
    ).encode()


def secrets_of(manifest: Mapping[str, Any]) -> list[str]:
    """The secrets that a pack plants, longest first."""
    planted = (manifest.get("security") or {}).get("planted_secrets") or ()
    return sorted({each["value"] for each in planted if each.get("value")}, key=len, reverse=True)


def scrubbed(value: Any, secrets: Sequence[str]) -> Any:
    """The same JSON value with every secret in its texts and keys hidden."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {scrubbed(name, secrets): scrubbed(member, secrets) for name, member in value.items()}
    return [scrubbed(item, secrets) for item in value] if isinstance(value, list) else value


def _shown(manifest: Mapping[str, Any]) -> dict[str, Any]:
    version, sandbox = manifest["version"], manifest.get("sandbox")
    shown = {
        "schema_version": manifest["schema_version"],
        "pack": manifest["pack"],
        "version": _some(version, ("number", "execution_mode")),
        "tool_policy": _some(manifest.get("tool_policy") or {}, ("allowed_tool_kinds", "allow_shell")),
        "tools": [_some(tool, ("name", "description", "parameters")) for tool in _custom(manifest)],
        "challenges": _each(manifest["challenges"], ("key", "title", "category", "difficulty", "instructions")),
        "input_sets": [
            {
                **_some(each, ("key", "name", "description")),
                "cases": _each(each["cases"], ("challenge_key", "case_key", "case_timeout_seconds")),
            }
            for each in manifest["input_sets"]
        ],
        "evaluation_spec": _spec(manifest["evaluation_spec"]),
    }
    if sandbox is not None:
        shown["sandbox"] = _some(sandbox, ("network_access", "additional_packages"))
    if manifest.get("security"):
        shown["security"] = {
            name: len(found) for name, found in manifest["security"].items() if isinstance(found, list)
        }
    return shown | _some(manifest, ("modality", "interface_spec", "scenario"))


def _spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    card = spec["scorecard"]
    return {
        **_some(spec, ("name", "version_number", "judge_mode", "metrics", "behavioral", "runtime_limits")),
        "validators": _each(spec.get("validators") or (), ("key", "type", "target")),
        "llm_judges": _each(spec.get("llm_judges") or (), ("key", "mode", "samples")),
        "scorecard": {
            **_some(card, ("strategy", "pass_threshold", "normalization")),
            "dimensions": _each(card.get("dimensions") or (), DIMENSION),
        },
    }


def _custom(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = (manifest.get("tools") or {}).get("custom")
    return [tool for tool in found if isinstance(tool, Mapping)] if isinstance(found, list) else []


def _each(members: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    return [_some(member, names) for member in members]


def _some(members: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: members[name] for name in names if name in members}
