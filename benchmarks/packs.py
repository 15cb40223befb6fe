"""`python -m benchmarks.packs`: how long a large challenge pack takes to read and check, on one core."""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator

from arena.packs.findings import examine
from arena.packs.lock import content_hash
from arena.packs.manifest import manifest_json
from arena.packs.read import parse_bundle

CASES = 1_000
BYTES = 1_000_000
LIMIT = 2.0  # seconds to validate it
ROUNDS = 5

HEAD = """\
pack: {slug: large, name: Large, family: benchmark}
version:
  number: 1
  execution_mode: multi_turn
  assets: [{key: sheet, path: assets/sheet.csv}]
  evaluation_spec:
    name: large
    version_number: 1
    judge_mode: deterministic
    post_execution_checks: [{key: code, type: file_capture, path: /w/c.py}]
    validators:
      - {key: answer, type: exact_match, target: final_output, expected_from: case.expectations.answer}
      - {key: code, type: code_execution, target: "file:code", config: {test_command: "run {{id}} {{who.name}}"}}
    scorecard: {dimensions: [correctness]}
challenges:
  - {key: c, title: T, category: x, difficulty: easy, instructions: Do.}
input_sets:
  - key: d
    name: D
    cases:
"""
CASE = """\
      - challenge_key: c
        case_key: case-{number}
        payload:
          id: {number}
          who: {{name: Somebody {number}, tags: [a, b, c]}}
          story: >-
            {story}
        inputs:
          - {{key: question, kind: text, value: What is {number} and one?}}
          - {{key: sheet, kind: file, artifact_key: sheet}}
        expectations:
          - {{key: answer, kind: text, value: "{number}"}}
          - {{key: same, kind: text, source: "input:question"}}
        user_simulator:
          schema_version: 1
          kind: hybrid
          phases:
            - id: opening
              actor: scripted
              turns:
                - message: Hello, I am {{{{who.name}}}}.
                  expects: [{{key: greets, kind: contains, value: hello}}]
"""


def large(cases: int = CASES, size: int = BYTES) -> str:
    """A pack with so many cases and so many bytes, or a little more."""
    bare = len(CASE.format(number=cases, story=""))
    words = "".join(_words(max(0, size // cases - bare)))
    return HEAD + "".join(CASE.format(number=number, story=words) for number in range(cases))


def _words(length: int) -> Iterator[str]:
    for place in range(0, length, 8):
        yield f"{place % 9973:>7} "


def measure(name: str, work: Callable[[], object]) -> float:
    """The best of a few rounds in seconds of one core, printed."""
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    print(f"{name:<28} {min(times):7.3f} s best of {ROUNDS}, {max(times):.3f} s worst")
    return min(times)


def main() -> int:
    """Measure, and exit with 1 when validation takes too long."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    text = large()
    bundle = parse_bundle(text)
    print(f"a pack of {len(text.encode()):,} bytes with {len(bundle.input_sets[0].cases):,} cases")
    taken = measure("read and validate", lambda: parse_bundle(text))
    measure("with lines and warnings", lambda: examine(text))
    measure("write the manifest", lambda: manifest_json(bundle))
    measure("content hash", lambda: content_hash(bundle))
    print(f"{'memory':<28} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MiB at most")
    print(f"limit {LIMIT:g} s: {'kept' if taken < LIMIT else 'missed'}")
    return 0 if taken < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
