"""The AsyncAPI document: it is whole, it is valid, and every frame of a played game keeps to it."""

from typing import Any

import jsonschema_rs
import pytest

from arena import wire
from arena.version import __version__
from arena.web.spec import asyncapi
from arena.wire import CODECS, Codec
from tests.documents import Document, complaints, fetch, refs, resolve
from tests.guests import Frame, Guest, visit
from tests.servers import Served, served

CLOSE_CODES = (1000, 1001, 1003, 1007, 1008, 1009, 1013, 4401, 4404, 4408, 4409)
CODES = {
    *("BAD_FRAME", "UNKNOWN_TYPE", "VALIDATION", "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "INVITE_NOT_FOUND"),
    *("INVITE_ALREADY_USED", "UNKNOWN_CHALLENGE_TYPE", "PLAYER_NOT_FOUND", "UNKNOWN_METHOD", "GAME_NOT_RUNNING"),
    *("RATE_LIMITED", "TOO_LARGE", "KEY_REUSED", "STORE_UNAVAILABLE", "INTERNAL"),
}


async def read(arena: Served) -> Document:
    return await fetch(arena, "/asyncapi.json")


async def test_the_document_is_about_this_server(arena: Served, store: str) -> None:
    document = await read(arena)

    assert document["asyncapi"] == "3.0.0"
    assert document["info"]["version"] == __version__
    assert document["servers"]["arena"] == {"host": arena.url.removeprefix("http://"), "protocol": "ws"}
    assert "open mode" in document["info"]["description"]
    async with served(store, auth="required", auth_secret="x" * 40) as strict:
        assert "auth mode" in (await read(strict))["info"]["description"]


async def test_all_references_lead_somewhere_and_all_schemas_are_schemas(arena: Served) -> None:
    document = await read(arena)

    assert all(isinstance(resolve(document, ref), dict) for ref in refs(document))
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


async def test_every_command_has_an_operation_with_its_reply(arena: Served) -> None:
    document = await read(arena)

    received = {name for name, one in document["operations"].items() if one["action"] == "receive"}
    assert received == set(wire.COMMANDS)
    for name in wire.COMMANDS:
        answers = [resolve(document, resolve(document, one["$ref"])["$ref"]) for one in replies(document, name)]
        assert [answer["name"] for answer in answers] == ["reply", "error"]


def replies(document: Document, command: str) -> list[Document]:
    answers: list[Document] = document["operations"][command]["reply"]["messages"]
    return answers


async def test_both_subprotocols_all_close_codes_and_all_error_codes_are_told(arena: Served) -> None:
    document = await read(arena)

    assert set(document["x-subprotocols"]) == set(CODECS)
    assert set(document["x-close-codes"]) == {str(code) for code in CLOSE_CODES}
    assert set(document["x-error-codes"]) == CODES


class Reader:
    """Sends commands and compares both sides with the document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.kinds: dict[str, list[str]] = {}
        for name, message in document["components"]["messages"].items():
            self.kinds.setdefault(message["name"], []).append(name)

    def check(self, name: str, data: Any) -> None:
        assert complaints(self.document, self.document["components"]["messages"][name]["payload"], data) == []

    async def ask(self, guest: Guest, type: str, **fields: Any) -> Frame:
        model = wire.COMMANDS[type].__name__
        self.check(model, {"type": type, "id": "x", **fields})
        answer = await guest.ask(type, **fields)
        self.check("Error" if answer["type"] == "error" else f"{model}Reply", answer)
        return answer

    def check_pushed(self, frame: Frame) -> None:
        if frame["type"] not in {"reply", "error"}:
            [name] = [kind for kind in self.kinds[frame["type"]] if kind not in COMMANDS]
            self.check(name, frame)


COMMANDS = {model.__name__ for model in wire.COMMANDS.values()}


@pytest.mark.parametrize("codec", list(CODECS.values()), ids=list(CODECS))
async def test_every_frame_of_a_played_game_is_as_described(arena: Served, codec: Codec) -> None:
    reader = Reader(await read(arena))
    ada, ben, eve = [await visit(arena, codec) for _ in range(3)]
    ask = reader.ask

    await ask(eve, "lobby")
    await ask(eve, "leaderboard")
    made = (await ask(ada, "create", challengeType="psi"))["result"]
    id_, invites = made["id"], made["invites"]
    await ask(ada, "queue", challengeType="psi", userId="cid", key="q")
    await ask(ada, "queue", challengeType="psi", userId="cid", key="q", off=True)
    for guest, user in ((ada, "cid"), (ben, "dan")):
        await ask(guest, "queue", challengeType="psi", userId=user)
    await ben.hear("queue", status="matched")
    await ask(ada, "pair", challengeType="psi", seed="7")
    await ask(ada, "create", challengeType="psi", seed="7", options={"clock": {"move": 60}})
    joined = (await ask(ada, "join", invite=invites[0], userId="ada", key="k"))["result"]
    await ask(eve, "watch", challengeId=id_)
    await ask(ben, "join", invite=invites[1], userId="ben")
    await ask(ada, "resume", challengeId=id_, sessionKey=joined["sessionKey"])
    await ask(ada, "chat", channel=id_, content="hi", to=invites[1])
    await ask(ada, "chat", channel=id_, content="hi")
    await ask(ben, "sync", channel=f"challenge_{id_}", index=1)
    await ask(ben, "message", challengeId=id_, messageType="guess", content="none")
    await ask(ben, "ping")
    for guest in (ada, ben):
        await ask(guest, "message", challengeId=id_, messageType="guess", content="1")
    await eve.hear("game_ended")
    await eve.hear("leaderboard")
    await ask(eve, "unwatch", challengeId=id_)
    await ask(eve, "lobby", off=True)
    await ask(eve, "leaderboard", off=True)
    assert (await ask(eve, "watch", challengeId="none"))["type"] == "error"

    frames = [frame for guest in (ada, ben, eve) for frame in guest.frames]
    for frame in frames:
        reader.check_pushed(frame)
    sent = {one["name"] for name, one in reader.document["components"]["messages"].items() if name not in COMMANDS}
    assert {frame["type"] for frame in frames} == sent


async def test_a_frame_that_is_not_as_described_is_noticed(arena: Served) -> None:
    reader = Reader(await read(arena))
    guest = await visit(arena)
    welcome = await guest.hear("welcome")

    reader.check("Welcome", welcome)
    for wrong in ({**welcome, "time": "now"}, {**welcome, "strange": 1}, {"type": "welcome"}):
        with pytest.raises(AssertionError):
            reader.check("Welcome", wrong)


def test_every_frame_that_we_send_has_a_model() -> None:
    models = {model.__name__ for model in asyncapi.SENT}

    assert {f"{model.__name__}Reply" for model in wire.COMMANDS.values()} <= models
