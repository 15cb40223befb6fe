"""The baselines: Starlette with the obvious loop over the subscribers, and one that only echoes. They keep nothing."""

from collections import defaultdict

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

rooms: defaultdict[str, set[WebSocket]] = defaultdict(set)


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


app = Starlette(routes=[WebSocketRoute("/room/{room}", relay), WebSocketRoute("/echo", echo)])
