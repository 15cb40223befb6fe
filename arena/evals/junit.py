"""JUnit XML: runs and gates as CI systems show them."""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from arena.evals.runs import Run
from arena.evals.verdicts import Gate, Verdict

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


def runs_xml(runs: Iterable[Run]) -> bytes:
    """A suite per agent, a test per case: it fails unless every repetition has passed."""
    root = Element("testsuites", name="arena eval")
    for run in runs:
        suite = SubElement(root, "testsuite", name=_text(f"{run.pack.slug} {run.agent}"))
        for case in run.keys:
            test = SubElement(suite, "testcase", classname=_text(f"{run.pack.slug}.{run.agent}"), name=_text(case))
            values, scores = run.passes(case), run.scores(case)
            if not all(values):
                told = f"passed {sum(values):.0f} of {len(values)}, mean score {sum(scores) / len(scores):.3f}"
                SubElement(test, "failure", message=told, type="not passed").text = _reasons(run, case)
        for number, trial in enumerate(run.trials, 1):
            if trial.error is not None:
                test = SubElement(suite, "testcase", classname=_text(run.pack.slug), name=f"repetition {number}")
                SubElement(test, "error", message=_text(trial.error), type="error")
        _count(suite)
    return _written(root)


def gate_xml(gate: Gate) -> bytes:
    """One suite with a test per check: a warning is told in its output, insufficient evidence is a skipped test."""
    root = Element("testsuites", name="arena gate")
    suite = SubElement(root, "testsuite", name="gate")
    for check in gate.checks:
        test = SubElement(suite, "testcase", classname="gate", name=_text(check.name))
        match check.verdict:
            case Verdict.FAIL:
                SubElement(test, "failure", message=_text(check.reason), type="worse")
            case Verdict.INSUFFICIENT:
                SubElement(test, "skipped", message=_text(check.reason))
            case verdict:
                SubElement(test, "system-out").text = _text(f"{verdict.name.lower()}: {check.reason}")
    for case in gate.broken:
        test = SubElement(suite, "testcase", classname="gate.cases", name=_text(case))
        SubElement(test, "system-out").text = "always passed before, never now"
    _count(suite)
    return _written(root)


def _reasons(run: Run, case: str) -> str:
    reasons = (trial.cases[case].reason for trial in run.valid if case in trial.cases)
    return _text("\n".join(dict.fromkeys(reason for reason in reasons if reason)))


def _count(suite: Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for kind in ("failure", "error", "skipped"):
        name = {"failure": "failures", "error": "errors"}.get(kind, kind)
        suite.set(name, str(len(suite.findall(f"testcase/{kind}"))))


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)


def _written(root: Element) -> bytes:
    indent(root)
    found: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return found + b"\n"
