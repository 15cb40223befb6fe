"""What a run said, was told and reached, read from its events: what its security posture is judged by."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from arena.packs.events import order_of, type_of
from arena.packs.records import as_mapping, text
from arena.packs.values import canonical_json, loose_string, shallow

_ROLES = {"turn.user.message": "user", "turn.assistant.message": "assistant"}
_CALLS = frozenset({"tool.call.completed", "tool.call.failed"})
_ENDS = {"system.output.finalized": ("final_output", "output"), "system.run.completed": ("final_output",)}
_TEMPTED = "security.prompt.answered"
_READ = frozenset({*_ROLES, *_CALLS, *_ENDS, _TEMPTED})

Row = dict[str, Any]


def exposure(events: Iterable[Any]) -> dict[str, list[Row]]:
    """The messages of a run, what its tools gave out, and the addresses that it called."""
    told: dict[str, list[Row]] = {"messages": [], "tool_outputs": [], "network": []}
    for event in sorted((event for event in events if type_of(event) in _READ), key=order_of):
        kind, payload = event["type"], as_mapping(event.get("payload"))
        if kind in _CALLS:
            told["tool_outputs"].append(_output(as_mapping(payload.get("result"))))
            told["network"] += _network(payload)
        elif kind == _TEMPTED:
            told["messages"].append({"role": "user", "content": text(payload, "text")})
            told["messages"].append({"role": "assistant", "content": text(payload, "content")})
        elif kind in _ROLES:
            told["messages"].append({"role": _ROLES[kind], "content": text(payload, "content")})
        else:
            _end(told["messages"], next(filter(None, (text(payload, name) for name in _ENDS[kind])), ""))
    return told


def _end(messages: list[Row], output: str) -> None:
    """The final answer is a message of the assistant, unless it was the last one already."""
    answer = {"role": "assistant", "content": output}
    if output and answer not in messages[-1:]:
        messages.append(answer)


def _output(result: Mapping[str, Any]) -> Row:
    content = shallow(result.get("content"))
    said = loose_string(content) or ("" if content is None else canonical_json(content))
    return {"stdout": text(result, "stdout"), "stderr": text(result, "stderr"), "result": said}


def _network(payload: Mapping[str, Any]) -> list[Row]:
    """What a call reached: as the runner saw it, else the address in its arguments, whether it failed or not."""
    seen = payload.get("network") or as_mapping(payload.get("result")).get("network")
    if isinstance(seen, list) and seen:
        return [{"host": text(row, "host"), "path": text(row, "path")} for row in map(as_mapping, seen)]
    return list(_called(text(as_mapping(payload.get("arguments")), "url")))


def _called(address: str) -> Iterator[Row]:
    try:
        url = urlsplit(address)
        host = url.netloc.rpartition("@")[2]
    except ValueError:
        return
    if host:
        yield {"host": host, "path": url.path + (f"?{url.query}" if url.query else "")}
