"""Sessions that nobody filled in time: gone from every door, and those who waited are told."""

from collections.abc import AsyncIterator

import pytest

from arena.models import SessionId
from arena.store import keys
from tests.guests import Game, comes_true, sit_down, visit
from tests.servers import Served, served


@pytest.fixture
async def hasty(store: str) -> AsyncIterator[Served]:
    """A server that removes open sessions after half a second."""
    async with served(store, open_seconds=0.5) as running:
        yield running


async def test_those_who_followed_by_frame_are_told_and_stay_connected(hasty: Served) -> None:
    host, eve = await visit(hasty), await visit(hasty)
    made = await host.get("create", challengeType="psi")
    await host.get("join", invite=made["invites"][0])
    await eve.get("watch", challengeId=made["id"])

    told = [await guest.hear("error", challengeId=made["id"]) for guest in (host, eve)]

    assert [frame["code"] for frame in told] == ["NOT_FOUND", "NOT_FOUND"]
    assert all("id" not in frame for frame in told)
    assert (await host.ask("ping"))["type"] == "reply"
    assert await host.refusal("chat", channel=made["id"], content="hello?") == "NOT_FOUND"
    assert await host.refusal("message", challengeId=made["id"], content="hello?") == "NOT_FOUND"
    assert len(host.of("error", challengeId=made["id"])) == 1


async def test_those_who_asked_in_the_query_are_closed(hasty: Served) -> None:
    host = await visit(hasty)
    made = await host.get("create", challengeType="psi")

    seated = await visit(hasty, query=f"?invite={made['invites'][0]}")
    watching = await visit(hasty, query=f"?watch={made['id']}")

    assert [await guest.closed() for guest in (seated, watching)] == [4404, 4404]


async def test_nothing_of_a_removed_session_is_left(hasty: Served) -> None:
    host = await visit(hasty)
    made = await host.get("create", challengeType="psi")
    joined = await host.get("join", invite=made["invites"][0])
    await host.get("chat", channel=made["id"], content="hello?")
    await host.hear("error", challengeId=made["id"])

    guest = await visit(hasty)
    codes = [
        await guest.refusal("join", invite=made["invites"][1]),
        await guest.refusal("join", invite=made["invites"][0]),
        await guest.refusal("watch", challengeId=made["id"]),
        await guest.refusal("resume", challengeId=made["id"], sessionKey=joined["sessionKey"]),
        await guest.refusal("sync", channel=made["id"]),
        await guest.refusal("sync", channel=f"challenge_{made['id']}"),
    ]

    assert codes == ["INVITE_NOT_FOUND"] * 2 + ["NOT_FOUND"] * 4
    assert (await guest.get("lobby"))["challenges"] == []
    names = keys.of(SessionId(made["id"]))
    nodes = hasty.arena.nodes
    for name in (names.session, names.inputs, names.operator_log, names.player_log, names.answers, names.notes):
        assert await nodes.run(name, "EXISTS", name) == 0
    assert await nodes.run(names.due, "ZSCORE", names.due, made["id"]) is None


async def test_a_session_that_has_started_is_not_removed(hasty: Served) -> None:
    host, ada, ben = [await visit(hasty) for _ in range(3)]
    waiting = await host.get("create", challengeType="psi")
    await host.get("watch", challengeId=waiting["id"])
    made = await host.get("create", challengeType="psi")
    joined = [await guest.get("join", invite=invite) for guest, invite in zip((ada, ben), made["invites"], strict=True)]

    await host.hear("error", challengeId=waiting["id"])
    later = await host.get("create", challengeType="psi")
    await host.get("watch", challengeId=later["id"])
    await host.hear("error", challengeId=later["id"])

    game = Game(made["id"], made["invites"], [ada, ben], [reply["sessionKey"] for reply in joined])
    await game.end()
    assert await ada.hear("game_ended", challengeId=made["id"])


async def test_a_connection_may_go_on_with_other_sessions(hasty: Served) -> None:
    guest = await visit(hasty)
    gone = await guest.get("create", challengeType="psi")
    await guest.get("join", invite=gone["invites"][0])
    await guest.hear("error", challengeId=gone["id"])

    made = await guest.get("create", challengeType="psi")
    joined = await guest.get("join", invite=made["invites"][0])

    assert joined["ChallengeID"] == made["id"]
    assert (await guest.get("chat", channel=made["id"], content="hello"))["index"] == 1


async def test_ended_sessions_are_removed_after_the_days_they_are_kept(store: str) -> None:
    async with served(store, keep_days=0.5 / 86_400) as arena:
        game = await sit_down(arena, users=("ada", "ben"))
        await game.end()

        await game.players[0].hear("error", challengeId=game.id)

        guest = await visit(arena)
        assert await guest.refusal("watch", challengeId=game.id) == "NOT_FOUND"
        board = await guest.get("leaderboard", challengeType="psi")
        assert {entry["playerId"] for entry in board["entries"]} == {"ada", "ben"}


async def test_a_limit_that_is_set_later_also_holds_for_public_sessions_that_had_ended(store: str) -> None:
    async with served(store) as arena:
        old = [await sit_down(arena, users=("ada", "ben")) for _ in range(3)]
        hidden = await sit_down(arena, private=True)
        for game in (*old, hidden):
            await game.end()
        running = await sit_down(arena)
    async with served(store, keep_days=0.1 / 86_400) as arena:
        guest = await visit(arena)

        async def are_gone() -> bool:
            answers = [await guest.ask("watch", challengeId=game.id) for game in old]
            return all(answer.get("code") == "NOT_FOUND" for answer in answers)

        await comes_true(are_gone, "the old sessions are gone")

        board = await guest.get("leaderboard", challengeType="psi")
        assert {entry["playerId"]: entry["gamesPlayed"] for entry in board["entries"]} == {"ada": 3, "ben": 3}
        assert (await guest.ask("watch", challengeId=running.id))["type"] == "reply"
        assert (await guest.ask("watch", challengeId=hidden.id))["type"] == "reply"
        assert await arena.arena.boards.games("psi") == 4


async def test_the_limit_takes_no_session_that_is_younger_than_it(store: str) -> None:
    async with served(store) as arena:
        game = await sit_down(arena)
        await game.end()
    async with served(store, keep_days=1) as arena:
        await arena.arena._remove_old()

        assert (await (await visit(arena)).ask("watch", challengeId=game.id))["type"] == "reply"


async def test_a_session_of_a_server_that_died_is_removed_by_another(store: str) -> None:
    async with served(store, open_seconds=1) as survivor:
        async with served(store, open_seconds=1) as dying:
            made = [await (await visit(dying)).get("create", challengeType="psi") for _ in range(8)]
        guest = await visit(survivor)

        async def are_gone() -> bool:
            answers = [await guest.ask("watch", challengeId=session["id"]) for session in made]
            return all(answer["type"] == "error" for answer in answers)

        await comes_true(are_gone, "the sessions are gone")

        assert (await guest.get("lobby"))["challenges"] == []
