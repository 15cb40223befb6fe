"""Adapters for the vectors of bundles: validation, stored cases, tools, user simulator, templates."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from arena.packs.blocks import Bundle, CaseInput, Expectation, Phase
from arena.packs.conversation import Progress, is_mismatch, is_over, is_sampled, phase_runs
from arena.packs.errors import DecodeError, InvalidPack
from arena.packs.judges.prompts import rotated
from arena.packs.manifest import manifest_json
from arena.packs.pricing import undated
from arena.packs.providers import infer_provider
from arena.packs.read import parse_bundle
from arena.packs.stored import stored_cases
from arena.packs.templates import BadPlaceholder, context_of, placeholders, render
from tests.vectors_runner.adapters import Adapter


def _read(given: Mapping[str, Any], tell: Callable[[Bundle], Any]) -> Any:
    try:
        bundle = parse_bundle(given["yaml"])
    except DecodeError as error:
        return {"ok": False, "decode_error": str(error)}
    except InvalidPack as error:
        return {"ok": False, "errors": [{"field": each.path, "message": each.message} for each in error.errors]}
    return tell(bundle)


def _bundle_validation(given: Mapping[str, Any]) -> Any:
    def tell(bundle: Bundle) -> Any:
        return {"ok": True, "manifest": manifest_json(bundle), "is_security_pack": bundle.is_security_pack}

    return _read(given, tell)


def _stored_cases(given: Mapping[str, Any]) -> Any:
    return _read(given, lambda bundle: {"stored_cases": [case._asdict() for case in stored_cases(bundle)]})


def _composed_tools(given: Mapping[str, Any]) -> Any:
    return _read(given, lambda bundle: {"ok": True, "tools": bundle.tools})


def _user_simulator(given: Mapping[str, Any]) -> Any:
    return _read(given, lambda bundle: {"ok": True})


def _floats(value: Any) -> Any:
    """The value with every number a float, as those vectors have it."""
    return json.loads(json.dumps(value), parse_int=float)


def _case_templates(given: Mapping[str, Any]) -> Any:
    inputs = [CaseInput(**each) for each in _floats(given.get("inputs") or [])]
    template, context = given["template"], context_of(_floats(given["payload"]), inputs)
    told = {"placeholders": placeholders(template), "lenient": render(template, context)}
    try:
        return {**told, "strict_ok": True, "strict": render(template, context, strict=True)}
    except BadPlaceholder as error:
        return {**told, "strict_ok": False, "strict_error": str(error)}


def _runtime_helpers(given: Mapping[str, Any]) -> Any:
    return _HELPERS[given["op"]](given)


def _until(given: Mapping[str, Any]) -> Any:
    progress = Progress(given["phase_turns"], given["max_phase_turns"], given["text"], given["user"])
    return {"satisfied": is_over(given["until"], progress)}


def _turn_expects(given: Mapping[str, Any]) -> Any:
    return {"mismatch": is_mismatch(given["text"], [Expectation(**each) for each in given["expects"]])}


def _provider(given: Mapping[str, Any]) -> Any:
    provider = infer_provider(given["model"])
    return {"ok": provider is not None, "provider": provider}


_HELPERS: dict[str, Adapter] = {
    "turn_expects": _turn_expects,
    "until": _until,
    "trigger": lambda given: {"run": phase_runs(Phase(trigger=given["trigger"]), last_mismatch=given["last_mismatch"])},
    "calibration": lambda given: {"sampled": is_sampled(UUID(given["id"]), given["rate"])},
    "rotate": lambda given: {"result": rotated(given["candidates"], given["sample"])},
    "provider": _provider,
    "priced_model": lambda given: {"id": undated(given["model"])},
}

ADAPTERS: dict[str, Adapter] = {
    "runtime_helpers": _runtime_helpers,
    "bundle_validation": _bundle_validation,
    "stored_cases": _stored_cases,
    "composed_tools": _composed_tools,
    "user_simulator": _user_simulator,
    "case_templates": _case_templates,
}
