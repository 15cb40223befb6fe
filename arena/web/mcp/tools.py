"""Tools: what an MCP client may call, whatever carries the call.

A tool is an async function of what was asked and of a wish. Its name is the tool's, its docstring what models are told
about it, and the annotations of the wish and of the result are the schemas.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints

from pydantic import ValidationError
from starlette.types import Receive

from arena import auth
from arena.errors import Invalid
from arena.models import Model, complaint
from arena.runtime import Arena


class Asked(NamedTuple):
    """A call, apart from its arguments."""

    arena: Arena
    address: str
    receive: Receive  # tells when the caller has gone away
    until: float  # by the clock of the event loop; nothing of it waits longer
    key: str | None = None  # the session key, or the token of an admin, that came as a bearer

    @property
    def origin(self) -> str:
        """Whom limits count."""
        return auth.origin(self.arena.secret, self.address)


Wish = TypeVar("Wish", bound=Model)
Result_co = TypeVar("Result_co", covariant=True)


@dataclass(frozen=True)
class Tool(Generic[Wish, Result_co]):
    """A function that an MCP client may call."""

    name: str
    description: str
    wish: type[Wish]
    result: type[Result_co]
    answer: Callable[[Asked, Wish], Awaitable[Result_co]]

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """What the arguments have to be like."""
        return self.wish.model_json_schema(by_alias=True)

    def read(self, arguments: Any) -> Wish:
        """The wish that these arguments are, or what is wrong with them."""
        try:
            return self.wish.model_validate(arguments, by_alias=True, by_name=False)
        except ValidationError as error:
            raise Invalid(complaint(error)) from None


def tool(answer: Callable[[Asked, Wish], Awaitable[Result_co]]) -> Tool[Wish, Result_co]:
    """Make a tool of a function."""
    hints, told = get_type_hints(answer), inspect.getdoc(answer)
    return Tool(answer.__name__, told or "", hints["wish"], hints["return"], answer)
