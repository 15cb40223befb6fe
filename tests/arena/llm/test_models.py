"""Models over a real socket: both APIs, retries, limits, cost, and keys that stay where they are."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from typing import Any

import pytest

from arena.llm.models import Models
from arena.llm.routes import ModelsConfig
from arena.llm.talk import Answer, Message, Tokens, Tool, ToolCall, Unanswered
from tests.model_server import ModelServer, Reply, model_server

KEY = "sk-very-secret-0123456789"
APIS = {"gpt-5": "openai", "claude-5": "anthropic"}
HELLO = [Message("system", "Be brief."), Message("user", "Hello?")]
WEATHER = Tool("weather", "Tells the weather.", {"type": "object", "properties": {"town": {"type": "string"}}})


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


def config_of(server: ModelServer, **more: Any) -> ModelsConfig:
    told = {
        "routes": [
            {"match": "gpt-*", "api": "openai", "baseUrl": server.openai, "keyEnv": "GPT_KEY"},
            {"match": "claude-*", "api": "anthropic", "baseUrl": server.url, "keyEnv": "CLAUDE_KEY"},
        ],
        "backoffSeconds": 0,
        **more,
    }
    return ModelsConfig.model_validate(told)


def models_of(server: ModelServer, **more: Any) -> Models:
    return Models(config_of(server, **more), {"GPT_KEY": KEY, "CLAUDE_KEY": KEY})


each_api = pytest.mark.parametrize("model", APIS)


@each_api
async def test_a_model_is_asked_by_its_own_api_with_its_key(server: ModelServer, model: str) -> None:
    server.says(model, Reply("Hi.", tokens=(1_000_000, 500_000)))

    async with models_of(server, prices=[{"match": "*-5", "input": 2, "output": 8}]) as models:
        answer = await models.ask(model, HELLO)

    assert answer == Answer("Hi.", Tokens(1_000_000, 500_000), usd=6.0)
    [call] = server.calls
    assert (call.api, call.model, call.system, call.user, call.key) == (APIS[model], model, "Be brief.", "Hello?", KEY)
    assert call.body["max_tokens"] == 4096


@each_api
async def test_tools_go_there_and_back(server: ModelServer, model: str) -> None:
    server.says(model, Reply("Let me see.", tools=[("weather", {"town": "Rome"})]), "Sunny.")

    async with models_of(server) as models:
        wish = await models.ask(model, HELLO, tools=[WEATHER])
        result = Message("tool", "29 degrees", call_id=wish.calls[0].id)
        answer = await models.ask(model, [*HELLO, Message("assistant", wish.text, wish.calls), result], tools=[WEATHER])

    assert wish.calls == (ToolCall(wish.calls[0].id, "weather", {"town": "Rome"}),)
    assert (wish.stop, answer.stop, answer.text) == ("tools", "end", "Sunny.")
    second = server.calls[1]
    assert [turn["role"] for turn in second.turns][:2] == ["user", "assistant"]
    assert "29 degrees" in str(second.turns[-1])
    assert wish.calls[0].id in str(second.turns[-1])
    assert "Tells the weather." in str(second.body["tools"])


@each_api
@pytest.mark.parametrize("status", [408, 429, 500, 529])
async def test_what_may_pass_is_tried_again(server: ModelServer, model: str, status: int) -> None:
    server.says(model, Reply(status=status), Reply(status=status, headers={"retry-after": "0"}), "At last.")

    async with models_of(server) as models:
        answer = await models.ask(model, HELLO)

    assert answer.text == "At last."
    assert len(server.calls) == 3


@each_api
@pytest.mark.parametrize(
    ("reply", "calls", "words"),
    [
        (Reply(status=401), 1, "answered 401: the key is not accepted"),
        (Reply(status=404), 1, "answered 404: no such model"),
        (Reply(status=302, headers={"location": "/v1/messages"}), 1, "answered 302"),
        (Reply(status=503), 3, "answered 503"),
        (Reply(status=503, headers={"x-should-retry": "false"}), 1, "answered 503"),
        (Reply(status=429, headers={"retry-after": "3600"}), 1, "too many calls"),
        (Reply(raw=b"<html>Bad gateway</html>"), 1, "makes no sense"),
        (Reply(raw=b'{"choices": [], "content": 5}'), 1, "makes no sense"),
        (Reply(raw=b'{"choices": [{"message": {"content": ["x"]}}], "content": [{"text": 7}]}'), 1, "makes no sense"),
        (Reply(raw=b"\xff"), 1, "makes no sense"),
    ],
    ids=lambda value: "",
)
async def test_a_model_that_does_not_answer_is_given_up_with_a_reason(
    server: ModelServer, model: str, reply: Reply, calls: int, words: str
) -> None:
    server.otherwise = lambda call: reply

    async with models_of(server) as models:
        with pytest.raises(Unanswered, match=words):
            await models.ask(model, HELLO)

    assert len(server.calls) == calls


@each_api
@pytest.mark.parametrize("reply", [Reply(never=True), Reply(drips=True)], ids=["silent", "dripping"])
async def test_an_attempt_has_its_time_however_the_silence_looks(server: ModelServer, model: str, reply: Reply) -> None:
    server.says(model, reply, "Sorry, I was away.")

    async with models_of(server) as models:
        assert (await models.ask(model, HELLO, seconds=0.3)).text == "Sorry, I was away."
        server.says(model, reply, reply, reply)
        with pytest.raises(Unanswered, match=r"no answer within 0.3 s"):
            await models.ask(model, HELLO, seconds=0.3)


async def test_a_provider_that_is_away_is_tried_again_and_given_up(server: ModelServer) -> None:
    routes = [{"match": "*", "api": "openai", "baseUrl": "http://127.0.0.1:1/v1"}]

    async with models_of(server, routes=routes) as models:
        with pytest.raises(Unanswered, match="cannot be reached"):
            await models.ask("gpt-5", HELLO)


async def test_no_more_calls_go_out_at_once_than_allowed(server: ModelServer) -> None:
    server.says("gpt-5", *[Reply("Hi.", held=True)] * 8)

    async with models_of(server, concurrency=2) as models, models_of(server) as others:
        await others.ask("claude-5", HELLO)
        asking = [asyncio.create_task(models.ask("gpt-5", HELLO)) for _ in range(8)]
        await server.hears(3)
        await others.ask("claude-5", HELLO)  # by the time this is answered, a third call would have come
        held = server.counted["gpt-5"]
        server.gate.set()
        await asyncio.gather(*asking)

    assert held == 2
    assert server.counted["gpt-5"] == 8


async def test_the_first_route_that_matches_serves_under_its_own_name(server: ModelServer) -> None:
    routes = [
        {"match": "gpt-5", "api": "anthropic", "baseUrl": server.url, "model": "local"},
        {"match": "*", "api": "openai", "baseUrl": server.openai, "tokenLimit": "max_completion_tokens"},
    ]

    async with models_of(server, routes=routes, default="gpt-5", maxTokens=77) as models:
        await models.ask("", HELLO)
        await models.ask("other", HELLO, max_tokens=5)

    assert [(call.api, call.model, call.key) for call in server.calls] == [
        ("anthropic", "local", "none"),
        ("openai", "other", "none"),
    ]
    assert server.calls[0].body["max_tokens"] == 77
    assert server.calls[1].body["max_completion_tokens"] == 5


@pytest.mark.parametrize(
    ("model", "environment", "words"),
    [
        ("llama", {"GPT_KEY": KEY}, 'no route is configured for the model "llama"'),
        ("", {"GPT_KEY": KEY}, "no default"),
        ("gpt-5", {}, "the variable GPT_KEY is not set"),
        ("gpt-5", {"GPT_KEY": " "}, "the variable GPT_KEY is not set"),
        ("gpt-5", {"GPT_KEY": f"{KEY}\n{KEY}"}, "the variable GPT_KEY holds no key"),
        ("gpt-5", {"GPT_KEY": f"{KEY}é"}, "the variable GPT_KEY holds no key"),
    ],
)
async def test_a_model_without_a_way_to_it_is_not_asked(
    server: ModelServer, model: str, environment: dict[str, str], words: str
) -> None:
    async with Models(config_of(server), environment) as models:
        with pytest.raises(Unanswered, match=words) as refused:
            await models.ask(model, HELLO)

    assert KEY not in str(refused.value)
    assert server.calls == []


async def test_a_price_that_nobody_knows_is_no_price_of_zero(server: ModelServer) -> None:
    async with models_of(server, prices=[{"match": "claude-*", "input": 1, "output": 1}]) as models:
        assert (await models.ask("gpt-5", HELLO)).usd is None
        assert models.cost("claude-5", Tokens(0, 0)) == 0.0


@each_api
async def test_keys_reach_neither_logs_nor_errors(
    server: ModelServer, model: str, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    with caplog.at_level(logging.DEBUG):
        for reply in (Reply(status=401), Reply(status=500), Reply(raw=KEY.encode()), Reply(never=True)):
            server.otherwise = lambda call, reply=reply: reply  # type: ignore[misc]
            async with models_of(server, attempts=2) as models:
                try:
                    await models.ask(model, HELLO, seconds=0.2)
                except Unanswered as error:
                    told += [*traceback.format_exception(error), repr(error.__context__), repr(error.__cause__)]
                told += [repr(models), str(vars(models.config))]

    assert server.calls[0].key == KEY
    told += [record.getMessage() + str(record.args) for record in caplog.records]
    assert any("no answer of a model" in line for line in told)
    assert [line for line in told if KEY in line] == []
    assert all("Hello?" not in line for line in told)


@each_api
async def test_what_the_environment_holds_for_others_is_not_sent(
    server: ModelServer, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_CUSTOM_HEADERS", "x-gateway: other-secret")
        monkeypatch.setenv(f"{name}_API_KEY", "other-secret")
        monkeypatch.setenv(f"{name}_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_ORG_ID", "other-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "other-secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-secret")

    async with models_of(server) as models:
        await models.ask(model, HELLO)

    assert "other-secret" not in str(server.calls[0].headers)
