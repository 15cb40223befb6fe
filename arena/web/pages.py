"""The pages: one document for every address that the browser's router knows, with words of its own for each."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from arena.web.previews import preview, tags

VIEWS = (  # as in static/app.js
    "/",
    "/session/{id}",
    "/session/{id}/scorecards",
    "/boards/{type}",
    "/players/{id:path}",  # who is called may have a slash in its name, as models do
    "/challenges/{type}",
    "/play",
    "/play/{id}",
    "/tournaments",
    "/tournaments/{id}",
    "/packs",
    "/packs/{slug}",
    "/sit",
)
WORDS = re.compile(r'<meta name="description".*?</title>', re.DOTALL)  # what each page says in its own way


def static_files() -> Path:
    """Where the page lies: inside the wheel, or beside the checkout."""
    inside = Path(__file__).parents[1] / "static"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "static"


class Files(StaticFiles):
    """The files of the page, compressed for browsers that can read that: a phone gets a fourth of them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file."""
        await GZipMiddleware(super().__call__)(scope, receive, send)


async def nowhere(request: Request) -> Response:
    """What an address that leads nowhere gives: a page that says so, or a line of text to those who want no page."""
    is_page = request.method in {"GET", "HEAD"} and "text/html" in request.headers.get("accept", "")
    if not is_page or request.url.path.startswith(("/api/", "/static/")):
        return PlainTextResponse("404 Not Found", status_code=404)
    document = await run_in_threadpool((static_files() / "index.html").read_text, "utf-8")
    return HTMLResponse(document, status_code=404)


def page(view: str) -> Callable[[Request], Awaitable[Response]]:
    """The page for a view: it finds out by itself what its address asks for; its head is for those who see a link."""

    async def show(request: Request) -> Response:
        document = await run_in_threadpool((static_files() / "index.html").read_text, "utf-8")
        said = await preview(request.app.state.arena, view, request.path_params)
        head = tags(said, str(request.url.replace(query="")))
        return HTMLResponse(WORDS.sub(lambda _: head, document, count=1))

    return show


ROUTES = [Route(path, page(path), include_in_schema=path == "/") for path in VIEWS]  # one of them stands for all
