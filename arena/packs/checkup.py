"""The report of `arena pack validate`: what was found in one file, for people and for programs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.packs.findings import Examination, Finding, examine


class Report(NamedTuple):
    """A file and what was found in it."""

    file: str
    found: Examination

    @property
    def ok(self) -> bool:
        """Whether the pack can be used."""
        return self.found.ok

    def lines(self) -> Iterator[str]:
        """The report for people."""
        for kind, findings in (("error", self.found.errors), ("warning", self.found.warnings)):
            yield from (self._line(kind, finding) for finding in findings)
        count = len(self.found.errors)
        yield f"{self.file}: ok" if self.ok else f"{self.file}: {count} error{'' if count == 1 else 's'}"

    def _line(self, kind: str, finding: Finding) -> str:
        place = f"{self.file}:{finding.line}" if finding.line else self.file
        hint = f" ({finding.hint})" if finding.hint else ""
        return f"{place}: {kind}: {f'{finding.field} {finding.message}'.strip()}{hint}"

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "file": self.file,
            "ok": self.ok,
            "decode_error": self.found.decode_error,
            "errors": [finding._asdict() for finding in self.found.errors],
            "warnings": [finding._asdict() for finding in self.found.warnings],
        }


def report(file: str, raw: bytes, *, strict: bool = False) -> Report:
    """Examine a file; if asked strictly, warnings are errors."""
    found = examine(raw)
    if strict:
        found = found._replace(errors=found.errors + found.warnings, warnings=[])
    return Report(file, found)


def unreadable(file: str, reason: str) -> Report:
    """The report of a file that could not be read."""
    return Report(file, Examination(None, [Finding("", reason)], []))
