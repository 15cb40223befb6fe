"""What must hold for a captured file once the run is over."""

from typing import Any

from arena.packs.text import trim
from arena.packs.validators.configs import BadConfig, PostconditionConfig
from arena.packs.validators.documents import equal, match_path, read_document
from arena.packs.validators.outcome import Fault, Outcome, PackFault
from arena.packs.validators.rules import config_problems
from arena.packs.validators.texts import search
from arena.packs.values import Number

ABOUT_PRESENCE = frozenset({"exists", "not_exists"})


def read_postcondition(raw: Any) -> PostconditionConfig:
    """The config of a postcondition, checked."""
    if raw is None:
        raise PackFault("invalid postcondition config: config is required")
    try:
        config = PostconditionConfig.read(raw)
    except BadConfig as error:
        raise Fault(f"parse postcondition config: {error}") from None
    problems = config_problems("postcondition", raw)
    if problems:
        raise PackFault("invalid postcondition config: " + "; ".join(f"config{at} {what}" for at, what in problems))
    return config


def about_absence(config: PostconditionConfig) -> Outcome:
    """What a file that was looked for and not found means."""
    passed = config.condition == "not_exists"
    return Outcome(passed, float(passed), "postcondition target does not exist", {"condition": config.condition})


def about_content(config: PostconditionConfig, actual: str) -> Outcome:
    """Whether a condition holds for a file that is there; the reason tells both ways."""
    outcome = _decide(config, actual)
    return outcome._replace(details={"condition": config.condition, **outcome.details})


def _decide(config: PostconditionConfig, actual: str) -> Outcome:
    condition, value = config.condition, config.value
    if condition == "json_path_match":
        return match_path(read_document(actual, Number), trim(config.json_path), "equals", value)
    if condition in ABOUT_PRESENCE:
        return Outcome(condition == "exists", float(condition == "exists"), "postcondition target exists")
    if condition == "equals" and not isinstance(value, str):
        return _told(equal(read_document(actual, Number), value), "target JSON", "equal", expected=value)
    return _about_text(condition, value or "", actual)


def _about_text(condition: str, value: str, actual: str) -> Outcome:
    if condition == "equals":
        return _told(actual == value, "target", "equal", expected=value)
    if condition == "regex_match":
        return _told(search(value, actual), "target", "match", pattern=value)
    held = _told(value in actual, "target", "contain", expected=value)
    if condition == "contains":
        return held
    return Outcome(not held.passed, float(not held.passed), held.reason, {"forbidden": value})


def _told(held: bool, what: str, verb: str, **details: Any) -> Outcome:
    return Outcome(held, float(held), f"{what} {'does' if held else 'does not'} {verb} what the pack names", details)
