"""Wishes: where a model is asked, with whose key, at what price; and what is refused before anything happens."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.errors import CannotStart
from arena.model_player.wishes import ModelWish, model_player

ENVIRONMENT = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic"}
LOCAL = "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    ("wish", "more", "api", "address", "key"),
    [
        (ModelWish("gpt-5"), {}, "openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        (ModelWish("claude-5"), {}, "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        (ModelWish("llama", base_url=LOCAL), {}, "openai", LOCAL, None),
        (ModelWish("llama", base_url=LOCAL), {"ARENA_MODEL_KEY": "k"}, "openai", LOCAL, "ARENA_MODEL_KEY"),
        (ModelWish("llama", base_url=LOCAL, key_env="MINE"), {"MINE": "k"}, "openai", LOCAL, "MINE"),
        (ModelWish("claude-5", base_url=LOCAL, api="anthropic"), {}, "anthropic", LOCAL, None),
    ],
)
def test_a_key_goes_to_its_own_provider_alone(
    wish: ModelWish, more: dict[str, str], api: str, address: str, key: str | None
) -> None:
    made = model_player(wish, {**ENVIRONMENT, **more})

    route = made.config.route(wish.model)
    assert route is not None
    assert (route.api, route.address, route.key_env) == (api, address, key)


def test_the_file_of_a_server_serves_players_too(tmp_path: Path) -> None:
    file = tmp_path / "arena.json"
    models = {
        "routes": [{"match": "team-*", "api": "openai", "baseUrl": LOCAL}],
        "prices": [{"match": "*", "input": 1, "output": 2}],
    }
    file.write_text(json.dumps({"models": models}))

    made = model_player(ModelWish("team-7", config=file, max_cost=1), {})
    by_hand = model_player(ModelWish("team-7", config=file, price="3/15", base_url="http://127.0.0.1:1"), {})

    assert made.config.route("team-7") == made.config.routes[0]
    assert made.limits.usd == 1
    price, route = by_hand.config.price("team-7"), by_hand.config.route("team-7")
    assert price is not None
    assert route is not None
    assert (price.input, price.output, route.address) == (3, 15, "http://127.0.0.1:1")


def test_there_are_limits_without_anybody_asking() -> None:
    made = model_player(ModelWish("llama", base_url=LOCAL), {})

    assert (made.limits.calls, made.limits.tokens, made.manner.context) == (100, 500_000, 64_000)
    assert "sk-" not in repr(model_player(ModelWish("gpt-5"), ENVIRONMENT))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"max_cost": 1}, "price"),
        ({"price": "cheap"}, "as 3/15"),
        ({"price": "3"}, "as 3/15"),
        ({"price": "-3/1"}, "as 3/15"),
        ({"base_url": "ftp://x"}, "http"),
        ({"base_url": "http://me:secret@host"}, "password"),
        ({"context": 10}, "at least"),
        ({"system": Path("/nowhere")}, "/nowhere cannot be read"),
        ({"config": Path("/nowhere")}, "/nowhere cannot be read"),
        ({"base_url": None}, "OPENAI_API_KEY is not set"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(CannotStart, match=told):
        model_player(ModelWish(**{"model": "llama", "base_url": LOCAL, **changes}), {})
