"""The manifest: a pack as one JSON document, which can be read back."""

from collections.abc import Mapping
from typing import Any

from arena.packs.blocks import Bundle, plain
from arena.packs.errors import DecodeError, FieldError, InvalidPack
from arena.packs.nodes import node_of
from arena.packs.shapes import decoder_of
from arena.packs.spec import EvaluationSpec, decode_spec, normalise_spec, validate_spec

SCHEMA_VERSION = 1
_OPTIONAL = ("modality", "interface_spec", "scenario", "security")
_MOVED = ("tool_policy", "filesystem", "evaluation_spec", "sandbox")  # parts of the version, beside it in a manifest


def manifest_json(bundle: Bundle) -> dict[str, Any]:
    """The manifest of a normalised bundle."""
    version = bundle.version
    manifest: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "pack": bundle.pack.document(),
        "version": _version(bundle),
        "tool_policy": version.tool_policy,
        "filesystem": version.filesystem,
        "evaluation_spec": version.evaluation_spec.document(),
        "challenges": plain(bundle.challenges),
        "input_sets": plain(bundle.input_sets),
    }
    manifest |= {name: plain(value) for name in _OPTIONAL if (value := getattr(bundle, name))}
    if bundle.tools is not None:
        manifest["tools"] = bundle.tools
    if version.sandbox is not None:
        manifest["sandbox"] = version.sandbox.document()
    return manifest


def _version(bundle: Bundle) -> dict[str, Any]:
    version = bundle.version
    told: dict[str, Any] = {"number": version.number, "assets": plain(version.assets) or None}
    if version.execution_mode:
        told["execution_mode"] = version.execution_mode
    if version.sandbox is not None:
        told["sandbox_template_id"] = version.sandbox.sandbox_template_id
    if version.deployment_defaults is not None:
        told["deployment_defaults"] = version.deployment_defaults.document()
    return told


def bundle_of(manifest: Mapping[str, Any]) -> Bundle:
    """The bundle that a manifest was made of."""
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise DecodeError(f"a manifest has schema_version {SCHEMA_VERSION}")
    version = manifest.get("version") or {}
    if isinstance(version, Mapping):
        version = {**version, **{name: manifest.get(name) for name in _MOVED}}
    bundle: Bundle = decoder_of(Bundle)(node_of({**manifest, "version": version}))
    return bundle


def spec_of(manifest: Mapping[str, Any]) -> EvaluationSpec:
    """The normalised and valid spec of a manifest, whatever else stands in it."""
    raw = manifest.get("evaluation_spec")
    if raw is None:
        raise InvalidPack([FieldError("evaluation_spec", "is required")])
    if not isinstance(raw, Mapping):
        raise DecodeError("evaluation_spec should be a mapping")
    spec = decode_spec(raw)
    errors = validate_spec(spec)
    if errors:
        raise InvalidPack(errors)
    return normalise_spec(spec)
