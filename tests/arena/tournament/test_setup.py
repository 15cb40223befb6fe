"""Files of tournaments: what is wrong is told with the key and a guess, and nothing is begun."""

from pathlib import Path
from typing import Any

import pytest

from arena.errors import CannotStart, Invalid
from arena.tournament.setup import parse, read
from tests.tourneys import told

TWO = [{"name": "a", "bot": "honest"}, {"name": "b", "bot": "greedy"}]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"chalenge": "psi"}, "did you mean 'challenge'"),
        ({"budget": {"game": 3}}, "budget: there is no key 'game'; did you mean 'games'"),
        ({"agents": [{"name": "a", "bto": "honest"}, TWO[1]]}, r"agents\.0: there is no key 'bto'; did you mean 'bot'"),
        ({"agents": [{"name": "a"}, TWO[1]]}, "one of bot, cmd or model"),
        ({"agents": [{"name": "a", "bot": "honest", "cmd": "./x"}, TWO[1]]}, "one of bot, cmd or model"),
        ({"agents": [TWO[0], TWO[0]]}, "two agents are called a"),
        ({"agents": [{"name": "0" * 64, "bot": "honest"}, TWO[1]]}, "choose another name"),
        ({"agents": [{"name": "a b", "bot": "honest"}, TWO[1]]}, r"agents\.0\.name"),
        ({"format": "swiss"}, "needs rounds"),
        ({"rounds": 3}, "only a swiss tournament has rounds"),
        ({"format": "ladder"}, "anchors"),
        ({"format": "knockout", "stop_when_decided": True}, "round-robin or a ladder"),
        ({"games_per_pair": 0}, "games_per_pair"),
        ({"budget": {"cost": float("nan")}}, "no plain data"),
        ({"seed": "é"}, "seed"),
    ],
)
def test_a_mistake_is_told_with_its_key(more: dict[str, Any], reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        parse(told(2, **more))


@pytest.mark.parametrize("data", [None, [], "psi", 3, {}])
def test_what_is_no_tournament_is_refused(data: object) -> None:
    with pytest.raises(Invalid):
        parse(data)


def test_yaml_and_toml_say_the_same(tmp_path: Path) -> None:
    yaml, toml = tmp_path / "a.yaml", tmp_path / "a.toml"
    yaml.write_text("challenge: psi\nseed: 7\nagents:\n- {name: a, bot: honest}\n- {name: b, cmd: ./b}\n")
    toml.write_text(
        'challenge = "psi"\nseed = 7\n[[agents]]\nname = "a"\nbot = "honest"\n[[agents]]\nname = "b"\ncmd = "./b"\n'
    )

    assert read(yaml) == read(toml)
    assert read(yaml).seed == "7"
    assert parse(read(yaml).plain()) == read(yaml)


@pytest.mark.parametrize("text", ["{", "agents: [&a [*a]]", "\x00", "challenge: psi\nagents: [{name: a, remote: x}]"])
def test_a_broken_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(text)

    with pytest.raises(CannotStart, match=r"broken\.yaml"):
        read(file)
