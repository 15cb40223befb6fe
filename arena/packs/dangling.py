"""Names that no case fills: allowed, since cases differ, and most often a slip of the pen."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from arena.packs.blocks import Bundle, Case
from arena.packs.guesses import close
from arena.packs.templates import context_of, placeholders, unresolved

_KINDS = {"case.inputs.": "input", "case.expectations.": "expectation"}
_MOST = 100  # placeholders of one text that are looked up


class Dangling(NamedTuple):
    """A field with a name in it that leads nowhere, and the name that may have been meant."""

    path: str
    message: str
    meant: str | None


def dangling(bundle: Bundle) -> Iterator[Dangling]:
    """References of validators and placeholders of instructions that hold for no case at all."""
    cases = [case for each in bundle.input_sets for case in each.cases]
    yield from _references(bundle, cases)
    if bundle.version.execution_mode == "prompt_eval":
        yield from _instructions(bundle, cases)


def _references(bundle: Bundle, cases: list[Case]) -> Iterator[Dangling]:
    known = {
        "input": {part.key for case in cases for part in case.inputs},
        "expectation": {part.key for case in cases for part in case.expectations},
    }
    for index, validator in enumerate(bundle.version.evaluation_spec.validators):
        for name in ("target", "expected_from"):
            reference: str = getattr(validator, name)
            prefix = next((prefix for prefix in _KINDS if reference.startswith(prefix)), None)
            key = reference.removeprefix(prefix or "").partition(".")[0]
            if prefix and key not in known[_KINDS[prefix]]:
                path = f"version.evaluation_spec.validators[{index}].{name}"
                message = f"names the {_KINDS[prefix]} {key!r:.80}, which no case has"
                yield Dangling(path, message, close(key, known[_KINDS[prefix]]))


def _instructions(bundle: Bundle, cases: list[Case]) -> Iterator[Dangling]:
    contexts = defaultdict(list)
    for case in cases:
        contexts[case.challenge_key].append(context_of(case.payload, case.inputs))
    for index, challenge in enumerate(bundle.challenges):
        given = contexts[challenge.key]
        missing = placeholders(challenge.instructions)[:_MOST] if given else []
        for context in given:
            missing = list(unresolved(missing, context))
        known = {name for context in given for name in context} if missing else set()
        for name in missing:
            message = f"have {{{{{name:.80}}}}}, which no case fills"
            yield Dangling(f"challenges[{index}].instructions", message, close(name, known))
