"""Rules for voice packs."""

from collections.abc import Iterator

from arena.packs.blocks import Bundle, InterfaceSpec, Scenario
from arena.packs.blocks.bundle import TRANSPORTS
from arena.packs.errors import FieldError
from arena.packs.text import is_blank

Errors = Iterator[FieldError]
_NEEDED = "is required when modality is voice"


def check_voice(bundle: Bundle) -> Errors:
    """A voice pack says how agents are called and what the call is like; other packs do not."""
    if bundle.modality == "voice":
        yield from _check_interface(bundle.interface_spec)
        yield from _check_scenario(bundle.scenario)
    elif bundle.modality:
        yield FieldError("modality", 'must be "voice" when specified')
    else:
        for name in ("interface_spec", "scenario"):
            if getattr(bundle, name) is not None:
                yield FieldError("modality", f"is required when {name} is set")


def _check_interface(spec: InterfaceSpec | None) -> Errors:
    if spec is None:
        yield FieldError("interface_spec", _NEEDED)
        return
    if not spec.transports:
        yield FieldError("interface_spec.transports", "must contain at least one transport")
    seen: set[str] = set()
    for index, transport in enumerate(spec.transports):
        if transport in seen and transport:
            yield FieldError(f"interface_spec.transports[{index}]", "must be unique")
        elif transport not in TRANSPORTS:
            yield FieldError(f"interface_spec.transports[{index}]", f"must be one of {', '.join(TRANSPORTS)}")
        seen.add(transport)
    if is_blank(spec.channel_profile):
        yield FieldError("interface_spec.channel_profile", _NEEDED)


def _check_scenario(scenario: Scenario | None) -> Errors:
    if scenario is None:
        yield FieldError("scenario", _NEEDED)
        return
    for name in ("persona", "language"):
        if is_blank(getattr(scenario, name)):
            yield FieldError(f"scenario.{name}", _NEEDED)
    for name in ("max_turns", "max_duration_ms"):
        if getattr(scenario, name) <= 0:
            yield FieldError(f"scenario.{name}", "must be greater than 0 when modality is voice")
