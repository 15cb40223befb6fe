"""JSON-RPC as the protocol's MCP endpoints speak it: messages in, responses out, one after the other."""

import logging
from collections.abc import Sequence
from typing import Any

import orjson

from arena.errors import ArenaError, Internal, Invalid, trace
from arena.version import __version__
from arena.web.errors import PLAYING, tell
from arena.web.mcp.tools import Asked, Tool

logger = logging.getLogger(__name__)

Json = dict[str, Any]
AnyTool = Tool[Any, Any]

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07")  # newest first
REFUSED = -32000
BROKEN = -32700
INVALID = -32600
UNKNOWN_METHOD = -32601
BAD_PARAMS = -32602


def failure(code: int, message: str, id_: Any = None) -> Json:
    """A response that tells what is wrong."""
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": id_}


class Desk:
    """Answers the messages of one endpoint."""

    def __init__(self, tools: Sequence[AnyTool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    async def answer(self, asked: Asked, message: Any) -> Json | None:
        """The response to a message; none to one that wants none."""
        if _wants_no_answer(message):
            return None
        if not _is_request(message):
            return failure(INVALID, "Invalid Request")
        id_, params = message["id"], message.get("params", {})
        if not isinstance(params, dict):
            return failure(BAD_PARAMS, "Invalid params", id_)
        result = await self._result(asked, message["method"], params)
        if result is None:
            return failure(UNKNOWN_METHOD, "Method not found", id_)
        return {"jsonrpc": "2.0", "result": result, "id": id_}

    async def _result(self, asked: Asked, method: str, params: Json) -> Json | None:
        match method:
            case "initialize":
                return _greeting(params.get("protocolVersion"))
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [_listed(tool) for tool in self.tools.values()]}
            case "tools/call":
                return await self._call(asked, params.get("name"), params.get("arguments", {}))
        return None

    async def _call(self, asked: Asked, name: Any, arguments: Any) -> Json:
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            return _bad(f"Tool {str(name)[:64]} not found")
        try:
            wish = tool.read(arguments)
        except Invalid as error:
            return _bad(f"Invalid arguments for tool {tool.name}: {error.message}")
        return _text(orjson.dumps(await _carried_out(tool, asked, wish)).decode())


async def _carried_out(tool: AnyTool, asked: Asked, wish: Any) -> Any:
    try:
        return await tool.answer(asked, wish)
    except ArenaError as error:
        return tell(error, PLAYING).body
    except Exception as error:
        logger.error("tool failed name=%s %s", tool.name, trace(error))
        return tell(Internal("Something went wrong on our side.")).body


def _wants_no_answer(message: Any) -> bool:
    """Whether it is a notification, or an answer of the client's, though we ask nothing."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if "method" not in message:
        return "result" in message or "error" in message
    return "id" not in message and isinstance(message["method"], str)


def _is_request(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    id_ = message.get("id")
    return isinstance(message.get("method"), str) and isinstance(id_, str | int) and not isinstance(id_, bool)


def _greeting(version: Any) -> Json:
    return {
        "protocolVersion": version if version in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "arena", "version": __version__},
    }


def _listed(tool: AnyTool) -> Json:
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}


def _text(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def _bad(why: str) -> Json:
    return {**_text(f"MCP error {BAD_PARAMS}: {why}"), "isError": True}
