"""A user played by a model, asked through a real server of models."""

import pytest

from arena.llm.talk import Unanswered
from arena.packs.blocks import Phase
from arena.packs.evidence import Turn
from arena.packs.simulated_user import simulate_user
from tests.judging import models_at
from tests.memories import Notebook
from tests.model_server import Reply, model_server

PHASE = Phase(id="angry", actor="llm", persona="An angry customer.", model="claude-5", until=["user_token: DONE"])
TURNS = [Turn(0, user="Where is my order?", assistant="Which one?"), Turn(1, user="All of them!", assistant="")]


@pytest.mark.parametrize("model", ["claude-5", "gpt-5"])
async def test_the_model_speaks_as_the_user_and_hears_the_assistant(model: str) -> None:
    async with model_server() as server, models_at(server.url) as models:
        server.says(model, "  I want my money back.\n")
        said = await simulate_user(PHASE.model_copy(update={"model": model}), TURNS, models, Notebook())

    assert said == "I want my money back."
    [call] = server.calls
    assert "An angry customer." in call.system
    assert "write DONE in the message" in call.system
    assert [turn["role"] for turn in call.turns] == ["user", "assistant", "user", "assistant", "user"]
    assert ["Where is my order?" in str(turn) for turn in call.turns] == [False, True, False, False, False]
    assert ["Which one?" in str(turn) for turn in call.turns] == [False, False, True, False, False]


async def test_a_message_is_paid_for_once_and_the_next_turn_anew() -> None:
    memory = Notebook()
    async with model_server() as server, models_at(server.url) as models:
        server.says("claude-5", "One.", "Two.")
        said = [await simulate_user(PHASE, TURNS[:count], models, memory) for count in (0, 0, 1, 0)]

    assert said == ["One.", "One.", "Two.", "One."]
    assert len(server.calls) == 2


async def test_a_user_without_a_model_takes_the_servers_default() -> None:
    nameless = PHASE.model_copy(update={"model": ""})
    async with model_server() as server:
        async with models_at(server.url, default="gpt-5") as models:
            await simulate_user(nameless, [], models, Notebook())
        async with models_at(server.url) as models:
            with pytest.raises(Unanswered, match="no default"):
                await simulate_user(nameless, [], models, Notebook())

    assert server.counted == {"gpt-5": 1}


async def test_a_user_who_says_nothing_is_no_user() -> None:
    async with model_server() as server, models_at(server.url) as models:
        server.says("claude-5", " \n", Reply(status=400))
        for words in ("said nothing", "answered 400"):
            with pytest.raises(Unanswered, match=words):
                await simulate_user(PHASE, [], models, Notebook())

    with pytest.raises(Unanswered, match="asks no models"):
        await simulate_user(PHASE, [], None, Notebook())
