"""Whole games over real sockets, as their users play them."""

from tests.servers import Served


async def test_smoke(arena: Served) -> None:
    guest = await arena.connect()

    made = await guest.call("create", challengeType="psi")

    assert len(made["invites"]) == 2
