"""Which endpoint serves a model and what it costs: the section `models` of an arena's configuration.

Addresses come from here alone, never from a pack; of keys it has the names, and the environment their values.
"""

from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, field_validator

from arena.llm.talk import Tokens
from arena.models import Model

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
_MILLION = 1_000_000


class Route(Model):
    """Where models of some name are asked."""

    match: Annotated[str, Field(min_length=1)]  # a name; `*` stands for anything, `?` for one character
    api: Literal["openai", "anthropic"]
    base_url: str | None = None  # none is the provider's own
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None  # variable that holds the key
    model: str | None = None  # what the endpoint calls it, if that is another name
    token_limit: Literal["max_tokens", "max_completion_tokens"] | None = None  # of an OpenAI-compatible endpoint

    @field_validator("base_url")
    @classmethod
    def check_address(cls, value: str | None) -> str | None:
        """An address has a host and no secrets."""
        if value is None:
            return None
        address = urlsplit(value)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ValueError("must be an http or https address")
        if address.username is not None or address.query or address.fragment:
            raise ValueError("must hold neither a name, a password nor a query: keys belong in keyEnv")
        return value

    @property
    def address(self) -> str:
        """Where the endpoint is."""
        return self.base_url or (OPENAI if self.api == "openai" else ANTHROPIC)

    @property
    def limit_name(self) -> str:
        """How the endpoint calls the limit of an answer; OpenAI's newer models refuse the old name."""
        return self.token_limit or ("max_tokens" if self.base_url else "max_completion_tokens")


class Price(Model):
    """What models of some name cost."""

    match: Annotated[str, Field(min_length=1)]
    input: NonNegativeFloat  # USD per million tokens
    output: NonNegativeFloat

    def of(self, tokens: Tokens) -> float:
        """What so many tokens cost."""
        return (tokens.input * self.input + tokens.output * self.output) / _MILLION


class ModelsConfig(Model):
    """All about models."""

    routes: list[Route] = []  # the first that matches serves
    prices: list[Price] = []
    default: str = ""  # the model of whoever names none
    concurrency: PositiveInt = 8  # calls at a time of one worker
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    backoff_seconds: NonNegativeFloat = 0.5  # before the second attempt; doubles with each
    patience_seconds: NonNegativeFloat = 60  # a provider that wants us to wait longer is given up
    max_tokens: PositiveInt = 4096  # of an answer, where the asker sets no limit
    max_seconds: PositiveFloat = 300  # for one attempt, whatever a pack says

    def route(self, model: str) -> Route | None:
        """Where a model is asked."""
        return next((route for route in self.routes if fnmatchcase(model, route.match)), None)

    def cost(self, model: str, tokens: Tokens) -> float | None:
        """What so many tokens of a model cost, if its price is known."""
        price = self.price(model)
        return None if price is None else price.of(tokens)

    def price(self, model: str) -> Price | None:
        """What a model costs, if that is known."""
        return next((price for price in self.prices if fnmatchcase(model, price.match)), None)
