"""Anthropic's messages, and endpoints that speak them."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import anthropic
import httpx2

from arena.llm.replies import Count, Part, read
from arena.llm.routes import Route
from arena.llm.talk import Answer, Message, Question, Stop, Tokens, ToolCall

_STOPS: dict[str | None, Stop] = {"max_tokens": "length", "tool_use": "tools", "refusal": "refusal"}


class _Block(Part):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None


class _Usage(Part):
    input_tokens: Count = 0
    cache_creation_input_tokens: Count = 0
    cache_read_input_tokens: Count = 0
    output_tokens: Count = 0


class _Reply(Part):
    content: list[_Block]
    stop_reason: str | None = None
    usage: _Usage | None = None


class Messages:
    """A client of one endpoint."""

    def __init__(self, route: Route, key: str, http: httpx2.AsyncClient) -> None:
        self.client = anthropic.AsyncAnthropic(
            api_key=key, base_url=route.address, max_retries=0, http_client=http, open_telemetry=False
        )
        self.client._custom_headers = {}  # those of the environment were meant for one endpoint, not for all

    async def ask(self, model: str, question: Question) -> Answer:
        """One call, not repeated."""
        messages = question.messages
        told: dict[str, Any] = {"model": model, "max_tokens": question.max_tokens, "messages": list(_turns(messages))}
        if system := "\n\n".join(message.text for message in messages if message.role == "system"):
            told["system"] = system
        if question.tools:
            told["tools"] = [
                {"name": name, "description": text, "input_schema": schema} for name, text, schema in question.tools
            ]
        if question.temperature is not None:
            told["temperature"] = question.temperature
        reply = await self.client.messages.with_raw_response.create(**told)
        return _answer(read(_Reply, reply.http_response.content))


def _turns(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Turns of user and assistant; results of tools are said by the user, all that belong together in one turn."""
    said = (message for message in messages if message.role != "system")
    for role, turn in groupby(said, key=lambda message: "assistant" if message.role == "assistant" else "user"):
        yield {"role": role, "content": [block for message in turn for block in _blocks(message)]}


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return
    if message.text:
        yield {"type": "text", "text": message.text}
    for call in message.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}}


def _answer(reply: _Reply) -> Answer:
    usage = reply.usage or _Usage()
    spent = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    return Answer(
        text="".join(block.text for block in reply.content if block.type == "text"),
        tokens=Tokens(spent, usage.output_tokens),
        stop=_STOPS.get(reply.stop_reason, "end"),
        calls=tuple(_wish(block) for block in reply.content if block.type == "tool_use"),
    )


def _wish(block: _Block) -> ToolCall:
    if isinstance(block.input, dict):
        return ToolCall(block.id, block.name, block.input)
    return ToolCall(block.id, block.name, None, json.dumps(block.input))
