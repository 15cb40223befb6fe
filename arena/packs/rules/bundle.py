"""All rules of a bundle; every one that is broken is told, with the path of its field."""

from collections.abc import Collection, Iterator
from itertools import islice

from arena.packs.blocks import Bundle, Case, Challenge, InputSet, Version
from arena.packs.blocks.bundle import DIFFICULTIES, MODES
from arena.packs.errors import FieldError
from arena.packs.rules.references import (
    REQUIRED,
    UNIQUE,
    check_artifact_refs,
    check_assets,
    check_case_parts,
    check_key,
)
from arena.packs.rules.sandbox import check_defaults, check_sandbox
from arena.packs.rules.security import check_security
from arena.packs.rules.simulator import check_simulator
from arena.packs.rules.tools import check_tool_policy, check_tools
from arena.packs.rules.voice import check_voice
from arena.packs.spec import validate_spec
from arena.packs.templates import context_of, placeholders, unresolved

Errors = Iterator[FieldError]
SPEC = "version.evaluation_spec"
MAX_ERRORS = 10_000


def validate_bundle(bundle: Bundle) -> list[FieldError]:
    """Everything that is wrong with a normalised bundle; an empty list means that it can be used."""
    found = list(islice(_errors(bundle), MAX_ERRORS + 1))
    if len(found) > MAX_ERRORS:
        found[MAX_ERRORS:] = [FieldError("bundle", f"has more errors than these {MAX_ERRORS}")]
    return found


def _errors(bundle: Bundle) -> Errors:
    yield from _check_identity(bundle)
    yield from _check_modes(bundle)
    yield from check_voice(bundle)
    yield from _check_security(bundle)
    yield from _check_challenges(bundle)
    yield from _check_input_sets(bundle)
    yield from check_tools(bundle.tools or {})
    yield from _check_version(bundle.version)
    yield from validate_spec(bundle.version.evaluation_spec, SPEC)
    yield from _check_commands(bundle)


def _check_identity(bundle: Bundle) -> Errors:
    for name in ("slug", "name", "family"):
        if not getattr(bundle.pack, name):
            yield FieldError(f"pack.{name}", REQUIRED)
    if bundle.version.number <= 0:
        yield FieldError("version.number", "must be greater than 0")


def _check_modes(bundle: Bundle) -> Errors:
    version, mode = bundle.version, bundle.version.execution_mode
    if mode and mode not in MODES:
        yield FieldError("version.execution_mode", f"must be one of {', '.join(MODES)}")
    if bundle.tools and mode in {"prompt_eval", "responses"}:
        yield FieldError("tools", f"must be empty when version.execution_mode is {mode}")
    if mode == "prompt_eval":
        if version.sandbox is not None:
            yield FieldError("version.sandbox", "must be omitted when version.execution_mode is prompt_eval")
        if version.tool_policy:
            yield FieldError("version.tool_policy", "must be empty when version.execution_mode is prompt_eval")


def _check_security(bundle: Bundle) -> Errors:
    if bundle.security is not None:
        yield from check_security(bundle.security)
    elif bundle.is_security_pack:
        yield FieldError("security", "is required when pack.family is security")


def version_asset_keys(bundle: Bundle) -> set[str]:
    """The keys that artifact references can name."""
    return {asset.key for asset in bundle.version.assets if asset.key}


def _check_challenges(bundle: Bundle) -> Errors:
    if not bundle.challenges:
        yield FieldError("challenges", "must contain at least one challenge")
    seen: set[str] = set()
    assets = version_asset_keys(bundle)
    for index, challenge in enumerate(bundle.challenges):
        path = f"challenges[{index}]"
        yield from check_key(challenge.key, seen, f"{path}.key")
        yield from _check_challenge(challenge, path)
        yield from check_assets(challenge.assets, f"{path}.assets")
        yield from check_artifact_refs(challenge.artifact_refs, f"{path}.artifact_refs", assets)


def _check_challenge(challenge: Challenge, path: str) -> Errors:
    for name in ("title", "category"):
        if not getattr(challenge, name):
            yield FieldError(f"{path}.{name}", REQUIRED)
    if challenge.difficulty not in DIFFICULTIES:
        yield FieldError(f"{path}.difficulty", f"must be one of {', '.join(DIFFICULTIES)}")


def _check_input_sets(bundle: Bundle) -> Errors:
    if not bundle.input_sets:
        yield FieldError("input_sets", "must contain at least one input set")
    seen: set[str] = set()
    declared = {challenge.key for challenge in bundle.challenges if challenge.key}
    assets = version_asset_keys(bundle)
    for index, each in enumerate(bundle.input_sets):
        path = f"input_sets[{index}]"
        yield from check_key(each.key, seen, f"{path}.key")
        if not each.name:
            yield FieldError(f"{path}.name", REQUIRED)
        if not each.cases:
            yield FieldError(f"{path}.cases", "must contain at least one case")
        yield from _check_case_keys(each, path, declared)
        for number, case in enumerate(each.cases):
            yield from _check_case(case, bundle.version.execution_mode, f"{path}.cases[{number}]", assets)


def _check_case_keys(each: InputSet, path: str, declared: Collection[str]) -> Errors:
    """Cases of a set belong to one challenge, and have keys of their own."""
    common = next((case.challenge_key for case in each.cases if case.challenge_key), "")
    seen: set[tuple[str, str]] = set()
    for index, case in enumerate(each.cases):
        at, key = f"{path}.cases[{index}]", (case.challenge_key, case.effective_key)
        if not case.challenge_key:
            yield FieldError(f"{at}.challenge_key", REQUIRED)
        else:
            if case.challenge_key != common:
                message = "must reference the same challenge as the other cases in this input set"
                yield FieldError(f"{at}.challenge_key", message)
            if case.challenge_key not in declared:
                yield FieldError(f"{at}.challenge_key", "must reference a declared challenge")
        if not case.effective_key:
            yield FieldError(f"{at}.case_key", REQUIRED)
        elif key in seen:
            yield FieldError(f"{at}.case_key", UNIQUE)
        seen.add(key)


def _check_case(case: Case, mode: str, path: str, version_assets: Collection[str]) -> Errors:
    yield from check_case_parts(case, path, version_assets)
    yield from check_simulator(case, mode, f"{path}.user_simulator", version_assets)


def _check_version(version: Version) -> Errors:
    yield from check_tool_policy(version.tool_policy or {}, "version.tool_policy")
    if version.sandbox is not None:
        yield from check_sandbox(version.sandbox, "version.sandbox")
    if version.deployment_defaults is not None:
        yield from check_defaults(version.deployment_defaults, "version.deployment_defaults")
    yield from check_assets(version.assets, "version.assets")


def _check_commands(bundle: Bundle) -> Errors:
    """Each placeholder in a test command must be filled by every case; each name is looked up once per case."""
    commands = _templated_commands(bundle)
    names = list(dict.fromkeys(name for wanted in commands.values() for name in wanted))
    for number, each in enumerate(bundle.input_sets):
        for place, case in enumerate(each.cases if names else ()):
            problems = unresolved(names, context_of(case.payload, case.inputs))
            for index, wanted in commands.items() if problems else ():
                field = f"{SPEC}.validators[{index}].config.test_command (input_sets[{number}].cases[{place}])"
                yield from (FieldError(field, problems[name]) for name in wanted if name in problems)


def _templated_commands(bundle: Bundle) -> dict[int, list[str]]:
    """The names in each test command, by the index of its validator."""
    found = {}
    for index, validator in enumerate(bundle.version.evaluation_spec.validators):
        command = validator.config.get("test_command") if isinstance(validator.config, dict) else None
        if validator.type == "code_execution" and isinstance(command, str):
            found[index] = placeholders(command)
    return found
