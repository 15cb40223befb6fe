"""`python -m tests.mutations`: seed faults into a copy of the engine, one at a time; each must make a test fail."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKS = Path("arena", "packs")
LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "static", "browser")
VECTORS = ["-m", "tests.vectors_runner", "tests/vectors/packs"]  # in a second or two, and enough for most faults
TESTS = [
    *(f"tests/arena/packs/test_{name}.py" for name in ("evaluate", "events", "values", "spec", "schemas", "json_path")),
    *(f"tests/arena/packs/test_{name}.py" for name in ("judges", "posture", "captures", "counts", "behavior")),
    *(f"tests/arena/packs/validators/test_{name}.py" for name in ("maths", "texts", "files")),
    *(f"tests/arena/packs/test_{name}.py" for name in ("scalars", "shapes", "normal", "rules", "tools", "manifest")),
    *(f"tests/arena/packs/test_{name}.py" for name in ("stored", "templates", "simulator", "conversation", "lock")),
    *(f"tests/arena/packs/test_{name}.py" for name in ("selection", "findings", "yaml_nodes", "exposure", "resolve")),
]
PYTEST = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *TESTS]
AT_ONCE = 2


class Fault(NamedTuple):
    """A fault: what stands in a file of the engine, and what stands there instead."""

    file: str
    old: str
    new: str


FAULTS = [
    Fault("validators/outcome.py", "passed = score >= limit", "passed = score > limit"),
    Fault("validators/outcome.py", "min(1.0, max(0.0, threshold))", "threshold"),
    Fault("validators/configs.py", "threshold: float = 0.8", "threshold: float = 0.9"),
    Fault("validators/configs.py", "threshold: float = 0.3", "threshold: float = 0.5"),
    Fault("validators/configs.py", "tolerance: float = 1e-6", "tolerance: float = 1e-5"),
    Fault("validators/configs.py", "must_exist: bool = True", "must_exist: bool = False"),
    Fault("validators/texts.py", "MAX_FUZZY = 100_000", "MAX_FUZZY = 10_000_000"),
    Fault("validators/texts.py", "(length - distance) / length", "(max(len(one), len(other)) - distance) / length"),
    Fault("validators/numbers.py", "distance <= limit for", "distance < limit for"),
    Fault("validators/numbers.py", "scaled - whole >= 0.5", "scaled - whole > 0.5"),
    Fault("validators/overlap.py", "math.exp(1 - closest / len(said))", "math.exp(1 - len(said) / closest)"),
    Fault("validators/overlap.py", "(abs(length - len(said)), length)", "(abs(length - len(said)), -length)"),
    Fault("validators/overlap.py", "weight = beta * beta", "weight = beta"),
    Fault("validators/overlap.py", "(max(0, length - order + 1) for", "(max(0, length - order + 2) for"),
    Fault("validators/algebra.py", "_MAX_POWER = 32", "_MAX_POWER = 2"),
    Fault("validators/algebra.py", "if total != 1 or not rest:", "if total or not rest:"),
    Fault("validators/latex.py", "text.rpartition(delimiter)", "text.partition(delimiter)"),
    Fault("validators/documents.py", "_is_integer(one) == _is_integer(other) and ", ""),
    Fault("validators/execution.py", "float(execution.exit_code == 0)", "float(execution.exit_code != 1)"),
    Fault("validators/tool_calls.py", "if call.failed or (name", "if (name"),
    Fault("validators/tool_calls.py", "        del left[at]\n", ""),
    Fault("validators/postcondition.py", 'config.condition == "not_exists"', 'config.condition == "exists"'),
    Fault("validators/files.py", "bare in directories or name in directories or bare in names", "bare in directories"),
    Fault("validators/rules.py", "if not 0 <= config.threshold <= 1:", "if not 0 <= config.threshold:"),
    Fault("text.py", r"[\t\n\f\r ]+", r"[\t\n\f\r\v ]+"),
    Fault("values.py", "if -4 <= exponent < 6:", "if -4 <= exponent < 21:"),
    Fault("keywords.py", "(value / divisor).is_integer()", "(round(value / divisor, 9)).is_integer()"),
    Fault("references.py", "return count if count is not None and count > 0 else 0", "return abs(count or 0)"),
    Fault("resolve.py", "0 <= (index := _index(name)) < len(value)", "(index := _index(name)) < len(value)"),
    Fault("events.py", "return (0 if sequence else 1, sequence,", "return (0, sequence,"),
    Fault("events.py", "shallow(payload[name])", "payload[name]"),
    Fault("exposure.py", "if output and answer not in messages[-1:]:", "if output:"),
    Fault("exposure.py", 'url.netloc.rpartition("@")[2]', "url.netloc"),
    Fault("events.py", "if log.sums.total_tokens > 0 else", "if log.sums.total_tokens else 0 if log.counted else"),
    Fault(
        "metrics.py",
        "max(0.0, total - reading.evidence.race_context_tokens)",
        "total - reading.evidence.race_context_tokens",
    ),
    Fault("pricing.py", "or rows.get((provider, undated(model_id)))", ""),
    Fault("behavior.py", "if score < 1:", "if score < 0.5:"),
    Fault("behavior.py", "1 - (confidence - outcome.score) ** 2", "1 - abs(confidence - outcome.score)"),
    Fault("behavior.py", "signal.score < declared.pass_threshold", "signal.score <= declared.pass_threshold"),
    Fault(
        "dimensions.py", "return 1 - (value - target) / (worst - target)", "return (value - target) / (worst - target)"
    ),
    Fault(
        "dimensions.py",
        'findings.evidence), "lower", "latency',
        'findings.evidence), dimension.better_direction, "latency',
    ),
    Fault("resolve.py", "_MAX_CHAIN = 8", "_MAX_CHAIN = 7"),
    Fault("metrics.py", "else -(-took // _MS))", "else took // _MS)"),
    Fault("templates.py", "{value:.6f}", "{value:.5f}"),
    Fault("judges/consensus.py", 'return "low" if spread > _threshold', 'return "low" if spread >= _threshold'),
    Fault("scorecard.py", "result.scored < limit:", "result.scored <= limit:"),
    Fault("scorecard.py", "1.0 if dimension.weight is None else dimension.weight", "dimension.weight or 1.0"),
    Fault("scorecard.py", "graded = card.weighed(gates=False)", "graded = card.weighed(gates=True)"),
    Fault(
        "evaluate.py",
        "for kind, key, state, reason in (*scores, *checks, *measures):",
        "for kind, key, state, reason in (*scores,):",
    ),
    Fault("judges/consensus.py", "* 2 >= len(scores))\n    return median", "* 2 > len(scores))\n    return median"),
    Fault("judges/consensus.py", "AGREEMENT = 0.25", "AGREEMENT = 0.2"),
    Fault("judges/answers.py", "min(scale.max, max(scale.min, float(score or 0)))", "float(score or 0)"),
    Fault("spec/normalise.py", "DEFAULT_SAMPLES = 3", "DEFAULT_SAMPLES = 1"),
    Fault("spec/normalise.py", "dimension.normalization or _shared_scale(source, spec)", "_shared_scale(source, spec)"),
    Fault("spec/validate.py", "1 <= limits.max_iterations <= 1000", "1 <= limits.max_iterations < 1000"),
    Fault("spec/scorecard.py", "scale.max <= scale.target", "scale.max < scale.target"),
    Fault("counts.py", "tests - failures - errors", "tests - failures"),
    Fault("counts.py", "if is_number(raw.get(name))", "if raw.get(name) is not None"),
    Fault("counts.py", "            if not depth:\n", "            if depth < 0:\n"),
    Fault("schemas.py", 'if key == "$id" and not _is_uri(value):', 'if key == "$id" and not value:'),
    Fault("posture.py", "RANKS.get(incident.severity, 0) < RANKS", "RANKS.get(incident.severity, 0) <= RANKS"),
    Fault("posture.py", 'DEFAULT_SEVERITY = "high"', 'DEFAULT_SEVERITY = "medium"'),
    Fault("captures.py", "self.used += whole", "self.used += limit"),
    Fault("nodes.py", "            if name not in node.values:\n", "            if True:\n"),
    Fault("nodes.py", "    parent.size += node.size\n", "    parent.size += 1\n"),
    Fault("nodes.py", "if node.text in parent.keys:", "if node.text in parent.keys and node.tag == PLAIN:"),
    Fault("scalars.py", '("true", "True", "TRUE")', '("true", "True", "TRUE", "yes")'),
    Fault("scalars.py", "0[oO]?([0-7]+)", "0[oO]([0-7]+)"),
    Fault("scalars.py", "(2**63 if sign else 2**64)", "2**63"),
    Fault("scalars.py", 'return "Z" if zone[1:] == "00:00" else zone', 'return "Z"'),
    Fault("shapes.py", "if not limits[0] <= int(value) <= limits[1]:", "if not limits[0] <= int(value):"),
    Fault("shapes.py", "if isinstance(value, float) and not math.isfinite(value):", "if isinstance(value, bytes):"),
    Fault("shapes.py", 'return "" if is_null(scalar) else scalar.text', "return scalar.text"),
    Fault("normal.py", 'lower=("family",)', "lower=()"),
    Fault("normal.py", 'definition.setdefault("instructions", clean.instructions)', "pass"),
    Fault("normal.py", "cases = each.cases or ", "cases = each.cases + "),
    Fault("normal.py", 'lower=("location", "severity")', 'lower=("location", "severity", "value")'),
    Fault("stored.py", "for name in _MEMBERS[1:])", "for name in _MEMBERS[1:-1])"),
    Fault("stored.py", 'raw.get("case_key") or item_key', "item_key"),
    Fault("blocks/base.py", "value is not None if name in free else", "bool(value) if name in free else"),
    Fault("manifest.py", "plain(version.assets) or None", "plain(version.assets) or []"),
    Fault("manifest.py", "if bundle.tools is not None:", "if bundle.tools:"),
    Fault("templates.py", "if not all(parts):", "if not any(parts):"),
    Fault("templates.py", "if each.value is not None}", "if each.value}"),
    Fault("templates.py", "and version != 0", ""),
    Fault("composed.py", 'end = text.find("}", start)', 'end = text.find("}")'),
    Fault("composed.py", 'policy.get("allow_shell") is True', 'bool(policy.get("allow_shell"))'),
    Fault("rules/tools.py", "MAX_DELEGATION = 8", "MAX_DELEGATION = 9"),
    Fault(
        "rules/tools.py",
        "        if implementation is None or is_mock(implementation):",
        "        if implementation is None:",
    ),
    Fault("rules/references.py", "return None if key in inputs else", "return None if key else"),
    Fault("rules/sandbox.py", "if not _CIDR.fullmatch(text):", "if not text:"),
    Fault("rules/sandbox.py", "_PACKAGE.fullmatch(package)", "_PACKAGE.match(package)"),
    Fault(
        "rules/security.py",
        "bool(output.pattern) == bool(output.substring)",
        "not output.pattern and not output.substring",
    ),
    Fault("rules/voice.py", "if getattr(scenario, name) <= 0:", "if getattr(scenario, name) < 0:"),
    Fault("rules/simulator.py", "not 0 < calibration.sample_rate <= 1", "not 0 <= calibration.sample_rate <= 1"),
    Fault(
        "rules/simulator.py", 'if actor != "llm" and not is_blank(phase.model):', 'if actor == "human" and phase.model:'
    ),
    Fault(
        "rules/bundle.py", "if case.challenge_key != common:", "if case.challenge_key != each.cases[0].challenge_key:"
    ),
    Fault(
        "rules/bundle.py",
        "if version.sandbox is not None:\n            yield",
        "if version.sandbox and version.sandbox.env_vars:\n            yield",
    ),
    Fault("rules/bundle.py", 'mode in {"prompt_eval", "responses"}', 'mode == "prompt_eval"'),
    Fault("conversation.py", "digest % 10000 < rate * 10000", "digest % 1000 < rate * 1000"),
    Fault("conversation.py", "return bool(until) and all(", "return all("),
    Fault("selection.py", "if len(available) > 1:", "if len(available) > 2:"),
    Fault(
        "lock.py",
        "normalise_spec(bundle.version.evaluation_spec).document()",
        "bundle.version.evaluation_spec.document()",
    ),
    Fault("findings.py", "if older and is_older else part", "if False else part"),
]


def survives(fault: Fault | None, folder: Path) -> bool:
    """Whether every test passes in a copy of the project with this fault in it."""
    copy = folder / "project"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    if fault is not None:
        seed(fault, copy)
    return passes(VECTORS, copy, fault) and passes(PYTEST, copy, fault)


def passes(command: list[str], project: Path, fault: Fault | None) -> bool:
    """Whether nothing fails; what cannot run at all finds no fault."""
    done = subprocess.run([sys.executable, *command], cwd=project, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1} or not (" passed" in done.stdout or " failed" in done.stdout):
        raise SystemExit(f"{fault}: the tests could not run\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def seed(fault: Fault, project: Path) -> None:
    """Put a fault into its file, where its place must be the only one."""
    path = project / PACKS / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise SystemExit(f"{fault.file} has {fault.old!r} {text.count(fault.old)} times, not once")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def attempts(faults: list[Fault | None]) -> Iterator[tuple[Fault | None, bool]]:
    """Each fault with whether it survived, a few at once, each in a folder of its own."""

    def attempt(fault: Fault | None) -> tuple[Fault | None, bool]:
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            return fault, survives(fault, Path(folder))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(attempt, faults)


def main() -> int:
    """Try every fault and, before them, the engine as it is."""
    chosen = [fault for fault in FAULTS if not sys.argv[1:] or any(word in fault.file for word in sys.argv[1:])]
    lived = []
    for fault, survived in attempts([None, *chosen]):
        if fault is None:
            if not survived:
                raise SystemExit("the tests fail without any fault")
            continue
        sys.stdout.write(
            f"{'SURVIVED' if survived else 'found   '} {fault.file}: {fault.old.strip()} -> {fault.new.strip()}\n"
        )
        sys.stdout.flush()
        lived += [fault] if survived else []
    sys.stdout.write(f"{len(chosen) - len(lived)} of {len(chosen)} faults found\n")
    return 1 if lived else 0


if __name__ == "__main__":
    sys.exit(main())
