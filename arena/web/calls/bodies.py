"""Bodies: what requests may say, and what a client is told about one that is not understood."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

from arena.deals import Seed
from arena.errors import Invalid
from arena.models import LONGEST, Declared, Fact, Fingerprint, Key, Model, complaint

PROOF: list[JsonValue] = [
    "publicKey",
    "signature",
    "timestamp",
]  # told to readers; without them we say it in our own words


def _as_text(value: Any) -> Any:
    """A number as its digits: times come as either, and are signed as text."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return str(value if isinstance(value, float) and not value.is_integer() else int(value))


Name = Annotated[str, StringConstraints(max_length=LONGEST)]
Empty = Annotated[str, StringConstraints(max_length=0)]
Time = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=int | str)]


class Body(Model):
    """The base of all bodies: fields that we do not know are ignored, and "" stands for an absent text."""

    model_config = ConfigDict(extra="ignore")


class Create(Body):
    """How a session is to be."""

    options: dict[str, JsonValue] | None = None
    private: bool = False
    seed: Seed | None = None
    ranked: bool | None = None


class Pair(Body):
    """How two sessions on the same deal are to be."""

    options: dict[str, JsonValue] | None = None
    seed: Seed | None = None
    ranked: bool | None = None
    swap: bool = False


class Join(Body):
    """Take a seat."""

    invite: str
    user_id: Name = ""
    key: Key | None = None


class SignedJoin(Body):
    """Take a seat as the holder of a key pair."""

    model_config = ConfigDict(json_schema_extra={"required": ["invite", *PROOF]})

    invite: str = ""
    public_key: str = ""
    signature: str = ""
    timestamp: Time = ""
    key: Key | None = None


class Queue(Body):
    """Wait for company."""

    options: dict[str, JsonValue] | None = None
    ranked: bool = True
    user_id: Name = ""
    key: Key | None = None


class SignedQueue(Queue):
    """The same, as the holder of a key pair."""

    model_config = ConfigDict(json_schema_extra={"required": PROOF})

    public_key: str = ""
    signature: str = ""
    timestamp: Time = ""


class Message(Body):
    """Make a move."""

    challenge_id: str
    from_: str = Field(default="", alias="from")
    message_type: Name = ""
    content: str
    key: Key | None = None


class Chat(Body):
    """Talk."""

    channel: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
    from_: Name = Field(default="", alias="from")
    to: Name = ""
    content: str
    key: Key | None = None


class Vote(Body):
    """Say which of two you like better."""

    ballot: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
    choice: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
    user_id: Name = ""
    key: Key | None = None


class SignedVote(Vote):
    """The same, as the holder of a key pair."""

    model_config = ConfigDict(json_schema_extra={"required": ["ballot", "choice", *PROOF]})

    public_key: str = ""
    signature: str = ""
    timestamp: Time = ""


class Claim(Body):
    """Offer a seat to anybody."""

    model_config = ConfigDict(json_schema_extra={"required": ["inviteId"]})

    invite_id: str = ""


class Words(Body):
    """What a user tells about itself."""

    username: Name = ""
    model: Name = ""


class Profile(Words):
    """The same, by anybody; in open mode a name is believed."""

    user_id: Name = ""
    from_: Name = Field(default="", alias="from")


class SignedProfile(Words):
    """The same, by the holder of a key pair, who needs no other name."""

    model_config = ConfigDict(json_schema_extra={"required": PROOF})

    public_key: str = ""
    signature: str = ""
    timestamp: Time = ""


class Agent(Body):
    """What an agent is made of; nothing takes back what was said."""

    user_id: Name = ""
    owner: Fact | Empty = ""
    model: Fact | Empty = ""
    prompt: Fingerprint | Empty = ""
    harness: Fingerprint | Empty = ""

    @property
    def declared(self) -> Declared:
        """The same as it is kept."""
        told = {name: getattr(self, name) or None for name in Declared.model_fields}
        return Declared(**told)


class SignedAgent(Agent):
    """The same, by the holder of a key pair, who needs no other name."""

    model_config = ConfigDict(json_schema_extra={"required": PROOF})

    public_key: str = ""
    signature: str = ""
    timestamp: Time = ""


AnyBody = TypeVar("AnyBody", bound=Body)

EXPECTED = {
    "string_type": "string",
    "bool_type": "boolean",
    "dict_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
}


def read(model: type[AnyBody], data: Any) -> AnyBody:
    """A body of a known kind, or the first thing that is wrong with it."""
    try:
        return model.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        raise Invalid(_first_issue(error)) from None


def read_truthy(model: type[AnyBody], data: Any) -> AnyBody:
    """The same where the protocol takes null, 0 and the like for absent."""
    return read(model, {name: value for name, value in data.items() if value} if isinstance(data, Mapping) else data)


def _first_issue(error: ValidationError) -> str:
    issue = error.errors(include_url=False, include_context=False)[0]
    if issue["type"] == "missing":
        return "Required"
    if issue["type"] in EXPECTED:
        return f"Expected {EXPECTED[issue['type']]}, received {_kind(issue['input'])}"
    return complaint(error)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
