import pytest

from arena.packs.counts import Counts, count_tests


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ('{"passed": 1, "total": 5}', Counts(1, 0, 0, 5)),
        ('{"passed": 1, "error": 2, "total": -1}', Counts(1, 0, 2, 3)),
        ('<testsuite tests="4" failures="1" errors="1"/>', Counts(2, 1, 1, 4)),
        ('<testsuites tests="9"><testsuite tests="2"/></testsuites>', Counts(9, 0, 0, 9)),
        ('<a:testsuite xmlns:a="u" tests="1"/>', Counts(1, 0, 0, 1)),
        ("3 passed, 1 error, 2 errors", Counts(3, 0, 3, 6)),
        ('{"passed": 3, "failed": "none", "errors": null, "error": 1}', Counts(3, 0, 1, 4)),
    ],
)
def test_counts_are_found(output: str, counts: Counts) -> None:
    assert count_tests(output, "") == counts


def test_what_is_printed_behind_a_junit_report_does_not_hide_it() -> None:
    assert count_tests('<testsuite tests="3" failures="1"/>', "warning: 9 failed before") == Counts(2, 1, 0, 3)


@pytest.mark.parametrize(
    "output",
    [
        '{"total": 0}',
        "<html><testsuite tests='3'/></html>",
        '<!DOCTYPE x [<!ENTITY a "b">]><testsuite tests="3"/>',
        "3 passedly",
        "٣ passed",
        "9" * 40 + " passed",
    ],
)
def test_where_there_are_no_counts_none_are_made_up(output: str) -> None:
    assert count_tests(output, "") is None
