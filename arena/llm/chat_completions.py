"""Endpoints that speak OpenAI's chat completions, as most servers of models do."""

import json
from typing import Any

import httpx2
import openai

from arena.llm.attempts import Failed
from arena.llm.replies import GARBAGE, Count, Part, read, read_arguments
from arena.llm.routes import Route
from arena.llm.talk import Answer, Message, Question, Stop, Tokens, ToolCall

_STOPS: dict[str | None, Stop] = {"length": "length", "tool_calls": "tools", "content_filter": "refusal"}


class _Function(Part):
    name: str
    arguments: str = ""


class _Call(Part):
    id: str = ""
    function: _Function


class _Message(Part):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Part):
    message: _Message
    finish_reason: str | None = None


class _Usage(Part):
    prompt_tokens: Count = 0
    completion_tokens: Count = 0


class _Completion(Part):
    choices: list[_Choice]
    usage: _Usage | None = None


class ChatCompletions:
    """A client of one endpoint."""

    def __init__(self, route: Route, key: str, http: httpx2.AsyncClient) -> None:
        self.route = route
        self.client = openai.AsyncOpenAI(api_key=key, base_url=route.address, max_retries=0, http_client=http)
        self.client._custom_headers = {}  # those of the environment were meant for one endpoint, not for all
        if route.base_url:
            self.client.organization = self.client.project = None

    async def ask(self, model: str, question: Question) -> Answer:
        """One call, not repeated."""
        told: dict[str, Any] = {
            "model": model,
            "messages": list(map(_told, question.messages)),
            self.route.limit_name: question.max_tokens,
        }
        if question.tools:
            told["tools"] = [{"type": "function", "function": tool._asdict()} for tool in question.tools]
        if question.temperature is not None:
            told["temperature"] = question.temperature
        reply = await self.client.chat.completions.with_raw_response.create(**told)
        return _answer(read(_Completion, reply.http_response.content))


def _told(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        told["tool_call_id"] = message.call_id
    if message.calls:
        told["tool_calls"] = list(map(_called, message.calls))
    return told


def _called(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments or {})},
    }


def _answer(completion: _Completion) -> Answer:
    if not completion.choices:
        raise Failed(GARBAGE)
    said, reason = completion.choices[0].message, completion.choices[0].finish_reason
    usage = completion.usage or _Usage()
    return Answer(
        text=said.content or "",
        tokens=Tokens(usage.prompt_tokens, usage.completion_tokens),
        stop="refusal" if said.refusal else _STOPS.get(reason, "end"),
        calls=tuple(map(_wish, said.tool_calls or ())),
    )


def _wish(call: _Call) -> ToolCall:
    written = call.function.arguments
    arguments = read_arguments(written)
    return ToolCall(call.id, call.function.name, arguments, written if arguments is None else "")
