"""`arena verify`: what was found out about a record, for people and for programs."""

import json
from collections.abc import Iterable
from pathlib import Path

from arena import catalog, rerun, verifying
from arena.errors import CannotStart
from arena.terminal import Screen, harmless
from arena.verifying import Finding, Record, Verdict

NOT_ALL = 3  # the exit code where nothing is wrong, but the game could have been played again and was not


def read(file: Path) -> bytes:
    """The record in a file."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise CannotStart(f"{file} cannot be read: {error.strerror}.") from None


def show(data: bytes, key: str | None, modules: Iterable[str], *, again: bool, as_json: bool) -> int:
    """Check a record and print what was found; the exit code says whether all is right."""
    record, findings = verifying.check(data, key)
    if record is not None and again:
        findings.append(rerun.check(record, catalog.load(modules)))
    code = _exit_code(record, findings)
    if as_json:
        told = [{"verdict": finding.verdict, "words": finding.words} for finding in findings]
        print(json.dumps({"right": code == 0, "findings": told}, indent=2))  # noqa: T201
        return code
    screen = Screen()
    if record is not None:
        result = record.game.result
        screen.print(f"{harmless(result.challenge_type, 64)} {harmless(result.game_id, 64)}")
    for verdict, words in findings:
        screen.print(f"  {verdict}: {harmless(words, 400)}", soft_wrap=True)
    return code


def _exit_code(record: Record | None, findings: list[Finding]) -> int:
    verdicts = {finding.verdict for finding in findings}
    if record is None or Verdict.WRONG in verdicts:
        return 1
    return NOT_ALL if Verdict.OPEN in verdicts and not record.game.sealed else 0
