"""What is said to a model and what it says, the same for every provider."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol


class ToolCall(NamedTuple):
    """A tool that a model wants used."""

    id: str
    name: str
    arguments: dict[str, Any] | None  # none if what the model wrote is no JSON object
    written: str = ""  # what it wrote instead


class Message(NamedTuple):
    """One turn of a talk; a `tool` turn answers the call whose id it has."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


class Tool(NamedTuple):
    """A tool that a model may use, with the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class Question(NamedTuple):
    """All that a model is asked in one call."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    max_tokens: int = 4096  # of the answer
    temperature: float | None = None  # none is the provider's own choice


class Tokens(NamedTuple):
    """What a call took."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output


Stop = Literal["end", "length", "tools", "refusal"]


class Answer(NamedTuple):
    """What a model said, why it stopped there, and what that took."""

    text: str
    tokens: Tokens
    usd: float | None = None  # none if nobody knows the price
    stop: Stop = "end"
    calls: tuple[ToolCall, ...] = ()


class Unanswered(Exception):
    """Why a model gave no answer, in a sentence that quotes neither keys nor what a provider wrote."""


class Asks(Protocol):
    """Whoever can ask models."""

    async def ask(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        seconds: float = 60,
    ) -> Answer:
        """The answer of a model; an empty name is the server's default model. Raises `Unanswered`.

        An attempt may take so many seconds; a failed one is repeated if that may help.
        """
        ...

    def cost(self, model: str, tokens: Tokens) -> float | None:
        """What so many tokens cost in USD, if the price is known."""
        ...
