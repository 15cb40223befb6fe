"""YAML text as a tree of nodes that know their line, composed within limits on size, depth and aliases.

A pack comes from strangers, so the tree is built from the parser's events without recursion, and an alias costs as
much as what it stands for: a bomb is refused before anything of it is unfolded.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from arena.packs.errors import DecodeError

MAX_BYTES = 8 * 1024 * 1024
MAX_NODES = 300_000  # with every alias unfolded
MAX_DEPTH = 100

PLAIN = ""
TEXT = "str"
_STANDARD = "tag:yaml.org,2002:"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where PyYAML came with libyaml


@dataclass(slots=True, eq=False)
class Scalar:
    """A single value: its source text, and what its quotes or its tag say that it is."""

    text: str
    tag: str
    line: int
    size: int = 1
    height: int = 0


@dataclass(slots=True, eq=False)
class Items:
    """A list."""

    line: int
    items: list["Node"] = field(default_factory=list)
    size: int = 1
    height: int = 1


@dataclass(slots=True, eq=False)
class Members:
    """A mapping: values and keys by the text of the key."""

    line: int
    values: dict[str, "Node"] = field(default_factory=dict)
    keys: dict[str, Scalar] = field(default_factory=dict)
    size: int = 1
    height: int = 1
    merges: list["Node"] = field(default_factory=list)


Node = Scalar | Items | Members
NodeType = TypeVar("NodeType", Scalar, Items, Members)


def compose(text: str) -> Node | None:
    """The tree of the first document of a text; None when there is none."""
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise DecodeError(f"a pack may have {MAX_BYTES} bytes at most")
    composer = _Composer()
    try:
        parser = _LOADER(text)
        while not isinstance(event := parser.get_event(), yaml.DocumentEndEvent | yaml.StreamEndEvent):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        last = text.count("\n") + 1  # an end that comes too early is told as the line after the last
        line = min(error.problem_mark.line + 1, last) if error.problem_mark else None
        raise DecodeError(f"this is not YAML: {error.problem or error.context}", line) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise DecodeError(f"this is not YAML: {str(error).splitlines()[0]}") from None
    return composer.root


class _Composer:
    """Puts the events of one document together."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.open: list[Items | Members] = []
        self.key: list[Scalar | None] = []  # beside each open mapping, the key that waits for its value
        self.anchors: dict[str, Node] = {}
        self.count = 0

    def take(self, event: Any) -> None:
        """Take the next event in."""
        if isinstance(event, yaml.ScalarEvent):
            self.add(self.begin(event, Scalar(event.value, _tag_of(event), _line(event))))
        elif isinstance(event, yaml.SequenceStartEvent):
            self.enter(self.begin(event, Items(_line(event))))
        elif isinstance(event, yaml.MappingStartEvent):
            self.enter(self.begin(event, Members(_line(event))))
        elif isinstance(event, yaml.CollectionEndEvent):
            self.leave()
        elif isinstance(event, yaml.AliasEvent):
            self.add(self.aliased(event))

    def begin(self, event: Any, node: NodeType) -> NodeType:
        """Count a node, and remember it under its anchor."""
        self.count += 1
        if self.count > MAX_NODES:
            raise DecodeError(f"a pack may have {MAX_NODES} values at most", node.line)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def enter(self, node: Items | Members) -> None:
        """Go into a list or mapping."""
        if len(self.open) == MAX_DEPTH:
            raise DecodeError(f"a pack may be nested {MAX_DEPTH} levels deep at most", node.line)
        self.open.append(node)
        self.key.append(None)

    def leave(self) -> None:
        """Finish the innermost list or mapping."""
        node = self.open.pop()
        self.key.pop()
        if isinstance(node, Members):
            _merge(node)
        self.add(node)

    def aliased(self, event: Any) -> Node:
        """What an alias stands for."""
        line = _line(event)
        node = self.anchors.get(event.anchor)
        if node is None:
            raise DecodeError(f"unknown anchor {event.anchor!r}", line)
        if any(node is outer for outer in self.open):
            raise DecodeError(f"anchor {event.anchor!r} contains itself", line)
        return node

    def add(self, node: Node) -> None:
        """Put a finished node where it belongs."""
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        self.weigh(parent, node)
        if isinstance(parent, Items):
            parent.items.append(node)
        elif (key := self.key[-1]) is None:
            self.key[-1] = _key(parent, node)
        else:
            self.key[-1] = None
            _put(parent, key, node)

    def weigh(self, parent: Items | Members, node: Node) -> None:
        """Let a parent carry its child, as if it were written there."""
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)
        if parent.size > MAX_NODES or parent.height + len(self.open) - 1 > MAX_DEPTH:
            raise DecodeError("the aliases of this pack unfold to too much", parent.line)


def _key(parent: Members, node: Node) -> Scalar:
    if not isinstance(node, Scalar):
        raise DecodeError("the key of a mapping must be a single value", node.line)
    if node.text in parent.keys:
        first = parent.keys[node.text].line
        raise DecodeError(f"the key {node.text!r} is already set at line {first}", node.line)
    parent.keys[node.text] = node
    return node


def _put(parent: Members, key: Scalar, value: Node) -> None:
    if key.text != "<<" or key.tag not in {PLAIN, "merge"}:
        parent.values[key.text] = value
    elif isinstance(value, Items):
        parent.merges += value.items
    else:
        parent.merges.append(value)


def _merge(node: Members) -> None:
    """Take over the members of merged mappings; what is written here wins, then what is merged first."""
    for merged in node.merges:
        if not isinstance(merged, Members):
            raise DecodeError("only mappings can be merged with <<", node.line)
        for name, value in merged.values.items():
            if name not in node.values:
                node.values[name] = value
                node.keys[name] = merged.keys[name]
    if node.merges:
        node.keys.pop("<<", None)


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def _tag_of(event: Any) -> str:
    if event.tag is None or event.tag == "!":
        return PLAIN if event.style in {None, ""} else TEXT
    tag: str = event.tag
    return tag.removeprefix(_STANDARD)


def node_of(value: Any, depth: int = 0) -> Node:
    """A tree for plain JSON data, so that a manifest is read by the same rules as a file."""
    if depth > MAX_DEPTH:
        raise DecodeError(f"a pack may be nested {MAX_DEPTH} levels deep at most")
    if isinstance(value, dict):
        values = {name: node_of(member, depth + 1) for name, member in value.items()}
        return Members(1, values, {name: Scalar(name, TEXT, 1) for name in values})
    if isinstance(value, list | tuple):
        return Items(1, [node_of(item, depth + 1) for item in value])
    if isinstance(value, str):
        return Scalar(value, TEXT, 1)
    return Scalar("null" if value is None else str(value).lower(), PLAIN, 1)


def line_at(node: Node, path: Iterable[str | int]) -> int:
    """The line of what a path leads to, or of the last part of the way that there is."""
    line = node.line
    for part in path:
        if isinstance(node, Members) and part in node.values:
            line = node.keys[str(part)].line
            node = node.values[str(part)]
        elif isinstance(node, Items) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            line = node.line
        else:
            break
    return line
