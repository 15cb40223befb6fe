"""Models: asks any model that the settings have a route for, with patience, limits and an account of the cost."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from random import SystemRandom
from typing import TYPE_CHECKING, Self

from arena.llm.attempts import Failed, Failure, pause
from arena.llm.routes import ModelsConfig, Route
from arena.llm.talk import Answer, Message, Question, Tokens, Tool, Unanswered

if TYPE_CHECKING:
    from arena.llm.clients import Endpoint

logger = logging.getLogger(__name__)


class Models:
    """Asks models; whoever opens it closes it."""

    def __init__(self, config: ModelsConfig, environment: Mapping[str, str]) -> None:
        self.config = config
        names = {route.key_env for route in config.routes if route.key_env}
        self._keys = {name: environment.get(name, "").strip() for name in names}
        self._free = asyncio.Semaphore(config.concurrency)
        self._opening = asyncio.Lock()
        self._endpoints: dict[int, Endpoint] = {}
        self._rng = SystemRandom()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of all connections."""
        while self._endpoints:
            await self._endpoints.popitem()[1].close()

    @property
    def keys(self) -> list[str]:
        """All keys that it knows, for whoever has to keep them out of something."""
        return [key for key in self._keys.values() if key]

    def cost(self, model: str, tokens: Tokens) -> float | None:
        """What so many tokens cost in USD, if the settings know the price."""
        return self.config.cost(model or self.config.default, tokens)

    def trouble(self, model: str) -> str:
        """Why a model cannot be asked at all; empty if it can."""
        route = self.config.route(model)
        if not model:
            return "no model is named, and the server has no default"
        if route is None:
            return f'no route is configured for the model "{model}"'
        return self._key_trouble(route.key_env) if route.key_env else ""

    def _key_trouble(self, name: str) -> str:
        key = self._keys[name]
        if not key:
            return f"the key is missing: the variable {name} is not set"
        return "" if key.isascii() and key.isprintable() else f"the variable {name} holds no key"

    async def ask(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        seconds: float = 60,
    ) -> Answer:
        """The answer of a model, asked again while that may help; the seconds are for each attempt."""
        model = model or self.config.default
        question = Question(messages, tools, max_tokens or self.config.max_tokens)
        attempt = 0
        while True:
            attempt += 1
            outcome = await self.attempt(model, question, seconds)
            if isinstance(outcome, Answer):
                return outcome
            wait = self.pause(outcome, attempt)
            logger.warning("no answer of a model attempt=%d reason=%s wait=%s", attempt, outcome.reason, wait)
            if wait is None:
                raise Unanswered(f'model "{model}": {outcome.reason}')
            await asyncio.sleep(wait)

    async def prepare(self, model: str) -> None:
        """Do what has to be done once before a model can be asked."""
        if (route := self.config.route(model)) is not None:
            await self._endpoint(route)

    def pause(self, failure: Failure, attempt: int) -> float | None:
        """Seconds until a call is tried again after its n-th attempt, from 1; none if it is given up."""
        return pause(failure, attempt, self.config, self._rng)

    async def attempt(self, model: str, question: Question, seconds: float) -> Answer | Failure:
        """One call, not repeated, for those who count each; raises `Unanswered` if there can be none."""
        route = self.config.route(model)
        if (trouble := self.trouble(model)) or route is None:
            raise Unanswered(trouble)
        limit = min(seconds, self.config.max_seconds)
        endpoint = await self._endpoint(route)
        async with self._free:
            try:
                async with asyncio.timeout(limit):
                    answer = await endpoint.ask(route.model or model, question)
                    return answer._replace(usd=self.cost(model, answer.tokens))
            except TimeoutError:
                return Failure(f"no answer within {limit:g} s", passes=True, may_cost=True)
            except Failed as failed:
                return failed.failure

    async def _endpoint(self, route: Route) -> "Endpoint":
        """The endpoint of a route, opened when it is first needed and aside, for the imports take seconds."""
        at = self.config.routes.index(route)
        async with self._opening:
            if at not in self._endpoints:
                key = self._keys[route.key_env] if route.key_env else None
                self._endpoints[at] = await asyncio.to_thread(_open, route, key)
        return self._endpoints[at]


def open_models(config: ModelsConfig, environment: Mapping[str, str]) -> Models | None:
    """Whoever asks models as configured; none if there is no route to any."""
    return Models(config, environment) if config.routes else None


def _open(route: Route, key: str | None) -> "Endpoint":
    from arena.llm.clients import Endpoint

    return Endpoint(route, key)
