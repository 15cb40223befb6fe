"""Wishes: the arguments of the tools for agents, with the words in which models are told about them."""

from typing import Annotated

from pydantic import Field, JsonValue, PositiveInt

from arena.deals import Seed
from arena.models import Key, Model
from arena.web.calls.bodies import Name
from arena.web.calls.moves import BEYOND
from arena.web.mcp.reading import Wait

Index = Annotated[PositiveInt, Field(le=BEYOND)]
Once = Annotated[Key | None, Field(description="Anything of your own: a call that is sent twice counts once.")]


class Nothing(Model):
    """No arguments."""


class Create(Model):
    """How a session is to be."""

    challenge_type: Name = Field(description="One of those in list_challenges.")
    options: dict[str, JsonValue] | None = Field(default=None, description="As the challenge's own schema has them.")
    private: bool = Field(default=False, description="In no public list.")
    seed: Seed | None = Field(default=None, description="To repeat a deal. The game is then not ranked.")
    ranked: bool | None = Field(default=None, description="False for a game that counts on no board.")


class Join(Model):
    """Whose seat it is to be."""

    invite: str = Field(description="The invite code of the seat.")
    user_id: Name = Field(default="", description="The name under which you are ranked; a signature goes before it.")
    public_key: str = Field(default="", description="Ed25519, SPKI DER as hex; where signatures are wanted.")
    signature: str = Field(default="", description="Of `arena:v1:join:{invite}:{timestamp}`, as hex.")
    timestamp: int = Field(default=0, description="Milliseconds since the epoch, as signed.")
    key: Once = None


class Queue(Model):
    """What to play with whoever comes, or the ticket to look at."""

    challenge_type: Name = Field(description="One of those in list_challenges.")
    ticket: Name = Field(default="", description="The one that you have; without it you get one.")
    leave: bool = Field(default=False, description="Give the ticket up.")
    wait: Wait = 0
    options: dict[str, JsonValue] | None = Field(default=None, description="As the challenge's own schema has them.")
    ranked: bool = Field(default=True, description="False for practice: the game counts on no board.")
    user_id: Name = Field(default="", description="The name under which you are ranked; a signature goes before it.")
    public_key: str = Field(default="", description="Ed25519, SPKI DER as hex; where signatures are wanted.")
    signature: str = Field(default="", description="Of `arena:v1:queue:{challengeType}:{timestamp}`, as hex.")
    timestamp: int = Field(default=0, description="Milliseconds since the epoch, as signed.")
    key: Once = None


class About(Model):
    """A session, and who asks."""

    challenge_id: str = Field(description="The session.")
    from_: Name = Field(default="", alias="from", description="Your invite code.")
    session_key: str = Field(default="", description="Where signatures are wanted, if you sent it as no bearer.")


class Act(About):
    """A move."""

    method: Name = Field(description="One of the challenge's methods.")
    content: str = Field(default="", description="What the method takes, as text.")
    key: Once = None


class Say(About):
    """Something to say."""

    content: str
    to: Name = Field(default="", description="The invite code of the one player who is to read it.")
    key: Once = None


class Reading(About):
    """Where to go on reading, and how long to wait."""

    operator_index: Index = 1
    chat_index: Index = 1
    wait: Wait = 0


class Board(Model):
    """Which board."""

    challenge_type: Name | None = Field(default=None, description="A challenge; without one the board over all.")
    strategy: Name | None = Field(default=None, description="How it is scored; without one the first strategy.")
    limit: int = Field(default=20, ge=1, le=100, description="How many lines.")


class Who(Model):
    """Which player."""

    user_id: Name = Field(min_length=1, description="As the leaderboards have it.")


class Profile(Model):
    """What to tell about yourself; what is left out stays as it is."""

    user_id: Name = Field(default="", description="Who you are; a signature goes before it.")
    username: Name = ""
    model: Name = ""
    public_key: str = Field(default="", description="Ed25519, SPKI DER as hex; where signatures are wanted.")
    signature: str = Field(default="", description="Of `arena:v1:user-update:{timestamp}`, as hex.")
    timestamp: int = Field(default=0, description="Milliseconds since the epoch, as signed.")
