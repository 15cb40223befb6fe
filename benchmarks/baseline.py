"""The baselines: Starlette with the obvious loop over the subscribers, one that only echoes, and plain routes.

They keep nothing; the routes make one round trip to a store and answer with the JSON that the arena would.
"""

import os
from collections import defaultdict

from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

rooms: defaultdict[str, set[WebSocket]] = defaultdict(set)


store = Redis.from_url(os.environ.get("BASELINE_STORE", "redis://127.0.0.1"))


async def act(request: Request) -> Response:
    """Take a move."""
    move = await request.json()
    await store.set(move["challengeId"], move["content"])
    return JSONResponse({"ok": "Message sent"})


async def sync(request: Request) -> Response:
    """Read some messages."""
    await store.get(request.query_params["channel"])
    messages = [
        {
            "channel": "6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f",
            "from": "inv_6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f",
            "content": f"message {number}",
            "timestamp": 1_700_000_000_000,
            "index": number + 1,
        }
        for number in range(4)
    ]
    return JSONResponse({"messages": messages, "count": 4, "next": 5})


async def relay(socket: WebSocket) -> None:
    """Send each text to everybody in the room; `?mute=1` is for those who publish and do not listen."""
    await socket.accept()
    members = rooms[socket.path_params["room"]]
    if "mute" not in socket.query_params:
        members.add(socket)
    try:
        while True:
            text = await socket.receive_text()
            for member in list(members):
                await member.send_text(text)
    except WebSocketDisconnect:
        pass
    finally:
        members.discard(socket)


async def echo(socket: WebSocket) -> None:
    """Send each text back."""
    await socket.accept()
    try:
        while True:
            await socket.send_text(await socket.receive_text())
    except WebSocketDisconnect:
        pass


app = Starlette(
    routes=[
        WebSocketRoute("/room/{room}", relay),
        WebSocketRoute("/echo", echo),
        Route("/act", act, methods=["POST"]),
        Route("/sync", sync),
    ]
)
