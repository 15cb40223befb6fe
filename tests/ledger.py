"""A ledger of everything that left a server: who got it, at which door, when; and which secrets must not be in it."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

LIVE = "new_message"  # frames that keep the view of their time
APART = frozenset({"log", "scraper", "reader"})  # who look at the server and not at games


class Record(NamedTuple):
    """Something that left the server."""

    viewer: str
    door: str
    phase: str
    what: str  # the request, or the type of the frame
    data: bytes


@dataclass(frozen=True)
class Secret:
    """A text that only some may see, and those who have to find it, or we would not know that we can see."""

    name: str
    text: str
    may: Callable[[Record], bool]
    must: frozenset[tuple[str, str]] = frozenset()  # viewers and doors

    def forms(self) -> Iterator[bytes]:
        """All the ways in which it may be written."""
        plain = self.text.encode()
        yield plain
        yield json.dumps(self.text)[1:-1].encode()
        yield json.dumps(self.text, ensure_ascii=False)[1:-1].encode()
        yield json.dumps(json.dumps(self.text))[3:-3].encode()  # JSON in JSON
        yield repr(self.text)[1:-1].encode()
        yield plain.hex().encode()
        yield quote(self.text, safe="").encode()
        yield from (base64.b64encode(b"\0" * shift + plain)[4:-4] for shift in range(3))
        if self.text.isdigit():
            yield int(self.text).to_bytes(8, "big")  # as MessagePack has it


class Leak(NamedTuple):
    """A secret where it may not be."""

    secret: str
    viewer: str
    door: str
    phase: str
    what: str


@dataclass
class Ledger:
    """All records of a run, in order."""

    records: list[Record] = field(default_factory=list)
    phase: str = "open"

    def note(self, viewer: str, door: str, what: str, data: bytes) -> None:
        """Keep what a viewer got."""
        self.records.append(Record(viewer, door, self.phase, what, data))

    def leaks(self, secrets: Iterable[Secret]) -> list[Leak]:
        """Every secret that somebody got who may not have it."""
        found = (
            Leak(secret.name, *record[:4])
            for secret, records in self._holding(secrets)
            for record in records
            if not secret.may(record)
        )
        return list(dict.fromkeys(found))

    def unseen(self, secrets: Iterable[Secret]) -> list[tuple[str, str, str]]:
        """Every secret that its rightful viewer did not get, by name, viewer and door."""
        return [
            (secret.name, *place)
            for secret, records in self._holding(secrets)
            for place in sorted(secret.must - {record[:2] for record in records})
        ]

    def _holding(self, secrets: Iterable[Secret]) -> Iterator[tuple[Secret, list[Record]]]:
        """The secrets, each with the records that it is in."""
        everything = b"\0".join(record.data for record in self.records)
        for secret in secrets:
            forms = [form for form in set(secret.forms()) if form in everything]
            yield secret, [record for record in self.records if any(form in record.data for form in forms)]


def nobody(record: Record) -> bool:
    """What stays in the server."""
    return False


def only(*viewers: str) -> Callable[[Record], bool]:
    """What is theirs for ever."""
    return lambda record: record.viewer in viewers


def until_the_end(*viewers: str) -> Callable[[Record], bool]:
    """What is theirs until the game is over, when everybody may look it up; those who listened are not told anew."""
    return lambda record: (
        record.viewer in viewers or (record.phase == "ended" and record.what != LIVE and record.viewer not in APART)
    )
