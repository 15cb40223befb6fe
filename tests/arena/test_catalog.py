"""The catalog: what is installed or named is found, and what does not load is told by name."""

import itertools
import json
from pathlib import Path

import pytest

from arena import catalog
from arena.catalog import Catalog, ChallengeType
from arena.errors import UnknownChallengeType
from challenges.psi.rules import PrivateSetIntersection

NUMBERS = itertools.count()
CHALLENGES = {
    "psi",
    "ultimatum",
    "millionaire",
    "dining-cryptographers",
    "census",
    "sealed-bids",
    "supply-chain",
    "moles",
}
STRATEGIES = {
    "average",
    "bradley-terry",
    "consecutive",
    "elo",
    "glicko2",
    "openskill",
    "red-team",
    "scorecard",
    "win-rate",
}

RULES = '''"""Coin: call it in the air.

Heads or tails, and nothing in between.
"""

from random import Random

from arena import Effects, Fold, GameResult, MetricDescriptor, Model, Operator, Seat, action, say


class Toss(Model):
    heads: bool = True


class LuckyCoin(Operator[Toss]):
    """This is not what players read."""

    players = 3

    def deal(self, rng: Random) -> Toss:
        return Toss()

    @action
    def call(self, toss: Toss, seat: Seat, side: str) -> Effects:
        """Say heads or tails."""
        yield say(side)
'''

STRATEGY = '''"""Wins: how often somebody has won."""

from arena import Fold, GameResult, MetricDescriptor, Model


class Tally(Model):
    games: int = 0


class Wins(Fold[Tally]):
    name = "total-wins"
    metrics = (MetricDescriptor(key="total-wins:games", label="Games"),)

    def fold(self, tallies: list[Tally], result: GameResult) -> list[Tally]:
        return tallies

    def read(self, tally: Tally) -> dict[str, float]:
        return {"total-wins:games": tally.games}
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that Python imports from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(place: Path, text: str, name: str = "") -> str:
    """Write a module that nobody has imported before; its name."""
    name = name or f"plugin_{next(NUMBERS)}"
    (place / f"{name}.py").write_text(text)
    return name


def install(place: Path, group: str, **points: str) -> None:
    """Do what pip does, as far as entry points go."""
    info = place / f"made_up_{next(NUMBERS)}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {info.name.partition('-')[0]}\nVersion: 1.0\n")
    lines = "\n".join(f"{name} = {where}" for name, where in points.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")


def the_one(found: Catalog) -> ChallengeType:
    """The challenge that is not ours."""
    [name] = found.challenges.keys() - CHALLENGES
    return found.challenges[name]


# Found


def test_our_own_plugins_are_found_the_way_yours_will_be() -> None:
    found = catalog.load()

    assert set(found.challenges) == CHALLENGES
    assert set(found.strategies) == STRATEGIES
    assert set(found.global_strategies) == {"global-average"}
    assert found.broken == {}
    assert set(found.challenge("psi").bots) == {"honest", "greedy"}


def test_an_installed_challenge_goes_by_the_name_it_was_registered_with(place: Path) -> None:
    install(place, catalog.CHALLENGES, **{"coin-toss": f"{write(place, RULES)}:LuckyCoin"})

    found = catalog.load()

    assert set(found.challenges) == CHALLENGES | {"coin-toss"}
    assert found.challenge("coin-toss").bots == {}


def test_an_installed_strategy_goes_by_its_own_name(place: Path) -> None:
    install(place, catalog.STRATEGIES, whatever=f"{write(place, STRATEGY)}:Wins")

    assert set(catalog.load().strategies) == STRATEGIES | {"total-wins"}


def test_a_named_module_brings_what_it_defines_under_the_names_of_its_classes(place: Path) -> None:
    found = catalog.load([write(place, RULES), write(place, STRATEGY), "tests.plugins.tally"])

    assert set(found.challenges) == CHALLENGES | {"lucky-coin", "tally"}
    assert set(found.strategies) == STRATEGIES | {"total-wins"}
    assert found.broken == {}


def test_what_a_module_only_imports_is_not_its_own(place: Path) -> None:
    rules = write(place, RULES)
    second = write(place, f"from {rules} import LuckyCoin\n\nclass RareCoin(LuckyCoin):\n    players = 2\n")

    assert set(catalog.load([second]).challenges) == CHALLENGES | {"rare-coin"}


def test_a_name_that_nobody_has_is_an_unknown_type() -> None:
    with pytest.raises(UnknownChallengeType, match="chess"):
        catalog.load().challenge("chess")


# Broken


def test_broken_plugins_are_told_by_name_and_the_others_load(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(
        place,
        catalog.CHALLENGES,
        absent="no_such_module:Thing",
        nameless=f"{write(place, RULES)}:NoSuchClass",
        alien="json:JSONDecoder",
        lucky=f"{write(place, RULES)}:LuckyCoin",
    )

    found = catalog.load(["tests.plugins.broken", "tests.plugins.hollow", "tests.plugins.tally"])

    assert set(found.challenges) == CHALLENGES | {"lucky", "tally"}
    assert set(found.broken) == {"absent", "nameless", "alien", "tests.plugins.broken", "tests.plugins.hollow"}
    assert "no_such_module" in found.broken["absent"]
    assert "on purpose" in found.broken["tests.plugins.broken"]
    assert "defines no challenge" in found.broken["tests.plugins.hollow"]
    logged = [r.getMessage() for r in caplog.records if "plugin does not load" in r.getMessage()]
    assert sorted(line.split("name=")[1].split()[0] for line in logged) == sorted(found.broken)


def test_words_that_cannot_be_read_break_that_challenge_alone(place: Path) -> None:
    name = write(place, RULES)
    (place / "challenge.yaml").write_text("name: [unclosed")

    found = catalog.load([name, "tests.plugins.tally"])

    assert set(found.challenges) == CHALLENGES | {"tally"}
    assert set(found.broken) == {name}


# Described


def test_without_a_file_of_words_the_docstrings_are_told(place: Path) -> None:
    metadata = the_one(catalog.load([write(place, RULES)])).metadata

    assert (metadata.name, metadata.players) == ("LuckyCoin", 3)
    assert metadata.description == "Coin: call it in the air."
    assert metadata.prompt.endswith("Heads or tails, and nothing in between.")
    assert [(method.name, method.description) for method in metadata.methods] == [("call", "Say heads or tails.")]
    assert '"properties": {"clock": ' in json.dumps(metadata.options)  # which all challenges have


def test_a_file_of_words_beside_the_rules_is_told_instead(place: Path) -> None:
    name = write(place, RULES)
    (place / "challenge.yaml").write_text("name: The coin\ndescription: A coin\nprompt: Call it.\ntags: [luck]\n")

    metadata = the_one(catalog.load([name])).metadata

    assert (metadata.name, metadata.description, metadata.prompt) == ("The coin", "A coin", "Call it.")
    assert metadata.tags == ["luck"]
    assert [method.name for method in metadata.methods] == ["call"]


def test_the_content_hash_follows_the_rules_and_their_words(place: Path) -> None:
    kind = the_one(catalog.load([write(place, RULES, "coin_of_versions")]))

    def content_hash() -> str:
        return catalog.describe(kind.name, kind.operator).version.content_hash

    first, again = content_hash(), content_hash()
    write(place, RULES + "\n# another rule\n", "coin_of_versions")
    changed = content_hash()
    (place / "challenge.yaml").write_text("name: The coin\ndescription: A coin\nprompt: Call it.\n")
    worded = content_hash()
    (place / "challenge.yaml").write_text("name: The coin\ndescription: A coin\nprompt: Call it now.\n")

    assert first == again == kind.version.content_hash
    assert len({first, changed, worded, content_hash()}) == 4
    assert kind.version.version == "1"


def test_no_challenge_has_the_name_of_the_boards_over_all_challenges() -> None:
    found = catalog.Catalog()

    with pytest.raises(ValueError, match="cannot be called global"):
        found.add("global", PrivateSetIntersection)

    assert found.challenges == {}
