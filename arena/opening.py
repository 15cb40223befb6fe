"""Opening: what a record withholds, for those whom the keeper of a server lets check it. Pure.

A record binds the server to what stays private. With its openings, which only the store can make, anybody can tell that
they are what was promised, and play the game again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from arena.chat import Entry
from arena.models import ChatMessage, Model, complaint
from arena.proof import Blinds, Digest, InputLine, MessageLine, Opened
from arena.session import INPUT, Input, line_of
from arena.verifying import Record, Wrong, check_promise


class DealLine(Opened):
    """The first line: the deal of the game."""

    kind: Literal["deal"] = "deal"


class OpeningLine(Model):
    """What one line of a record withholds, and what its promise was made with."""

    kind: Literal["opening"] = "opening"
    line: int
    key: Digest
    text: str


Line = Annotated[DealLine | OpeningLine, Field(discriminator="kind")]
LINE: TypeAdapter[Line] = TypeAdapter(Line)


def write(deal: Opened, inputs: Sequence[Input], logs: Iterable[Sequence[Entry]], blinds: Blinds) -> bytes:
    """The openings of all lines of a record, in their order."""
    lines: list[Model] = [DealLine(secret=deal.secret, seed=deal.seed)]
    texts = [("input", number, line_of(change)) for number, change in enumerate(inputs, 1)]
    for what, log in zip(("operator", "players"), logs, strict=True):
        texts += [(what, index, entry.body) for index, entry in enumerate(log, 1)]
    for line, (what, number, text) in enumerate(texts, 2):
        lines.append(OpeningLine(line=line, key=blinds.key(what, number).hex(), text=text.decode()))
    return b"".join(line.to_json() + b"\n" for line in lines)


def apply(record: Record, data: bytes) -> Record:
    """A record with all that it withholds in its place; `Wrong` says which promise was not kept."""
    deal, found = _read(data)
    inputs = [_input(line, place, found) for place, line in enumerate(record.inputs, 2)]
    messages = [_message(line, place, found) for place, line in enumerate(record.messages, 2 + len(inputs))]
    opened = Opened(secret=deal.secret, seed=deal.seed)
    whole = replace(record, game=record.game.model_copy(update={"opened": opened}), inputs=inputs, messages=messages)
    check_promise(whole)
    return whole


def _read(data: bytes) -> tuple[DealLine, dict[int, OpeningLine]]:
    try:
        lines = [LINE.validate_json(line) for line in data.splitlines()]
    except ValidationError as error:
        raise Wrong(f"the openings make no sense: {complaint(error)}") from None
    deals = [line for line in lines if isinstance(line, DealLine)]
    if len(deals) != 1:
        raise Wrong("the openings do not begin with one deal.")
    return deals[0], {line.line: line for line in lines if isinstance(line, OpeningLine)}


def _input(line: InputLine, place: int, found: dict[int, OpeningLine]) -> InputLine:
    if line.withheld is None:
        return line
    return line.model_copy(update={"input": INPUT.validate_json(_kept(line.withheld, place, found))})


def _message(line: MessageLine, place: int, found: dict[int, OpeningLine]) -> MessageLine:
    if line.withheld is None:
        return line
    fields = {**orjson.loads(_kept(line.withheld, place, found)), "index": line.message.index}
    return line.model_copy(update={"message": ChatMessage.model_validate(fields)})


def _kept(promise: str, place: int, found: dict[int, OpeningLine]) -> bytes:
    """The text that a promise was made of."""
    opening = found.get(place)
    if opening is None:
        raise Wrong(f"line {place}: nothing opens it.")
    text = opening.text.encode()
    if Blinds.promise(bytes.fromhex(opening.key), text) != promise:
        raise Wrong(f"line {place}: what is said to be in it is not what was promised.")
    return text
