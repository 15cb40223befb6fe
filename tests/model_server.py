"""A server of language models on a real socket: it speaks OpenAI's and Anthropic's API, and says what it is told to."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena import server, supervisor


@dataclass(frozen=True)
class Call:
    """A call as the server heard it, whichever API it came by."""

    api: str
    model: str
    system: str
    turns: list[dict[str, Any]]
    key: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def user(self) -> str:
        """What the user said last, as plain text."""
        said = [turn["content"] for turn in self.turns if turn["role"] == "user"][-1]
        return said if isinstance(said, str) else "".join(block.get("text", "") for block in said)

    @property
    def newest(self) -> str:
        """What the model was told since it last spoke, results of tools included."""
        spoken = [at for at, turn in enumerate(self.turns) if turn["role"] == "assistant"]
        return "\n".join(_text(turn["content"]) for turn in self.turns[spoken[-1] + 1 if spoken else 0 :])


@dataclass(frozen=True)
class Reply:
    """What the server answers: words, wishes for tools, an error, or bytes that make no sense."""

    text: str = ""
    tools: Sequence[tuple[str, dict[str, Any] | str]] = ()  # text stands for arguments that are no object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    tokens: tuple[int, int] | None = (100, 10)  # none if the provider does not tell
    stop: str = ""  # in the words of the API; none is what fits
    raw: bytes | None = None
    never: bool = False  # no answer for as long as the caller waits
    drips: bool = False  # a byte now and then, without an end
    beside: int = 0  # waits until so many calls are there at once
    held: bool = False  # waits until the server's gate is opened


Script = Callable[[Call], Reply]


def _text(content: Any) -> str:
    """The words of a turn, in either API."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(_text(block.get("text") or block.get("content")) for block in content)


def _json(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class ModelServer:
    """What it hears, and what it says: each model's replies in turn, then whatever `otherwise` says."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[Call] = []
        self.replies: dict[str, list[Reply]] = {}
        self.otherwise: Script = lambda call: Reply('{"score": 4, "pass": true}')
        self.heard = asyncio.Condition()
        self.at_once = self.most_at_once = 0
        self.gate = asyncio.Event()
        self.closing = asyncio.Event()

    @property
    def openai(self) -> str:
        """The base address of the OpenAI-compatible side."""
        return f"{self.url}/v1"

    @property
    def counted(self) -> Counter[str]:
        """How often each model was asked."""
        return Counter(call.model for call in self.calls)

    def says(self, model: str, *replies: Reply | str) -> None:
        """Have a model say these next."""
        self.replies.setdefault(model, []).extend(Reply(each) if isinstance(each, str) else each for each in replies)

    async def hears(self, calls: int) -> None:
        """Wait until so many calls have come."""
        async with asyncio.timeout(30), self.heard:
            await self.heard.wait_for(lambda: len(self.calls) >= calls)

    async def answer(self, request: Request) -> Response:
        """One call of either API."""
        call = await _heard(request)
        waiting = self.replies.get(call.model)
        async with self.heard:
            self.calls.append(call)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            reply = waiting.pop(0) if waiting else self.otherwise(call)
            self.heard.notify_all()
            await self.heard.wait_for(lambda: self.most_at_once >= reply.beside)
        try:
            if reply.held:
                await self.gate.wait()
            if reply.never:
                await self._gone(request)
            if reply.drips:
                return _Dripping(self.closing)
            return _sent(call, reply)
        finally:
            self.at_once -= 1

    async def _gone(self, request: Request) -> None:
        """Wait until the caller is gone, or the server."""
        closing = asyncio.ensure_future(self.closing.wait())
        leaving = asyncio.ensure_future(request.receive())
        await asyncio.wait([closing, leaving], return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
        leaving.cancel()


class _Dripping(Response):
    """A reply that goes on and on."""

    def __init__(self, closing: asyncio.Event) -> None:
        super().__init__()
        self.closing = closing

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        gone = asyncio.ensure_future(receive())
        while not self.closing.is_set() and not gone.done():
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.wait([gone], timeout=0.02)
        gone.cancel()


async def _heard(request: Request) -> Call:
    body = await request.json()
    headers = dict(request.headers)
    key = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")
    if request.url.path == "/v1/messages":
        return Call("anthropic", body["model"], body.get("system", ""), body["messages"], key, headers, body)
    system = "".join(turn["content"] for turn in body["messages"] if turn["role"] == "system")
    turns = [turn for turn in body["messages"] if turn["role"] != "system"]
    return Call("openai", body["model"], system, turns, key, headers, body)


def _sent(call: Call, reply: Reply) -> Response:
    if reply.raw is not None:
        return Response(reply.raw, reply.status, reply.headers, "application/json")
    if reply.status != 200:
        # Providers like to quote the key in what they say.
        told = {"error": {"message": f"Incorrect API key provided: {call.key}", "type": "error", "code": call.key}}
        return Response(json.dumps(told), reply.status, reply.headers, "application/json")
    made = _message(call, reply) if call.api == "anthropic" else _completion(call, reply)
    return Response(json.dumps(made), 200, reply.headers, "application/json")


def _completion(call: Call, reply: Reply) -> dict[str, Any]:
    wishes = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": _json(arguments)}}
        for at, (name, arguments) in enumerate(reply.tools)
    ]
    message = {"role": "assistant", "content": reply.text or None, **({"tool_calls": wishes} if wishes else {})}
    stop = reply.stop or ("tool_calls" if wishes else "stop")
    sent, said = reply.tokens or (0, 0)
    usage = {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": call.model,
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        **({"usage": usage} if reply.tokens else {}),
    }


def _message(call: Call, reply: Reply) -> dict[str, Any]:
    words = [{"type": "text", "text": reply.text}] if reply.text else []
    wishes = [
        {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": arguments}
        for at, (name, arguments) in enumerate(reply.tools)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": [*words, *wishes],
        "stop_reason": reply.stop or ("tool_use" if wishes else "end_turn"),
        "stop_sequence": None,
        **({"usage": dict(zip(("input_tokens", "output_tokens"), reply.tokens, strict=True))} if reply.tokens else {}),
    }


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    """Run a server of models in this event loop."""
    models = ModelServer()
    paths = ("/v1/chat/completions", "/v1/messages")
    app = Starlette(routes=[Route(path, models.answer, methods=["POST"]) for path in paths])
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    listener = supervisor.bind("127.0.0.1", 0)
    models.url = server.address_of(listener)
    task = asyncio.create_task(running.serve(sockets=[listener]))
    while not running.started:
        if task.done():
            raise RuntimeError("the server of models did not start") from task.exception()
        await asyncio.sleep(0.005)
    try:
        yield models
    finally:
        models.closing.set()
        models.gate.set()
        running.should_exit = True
        await task
