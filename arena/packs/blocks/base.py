"""What all blocks of a bundle share: the words of their fields, and how they are written as JSON."""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from arena.packs.errors import DecodeError
from arena.packs.nodes import Node, line_at
from arena.packs.shapes import INT32, Marker, decode_map, decode_uuid, decode_whole
from arena.packs.spec import EvaluationSpec, SpecDecodeError, decode_spec
from arena.packs.spec.decode import shown as spec_path


def _decode_int32(node: Node) -> int:
    return decode_whole(node, INT32)


Int32 = Annotated[int, Marker(_decode_int32)]


def _decode_spec(node: Node) -> EvaluationSpec:
    """The spec of a pack goes through JSON, where a whole float is an integer."""
    try:
        return decode_spec(wholes(decode_map(node)))
    except SpecDecodeError as error:
        raise _placed(error, node) from None


def _placed(error: SpecDecodeError, node: Node) -> DecodeError:
    """The error of a spec with its line; its own words begin with the path, which is told apart."""
    path = error.path if error.reason.startswith(f"{spec_path(error.path)} ") else error.path[:-1]
    return DecodeError(error.reason.removeprefix(f"{spec_path(path)} "), line_at(node, error.path), path)


def wholes(value: Any) -> Any:
    """The same JSON value with whole floats as integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, dict):
        return {name: wholes(member) for name, member in value.items()}
    return [wholes(item) for item in value] if isinstance(value, list) else value


Uuid = Annotated[str, Marker(decode_uuid)]
Spec = Annotated[EvaluationSpec, Marker(_decode_spec)]


def told(
    default: Any, words: str, *, needed: bool = False, among: tuple[str, ...] = (), least: int | None = None
) -> Any:
    """A field with its words for the reference, and what editors should know of it."""
    extra: dict[str, Any] = {"needed": needed}
    if among:
        extra["enum"] = list(among)
    if least is not None:
        extra["minimum" if isinstance(default, int) else "minItems"] = least
    return Field(default, description=words, json_schema_extra=extra)


class Block(BaseModel):
    """A block of a bundle."""

    model_config = ConfigDict(frozen=True)
    kept: ClassVar[frozenset[str]] = frozenset()  # written even when empty

    def document(self) -> dict[str, Any]:
        """The block as plain JSON, without what is empty; a free value is left out only when it is unset."""
        free = {"value"}
        return {
            name: plain(value)
            for name, value in self
            if name in self.kept or (value is not None if name in free else not _is_empty(value))
        }


def plain(value: Any) -> Any:
    """A block, or a list of blocks, as plain JSON; anything else as it is."""
    if isinstance(value, Block):
        return value.document()
    return [plain(item) for item in value] if isinstance(value, list) else value


def _is_empty(value: Any) -> bool:
    return not isinstance(value, Block) and not value
