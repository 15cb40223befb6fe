"""Replies of providers, read once and leniently: what is not needed may be missing, the rest must make sense."""

import json
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, NonNegativeInt, ValidationError

from arena.llm.attempts import Failed, Failure
from arena.models import strict_json

Count = Annotated[NonNegativeInt, BeforeValidator(lambda value: 0 if value is None else value)]
GARBAGE = Failure("the provider's reply makes no sense", passes=False, may_cost=True)


class Part(BaseModel):
    """A part of a reply."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


Reply = TypeVar("Reply", bound=Part)


def read(shape: type[Reply], content: bytes) -> Reply:
    """A reply of that shape."""
    try:
        return shape.model_validate_json(content)
    except ValidationError:
        raise Failed(GARBAGE) from None


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a tool call, if they are a JSON object that can be written again."""
    try:
        arguments = json.loads(text or "{}")
        strict_json(arguments)
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None
