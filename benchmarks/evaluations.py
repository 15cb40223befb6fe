"""`python -m benchmarks.evaluations`: how many case results a core scores per second, and what a large log costs."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from arena.packs.evaluate import checked_spec, evaluate, score
from arena.packs.events import collect_evidence
from arena.packs.evidence import case_evidence
from arena.packs.spec import EvaluationSpec, decode_spec

RESULTS = 1000
LOG_BYTES = 10_000_000
ANSWER = "The quick brown fox jumps over the lazy dog near the bank of river number {}."
KINDS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("exact_match", "answer", None),
    ("contains", "word", None),
    ("regex_match", "pattern", None),
    ("boolean_assert", "yes", None),
    ("fuzzy_match", "answer", {"threshold": 0.9}),
    ("normalized_match", "answer", None),
    ("token_f1", "answer", {"normalize": True, "remove_articles": True}),
    ("bleu_score", "answer", None),
    ("rouge_score", "answer", None),
    ("chrf_score", "answer", None),
]


def spec() -> EvaluationSpec:
    """Ten string validators on the final output."""
    validators = [
        {
            "key": kind,
            "type": kind,
            "target": "case.payload.yes" if kind == "boolean_assert" else "final_output",
            "expected_from": f"case.payload.{expected}",
            **({"config": config} if config else {}),
        }
        for kind, expected, config in KINDS
    ]
    raw = {"name": "bench", "version_number": 1, "judge_mode": "deterministic", "validators": validators}
    return decode_spec({**raw, "scorecard": {"dimensions": ["correctness"]}})


def case(number: int) -> dict[str, Any]:
    """A case whose expectations differ from those of every other."""
    answer = ANSWER.format(number)
    return {"payload": {"answer": answer, "word": "fox", "pattern": rf"number {number}\.$", "yes": "yes"}}


def events(number: int) -> list[dict[str, Any]]:
    """The short log of a run that answered, every second time not quite as expected."""
    at, answer = "2026-03-01T10:00:0{}.000Z", ANSWER.format(number)
    return [
        {"type": "system.run.started", "occurred_at": at.format(0), "payload": {}},
        {
            "type": "system.run.completed",
            "occurred_at": at.format(2),
            "payload": {"final_output": answer.replace("lazy dog", "sleepy cat") if number % 2 else answer},
        },
    ]


def results_per_second(*, checked: bool) -> float:
    """Case results per second on one core, the spec checked once or for every result."""
    declared = spec()
    ready = checked_spec(declared)
    runs = [(case(number), events(number)) for number in range(RESULTS)]
    start = time.process_time()  # of this core alone, whatever else runs on the machine
    for stored, log in runs:
        if checked:
            result = score(ready, collect_evidence(log, [case_evidence(stored)]))
        else:
            result = evaluate(declared, stored, log)
        assert result.passed
    return RESULTS / (time.process_time() - start)


def large_log() -> Iterator[str]:
    """A log of ten megabytes, line by line: output in small pieces, tool calls, and the end."""
    yield json.dumps({"type": "system.run.started", "occurred_at": "2026-03-01T10:00:00Z", "payload": {}})
    size, number = 0, 0
    while size < LOG_BYTES:
        kind = "tool.call.completed" if number % 10 == 0 else "model.output.delta"
        payload = {"tool_name": "search", "arguments": {"q": number}, "delta": "x" * 400}
        line = json.dumps({"type": kind, "occurred_at": "2026-03-01T10:00:01Z", "payload": payload})
        size, number = size + len(line), number + 1
        yield line
    yield json.dumps(
        {"type": "system.run.completed", "occurred_at": "2026-03-01T10:00:02Z", "payload": {"final_output": "x"}}
    )


def log_memory() -> tuple[float, float]:
    """Megabytes that reading a large log adds at its peak, and the seconds it takes."""
    collect_evidence([])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    evidence = collect_evidence(json.loads(line) for line in large_log())
    took = time.perf_counter() - start
    assert evidence.completed
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, took


def main() -> None:
    """Print what was measured; the log is read in a process of its own, so that its peak is its own."""
    if sys.argv[1:] == ["--log"]:
        print(*log_memory())
        return
    print(f"{results_per_second(checked=True):8.0f} case results/s and core, 10 string validators, spec checked once")
    print(f"{results_per_second(checked=False):8.0f} case results/s and core, spec checked for every result")
    command = [sys.executable, "-m", "benchmarks.evaluations", "--log"]
    memory, took = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print(
        f"{float(memory):8.1f} MB added by a log of {LOG_BYTES / 1e6:.0f} MB at its peak, read in {float(took):.2f} s"
    )


if __name__ == "__main__":
    main()
