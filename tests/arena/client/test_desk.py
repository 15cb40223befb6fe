"""What the SDK tells beside a game: what is played and how well, free seats, and games that others play."""

import asyncio
from contextlib import suppress

import pytest

from arena.client import Arena, Disconnected, Ended, Identity, Refused, Started, Watched
from arena.client.desk import Desk, page_of
from arena.models import OPERATOR, ChatMessage, Status
from tests.servers import Served, served

SECRET = "long enough to be a secret"


async def test_a_seat_can_be_offered_taken_watched_and_left_for_another_program(arena: Served) -> None:
    async with Arena(arena.url) as host, Arena(arena.url) as guest, Arena(arena.url) as crowd:
        made = await host.create("millionaire", {"clock": {"game": 600}})
        await host.announce(made.invites[1])
        watched = await crowd.watch(made.id)
        ada = await host.join(made.invites[0], "ada")
        ben = await guest.join((await guest.announced())[-1], "ben")
        await asyncio.gather(ada.wait_for_start(), ben.wait_for_start())
        async with Arena(arena.url) as elsewhere:
            again = await elsewhere.resume(ada.id, ada.session_key)
            await again.say("psst", to=again.rivals[0])
            await again.act("guess", "50")
        await ben.act("guess", "50")
        ended = await ada.play_out()
        seen = [event async for event in watched.events()]

        assert (again.handle, again.rivals) == (ada.handle, [ben.handle])
        assert [message.content for message in again.private] == [message.content for message in ada.private][:1]
        assert 0 < (ben.time_left or 0) <= 600
        assert ada.status is Status.ENDED
        assert not crowd.watched
        assert not host.games
        assert isinstance(seen[-1], Ended)
        assert seen[-1] == ended
        assert any(isinstance(event, Started) for event in seen)
        told = [event for event in seen if isinstance(event, ChatMessage)]
        assert [message.redacted for message in told if message.from_ == OPERATOR][:2] == [True, True]
        assert "psst" not in [message.content for message in told]

        assert (await host.challenges())["millionaire"].methods[0].name == "guess"
        assert [session.id for session in await host.sessions("millionaire", "ended")] == [made.id]
        assert {entry.player_id for entry in await host.leaderboard("millionaire")} == {"ada", "ben"}
        assert {entry.player_id for entry in await host.leaderboard()} == {"ada", "ben"}
        assert (await host.introduce("ada", username="Ada", model="abacus")).username == "Ada"
        assert (await guest.profile("ada")).model == "abacus"
        with pytest.raises(Refused) as refusal:
            await guest.announce(made.invites[0])
        assert refusal.value.code == "INVITE_ALREADY_USED"


async def test_who_watches_no_more_hears_no_more(arena: Served) -> None:
    async with Arena(arena.url) as host, Arena(arena.url) as crowd:
        made = await host.create("millionaire")
        watched = await crowd.watch(made.id)
        game = await host.join(made.invites[0])
        await watched.leave()
        await game.say("nobody hears me")

        heard = await _words(watched)
        with pytest.raises(Refused, match="hears more"):
            await host.watch(made.id)

    assert "nobody hears me" not in heard


async def _words(watched: Watched) -> list[str]:
    heard = []
    with suppress(Disconnected):
        async for message in watched:
            heard.append(message.content)
    return heard


async def test_an_identity_signs_what_it_says_of_itself(store: str) -> None:
    ada = Identity.new()
    async with (
        served(store, auth="required", auth_secret=SECRET) as arena,
        Arena(arena.url, identity=ada) as link,
    ):
        profile = await link.introduce("somebody else", username="Ada")

        assert (profile.user_id, profile.username) == (ada.user, "Ada")
        with pytest.raises(Refused, match="signature"):
            await Desk(arena.url).introduce("ada", username="Eve")


async def test_a_desk_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(Disconnected, match="No arena answers"):
        await Desk("http://127.0.0.1:9").challenges()


@pytest.mark.parametrize(
    ("url", "page"),
    [("ws://a:1/ws", "http://a:1"), ("wss://a/api/v1/ws", "https://a"), ("http://a:1/", "http://a:1")],
)
def test_a_page_is_found_from_the_address_of_a_socket(url: str, page: str) -> None:
    assert page_of(url) == page
