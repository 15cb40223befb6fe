"""The page about judges: its settings are settings, its table is that of the code."""

import re
from pathlib import Path

from pydantic.alias_generators import to_camel

from arena import config
from arena.llm.routes import ModelsConfig, Route
from arena.packs.judges.prompts import LONGEST
from tests.commands import call

PAGE = Path(__file__).parents[1] / "docs" / "judges.md"


def settings_in(folder: Path) -> Path:
    found = re.search(r"^```toml file=(\S+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found
    (folder / found[1]).write_text(found[2])
    return folder / found[1]


def test_the_settings_on_the_page_route_models_and_price_them(tmp_path: Path) -> None:
    models = config.read(settings_in(tmp_path)).models

    def served(model: str) -> tuple[str, str | None]:
        route = models.route(model) or Route(match="?", api="openai")
        return route.address, route.key_env

    assert served("claude-haiku-4-5") == ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
    assert served("gpt-5") == ("https://api.openai.com/v1", "OPENAI_API_KEY")
    assert served("llama-4") == ("http://127.0.0.1:8000/v1", None)
    assert models.default == "claude-haiku-4-5"
    assert models.prices[0].input == 1.0


def test_the_table_of_settings_is_that_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", PAGE.read_text(), re.MULTILINE))

    fields = {to_camel(name): field.get_default() for name, field in ModelsConfig.model_fields.items()}
    assert rows == {name: "none" if default in ([], "") else f"{default:g}" for name, default in fields.items()}
    assert f"{LONGEST:,}" in PAGE.read_text()


def test_the_doctor_tells_which_keys_are_missing(tmp_path: Path) -> None:
    path = settings_in(tmp_path)

    told = call("doctor", "--config", path, env={"OPENAI_API_KEY": "sk-secret", "ANTHROPIC_API_KEY": ""}).out

    lines = [line for line in told.splitlines() if " models " in line]
    assert [line.split()[0] for line in lines] == ["warn", "ok", "ok"]
    assert "ANTHROPIC_API_KEY is not set" in lines[0]
    assert "sk-secret" not in told
