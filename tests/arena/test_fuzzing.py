"""The fuzzer finds what a challenge must not do, and finds none of it in ours."""

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena import AtLimit, Effects, Model, Operator, Refused, Score, Seat, action, end, job, say, tell
from arena.catalog import load
from arena.fuzzing import Report, fuzz, unused
from arena.guesses import content_for
from arena.operator import Job, JobFailed
from challenges.ultimatum.rules import Ultimatum
from tests.commands import arena as command
from tests.commands import call

OURS = sorted(load().challenges)


@pytest.mark.parametrize("name", OURS)
def test_our_challenges_survive_it(name: str) -> None:
    kind = load().challenge(name)

    report = fuzz(kind.operator, games=24, seed="tests", bots=kind.bots)

    assert report.findings == []
    assert sum(report.ended.values()) == report.games == 24
    assert sum(report.taken.values()) > 20
    assert sum(report.refused.values()) > 20


class Box(Model):
    secret: str = ""
    moves: int = 0


class Fine(Operator[Box]):
    """A challenge without fault, to be spoilt."""

    def deal(self, rng: Random) -> Box:
        return Box(secret=f"The secret word is {rng.randrange(10**9)}")

    def start(self, box: Box) -> Effects:
        yield tell(0, box.secret)

    def to_move(self, box: Box) -> list[Seat]:
        return [box.moves % 2]

    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """One more; anything counts."""
        box.moves += 1
        yield say(f"Move {box.moves}.")
        if box.moves == 20:
            yield end(Score(utility=1) for _ in range(2))


class Crashing(Fine):
    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Fails now and then."""
        box.moves += 1
        yield say(f"{1 / (7 - box.moves)}")


class Echoing(Fine):
    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Tells everybody what was said."""
        yield say(content)


class Telling(Fine):
    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Tells everybody the secret."""
        yield say(f"By the way: {box.secret}!")


class Generous(Fine):
    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Gives more than there is."""
        yield end([Score(utility=2), Score(security=-3)])


class Endless(Fine):
    at_limit = AtLimit.DEFAULT

    def default_move(self, box: Box, seat: Seat) -> Effects:
        """Leads nowhere."""
        yield say("Hm.")


class Moody(Fine):
    memory: list[int] = []

    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Remembers other games."""
        self.memory.append(1)
        box.moves += len(self.memory)
        yield say(f"Move {box.moves}.")


class Whispering(Fine):
    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Refuses in lower case."""
        raise Refused("no", "No.")
        yield


class Lost(Fine):
    def to_move(self, box: Box) -> list[Seat]:
        return [5]


class Helpless(Fine):
    @action
    def step(self, box: Box, seat: Seat, content: str) -> Effects:
        """Asks for help."""
        yield job("help")

    def worked(self, box: Box, done: Job, result: Any) -> Effects:
        """Expects too much."""
        if not isinstance(result, JobFailed):
            yield say(result["answer"])


def test_a_challenge_without_fault_is_left_in_peace() -> None:
    report = fuzz(Fine, games=30)

    assert report.findings == []
    assert unused(Fine, report) == []


@pytest.mark.parametrize(
    ("faulty", "words"),
    [
        (Crashing, "ZeroDivisionError"),
        (Echoing, "leak: text that player"),
        (Telling, "was told to one seat and then said to everybody"),
        (Generous, "the utility of player 1 is 2, which is not between -1 and 1"),
        (Generous, "the security of player 2 is -3"),
        (Endless, "never come to an end"),
        (Moody, "do not make the same game again"),
        (Whispering, "not in upper case"),
        (Lost, "to_move names seats that do not exist: [5]"),
        (Helpless, "a handler that nobody waited for raised"),
    ],
)
def test_every_kind_of_fault_is_found(faulty: type[Operator[Any, Any]], words: str) -> None:
    report: Report = fuzz(faulty, games=40)

    assert any(words in finding.words for finding in report.findings), {f.words for f in report.findings}


def test_a_finding_can_be_had_again_by_its_seed() -> None:
    assert fuzz(Crashing, games=5, seed=3) == fuzz(Crashing, games=5, seed=3)


def test_content_fits_what_an_action_takes_often_enough_and_not_always() -> None:
    action_ = load().challenge("sealed-bids").operator.actions["bid"]
    rng, read = Random(1), 0
    for _ in range(300):
        try:
            action_.read(content_for(action_, rng, ["7", "Ada"]))
            read += 1
        except Exception:
            continue

    assert 60 < read < 280


# The commands


def test_the_command_tells_what_was_played() -> None:
    done = command("challenge", "test", "millionaire", "--games", "9")

    assert done.code == 0
    assert "taken guess" in done.out
    assert done.out.rstrip().endswith("9 games, 0 findings")


def test_the_command_tells_what_was_found_and_how_to_find_it_again(tmp_path: Path) -> None:
    command("challenge", "new", "faulty", cwd=tmp_path)
    rules = tmp_path / "faulty" / "rules.py"
    rules.write_text(rules.read_text().replace("duel.guesses[seat] = digit", "duel.guesses[seat] = 1 // digit"))

    done = command("challenge", "test", "faulty", "--games", "30", cwd=tmp_path)

    assert done.code == 1
    assert "ZeroDivisionError" in done.out
    assert "first in game 0." in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chess",), "Unknown challenge type: chess"),
        (("psi", "--options", "{"), "no JSON"),
        (("psi", "--options", "[]"), "no JSON object"),
        (("psi", "--options", '{"setSize": 0}', "--games", "1"), "options"),
    ],
)
def test_the_command_says_in_a_line_what_is_wrong(arguments: tuple[str, ...], words: str) -> None:
    done = call("challenge", "test", *arguments)

    assert done.code == 1
    assert done.err.startswith("arena: ")
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_new_challenge_works_with_its_tests_its_trial_and_its_bots(tmp_path: Path) -> None:
    made = command("challenge", "new", "hidden-number", cwd=tmp_path)
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "hidden_number"]
    tested = subprocess.run(pytest_, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    tried = command("challenge", "test", "hidden-number", "--games", "20", cwd=tmp_path)
    played = command(
        "demo", "--port", "0", "--no-browser", "--seconds", "3", "--pause", "0",
        "--load", "hidden_number.rules", "--challenge", "hidden-number", cwd=tmp_path,
    )  # fmt: skip

    assert made.code == 0
    assert "arena challenge test hidden-number" in made.out
    assert "9 passed" in tested.stdout, tested.stdout + tested.stderr
    assert tried.code == 0, tried.out + tried.err
    assert "game 1 hidden-number: " in played.out


@pytest.mark.parametrize("name", ["Duel", "my game", "../up", "2nd", "a--b", "-a", "", "class", "é", "x" * 41])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    done = call("challenge", "new", "--folder", tmp_path, "--", name)

    assert done.code == 1
    assert "is no name" in done.err
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "duel").mkdir()

    done = call("challenge", "new", "duel", "--folder", tmp_path)

    assert done.code == 1
    assert "is there already" in done.err
    assert json.dumps([p.name for p in tmp_path.rglob("*")]) == '["duel"]'


def test_chance_finds_offers_that_share_out_what_there_is() -> None:
    offer, rng = Ultimatum.actions["submit_offer"], Random(1)

    made = [re.findall(r"\d+", content_for(offer, rng, ["Player", "100", "Player"])) for _ in range(500)]

    assert any(len(parts) == 2 and sum(map(int, parts)) == 100 for parts in made)
