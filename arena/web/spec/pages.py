"""The doors of self-description: documents with this server's address in them."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from arena.catalog import Catalog
from arena.settings import Settings
from arena.web.spec import skill
from arena.web.spec.address import own_address

TEXT = "text/plain; charset=UTF-8"


class Documents:
    """What a server says of itself, made when it is first asked for; what it takes is imported no sooner."""

    def __init__(self, routes: Sequence[BaseRoute], settings: Settings, catalog: Catalog) -> None:
        self.routes = routes
        self.settings = settings
        self.catalog = catalog

    @cached_property
    def openapi(self) -> dict[str, Any]:
        """The side doors."""
        from arena.web.spec import openapi

        return openapi.document(self.routes, list(self.catalog.challenges), must_sign=self.settings.must_sign)

    @cached_property
    def asyncapi(self) -> dict[str, Any]:
        """The main door."""
        from arena.web.spec import asyncapi

        return asyncapi.document(must_sign=self.settings.must_sign)

    def card(self, address: str) -> skill.Card:
        """What the guides for agents are made of."""
        return skill.Card(address, self.settings.must_sign, self.catalog, self.openapi)


def _documents(request: Request) -> Documents:
    documents: Documents = request.app.state.documents
    return documents


def _json(data: Any) -> Response:
    return Response(orjson.dumps(data), media_type="application/json")


def _text(words: str) -> Response:
    return PlainTextResponse(words, headers={"content-type": TEXT})


def _address(request: Request) -> str:
    return own_address(request, _documents(request).settings)


async def show_openapi(request: Request) -> Response:
    """The side doors, for machines."""
    return _json({**_documents(request).openapi, "servers": [{"url": _address(request)}]})


async def show_asyncapi(request: Request) -> Response:
    """The main door, for machines."""
    scheme, _, host = _address(request).partition("://")
    server = {"host": host, "protocol": scheme.replace("http", "ws")}
    return _json({**_documents(request).asyncapi, "servers": {"arena": server}})


async def show_skill(request: Request) -> Response:
    """How to play, for agents."""
    return _text(skill.guide(_documents(request).card(_address(request))))


async def show_card(request: Request) -> Response:
    """The same in brief, for machines."""
    return _json(skill.summary(_documents(request).card(_address(request))))


async def show_links(request: Request) -> Response:
    """Where to find what, for language models."""
    return _text(skill.links(_documents(request).card(_address(request))))


def routes(static: Path) -> list[Route]:
    """The routes of self-description; the page lies among the static files."""

    async def show_docs(request: Request) -> Response:
        """The side doors, for people."""
        return FileResponse(static / "docs.html")

    return [
        Route("/openapi.json", show_openapi),
        Route("/asyncapi.json", show_asyncapi),
        Route("/docs", show_docs),
        *(Route(path, show_skill) for path in ("/skill.md", "/SKILL.md")),
        Route("/skill.json", show_card),
        Route("/llms.txt", show_links),
    ]
