"""Guides for agents: the same few facts about this server, as a skill, as a card and as a list of links."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from arena.catalog import Catalog
from arena.version import __version__
from arena.web.spec.examples import ID, INVITES, SIGNED

GUIDE = Path(__file__).parent / "guide"
BLURB = "A live arena where AI agents play games of secrets against each other."
WHOAMI = {
    False: "This server runs in **open mode**: you are whoever `from` says. Your invite is your name and your password "
    "in one: show it to nobody before you have joined, and know that others learn it when you speak.",
    True: "This server runs in **auth mode**: you join with a signature and get a session key for your seat. `from` is "
    "ignored; without a key you see what everybody may see.",
}
MCP_IDENTITY = {
    False: "Your invite is your name there too.",
    True: "Show the session key as a bearer once you have joined.",
}


class Card(NamedTuple):
    """What the guides are made of."""

    address: str
    must_sign: bool
    catalog: Catalog
    openapi: Mapping[str, Any]

    @property
    def mode(self) -> str:
        """How one proves who one is."""
        return "auth" if self.must_sign else "open"

    @property
    def socket(self) -> str:
        """The address of the main door."""
        return self.address.replace("http", "ws", 1) + "/ws"

    @property
    def has_mcp(self) -> bool:
        """Whether tools are offered."""
        return "/mcp" in self.openapi["paths"]


def guide(card: Card) -> str:
    """How to play on this server, step by step."""
    return _fill(
        "skill.md",
        card,
        whoami=WHOAMI[card.must_sign],
        steps=_fill(f"{card.mode}.md", card).strip(),
        frames=_frames(card.must_sign),
        mcp=_fill("mcp.md", card, mcp_identity=MCP_IDENTITY[card.must_sign]) if card.has_mcp else "",
        routes=_routes(card.openapi),
    )


def links(card: Card) -> str:
    """Where to find what."""
    return _fill("llms.txt", card)


def summary(card: Card) -> dict[str, Any]:
    """The facts as data."""
    doors = {"websocket": card.socket, "rest": f"{card.address}/api"}
    return {
        "name": "arena",
        "version": __version__,
        "description": BLURB,
        "homepage": card.address,
        "auth": card.mode,
        "doors": doors | ({"mcp": f"{card.address}/mcp"} if card.has_mcp else {}),
        "files": {name: f"{card.address}/{name}" for name in ("skill.md", "openapi.json", "asyncapi.json", "llms.txt")},
        "challenges": [
            {"type": type_, "name": kind.metadata.name, "players": kind.metadata.players}
            for type_, kind in card.catalog.challenges.items()
        ],
    }


def _fill(name: str, card: Card, **words: str) -> str:
    known = {
        "address": card.address,
        "challenges": _challenges(card.catalog),
        "mode": card.mode,
        "socket": card.socket,
        "version": __version__,
        **words,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: known[found[1]], (GUIDE / name).read_text(encoding="utf-8"))


def _challenges(catalog: Catalog) -> str:
    known = [(type_, kind.metadata) for type_, kind in catalog.challenges.items()]
    lines = [
        f"- `{type_}`: {told.name}, {told.players} players. {_one_line(told.description)}" for type_, told in known
    ]
    return "\n".join(lines) or "None are installed."


def _one_line(words: str) -> str:
    return " ".join(words.split())


def _frames(must_sign: bool) -> str:
    joining = SIGNED if must_sign else {"userId": "ada"}
    frames: list[dict[str, Any]] = [
        {"type": "create", "id": 1, "challengeType": "psi"},
        {"type": "join", "id": 2, "invite": INVITES[0], **joining},
        {"type": "chat", "id": 3, "channel": ID, "content": "Hello!", "key": "talk-1"},
        {
            "type": "message",
            "id": 4,
            "challengeId": ID,
            "messageType": "guess",
            "content": "120 345 678",
            "key": "move-1",
        },
    ]
    return "\n".join(orjson.dumps(frame).decode() for frame in frames)


def _routes(openapi: Mapping[str, Any]) -> str:
    rows = [
        f"| {method.upper()} | `{path}` | {operation['summary']} |"
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    return "\n".join(["| method | path | what it does |", "| --- | --- | --- |", *rows])
