"""Whatever is in a bundle, it is read or refused with a reason, and the round trips hold."""

import copy
import json
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.packs.errors import DecodeError, PackError
from arena.packs.findings import examine
from arena.packs.lock import content_hash
from arena.packs.manifest import bundle_of, manifest_json
from arena.packs.normal import normalise_bundle
from arena.packs.read import compose_text, decode_bundle, parse_bundle
from arena.packs.rules import validate_bundle
from arena.packs.stored import read_case, stored_case, stored_cases
from tests.bundles import OURS, ROOT, data

PACKS = [*OURS, *sorted((ROOT / "arena" / "packs" / "starters").glob("*.yaml"))]
BASES: list[Any] = [data(path) for path in PACKS]
WORDS = st.sampled_from(
    ["", " ", "a", "c", "k", "file:", "literal:", "input:a", "artifact:", "{{a}}", "{{a..b}}", "${", "${q}", "mock",
     "voice", "security", "prompt_eval", "multi_turn", "10.0.0.0/8", "(", "default", "always", "llm", "2024-01-02",
     "\u2028", "\x1c"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=6) | WORDS
KEYS = st.text(max_size=4) | st.sampled_from(
    ["key", "custom", "name", "implementation", "args", "parameters", "value", "payload"]
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a value."""
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for name, member in members for place in places(member, (*path, name))]


@st.composite
def changed(draw: st.DrawFn) -> Any:
    """A pack that works, with some of its values replaced, dropped or doubled."""
    bundle = copy.deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(0, 4))):
        *way, last = draw(st.sampled_from(places(bundle)))
        place = bundle
        for part in way:
            place = place[part]
        match draw(st.sampled_from(["replace", "replace", "drop", "double"])):
            case "replace":
                place[last] = draw(VALUES)
            case "drop":
                del place[last]
            case _ if isinstance(place, list):
                place.append(copy.deepcopy(place[last]))
    return bundle


def written(value: Any) -> str:
    """A value as a YAML text."""
    return yaml.safe_dump(value, allow_unicode=True)


relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(changed())
def test_a_changed_bundle_never_crashes_the_validator(bundle: Any) -> None:
    found = examine(written(bundle))

    assert found.bundle is not None or found.errors
    assert all(each.message for each in found.errors)


@relaxed
@given(VALUES)
def test_a_value_that_is_no_bundle_never_crashes_the_validator(value: Any) -> None:
    assert examine(written(value)).errors


@relaxed
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#%@,?<=~ \n\t0x.é\x00"), max_size=60) | st.binary(max_size=40))
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    assert examine(text).errors


@relaxed
@given(changed())
def test_normalising_twice_is_normalising_once(value: Any) -> None:
    try:
        bundle = decode_bundle(compose_text(written(value)))
    except PackError:
        return
    again = normalise_bundle(bundle)

    assert again == bundle
    assert manifest_json(again) == manifest_json(bundle)
    assert validate_bundle(again) == validate_bundle(bundle)


@relaxed
@given(changed())
def test_a_manifest_read_back_gives_the_same_manifest(value: Any) -> None:
    try:
        bundle = decode_bundle(compose_text(written(value)))
    except PackError:
        return
    manifest = json.loads(json.dumps(manifest_json(bundle)))
    again = bundle_of(manifest)

    assert manifest_json(again) == manifest
    assert content_hash(again) == content_hash(bundle)


@relaxed
@given(changed())
def test_what_is_accepted_can_be_stored_and_read_back(value: Any) -> None:
    try:
        bundle = parse_bundle(written(value))
    except (PackError, DecodeError):
        return

    for each in stored_cases(bundle):
        if not each.legacy_payload_only:
            assert stored_case(read_case(each.document, each.effective_key)) == each.document
