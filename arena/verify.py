"""`arena verify`: what was found out about a record, for people and for programs."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from arena import catalog, opening, rerun, verifying
from arena.catalog import Catalog
from arena.errors import CannotStart
from arena.packs.findings import examine
from arena.packs.operator import pack_type
from arena.terminal import Screen, harmless
from arena.verifying import Finding, Record, Verdict, Wrong

NOT_ALL = 3  # the exit code where nothing is wrong, but the game could have been played again and was not


class Wish(NamedTuple):
    """What a record is to be checked against."""

    key: str | None = None  # that is trusted
    openings: bytes | None = None
    pack: bytes | None = None  # that was played
    modules: Iterable[str] = ()
    again: bool = True  # whether it is to be played again


def find(data: bytes, wish: Wish) -> tuple[Record | None, list[Finding]]:
    """All that can be found out about a record."""
    record, findings = verifying.check(data, wish.key)
    if record is not None and wish.openings is not None:
        try:
            record = opening.apply(record, wish.openings)
            findings.append(Finding(Verdict.RIGHT, "What was withheld is what was promised."))
        except Wrong as reason:
            return None, [*findings, Finding(Verdict.WRONG, str(reason))]
    if record is not None and wish.again:
        findings.append(rerun.check(record, _rules(wish)))
    return record, findings


def _rules(wish: Wish) -> Catalog:
    known = catalog.load(wish.modules)
    if wish.pack is not None:
        bundle = examine(wish.pack).bundle
        if bundle is None:
            raise CannotStart("The pack cannot be read; `arena pack validate` says why.")
        known.register(pack_type(bundle.pack.slug, lambda number: bundle))
    return known


def show(data: bytes, wish: Wish, *, as_json: bool) -> int:
    """Check a record and print what was found; the exit code says whether all is right."""
    record, findings = find(data, wish)
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
    return NOT_ALL if Verdict.OPEN in verdicts and record.game.opened is not None else 0
