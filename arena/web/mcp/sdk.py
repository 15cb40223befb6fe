"""The tools for agents, carried by the official SDK. Importing this is slow and costs memory: see `entrance`."""

import logging
from typing import Any

import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

from arena.errors import ArenaError, Internal, NotFound, RateLimited, trace
from arena.models import Model
from arena.runtime import Arena
from arena.version import __version__
from arena.web.addresses import caller
from arena.web.errors import FAILED
from arena.web.http import bearer_of
from arena.web.mcp import reading
from arena.web.mcp.agents import AGENTS
from arena.web.mcp.guide import INSTRUCTIONS, after_error
from arena.web.mcp.tools import Asked, Tool

logger = logging.getLogger(__name__)
logging.getLogger("mcp").setLevel(logging.ERROR)  # it tells every request

Context = ServerRequestContext[Any, Request]
AnyTool = Tool[Any, Model]

TOOLS: dict[str, AnyTool] = {tool.name: tool for tool in AGENTS}
READING = {"list_challenges", "read", "session_status", "leaderboard", "profile"}  # change nothing


def make_carrier(arena: Arena) -> StreamableHTTPSessionManager:
    """What answers requests by the tools; it has to be run."""

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in TOOLS.values()])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        assert context.request is not None
        return await call(_asked(arena, context.request), params.name, params.arguments or {})

    server: Server[Any] = Server(
        "arena",
        version=__version__,
        title="Arena",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: TOOLS[name].input_schema if name in TOOLS else None,
    )
    server.middleware.clear()  # tracing, which nobody collects
    most = arena.settings.limit_body_bytes or 2**40
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=most)


async def call(asked: Asked, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Call a tool; whatever goes wrong has a code, and what was not foreseen is told to the log alone."""
    try:
        tool = TOOLS.get(name)
        if tool is None:
            raise NotFound("There is no such tool.")
        result = (await tool.answer(asked, tool.read(arguments))).wire()
    except ArenaError as error:
        return _refused(error, name)
    except Exception as error:
        logger.error("tool failed name=%s %s", name, trace(error))
        return _refused(Internal(FAILED), name)
    return types.CallToolResult(content=[_text(result)], structured_content=result)


def _asked(arena: Arena, request: Request) -> Asked:
    bearer = bearer_of(request.scope["headers"])
    return Asked(arena, caller(request.scope), request.receive, reading.deadline(), bearer)


def _refused(error: ArenaError, name: str) -> types.CallToolResult:
    body: dict[str, Any] = {"error": error.message, "code": error.code, "next": after_error(error, name).wire()}
    if isinstance(error, RateLimited):
        body["retryAfter"] = error.retry_after
    return types.CallToolResult(content=[_text(body)], is_error=True)


def _text(data: dict[str, Any]) -> types.TextContent:
    return types.TextContent(text=orjson.dumps(data).decode())


def _listed(tool: AnyTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.result.model_json_schema(by_alias=True, mode="serialization"),
        annotations=types.ToolAnnotations(read_only_hint=tool.name in READING, open_world_hint=True),
    )
