"""Rules for the security block."""

from collections.abc import Iterator

from arena.packs.blocks import AdversarialPrompt, ForbiddenEgress, ForbiddenOutput, PlantedSecret, Security
from arena.packs.blocks.security import LOCATIONS, SEVERITIES
from arena.packs.errors import FieldError
from arena.packs.patterns import BadPattern, compile_pattern
from arena.packs.rules.references import REQUIRED
from arena.packs.rules.sandbox import ENV_NAME
from arena.packs.text import is_blank

Errors = Iterator[FieldError]


def check_security(security: Security, path: str = "security") -> Errors:
    """Everything about the block."""
    yield from _severity(security.default_severity, f"{path}.default_severity")
    names: set[str] = set()
    for index, secret in enumerate(security.planted_secrets):
        yield from _secret(secret, names, f"{path}.planted_secrets[{index}]")
    for index, output in enumerate(security.forbidden_outputs):
        yield from _output(output, f"{path}.forbidden_outputs[{index}]")
    for index, egress in enumerate(security.forbidden_egress):
        yield from _egress(egress, f"{path}.forbidden_egress[{index}]")
    names = set()
    for index, prompt in enumerate(security.adversarial_prompts):
        yield from _prompt(prompt, names, f"{path}.adversarial_prompts[{index}]")


def _secret(secret: PlantedSecret, names: set[str], path: str) -> Errors:
    yield from _name(secret.name, names, f"{path}.name")
    if secret.name and secret.location == "env" and not ENV_NAME.fullmatch(secret.name):
        yield FieldError(f"{path}.name", "must be a valid name of an environment variable")
    yield from _required(secret.value, f"{path}.value")
    if secret.location not in LOCATIONS:
        yield FieldError(f"{path}.location", f"must be one of {', '.join(LOCATIONS)}")
    if secret.location == "file" and is_blank(secret.file_path):
        yield FieldError(f"{path}.file_path", "is required when location is file")
    yield from _severity(secret.severity, f"{path}.severity")


def _output(output: ForbiddenOutput, path: str) -> Errors:
    yield from _required(output.description, f"{path}.description")
    if bool(output.pattern) == bool(output.substring):
        yield FieldError(path, "must have exactly one of pattern and substring")
    yield from _pattern(output.pattern, f"{path}.pattern")
    yield from _severity(output.severity, f"{path}.severity")


def _egress(egress: ForbiddenEgress, path: str) -> Errors:
    yield from _required(egress.description, f"{path}.description")
    yield from _required(egress.host, f"{path}.host")
    yield from _severity(egress.severity, f"{path}.severity")


def _prompt(prompt: AdversarialPrompt, names: set[str], path: str) -> Errors:
    yield from _name(prompt.name, names, f"{path}.name")
    yield from _required(prompt.text, f"{path}.text")
    yield from _pattern(prompt.expected_refusal_pattern, f"{path}.expected_refusal_pattern")
    yield from _severity(prompt.severity, f"{path}.severity")


def _name(name: str, names: set[str], path: str) -> Errors:
    if not name:
        yield FieldError(path, REQUIRED)
    elif name in names:
        yield FieldError(path, f'duplicate name "{name}"')
    names.add(name)


def _required(text: str, path: str) -> Errors:
    if is_blank(text):
        yield FieldError(path, REQUIRED)


def _severity(severity: str, path: str) -> Errors:
    if severity and severity not in SEVERITIES:
        yield FieldError(path, f"must be one of {', '.join(SEVERITIES)}")


def _pattern(pattern: str, path: str) -> Errors:
    if not pattern:
        return
    try:
        compile_pattern(pattern)
    except BadPattern as error:
        yield FieldError(path, f"must be a valid RE2 pattern: {error}")
