"""Twins: games that go the same way but for what is said in private, and what third parties get of them."""

import re
from collections import defaultdict
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

from arena.wire import JSON, MSGPACK
from tests.guests import Guest
from tests.ledger import LIVE, Ledger, Record
from tests.servers import served
from tests.witnesses import Place, Seated, Witness

UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
DRAWN = re.compile(rb"[0-9a-f]{16,}")  # tags, keys, commitments, ids of requests
NUMBER = re.compile(rb"[0-9]{13,15}")  # times, and what the vault deals
PACKED = re.compile(rb"\xcf\x00[\x00-\x03].{6}", re.DOTALL)  # the same in MessagePack
DATE = re.compile(rb"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
WATCHING = re.compile(rb'(?<=spectators").*$|(?<=spectators).', re.DOTALL)
WATCHED = re.compile(rb'(spectators(?:":\{"|\x81\xd9\$)[0-9a-f-]{36}(?:":)?)(?:\d+|[\x00-\x7f])')  # in the lobby
PACED = {"state", "session"}  # frames of which only the newest is sent: how many there are is a matter of time
EVENT = re.compile(rb"(?<=event).{1,4}?(created|started|changed|ended|removed)")
THIRD = ("anonymous", "cy", "lobby")

Tapes = dict[tuple[str, str, str], list[bytes]]


@dataclass(frozen=True)
class Script:
    """What is said and done in private: by Ada to Ben, and by Ada to the operator, as method and content."""

    whispers: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    to_the_end: bool = False


@dataclass
class Normal:
    """Puts something of the same length in place of what differs between any two games."""

    seen: dict[bytes, bytes] = field(default_factory=dict)

    def __call__(self, data: bytes) -> bytes:
        """The same bytes but for ids, times and random tags."""
        data = WATCHED.sub(rb"\1#", data)  # how many are there already is a matter of time
        for random in (DRAWN, NUMBER, PACKED, DATE):
            data = random.sub(lambda match: b"0" * len(match[0]), data)
        return UUID.sub(lambda match: self.seen.setdefault(match[0], b"%036d" % len(self.seen)), data)


def tapes(records: list[Record]) -> Tapes:
    """What third parties got, by viewer, door and kind."""
    made, normal = defaultdict(list), Normal()
    for viewer, door, phase, what, data in records:
        if viewer not in THIRD or (what == "session" and (viewer != "lobby" or is_between(phase, data))):
            continue
        made[viewer, door, UUID.sub(b"", what.encode()).decode()].append(normal(data))
    for key, found in made.items():
        if key[2] in PACED:
            made[key] = sorted({WATCHING.sub(b"", each) for each in newest(found)})
        elif key[2] == LIVE:
            found.sort()  # of several connections at the same time
    return dict(made)


def is_between(phase: str, data: bytes) -> bool:
    """Whether the lobby hears of a change on the way to the end, which a quick end comes before."""
    event = EVENT.search(data)
    return phase == "ended" and event is not None and event[1] == b"changed"


def newest(found: list[bytes]) -> list[bytes]:
    """The last frame of each event, since what comes between is a matter of time; others as they are."""
    events = [EVENT.search(each) for each in found]
    return list({event[1] if event else each: each for event, each in zip(events, found, strict=True)}.values())


async def play(store: str, script: Script, page_bytes: int) -> Tapes:
    """Play a game on a server of its own and an empty store; what third parties got of it."""
    ledger = Ledger()
    async with (
        served(store, load=("tests.plugins.vault",), page_bytes=page_bytes) as arena,
        AsyncExitStack() as stack,
    ):
        await Stage(Place(arena.url, ledger, signed=False), stack).play(script)
    return tapes(ledger.records)


class Stage:
    """One game with three players, a spectator and somebody in the lobby."""

    def __init__(self, place: Place, stack: AsyncExitStack) -> None:
        self.place = place
        names = ("ada", "ben", "cy", "anonymous", "lobby")
        self.people = {name: Witness(place, name, stack, Seated()) for name in names}
        self.guests: list[Guest] = []
        self.id = ""

    async def play(self, script: Script) -> None:
        """The whole game."""
        await self.sit_down()
        ada, ben = self.guests[:2]
        for text in script.whispers:
            await ada.get("chat", channel=self.id, content=text, to=self.people["ben"].seat.invite)
        for method, content in script.moves:
            await ada.ask("message", challengeId=self.id, messageType=method, content=content)
        await self.guests[1].get("chat", channel=self.id, content="so far")
        for guest in self.people["lobby"].guests:
            await guest.until(partial(self._heard, guest, "so far"), "the lobby hears it")
        await self.look()
        if script.to_the_end:
            self.place.ledger.phase = "ended"
            await ben.get("message", challengeId=self.id, messageType="finish", content="")
            for guest in self.people["lobby"].guests:
                await guest.hear("session", event="ended")
            await self.look()

    async def sit_down(self) -> None:
        """Everybody is there before anything is said."""
        for person in self.people.values():
            await person.enter()
        for codec in (JSON, MSGPACK):
            await (await self.people["lobby"].connect(codec)).get("lobby")
        made = await self.people["ada"].post("/challenges/vault")
        self.id = made["id"]
        for person, invite in zip(self.people.values(), made["invites"], strict=False):
            guest = await person.connect(JSON)
            joined = await guest.get("join", invite=invite)
            person.seat = Seated(self.id, invite, joined["sessionKey"])
            self.guests.append(guest)
        for guest in self.guests:
            await guest.until(partial(self._all_connected, guest), "all are connected")
        self.place.ledger.records.clear()  # how often they were told meanwhile is a matter of time
        for name in ("anonymous", "cy"):
            await self.people[name].follow(self.id)

    def _all_connected(self, guest: Guest) -> bool | None:
        return any(len(frame["connected"]) == 3 for frame in guest.of("state")) or None

    async def look(self) -> None:
        """Wait until all have heard everything, and look at everything."""
        counts = [len(await self._all(self.people["ada"], path)) for path in ("/arena/sync", "/chat/sync")]
        for name in ("anonymous", "cy"):
            await self.people[name].hear(self.id, *counts)
            await self.people[name].look(self.id)

    async def _all(self, reader: Witness, path: str) -> list[object]:
        found: list[object] = []
        while messages := (await reader.get(path, channel=self.id, index=len(found) + 1))["messages"]:
            found += messages
        return found

    def _heard(self, guest: Guest, line: str) -> bool | None:
        lines = (frame.get("lastLine", {}).get("content") for frame in guest.of("session"))
        return line in lines or None
