"""Brings every spelling of a bundle into one form, before its rules are checked; twice changes nothing more."""

from copy import deepcopy
from typing import Any, TypeVar

from arena.packs.blocks import (
    ArtifactRef,
    Asset,
    Block,
    Bundle,
    Case,
    CaseInput,
    Challenge,
    DeploymentDefaults,
    Expectation,
    Identity,
    InputSet,
    Item,
    Security,
    Version,
)
from arena.packs.text import trim

B = TypeVar("B", bound=Block)


def normalise_bundle(bundle: Bundle) -> Bundle:
    """The bundle in its one form."""
    return bundle.model_copy(
        update={
            "modality": trim(bundle.modality),
            "pack": _identity(bundle.pack),
            "version": _version(bundle.version),
            "challenges": [_challenge(challenge) for challenge in bundle.challenges],
            "input_sets": [_input_set(each) for each in bundle.input_sets],
            "security": bundle.security and _security(bundle.security),
            "interface_spec": bundle.interface_spec
            and _trimmed(bundle.interface_spec, "channel_profile").model_copy(
                update={"transports": [trim(name) for name in bundle.interface_spec.transports]}
            ),
            "scenario": bundle.scenario and _trimmed(bundle.scenario, "persona", "language"),
        }
    )


def _trimmed(block: B, *names: str, lower: tuple[str, ...] = ()) -> B:
    """The block with these texts trimmed, and some of them in lower case; itself if nothing changes."""
    changed: dict[str, Any] = {}
    for name in (*names, *lower):
        text = getattr(block, name)
        clean = trim(text).lower() if name in lower else trim(text)
        if clean != text:
            changed[name] = clean
    return block.model_copy(update=changed) if changed else block


def _identity(pack: Identity) -> Identity:
    return _trimmed(pack, "slug", "name", lower=("family",))


def _version(version: Version) -> Version:
    return _trimmed(version, "execution_mode").model_copy(
        update={"assets": _assets(version.assets), "deployment_defaults": _defaults(version.deployment_defaults)}
    )


def _defaults(defaults: DeploymentDefaults | None) -> DeploymentDefaults | None:
    if defaults is None or not (defaults.aliases or defaults.lineups):
        return None
    aliases = {trim(key): trim(value) for key, value in defaults.aliases.items()}
    lineups = {trim(key): [trim(selector) for selector in each] for key, each in defaults.lineups.items()}
    return defaults.model_copy(update={"aliases": aliases, "lineups": lineups})


def _assets(assets: list[Asset]) -> list[Asset]:
    return [_trimmed(asset, "key", "kind", "path", "media_type") for asset in assets]


def _refs(refs: list[ArtifactRef]) -> list[ArtifactRef]:
    return [_trimmed(ref, "key") for ref in refs]


def _challenge(challenge: Challenge) -> Challenge:
    clean = _trimmed(challenge, "key", "title", "category", "difficulty", "instructions")
    definition = dict(clean.definition)
    if clean.instructions:
        definition.setdefault("instructions", clean.instructions)
    return clean.model_copy(
        update={
            "definition": definition,
            "assets": _assets(clean.assets),
            "artifact_refs": _refs(clean.artifact_refs),
        }
    )


def _input_set(each: InputSet) -> InputSet:
    cases = each.cases or [_from_item(item) for item in each.items]
    return _trimmed(each, "key", "name").model_copy(update={"cases": [_case(case) for case in cases], "items": []})


def _from_item(item: Item) -> Case:
    return Case(
        challenge_key=item.challenge_key,
        case_key=item.item_key,
        item_key=item.item_key,
        payload=deepcopy(item.payload),
        assets=item.assets,
    )


def _case(case: Case) -> Case:
    clean = _trimmed(case, "challenge_key", "case_key", "item_key")
    key, older = clean.case_key or clean.item_key, clean.item_key or clean.case_key
    return clean.model_copy(
        update={
            "case_key": key,
            "item_key": older,
            "inputs": [_input(each) for each in clean.inputs],
            "expectations": [_expectation(each) for each in clean.expectations],
            "artifacts": _refs(clean.artifacts),
            "assets": _assets(clean.assets),
        }
    )


def _input(each: CaseInput) -> CaseInput:
    return _trimmed(each, "key", "kind", "artifact_key", "path")


def _expectation(each: Expectation) -> Expectation:
    return _trimmed(each, "key", "kind", "artifact_key", "source")


def _security(security: Security) -> Security:
    clean = _trimmed(security, lower=("default_severity",))
    return clean.model_copy(
        update={
            "planted_secrets": [
                _trimmed(each, "name", "value", "file_path", lower=("location", "severity"))
                for each in clean.planted_secrets
            ],
            "forbidden_outputs": [
                _trimmed(each, "description", "pattern", "substring", lower=("severity",))
                for each in clean.forbidden_outputs
            ],
            "forbidden_egress": [
                _trimmed(each, "description", lower=("host", "severity")).model_copy(
                    update={"allow": [trim(host).lower() for host in each.allow]}
                )
                for each in clean.forbidden_egress
            ],
            "adversarial_prompts": [
                _trimmed(each, "name", "expected_refusal_pattern", lower=("strategy", "severity"))
                for each in clean.adversarial_prompts
            ],
        }
    )
