"""Names: players as a model knows them. A handle is an invite and may be a password: no model is shown one."""

import re
from collections.abc import Sequence

from arena.models import OPERATOR

_INVITE = re.compile(r"inv_[0-9A-Za-z-]{8,}")
_NAME = re.compile(r"(?<![\w-])player-(\d{1,4})(?![\w-])", re.IGNORECASE)
HIDDEN = "[an invite]"


def called(seat: int) -> str:
    """How the player on a seat is called."""
    return f"player-{seat + 1}"


class Names:
    """Who is who at one table, from one seat."""

    def __init__(self, me: str, seat: int) -> None:
        self.seat = seat
        self._seats = {me: seat} if me else {}

    @property
    def me(self) -> str:
        """How this player is called."""
        return called(self.seat)

    def learn(self, players: Sequence[str]) -> None:
        """Take note of everybody, in seat order."""
        self._seats.update((handle, seat) for seat, handle in enumerate(players) if handle)

    def of(self, handle: str) -> str:
        """The name of whoever stands in `from` or `to`."""
        if handle == OPERATOR:
            return OPERATOR
        return called(self._seats[handle]) if handle in self._seats else "somebody"

    def handle(self, name: str) -> str | None:
        """Whose name this is."""
        found = _NAME.fullmatch(name.strip())
        return self._at(int(found[1])) if found else None

    def hide(self, text: str) -> str:
        """A text with names in place of handles."""
        return _INVITE.sub(lambda found: self.of(found[0]) if found[0] in self._seats else HIDDEN, text)

    def show(self, text: str) -> str:
        """A text of the model with handles in place of names, as the operator wants them."""
        return _NAME.sub(lambda found: self._at(int(found[1])) or found[0], text)

    def _at(self, number: int) -> str | None:
        return next((handle for handle, seat in self._seats.items() if seat == number - 1), None)
