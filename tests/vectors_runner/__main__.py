"""`python -m tests.vectors_runner DIR`: try a folder of vectors, passed and failed per file and first differences."""

import sys
from pathlib import Path

from tests.vectors_runner.runner import Report, run

SHOWN = 5


def lines(report: Report) -> list[str]:
    """What is printed of one file."""
    told = [f"{report.name:<40} {report.passed:>5} passed {len(report.failed):>5} failed"]
    for name, found in list(report.failed.items())[:SHOWN]:
        told += [f"    {name}", *(f"        {difference}" for difference in found[:SHOWN])]
    if len(report.failed) > SHOWN:
        told.append(f"    and {len(report.failed) - SHOWN} more")
    return told


def main(folder: Path) -> int:
    """Print the reports; 0 when there were vectors and all passed."""
    reports = []
    for report in run(folder):
        reports.append(report)
        sys.stdout.write("\n".join(lines(report)) + "\n")
    passed, failed = sum(report.passed for report in reports), sum(len(report.failed) for report in reports)
    sys.stdout.write(f"{passed} passed, {failed} failed in {len(reports)} files of {folder}\n")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.vectors_runner DIR")
    sys.exit(main(Path(sys.argv[1])))
