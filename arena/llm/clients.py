"""The clients of providers. Importing this costs seconds: `Models` does so in a thread, when it first asks."""

import logging

import anthropic
import httpx2
import openai

from arena.llm.attempts import Failed, Failure, by_status
from arena.llm.chat_completions import ChatCompletions
from arena.llm.messages_api import Messages
from arena.llm.routes import Route
from arena.llm.talk import Answer, Question

NO_KEY = "none"  # what endpoints that want no key are shown; the clients insist on one
_STATUS = (openai.APIStatusError, anthropic.APIStatusError)
_CONNECTION = (openai.APIConnectionError, anthropic.APIConnectionError, httpx2.TransportError)

# Their own variables (OPENAI_LOG, ANTHROPIC_LOG) would have requests written to our log.
for name in ("openai", "anthropic", "httpx2", "httpcore2"):
    logging.getLogger(name).setLevel(logging.WARNING)


class Endpoint:
    """One endpoint and its connections.

    Redirects are not followed: the address in the settings is the one that is trusted.
    """

    def __init__(self, route: Route, key: str | None) -> None:
        self._http = httpx2.AsyncClient(follow_redirects=False, timeout=None)
        client = ChatCompletions if route.api == "openai" else Messages
        self._client = client(route, key or NO_KEY, self._http)

    async def ask(self, model: str, question: Question) -> Answer:
        """One call, not repeated."""
        try:
            return await self._client.ask(model, question)
        except Failed as failed:
            failure = failed.failure
        except Exception as error:  # whatever it is may hold the key and the question, so nothing of it goes on
            failure = failure_of(error)
        raise Failed(failure)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()


def failure_of(error: Exception) -> Failure:
    """What an error of a client means, without a word of its text."""
    if isinstance(error, _STATUS):
        headers = error.response.headers
        return by_status(error.status_code, headers.get("retry-after"), headers.get("x-should-retry"))
    if isinstance(error, _CONNECTION):
        reached = not isinstance(error.__cause__ or error, (httpx2.ConnectError, httpx2.ConnectTimeout))
        return Failure("the provider cannot be reached", passes=True, may_cost=reached)
    return Failure(f"the call failed: {type(error).__name__}", passes=False)
