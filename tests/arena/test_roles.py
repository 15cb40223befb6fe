"""Roles: those who sit at a table without competing."""

import pytest

from arena import Refused
from arena.engine import told_roles
from arena.errors import GameNotRunning, Internal, InviteAlreadyUsed
from arena.models import Status
from arena.operator import NoOptions
from arena.session import challenge_view, creator_view
from arena.testing import Table
from tests.guests import visit
from tests.plugins.court import Court, Docket
from tests.servers import served

PLAYERS, JUDGE, USHER = (0, 1), 2, 3


def court() -> Table[Docket, NoOptions]:
    return Table(Court(), seated=0)


def test_the_game_begins_when_all_players_sit_whoever_else_is_there() -> None:
    table = court()
    table.join(JUDGE)
    table.join(1)
    waiting = table.status
    table.join(0)

    assert (waiting, table.status) == (Status.OPEN, Status.ACTIVE)
    assert table.handles == ["inv_1", "inv_0", "inv_2"]


def test_seats_of_others_come_after_those_of_all_players_in_the_order_of_joining() -> None:
    table = court()
    for invite in (USHER, 1, JUDGE, 0):
        table.join(invite)

    assert table.state.arrived == [2, 0, 3, 1]
    assert table.told(2) == ["You sit on 2, inv_3."]
    assert table.told(0) == ["You sit on 0, inv_1."]


def test_only_those_of_a_role_may_use_its_actions() -> None:
    table = Table(Court())
    table.join(JUDGE)

    with pytest.raises(Refused, match="for a judge") as refusal:
        table.act(0, "decide", "0")
    with pytest.raises(Refused, match="for a player"):
        table.act(JUDGE, "plead", "me too")
    with pytest.raises(Refused, match="Unknown challenge method"):
        table.act(JUDGE, "resign")
    table.act(0, "plead", "a")
    table.act(JUDGE, "decide", "0")

    assert refusal.value.code == "WRONG_ROLE"
    assert table.told(JUDGE)[-1] == "a"
    assert table.status is Status.ENDED


def test_results_and_scores_know_players_alone() -> None:
    table = court()
    table.join(JUDGE, user="justice")
    table.join(0, user="ada")
    table.join(1, user="ben")
    table.act(JUDGE, "decide", "1")

    assert table.result.players == ["inv_0", "inv_1"]
    assert table.result.player_identities == {"inv_0": "ada", "inv_1": "ben"}
    assert [score.utility for score in table.result.scores] == [0, 1]
    assert table.again() == table.session


def test_nobody_sits_down_twice_or_after_the_end() -> None:
    table = Table(Court())
    table.join(JUDGE)
    with pytest.raises(InviteAlreadyUsed):
        table.join(JUDGE)
    table.act(JUDGE, "decide", "1")

    with pytest.raises(GameNotRunning):
        table.join(USHER)


def test_the_creator_sees_all_roles_and_others_those_of_whom_they_see() -> None:
    table = court()
    everything = {"inv_0": "player", "inv_1": "player", "inv_2": "judge", "inv_3": "usher"}

    assert creator_view(table.session).roles == everything
    assert challenge_view(table.session).roles == {}
    assert challenge_view(table.session).seats == 2  # the judge's invite is no seat of a player
    table.join(JUDGE)
    assert challenge_view(table.session).roles == {"inv_2": "judge"}
    assert challenge_view(table.session).state.players == []


def test_a_sealed_game_reveals_neither_state_nor_what_was_told_in_private() -> None:
    table = Table(Court())
    table.join(JUDGE)
    table.act(0, "plead", "between us")
    table.act(JUDGE, "decide", "1")

    view = challenge_view(table.session)
    assert not table.session.standing.revealed
    assert (view.game_state, view.reveal) == ({}, None)


def test_players_come_first_in_the_list_of_roles() -> None:
    class Upside(Court):
        def roles(self) -> tuple[str, ...]:
            return ("judge", "player", "player")

    with pytest.raises(Internal):
        told_roles(Upside())


async def test_a_judge_joins_late_talks_comes_back_and_ends_the_game(store: str) -> None:
    async with served(store, load=("tests.plugins.court",)) as arena:
        ada, ben, judge, eve = [await visit(arena) for _ in range(4)]
        made = await ada.get("create", challengeType="court")
        id_, invites = made["id"], made["invites"]
        await eve.get("watch", challengeId=id_)
        for guest, invite in zip((ada, ben), invites, strict=False):
            await guest.get("join", invite=invite)
        joined = await judge.get("join", invite=invites[2])
        await judge.get("chat", channel=id_, content="Order!")
        await ada.get("message", challengeId=id_, messageType="plead", content="between us")

        late = await visit(arena)
        back = await late.get("resume", challengeId=id_, sessionKey=joined["sessionKey"])
        heard = await late.get("sync", channel=f"challenge_{id_}")
        await late.get("message", challengeId=id_, messageType="decide", content="0")
        ended = await eve.hear("game_ended", challengeId=id_)
        seen = await eve.get("sync", channel=f"challenge_{id_}")

    assert (joined["playerIndex"], back["playerIndex"]) == (2, 2)
    assert "between us" in [message["content"] for message in heard["messages"]]
    assert ended["data"]["players"] == invites[:2]
    assert [score["utility"] for score in ended["data"]["scores"]] == [1, 0]
    assert not [message for message in seen["messages"] if "between us" in message["content"]]
