"""`arena gate`, `arena baseline` and `arena compare` as people and CI systems run them, on runs that are there."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from arena.evals.runs import Home, Run
from tests.arena.test_evals import flat
from tests.commands import Done, call


def kept(folder: Path, **runs: Run) -> None:
    """Runs in a folder, by id."""
    for name, run in runs.items():
        Home(folder).keep(run.model_copy(update={"id": name, "agent": f"agent \x1b[31m{name}"}))


def ask(folder: Path, *words: str) -> Done:
    return call(*words, "--dir", folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kept(
        tmp_path,
        good=flat(0.8, scatter=0.01),
        same=flat(0.8, scatter=0.01),
        worse=flat(0.6, scatter=0.01),
        shaky=flat(0.75, scatter=0.3),
        vague=flat(0.82, scatter=0.3),
        single=flat(0.8, 1),
    )
    return tmp_path


def test_a_gate_tells_its_verdict_by_its_exit_code(folder: Path) -> None:
    baseline = str(folder / "runs" / "good.json")

    codes = {
        name: ask(folder, "gate", "--candidate", name, "--baseline", baseline).code
        for name in ("same", "worse", "shaky", "vague", "single")
    }

    assert codes == {"same": 0, "worse": 1, "shaky": 2, "vague": 3, "single": 3}


def test_a_baseline_is_set_shown_used_and_cleared(folder: Path) -> None:
    before = ask(folder, "gate", "--candidate", "same")
    made = ask(folder, "baseline", "set", "good")
    other = ask(folder, "baseline", "set", "worse", "--name", "low", "--json")
    listed, shown = ask(folder, "baseline", "show"), ask(folder, "baseline", "show", "low", "--json")
    passed = ask(folder, "gate", "--candidate", "same")
    named = ask(folder, "gate", "--candidate", "same", "--baseline", "low")
    cleared, again = ask(folder, "baseline", "clear", "quiz"), ask(folder, "baseline", "clear", "quiz")

    assert before.code == 3
    assert "There is no baseline quiz" in before.out
    assert (made.code, made.out.startswith("Baseline quiz is run good")) == (0, True)
    assert json.loads(other.out)["baseline"] == "low"
    assert [line.partition(":")[0] for line in listed.out.splitlines()] == ["low", "quiz"]
    assert json.loads(shown.out)["measures"]["score"]["value"] == pytest.approx(0.6)
    assert (passed.code, named.code) == (0, 0)
    assert passed.out.endswith("verdict: pass\n")
    assert (cleared.code, again.code) == (0, 1)


def test_programs_get_json_and_junit(folder: Path) -> None:
    junit = folder / "gate.xml"
    ask(folder, "baseline", "set", "good")

    done = ask(folder, "gate", "--candidate", "worse", "--json", "--junit", str(junit))
    card = ask(folder, "eval", "scorecard", "good", "--json", "--junit", str(folder / "run.xml"))
    compared = ask(folder, "compare", "runs", "good", "worse", "--json")

    told = json.loads(done.out)
    assert (done.code, told["verdict"], told["exit_code"]) == (1, "fail", 1)
    assert ElementTree.parse(junit).getroot()[0].get("failures") == "1"
    assert json.loads(card.out)["measures"]["pass_at"]["3"] == 1
    assert ElementTree.parse(folder / "run.xml").getroot()[0].get("tests") == "4"
    [apart] = json.loads(compared.out)["differences"]
    assert apart["score"]["value"] == pytest.approx(-0.2)
    assert apart["score"]["interval"][1] < -0.1


def test_people_get_lines_in_which_nothing_moves_their_cursor(folder: Path) -> None:
    card, compared = ask(folder, "eval", "scorecard", "good"), ask(folder, "compare", "runs", "good", "shaky")

    assert card.code == compared.code == 0
    assert "score     0.800 [0.7" in card.out
    assert "pass^3 1.000" in card.out
    assert "k0  0.800  +++" in card.out
    assert "against" in compared.out
    assert "\x1b" not in card.out + compared.out


def test_wrong_usage_of_a_gate_is_no_verdict(folder: Path) -> None:
    usage, missing = ask(folder, "gate", "--margin", "much"), ask(folder, "gate", "--candidate", "none")

    assert usage.code == 64
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.startswith("arena: ")
