"""What a link says of its page, to those who have not opened it."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from tests.guests import sit_down
from tests.servers import Served
from tests.shelves import quiz
from tests.stage import start

NASTY = '"><script>alert(1)</script>'


@pytest_asyncio.fixture
async def web(arena: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        yield client


async def head(web: httpx.AsyncClient, path: str) -> str:
    """The head of a page."""
    answer = await web.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.text.count("<title>") == answer.text.count("og:title") == 1
    return answer.text.partition("</head>")[0]


async def test_each_page_says_what_it_shows(arena: Served, web: httpx.AsyncClient) -> None:
    game, going_on = await sit_down(arena, users=("ada", "ben")), await sit_down(arena)
    await game.end()

    assert "<title>Arena</title>" in await head(web, "/")
    assert "<title>Private Set Intersection · Arena</title>" in await head(web, "/challenges/psi")
    assert "<title>ada · Arena</title>" in await head(web, "/players/ada")
    board = await head(web, "/boards/psi")
    assert "<title>Private Set Intersection · Leaderboard · Arena</title>" in board
    assert "2 players, 1 games. 1. " in board
    ended = await head(web, f"/session/{game.id}")
    assert "Replay of a finished game; ada: security 1, utility -1; ben: security 1, utility -1." in ended
    live = await head(web, f"/session/{going_on.id}?at=5")
    assert "Private Set Intersection · live · Arena" in live
    assert f'content="{arena.url}/session/{going_on.id}"' in live


async def test_names_are_text_wherever_they_stand(arena: Served, web: httpx.AsyncClient) -> None:
    await web.post("/api/users", json={"userId": "eve", "username": NASTY, "model": NASTY})
    await (await sit_down(arena, users=("eve", "ben"))).end()

    pages = [await head(web, path) for path in ("/players/eve", "/boards/psi", f"/players/{NASTY.replace('/', '')}")]

    assert all("<script>alert" not in page for page in pages)
    assert all("&lt;script&gt;alert" in page for page in pages)


async def test_before_the_end_a_link_says_nothing_of_who_plays(arena: Served, web: httpx.AsyncClient) -> None:
    game = await sit_down(arena, users=("somebody-secret", "somebody-else"))

    said = await head(web, f"/session/{game.id}")

    assert "somebody" not in said
    assert not any(invite in said for invite in game.invites)


@pytest.mark.parametrize("path", ["/session/none", "/boards/chess", "/challenges/chess", "/session/%00"])
async def test_of_what_is_not_there_a_link_says_what_is_true_of_all(web: httpx.AsyncClient, path: str) -> None:
    assert "<title>Arena</title>" in await head(web, path)


async def test_links_to_packs_and_scorecards_say_what_they_lead_to(arena: Served, web: httpx.AsyncClient) -> None:
    assert (await web.post("/api/packs", content=quiz(pack__name=NASTY))).status_code in {200, 201}
    race = await start(arena, "quiz", "ada")
    live = await head(web, f"/session/{race.id}/scorecards")
    await race.submit(0, "4", "8")
    await race.players[0].hear("game_ended", challengeId=race.id)

    assert "<title>Packs · Arena</title>" in await head(web, "/packs")
    assert "1 challenge pack to play" in await head(web, "/packs")
    assert "<title>Your seat · Arena</title>" in await head(web, "/sit")
    assert "<script>alert" not in await head(web, "/packs/quiz")
    assert "· Pack · Arena</title>" in await head(web, "/packs/quiz")
    assert "Player 1: 0.50, 1 of 2 cases passed." in await head(web, f"/session/{race.id}/scorecards")
    assert "0.50" not in live
    assert "<title>Arena</title>" in await head(web, "/packs/nothing")
