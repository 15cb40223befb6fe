"""Whole games over real sockets, as their users play them."""

import asyncio
import re
from random import Random

import pytest

from arena.client import play
from arena.wire import JSON, MSGPACK, Codec
from challenges.psi.bots import GreedyBot, HonestBot
from tests.guests import Frame, Game, Guest, visit
from tests.servers import Served

SECRET = "my set holds 123 and 456"


def own_set(guest: Guest, game: Game) -> set[int]:
    """The numbers that the operator dealt to this guest."""
    told = [m["content"] for m in guest.messages(game.operator_channel) if "private set" in m["content"]]
    assert len(told) == 1, told
    return {int(number) for number in re.findall(r"\d+", told[0])}


def indexes(messages: list[Frame]) -> list[int]:
    return [message["index"] for message in messages]


async def begin(arena: Served, codecs: tuple[Codec, Codec] = (JSON, MSGPACK)) -> tuple[Game, Guest]:
    """Ada and Ben at a table of psi, each with a codec of its own, and Eve who watches from the start."""
    ada, ben = await visit(arena, codecs[0]), await visit(arena, codecs[1])
    eve = await visit(arena)
    made = await ada.get("create", challengeType="psi")
    await eve.get("watch", challengeId=made["id"])
    keys = []
    for guest, invite, user in zip((ada, ben), made["invites"], ("ada", "ben"), strict=True):
        keys.append((await guest.get("join", invite=invite, userId=user))["sessionKey"])
    game = Game(made["id"], made["invites"], [ada, ben], keys)
    for guest in (ada, ben, eve):
        await guest.hear_messages(game.operator_channel, 2)
    return game, eve


async def guess_right(game: Game) -> list[Frame]:
    """Both players name the true intersection; the answers to their moves."""
    sets = [own_set(guest, game) for guest in game.players]
    guess = " ".join(map(str, sorted(set.intersection(*sets))))
    return [await game.act(seat, "guess", guess) for seat in (0, 1)]


@pytest.mark.parametrize("codecs", [(JSON, MSGPACK), (MSGPACK, JSON)], ids=["json first", "msgpack first"])
async def test_a_whole_game_arrives_once_and_in_order_and_everybody_sees_what_is_theirs(
    arena: Served, codecs: tuple[Codec, Codec]
) -> None:
    game, eve = await begin(arena, codecs)
    ada, ben = game.players

    await game.say(0, "Hello, everybody!")
    await game.say(0, SECRET, to=game.invites[1])
    await game.say(1, "thank you", to=game.invites[0])
    answers = await guess_right(game)
    for guest in (ada, ben, eve):
        await guest.hear("game_ended", challengeId=game.id)
        await guest.get("ping")

    assert [answer["result"] for answer in answers] == [{"ok": "Message sent"}] * 2
    for guest in (ada, ben, eve):
        assert indexes(guest.messages(game.operator_channel)) == list(range(1, 10))
        assert indexes(guest.messages(game.id)) == [1, 2, 3]
        assert len(guest.of("game_ended")) == 1
    assert [m["content"] for m in ada.messages(game.id)] == ["Hello, everybody!", SECRET, "thank you"]
    assert ada.messages(game.id) == ben.messages(game.id)
    senders = [m["from"] for m in eve.messages(game.operator_channel)]
    assert senders == ["operator"] * 2 + [game.invites[0], *["operator"] * 2, game.invites[1], *["operator"] * 3]


async def test_a_spectator_sees_that_something_was_said_in_private_and_no_more(arena: Served) -> None:
    game, eve = await begin(arena)

    await game.say(0, "Hello, everybody!")
    await game.say(0, SECRET, to=game.invites[1])
    await guess_right(game)
    await eve.hear("game_ended")

    greeting, whisper = eve.messages(game.id)
    assert greeting["content"] == "Hello, everybody!"
    assert "redacted" not in greeting
    assert whisper == {
        "channel": game.id,
        "from": game.invites[0],
        "to": game.invites[1],
        "content": "",
        "timestamp": whisper["timestamp"],
        "index": 2,
        "redacted": True,
    }
    private = [m for m in eve.messages(game.operator_channel) if m.get("to")]
    assert len(private) == 6
    assert all(m["content"] == "" and m["redacted"] and "type" not in m for m in private)
    heard = str(eve.frames[: eve.frames.index(eve.of("game_ended")[0])])
    assert SECRET not in heard
    assert "private set" not in heard
    assert "(guess)" not in heard


async def test_a_player_reads_its_own_private_messages_and_not_its_rivals(arena: Served) -> None:
    game, _ = await begin(arena)

    await guess_right(game)

    for seat, guest in enumerate(game.players):
        await guest.hear("game_ended")
        for message in guest.messages(game.operator_channel):
            mine = game.invites[seat] in {message["from"], message.get("to")}
            assert ("redacted" not in message) == (mine or "to" not in message)
        moves = [m for m in guest.messages(game.operator_channel) if m.get("type")]
        assert [(m["from"], m["to"], m["type"]) for m in moves] == [(game.invites[seat], "operator", "guess")]
        assert moves[0]["content"].startswith("(guess) ")


async def test_no_byte_that_a_spectator_gets_before_the_end_holds_what_it_may_not_see(arena: Served) -> None:
    host, eve = await visit(arena), await visit(arena)
    await eve.get("lobby")
    await eve.get("leaderboard")
    waiting = await host.get("create", challengeType="psi")
    hidden = await host.get("create", challengeType="psi", private=True)
    game, other = await begin(arena)
    await eve.get("watch", challengeId=game.id)
    await eve.get("watch", challengeId=waiting["id"])

    await game.say(0, SECRET, to=game.invites[1])
    await game.act(0, "guess", "987654321987")
    await eve.get("sync", channel=game.operator_channel)
    await eve.get("sync", channel=game.id)
    await eve.hear_messages(game.id, 1)
    await eve.hear("state", challengeId=game.id)
    await eve.hear("session", event="changed")

    sets = [str(sorted(own_set(guest, game)))[1:-1] for guest in game.players]
    secrets = [SECRET, "987654321987", "'ada'", "'ben'", "(guess)", *sets, *game.keys]
    secrets += [*waiting["invites"], *hidden["invites"], hidden["id"]]
    for guest in (eve, other):
        heard = str(guest.frames)
        assert [secret for secret in secrets if secret in heard] == []


async def test_game_ended_comes_after_the_last_message_with_scores_and_identities(arena: Served) -> None:
    game, eve = await begin(arena)

    await guess_right(game)

    for guest in (*game.players, eve):
        ended = await guest.hear("game_ended", challengeId=game.id)
        after = guest.frames[guest.frames.index(ended) :]
        assert not [frame for frame in after if frame["type"] == "new_message"]
        assert ended["data"]["status"] == "ended"
        assert ended["data"]["scores"] == [{"security": 1, "utility": 1}] * 2
        assert ended["data"]["players"] == game.invites
        assert ended["data"]["playerIdentities"] == dict(zip(game.invites, ("ada", "ben"), strict=True))
        assert ended["data"]["profiles"] == {}
        assert ended["data"]["completedAt"] >= guest.messages(game.operator_channel)[0]["timestamp"]


async def test_the_result_is_on_the_leaderboard_when_the_last_move_is_answered(arena: Served) -> None:
    game, eve = await begin(arena)

    await guess_right(game)
    board = await eve.get("leaderboard", challengeType="psi")
    overall = await eve.get("leaderboard")

    line = {"gamesPlayed": 1, "metrics": {"average:security": 1, "average:utility": 1}}
    assert board["challengeType"] == "psi"
    assert board["strategy"] == "average"
    assert sorted(board["entries"], key=lambda e: str(e["playerId"])) == [
        {"playerId": "ada", **line},
        {"playerId": "ben", **line},
    ]
    assert {entry["playerId"]: entry["gamesPlayed"] for entry in overall["entries"]} == {"ada": 1, "ben": 1}


async def test_a_breach_is_attributed_by_invite_code(arena: Served) -> None:
    game, eve = await begin(arena)
    ada, ben = (own_set(guest, game) for guest in game.players)

    await game.act(0, "guess", " ".join(map(str, ben)))
    await game.act(1, "guess", " ".join(map(str, ada & ben)))

    ended = await eve.hear("game_ended")
    assert ended["data"]["attributions"] == [
        {"from": game.invites[0], "to": game.invites[1], "type": "security_breach"}
    ]
    assert ended["data"]["scores"] == [{"security": 1, "utility": 1}, {"security": -1, "utility": 1}]


async def test_bots_play_each_other_over_sockets(arena: Served) -> None:
    host = await visit(arena)
    made = await host.get("create", challengeType="psi")

    async with asyncio.timeout(60):
        honest, greedy = await asyncio.gather(
            play(arena.ws, made["invites"][0], HonestBot(Random(1)), "honest"),
            play(arena.ws, made["invites"][1], GreedyBot(Random(2)), "greedy"),
        )

    board = await host.get("leaderboard", challengeType="psi")
    assert honest == greedy
    assert honest.state.status == "ended"
    assert set(honest.state.player_identities.values()) == {"honest", "greedy"}
    assert {entry["playerId"] for entry in board["entries"]} == {"honest", "greedy"}


async def test_many_games_of_bots_at_once_are_all_counted(arena: Served) -> None:
    host = await visit(arena)
    made = [await host.get("create", challengeType="psi") for _ in range(10)]

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(play(arena.ws, game["invites"][0], HonestBot(Random(n)), "one") for n, game in enumerate(made)),
            *(play(arena.ws, game["invites"][1], HonestBot(Random(-n)), "two") for n, game in enumerate(made, 1)),
        )

    board = await host.get("leaderboard", challengeType="psi")
    line = {"gamesPlayed": 10, "metrics": {"average:security": 1, "average:utility": 1}}
    assert sorted(board["entries"], key=lambda e: str(e["playerId"])) == [
        {"playerId": "one", **line},
        {"playerId": "two", **line},
    ]
