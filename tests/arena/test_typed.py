"""What a person types, and what is meant by it."""

import pytest

from arena.models import Method
from arena.typed import Act, Ask, Say, Wrong, help_lines, understand

TEXT = Method(
    name="guess", description="Name numbers.", arguments={"properties": {"content": {"type": "string"}}, "required": []}
)
BID = Method(
    name="bid",
    description="Bid for it.",
    arguments={
        "properties": {
            "amount": {"type": "integer", "minimum": 0, "maximum": 100},
            "rival": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "how": {"enum": ["loud", "low"]},
        },
        "required": ["amount"],
    },
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", None),
        ("   ", None),
        ("guess 12 40", Act("guess", "12 40")),
        ("  guess   12 ", Act("guess", "12")),
        ("guess", Act("guess", "")),
        ("bid amount=30 rival=2", Act("bid", '{"amount": 30, "rival": 2}')),
        ('bid amount=30 how="low"', Act("bid", '{"amount": 30, "how": "low"}')),
        ("bid how=loud amount=1", Act("bid", '{"how": "loud", "amount": 1}')),
        ('bid {"amount": 3}', Act("bid", '{"amount": 3}')),
        ("bid 30", Act("bid", "30")),
        ("bid price=30", Act("bid", "price=30")),
        ("guess a=b and c", Act("guess", "a=b and c")),
        ("/say hello all", Say("hello all")),
        ("/tell 2 psst", Say("psst", 2)),
        ("/resign", Act("resign", "")),
        ("/help bid", Ask("help", "bid")),
        ("/quit", Ask("quit")),
    ],
)
def test_a_line_is_understood(line: str, meant: object) -> None:
    assert understand(line, [TEXT, BID]) == meant


@pytest.mark.parametrize(
    "line", ["gues 12 40", "hello", "Guess 12", "/shout x", "/say", "/tell", "/tell ben x", "/tell 2"]
)
def test_a_slip_is_not_sent(line: str) -> None:
    assert isinstance(understand(line, [TEXT, BID]), Wrong)


def test_help_comes_from_what_the_challenge_says_of_its_moves() -> None:
    everything, about = list(help_lines([TEXT, BID])), list(help_lines([TEXT, BID], "bid"))

    assert about == ["bid amount=<number 0..100> [rival=<number>] [how=<loud|low>]", "    Bid for it."]
    assert everything[0] == "guess [<text>]"
    assert any(line.startswith("/tell N TEXT") for line in everything)
