"""From plain JSON to an evaluation spec: anything unforeseen stops at once, with one message."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arena.packs.errors import DecodeError
from arena.packs.spec.models import EvaluationSpec


class SpecDecodeError(DecodeError):
    """A spec of the wrong shape, with the way to the place where that shows."""

    def __init__(self, message: str, path: tuple[str | int, ...] = (), line: int | None = None) -> None:
        super().__init__(message, line)
        self.path = path


def decode_spec(raw: Mapping[str, Any] | None) -> EvaluationSpec:
    """Decode a spec strictly; nothing at all is the empty spec, which then fails validation."""
    try:
        return EvaluationSpec.model_validate({} if raw is None else raw)
    except ValidationError as error:
        raise _explained(error.errors(include_url=False, include_context=False)[0]) from None
    except RecursionError:
        raise SpecDecodeError("evaluation_spec is nested too deeply") from None


def _explained(error: ErrorDetails) -> SpecDecodeError:
    path = error["loc"]
    if error["type"] == "extra_forbidden":
        return SpecDecodeError(f"{shown(path[:-1])} has no key {path[-1]!r:.80}{_hint(path)}", path)
    return SpecDecodeError(f"{shown(path)} has the wrong type: {error['msg']}", path)


def shown(path: tuple[str | int, ...]) -> str:
    """A way into the spec as people write it: `evaluation_spec.validators[0].config`."""
    return "evaluation_spec" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _hint(path: tuple[str | int, ...]) -> str:
    close = get_close_matches(str(path[-1]), _keys(path[:-1]), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _keys(path: tuple[str | int, ...]) -> list[str]:
    model: Any = EvaluationSpec
    for part in path:
        if isinstance(part, str):
            model = _model(model.model_fields[part].annotation)
    return list(model.model_fields)


def _model(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return (
        next(found for found in map(_model, get_args(annotation)) if found is not None)
        if get_args(annotation)
        else None
    )
