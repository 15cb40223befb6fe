"""A seat that the store lost and somebody else took: the first player's connection and key open nothing of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from arena.chat import operator_channel
from arena.models import SessionId
from tests.guests import Frame, Guest, visit
from tests.servers import Served, served
from tests.valkeys import Valkey

SET = "Your private set is"


@dataclass
class Table:
    """A session in which Ada had the first seat until the store lost it and Ben took it, with an invite of his own."""

    arena: Served
    id: str
    invites: list[str]
    ada: Guest
    ben: Guest
    key: str  # that Ada was given

    @property
    def operator(self) -> str:
        return operator_channel(SessionId(self.id))


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    with Valkey() as valkey:
        async with served(valkey.url) as arena:
            ada, ben = await visit(arena), await visit(arena)
            made = await ada.get("create", challengeType="psi")
            mark = valkey.mark()
            joined = await ada.get("join", invite=made["invites"][0])
            table = Table(arena, made["id"], made["invites"], ada, ben, joined["sessionKey"])
            await ada.hear_messages(table.operator, 1)
            valkey.kill()
            valkey.rewind(mark)
            valkey.start()
            taken = await ben.get("join", invite=made["invites"][1])
            assert taken["playerIndex"] == joined["playerIndex"] == 0
            await ben.hear_messages(table.operator, 1)
            yield table


def to(invite: str, messages: list[Frame]) -> list[str]:
    return [m["content"] for m in messages if m.get("to") == invite]


async def test_a_live_connection_without_its_seat_reads_nothing_of_the_one_who_sits_there_now(table: Table) -> None:
    ada, ben = table.ada, table.ben
    await ben.get("chat", channel=table.id, content="my own notes", to=table.invites[1])

    read = [await ada.get("sync", channel=channel) for channel in (table.operator, table.id)]
    pushed = await ada.until(lambda: to(table.invites[1], ada.messages(table.id)) or None, "the note")

    assert [to(table.invites[1], page["messages"]) for page in read] == [[""], [""]]
    assert pushed == [""]
    await ada.until(lambda: to(table.invites[1], ada.messages(table.operator)) or None, "what Ben was told")
    assert set(to(table.invites[1], ada.messages(table.operator))) == {""}
    [told] = to(table.invites[1], ben.messages(table.operator))
    assert told.startswith(SET)


async def test_a_live_connection_without_its_seat_cannot_act_for_the_one_who_sits_there_now(table: Table) -> None:
    codes = [
        await table.ada.refusal("chat", channel=table.id, content="I am Ben"),
        await table.ada.refusal("message", challengeId=table.id, messageType="guess", content="1"),
    ]

    assert codes[0] == "PLAYER_NOT_FOUND"
    assert codes[1] in {"PLAYER_NOT_FOUND", "GAME_NOT_RUNNING"}
    assert not table.ben.messages(table.id)


async def test_the_session_key_of_a_lost_seat_opens_nothing(table: Table) -> None:
    eve = await visit(table.arena)

    codes = [await who.refusal("resume", challengeId=table.id, sessionKey=table.key) for who in (eve, table.ada)]
    closed = await (await visit(table.arena, query=f"?challenge={table.id}&key={table.key}")).closed()

    assert codes == ["UNAUTHORIZED"] * 2
    assert closed == 4401
    assert not eve.of("initial")


async def test_whoever_lost_a_seat_may_take_another_with_the_same_invite_and_connection(table: Table) -> None:
    again = await table.ada.get("join", invite=table.invites[0])

    await table.ada.get("message", challengeId=table.id, messageType="guess", content="1")
    await table.ben.get("message", challengeId=table.id, messageType="guess", content="1")

    assert again["playerIndex"] == 1
    assert again["sessionKey"] != table.key
    await table.ada.hear("game_ended", challengeId=table.id)
    assert await (await visit(table.arena)).refusal("resume", challengeId=table.id, sessionKey=table.key) == (
        "UNAUTHORIZED"
    )
