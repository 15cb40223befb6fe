from pathlib import Path
from typing import Any

import pytest

from arena import config
from arena.errors import CannotStart
from arena.llm.routes import ModelsConfig
from tests.arena.test_config import written

ROUTE = {"match": "gpt-*", "api": "openai"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"api": "gemini"}, "models.routes.0.api"),
        ({"match": ""}, "models.routes.0.match"),
        ({"baseUrl": "ftp://host/v1"}, "must be an http or https address"),
        ({"baseUrl": "https:///v1"}, "must be an http or https address"),
        ({"baseUrl": "https://me:sk-secret@host/v1"}, "keys belong in keyEnv"),
        ({"baseUrl": "https://host/v1?key=sk-secret"}, "keys belong in keyEnv"),
        ({"keyEnv": "sk-secret"}, "models.routes.0.keyEnv"),
        ({"key": "sk-secret"}, "models.routes.0.key: Extra"),
    ],
    ids=str,
)
def test_a_bad_route_is_refused_in_a_line_that_quotes_no_key(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(CannotStart) as refused:
        config.read(written(tmp_path, {"models": {"routes": [{**ROUTE, **change}]}}))

    assert words in str(refused.value)
    assert "sk-secret" not in str(refused.value)


def test_without_an_address_it_is_the_providers_own() -> None:
    told = {"routes": [ROUTE, {"match": "claude-*", "api": "anthropic"}]}

    found = ModelsConfig.model_validate(told)

    assert [route.address for route in found.routes] == ["https://api.openai.com/v1", "https://api.anthropic.com"]
    assert found.routes[0].limit_name == "max_completion_tokens"
