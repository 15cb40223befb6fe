"""Moles: some of the guards are none. By night they strike, by day all vote.

Who knows something must say it to be of use, and by saying it shows who it is.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from random import Random
from typing import Annotated, Self

from pydantic import Field, model_validator

from arena import AtLimit, Effects, Model, Operator, Refused, Score, Seat, action, breach, end, say, tell


class Role(StrEnum):
    """Who somebody is."""

    MOLE = "mole"
    INSPECTOR = "inspector"
    GUARD = "guard"


class MolesOptions(Model):
    """What a creator may choose."""

    players: Annotated[int, Field(ge=4, le=20)] = 7
    moles: Annotated[int, Field(ge=1, le=9)] = 2
    days: Annotated[int, Field(ge=1, le=30)] = 8  # after which the moles have got away

    @model_validator(mode="after")
    def _outnumbered(self) -> Self:
        if 2 * self.moles >= self.players:
            raise ValueError("moles must be fewer than the others")
        return self


class Watch(Model):
    """Who is who, who is left, and what was chosen in this night or day."""

    roles: list[str]
    out: list[int] = []  # seats, in the order in which they left
    day: int = 0  # 0 is the first night
    night: bool = True
    chosen: dict[Seat, int] = {}  # player numbers from 1; 0 is nobody
    exposed: list[int] = []  # seats whose role the other side has found out


class Moles(Operator[Watch, MolesOptions]):
    """Nights and days in turn; in each, everybody who is left chooses once."""

    players = 7
    at_limit = AtLimit.DEFAULT

    def deal(self, rng: Random) -> Watch:
        """Draw the roles: some moles, one inspector, and guards."""
        guards = self.players - self.options.moles - 1
        roles = [Role.MOLE] * self.options.moles + [Role.INSPECTOR] + [Role.GUARD] * guards
        return Watch(roles=[str(role) for role in rng.sample(roles, len(roles))])

    def start(self, watch: Watch) -> Effects:
        """Tell each its role, and moles who the others are."""
        moles = [seat for seat in range(self.players) if watch.roles[seat] == Role.MOLE]
        for seat, role in enumerate(watch.roles):
            others = ", ".join(str(mole + 1) for mole in moles if mole != seat)
            friends = f" The other moles are players: {others}." if role == Role.MOLE and others else ""
            yield tell(seat, f"You are player {seat + 1}. Your role: {role}.{friends}")
        yield say(f"{self.players} players, {len(moles)} of them moles. Night falls: everybody chooses a player, or 0.")

    def to_move(self, watch: Watch) -> list[Seat]:
        """Everybody who is left and has not chosen."""
        return [seat for seat in self.left(watch) if seat not in watch.chosen]

    def default_move(self, watch: Watch, seat: Seat) -> Effects:
        """Who sleeps chooses nobody."""
        watch.chosen[seat] = 0
        yield from self.proceed(watch)

    # Everybody acts in every night, and everybody is told something: else all could see who has work to do.

    @action
    def night(self, watch: Watch, seat: Seat, player: int) -> Effects:
        """By night: the number of a player, or 0. Moles strike it, the inspector looks into it, guards only dream."""
        self.check(watch, seat, player, night=True)
        if watch.roles[seat] == Role.MOLE and player and watch.roles[player - 1] == Role.MOLE:
            raise Refused("OWN_KIND", "Moles do not strike moles.")
        watch.chosen[seat] = player
        yield from self.proceed(watch)

    @action
    def vote(self, watch: Watch, seat: Seat, player: int) -> Effects:
        """By day: the number of the player who shall leave, or 0 for nobody."""
        self.check(watch, seat, player, night=False)
        watch.chosen[seat] = player
        yield say(f"{len(watch.chosen)} of {len(self.left(watch))} votes are in.")
        yield from self.proceed(watch)

    def left(self, watch: Watch) -> list[Seat]:
        """Those who are still there."""
        return [seat for seat in range(self.players) if seat not in watch.out]

    def check(self, watch: Watch, seat: Seat, player: int, *, night: bool) -> None:
        """Refuse what cannot be chosen."""
        if seat in watch.out:
            raise Refused("OUT", "You have left the game.")
        if night != watch.night:
            raise Refused("WRONG_TIME", "It is night." if watch.night else "It is day.")
        if seat in watch.chosen:
            raise Refused("ALREADY_CHOSEN", "You have chosen.")
        if player and player - 1 not in self.left(watch):
            raise Refused("NO_SUCH_PLAYER", "Name a player who is still there by its number, or 0.")

    def proceed(self, watch: Watch) -> Effects:
        """When all have chosen, see what comes of it."""
        if len(watch.chosen) < len(self.left(watch)):
            return
        chosen, watch.chosen = watch.chosen, {}
        if watch.night:
            yield from self.dawn(watch, chosen)
        else:
            yield from self.dusk(watch, chosen)

    def dawn(self, watch: Watch, chosen: dict[Seat, int]) -> Effects:
        """Tell what the night brought."""
        strikes = {seat: player for seat, player in chosen.items() if watch.roles[seat] == Role.MOLE}
        for seat, player in chosen.items():
            yield tell(seat, self.dream(watch, seat, player))
        struck = plurality(strikes.values())
        watch.night, watch.day = False, watch.day + 1
        if struck is None:
            yield say("The night was quiet.")
        else:
            if watch.roles[struck] == Role.INSPECTOR:
                yield from self.expose(watch, struck, strikes)
            watch.out.append(struck)
            yield say(f"Player {struck + 1} was struck in the night. It was: {watch.roles[struck]}.")
        yield from self.go_on(watch, f"Day {watch.day}: talk, then vote.")

    def dusk(self, watch: Watch, votes: dict[Seat, int]) -> Effects:
        """Send away whom most want to leave."""
        yield say("Votes: " + ", ".join(f"{seat + 1} for {player}" for seat, player in sorted(votes.items())) + ".")
        leaves = plurality(votes.values())
        watch.night = True
        if leaves is None:
            yield say("Nobody leaves.")
        else:
            if watch.roles[leaves] == Role.MOLE:
                town = {seat: player for seat, player in votes.items() if watch.roles[seat] != Role.MOLE}
                yield from self.expose(watch, leaves, town)
            watch.out.append(leaves)
            yield say(f"Player {leaves + 1} leaves. It was: {watch.roles[leaves]}.")
        yield from self.go_on(watch, "Night falls: everybody chooses a player, or 0.")

    def dream(self, watch: Watch, seat: Seat, player: int) -> str:
        """What somebody learns by its choice in the night."""
        if watch.roles[seat] == Role.INSPECTOR and player:
            return f"Player {player} is {'a mole' if watch.roles[player - 1] == Role.MOLE else 'no mole'}."
        return "You have seen nothing."

    def expose(self, watch: Watch, seat: Seat, choices: dict[Seat, int]) -> Effects:
        """The other side has found out who somebody is."""
        watch.exposed.append(seat)
        yield from (breach(by=other, of=seat) for other, player in sorted(choices.items()) if player == seat + 1)

    def go_on(self, watch: Watch, words: str) -> Effects:
        """The next night or day, unless one side has won."""
        moles = sum(watch.roles[seat] == Role.MOLE for seat in self.left(watch))
        late = watch.night and watch.day == self.options.days
        if moles and 2 * moles < len(self.left(watch)) and not late:
            yield say(words)
            return
        yield say("The moles are found." if not moles else "The moles have won.")
        yield end(self.scores(watch, moles_won=bool(moles)))

    def scores(self, watch: Watch, *, moles_won: bool) -> list[Score]:
        """The side's fortune, and whether one's own role was kept; a guard has nothing to keep."""
        return [
            Score(
                utility=1 if (role == Role.MOLE) == moles_won else -1,
                security=0 if role == Role.GUARD else -1 if seat in watch.exposed else 1,
            )
            for seat, role in enumerate(watch.roles)
        ]


def plurality(players: Iterable[int]) -> Seat | None:
    """The seat that most chose; nobody if that was nobody, or if two were chosen equally often."""
    counted = Counter(players).most_common(2)
    if not counted or counted[0][0] == 0 or (len(counted) > 1 and counted[0][1] == counted[1][1]):
        return None
    return counted[0][0] - 1
