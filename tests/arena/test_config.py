"""Configuration: a file says what is offered and what counts it, and a bad one is refused in a line."""

import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from arena import catalog, config
from arena.config import DEFAULT, ScoringConfig
from arena.errors import CannotStart
from tests.servers import served

TOML = """
[[challenges]]
name = "psi"
options = { setSize = 4, range = [1, 50] }
scoring = ["elo", "average", "luck"]

[[challenges]]
name = "chess"

[scoring]
default = ["average", "win-rate"]
globalSource = "win-rate"
"""


def written(place: Path, told: dict[str, Any] | str, name: str = "arena.json") -> Path:
    path = place / name
    path.write_bytes(told.encode() if isinstance(told, str) else orjson.dumps(told))
    return path


def test_without_a_file_the_protocols_challenges_are_counted_as_it_says() -> None:
    found = DEFAULT.scoring_config()

    assert found == ScoringConfig(
        default=("average",),
        by_type={
            "psi": ("win-rate", "red-team", "consecutive"),
            "ultimatum": ("win-rate", "red-team", "consecutive"),
            "millionaire": ("win-rate", "red-team", "consecutive"),
            "dining-cryptographers": ("win-rate", "consecutive"),
        },
        overall="global-average",
        source="average",
    )
    assert catalog.load().scoring == found


def test_json_and_toml_say_the_same(tmp_path: Path) -> None:
    told = {
        "challenges": [
            {"name": "psi", "options": {"setSize": 4, "range": [1, 50]}, "scoring": ["elo", "average", "luck"]},
            {"name": "chess"},
        ],
        "scoring": {"default": ["average", "win-rate"], "globalSource": "win-rate"},
    }

    assert config.read(written(tmp_path, TOML, "arena.toml")) == config.read(written(tmp_path, told))


def test_what_is_not_installed_is_left_out_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = catalog.load(["tests.plugins.tally"], written(tmp_path, TOML, "arena.toml"))

    assert "chess" not in found.challenges
    assert [record.getMessage() for record in caplog.records] == [
        "configured challenge is not installed, left out name=chess",
        "configured strategy is not installed, left out name=luck",
    ]


def test_options_take_the_place_of_a_challenges_defaults_and_creators_may_still_choose(tmp_path: Path) -> None:
    psi = catalog.load((), written(tmp_path, TOML, "arena.toml")).challenge("psi")

    assert psi.operator().options.model_dump()["set_size"] == 4
    assert psi.operator().options.model_dump()["intersection_size"] == 3
    assert psi.operator({"setSize": 7}).options.model_dump() == {
        "players": 2,
        "range": (1, 50),
        "intersection_size": 3,
        "set_size": 7,
    }
    assert psi.metadata.options is not None
    assert psi.metadata.options["properties"]["setSize"]["default"] == 4  # type: ignore[index,call-overload]
    assert set(psi.bots) == set(catalog.load().challenge("psi").bots) != set()


def test_the_order_of_the_file_is_the_order_of_the_challenges(tmp_path: Path) -> None:
    names = ["tally", "psi"]
    path = written(tmp_path, {"challenges": [{"name": name} for name in names]})

    assert list(catalog.load(["tests.plugins.tally"], path).challenges)[:2] == names


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("{", "not valid"),
        ("[1, 2]", "not valid"),
        ({"challenges": [{"options": {}}]}, "challenges.0.name: Field required"),
        ({"challenges": [{"name": "psi", "scores": []}]}, "challenges.0.scores: Extra"),
        ({"scoring": {"default": "average"}}, "scoring.default: Input should be a valid array"),
        ({"challenges": [{"name": "psi", "options": {"setSize": 0}}]}, "The configuration of psi is not valid"),
        ({"challenges": [{"name": "psi", "options": {"size": 3}}]}, "The configuration of psi is not valid"),
    ],
    ids=str,
)
def test_a_bad_file_is_refused_in_a_line(tmp_path: Path, told: dict[str, Any] | str, words: str) -> None:
    with pytest.raises(CannotStart, match="configuration") as refused:
        catalog.load((), written(tmp_path, told))

    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_missing_or_no_toml_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="cannot be read: No such file"):
        config.read(tmp_path / "nothing.json")
    with pytest.raises(CannotStart, match="not valid"):
        config.read(written(tmp_path, "a = ", "arena.toml"))
    with pytest.raises(CannotStart, match="not valid"):
        config.read(written(tmp_path, "[scoring]\nglobal = 2026-01-01", "arena.toml"))


async def test_a_server_counts_by_the_strategies_of_its_file(store: str, tmp_path: Path) -> None:
    path = written(tmp_path, TOML, "arena.toml")

    async with served(store, config=path) as running:
        names = [strategy.name for strategy in running.arena.scorer.strategies("psi")]
        others = [strategy.name for strategy in running.arena.scorer.strategies("other")]

    assert names == ["average", "win-rate", "elo"]
    assert others == ["average", "win-rate"]
    assert running.arena.scorer.config.source == "win-rate"
