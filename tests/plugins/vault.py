"""Vault: three players with sets, reserves and bids that are nobody else's business, and an operator who falls over."""

from random import Random

from pydantic import JsonValue

from arena import (
    Effects,
    Job,
    JobFailed,
    Model,
    Operator,
    Refused,
    Seat,
    action,
    attribute,
    deadline,
    end,
    job,
    say,
    score,
    tell,
)

LOW, HIGH = 10**14, 10**15  # numbers of fifteen digits, which turn up nowhere by chance


class Holdings(Model):
    sets: list[list[int]]
    reserves: list[int]
    worth: list[int]  # of a bid, by seat
    buried: str  # what nobody is ever told
    bids: list[str] = []


class Vault(Operator[Holdings]):
    players = 3

    def deal(self, rng: Random) -> Holdings:
        def draw(count: int) -> list[int]:
            return [rng.randrange(LOW, HIGH) for _ in range(count)]

        return Holdings(
            sets=[draw(3) for _ in range(3)], reserves=draw(3), worth=draw(3), buried=f"{rng.getrandbits(128):032x}"
        )

    def joined(self, vault: Holdings, seat: Seat) -> Effects:
        yield tell(seat, f"Your set is {vault.sets[seat]}, your reserve {vault.reserves[seat]}.")

    def start(self, vault: Holdings) -> Effects:
        yield say("All are here.")

    @action
    def bid(self, vault: Holdings, seat: Seat, content: str) -> Effects:
        """Offer something in secret."""
        vault.bids.append(content)
        yield score(seat, utility=vault.worth[seat], security=seat)
        yield attribute(seat, (seat + 1) % 3, f"bid-{content}"[:100])
        yield tell(seat, f"Noted: {content}")
        yield say("Somebody has bid.")

    @action
    def haggle(self, vault: Holdings, seat: Seat, content: str) -> Effects:
        """Be refused, for a reason that is a secret too."""
        yield say("This is never heard.")
        raise Refused("TOO_LOW", f"{content} is below {vault.reserves[seat]}.")

    @action
    def stumble(self, vault: Holdings, seat: Seat, content: str) -> Effects:
        """Have the operator fall over with everything it knows on its lips."""
        yield say(f"Never heard: {content}")
        raise RuntimeError(f"{content} {vault.buried} {vault.sets}")

    @action
    def wind(self, vault: Holdings, seat: Seat, content: str) -> Effects:
        """Have it fall over a little later."""
        yield deadline(content, after=0.001)

    def expired(self, vault: Holdings, name: str) -> Effects:
        yield say(f"Never heard: {name}")
        raise ValueError(name, vault.model_dump())

    @action
    def delegate(self, vault: Holdings, seat: Seat, content: str) -> Effects:
        """Have somebody else fall over."""
        yield job(content, {"buried": vault.buried})

    async def work(self, kind: str, payload: JsonValue) -> JsonValue:
        raise RuntimeError(payload)

    def worked(self, vault: Holdings, job: Job, result: JsonValue | JobFailed) -> Effects:
        yield say(f"The appraiser is gone: {result}")

    @action
    def finish(self, vault: Holdings, seat: Seat) -> Effects:
        """End the game."""
        yield end()
