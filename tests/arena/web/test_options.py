"""Options of a new session: by the names of the protocol, and with a short complaint when they are wrong."""

from typing import Any

from tests.guests import visit
from tests.servers import Served

LONGEST = 400  # characters of a complaint that somebody will read


async def test_options_go_by_their_names_on_the_wire_and_by_no_other(arena: Served) -> None:
    guest = await visit(arena)

    ours = await guest.ask("create", challengeType="psi", options={"set_size": 5})
    taken = await guest.ask("create", challengeType="psi", options={"setSize": 5})
    both = await guest.ask("create", challengeType="psi", options={"setSize": 5, "set_size": 5})

    assert (ours.get("code"), both.get("code")) == ("VALIDATION", "VALIDATION")
    session = await arena.arena.engine.get(taken["result"]["id"])
    assert session.header.options["setSize"] == 5
    assert "set_size" not in session.header.options


async def test_a_complaint_is_short_whatever_it_is_about(arena: Served) -> None:
    guest = await visit(arena)
    deep: Any = 1
    for _ in range(240):
        deep = {"deeper": deep}
    wide: Any = 1
    for _ in range(20):
        wide = {"x" * 500: wide}

    answers = [
        await guest.ask("create", challengeType="psi", options=options)
        for options in ({"setSize": deep}, {"range": [deep, 1]}, {"x" * 30_000: 1}, {"setSize": wide}, deep)
    ]
    answers.append(await guest.ask("create", challengeType="psi", **{"y" * 30_000: 1}))

    assert {answer["code"] for answer in answers} == {"VALIDATION"}
    assert max(len(answer["error"]) for answer in answers) < LONGEST
