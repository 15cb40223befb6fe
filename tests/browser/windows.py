"""Windows for tests: pages that note all that they complain about, ask for, and are sent."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.async_api import ConsoleMessage, Page, Request, WebSocket

in_browser = pytest.mark.asyncio(loop_scope="session")  # one browser serves all tests, in the event loop of the run


@dataclass
class Window:
    """A page, with all that it complained about, asked for, and was sent."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)  # received by its sockets
    excuse: str | None = None  # a pattern of complaints that the test provokes

    def listen(self) -> None:
        """Note everything from now on."""
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.on("request", self._on_request)
        self.page.on("websocket", self._on_socket)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _on_request(self, request: Request) -> None:
        self.addresses.append(request.url)

    def _on_socket(self, socket: WebSocket) -> None:
        self.addresses.append(socket.url)
        socket.on("framereceived", lambda data: self.frames.append(data if isinstance(data, str) else data.decode()))

    async def visit(self, path: str = "/") -> None:
        """Go to a view."""
        await self.page.goto(self.url + path)

    async def close(self) -> None:
        """Be done with it: a page that is still open goes on drawing while others are looked at."""
        await self.page.context.close()

    def check(self) -> None:
        """No error, no violation of the policy, no request to another host."""
        unexcused = [text for text in self.complaints if not (self.excuse and re.search(self.excuse, text))]
        assert unexcused == []
        assert {urlsplit(address).netloc for address in self.addresses} <= {urlsplit(self.url).netloc}


OpenWindow = Callable[..., Awaitable[Window]]
