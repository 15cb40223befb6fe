"""House bots for the auction: a loner who shades its bids, and a ring member who tells and is told, and reads along."""

import json
import re
from collections.abc import Sequence
from random import Random

from arena.bots import Bot, Move, Moves, Talk
from arena.models import OPERATOR, ChatMessage

TOLD = re.compile(r"Lot (\d{1,3}): my value is (\d{1,3})\.")


class LonerBot(Bot):
    """Bids a part of its value, as it should if the others do, and trusts nobody."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.me = ""
        self.players: list[str] = []
        self.lot = self.value = 0
        self.up = False  # the lot, for bids
        self.done = 0  # lots that I have bid for
        self.in_ = 0  # bids that were counted for this lot
        self.heard: dict[tuple[int, str], int] = {}  # what others say a lot is worth to them
        self.shared = 0  # lots whose value I have told

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        """Everybody sits."""
        self.me, self.players = me, list(players)
        yield from self.proceed()

    def hear(self, message: ChatMessage) -> Moves:
        """The operator's calls, and what others say of themselves."""
        if message.from_ == OPERATOR:
            self.note(message.content)
        elif message.from_ != self.me and (found := TOLD.fullmatch(message.content)):
            self.heard.setdefault((int(found[1]), message.from_), int(found[2]))
        yield from self.proceed()

    def note(self, text: str) -> None:
        """Follow the sale."""
        if found := re.match(r"Lot (\d+) is worth (\d+) to you", text):
            self.lot, self.value, self.up, self.in_ = int(found[1]), int(found[2]), False, 0
        elif re.match(r"Lot \d+ of \d+ is up", text):
            self.up = True
        elif found := re.match(r"(\d+) of \d+ bids are in", text):
            self.in_ = int(found[1])

    def proceed(self) -> Moves:
        """Bid once per lot."""
        if self.me and self.up and self.done < self.lot:
            yield from self.share()
            if self.is_ready:
                self.done = self.lot
                yield Move("bid", json.dumps(self.bid()))

    @property
    def told(self) -> dict[str, int]:
        """What this lot is worth to others, by their own words."""
        return {player: value for (lot, player), value in self.heard.items() if lot == self.lot}

    def share(self) -> Moves:
        """What I tell the others; nothing."""
        return ()

    @property
    def is_ready(self) -> bool:
        """Whether there is nobody to wait for."""
        return True

    def bid(self) -> dict[str, int]:
        """A part of my value."""
        rivals = len(self.players) - 1
        return {"amount": self.value * rivals // (rivals + 1)}


class RingBot(LonerBot):
    """Tells the others its value; bids next to nothing if it heard a higher one; and reads whom it believes."""

    def share(self) -> Moves:
        """My value, to each in private."""
        if self.shared < self.lot:
            self.shared = self.lot
            for other in self.players:
                if other != self.me:
                    yield Talk(f"Lot {self.lot}: my value is {self.value}.", other)

    @property
    def is_ready(self) -> bool:
        """Each of the others has told me its value, or did not care to and bid."""
        return len(self.told) + self.in_ >= len(self.players) - 1

    def bid(self) -> dict[str, int]:
        """Just above nothing if the lot is mine; and one reading of what I was told."""
        silent = len(self.players) - 1 - len(self.told)
        mine = all(self.value >= other for other in self.told.values())
        alone = self.value * silent // (silent + 1)
        made = {"amount": max(1, alone) if mine else 0}
        if self.told:
            rival = self.rng.choice(sorted(self.told))
            made |= {"rival": self.players.index(rival) + 1, "value": min(self.told[rival], 100)}
        return made


BOTS = {"loner": LonerBot, "ring": RingBot}
