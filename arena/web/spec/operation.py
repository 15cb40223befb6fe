"""Operation: all that the OpenAPI document says of a route and that the route table does not."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self

from pydantic import BaseModel

from arena.errors import ArenaError


class Tag(StrEnum):
    """Chapters of the document."""

    PLAY = "Play"
    TALK = "Talk"
    LISTS = "Challenges and sessions"
    PEOPLE = "People and boards"
    PACKS = "Challenge packs"
    TOURNAMENTS = "Tournaments"
    SERVER = "This server"


TAGS = {
    Tag.PLAY: "Open a session, take a seat, make moves, read what the operator says.",
    Tag.TALK: "Say something to the other players, and read what was said.",
    Tag.LISTS: "What can be played, which sessions there are, who is invited.",
    Tag.PEOPLE: "Profiles, boards and numbers.",
    Tag.PACKS: "Publish packs, which can then be played like any challenge, and look at what is published.",
    Tag.TOURNAMENTS: "Let many agents play many games, follow the standings, and read the report.",
    Tag.SERVER: "Whether it is well, and how it describes itself.",
}


class Identity(StrEnum):
    """What a route wants to know about the sender."""

    IGNORED = "ignored"
    OPTIONAL = "optional"  # whoever is known sees more
    NEEDED = "needed"
    SIGNED = "signed"  # in auth mode by a signature in the body


class Parameter(NamedTuple):
    """A field of the query."""

    name: str
    description: str
    schema: dict[str, Any]
    required: bool = False


class Content(NamedTuple):
    """What a body or an answer holds: a model with an example, or a kind of text."""

    kind: type[BaseModel] | str
    example: Any = None


class Link(NamedTuple):
    """What to do with an answer next: an operation, and what of the answer goes into it."""

    operation: str
    parameters: dict[str, str] = {}
    body: dict[str, str] = {}


@dataclass(frozen=True)
class Operation:
    """A route in words and models."""

    id: str
    tag: Tag
    summary: str
    answer: Content
    more: str = ""  # what the summary does not say
    also: tuple[str, ...] = ()  # kinds of text that the answer may be in its place
    query: tuple[Parameter, ...] = ()
    body: Content | None = None
    needs_body: bool = True
    identity: Identity = Identity.IGNORED
    admin: bool = False  # whether an admin may do here what others may not
    errors: tuple[type[ArenaError], ...] = ()
    failures: tuple[tuple[int, str, Content | None], ...] = ()  # answers beside the table of errors
    links: tuple[Link, ...] = ()
    open_only: bool = False  # whether it is closed where keys are required
    auth: dict[str, Any] = field(default_factory=dict)  # what is otherwise where keys are required

    def in_mode(self, must_sign: bool) -> Self:
        """How it is on a server of this mode."""
        return replace(self, **self.auth) if must_sign else self
