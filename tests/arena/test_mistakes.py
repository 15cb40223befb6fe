"""What the mistakes of a challenge may do to a running server: nothing, but for a line in its log."""

from collections.abc import AsyncIterator

import pytest

from arena.models import SessionId
from tests.guests import Game, comes_true, sit_down
from tests.servers import Served, served
from tests.watching import stored, tallies

MISTAKES = [
    ("mumble", ""),
    ("whisper", ""),
    ("garble", ""),
    ("mistype", ""),
    ("diverge", "nan"),
    ("diverge", "inf"),
    ("diverge", "-inf"),
    ("blurt", ""),
    ("hand", ""),
]


NO_JSON = ["half", "nan", "object", "set"]  # results of jobs


@pytest.fixture
async def clumsy(store: str) -> AsyncIterator[Served]:
    async with served(store, load="tests.plugins.clumsy") as running:
        yield running


async def hear(game: Game, content: str) -> None:
    """Wait until the operator has said something."""

    def find() -> bool | None:
        return any(m["content"] == content for m in game.players[1].messages(game.operator_channel)) or None

    await game.players[1].until(find, content)


async def test_a_move_that_goes_wrong_is_internal_changes_nothing_and_the_next_one_works(
    clumsy: Served, caplog: pytest.LogCaptureFixture
) -> None:
    game = await sit_down(clumsy, "clumsy")
    codes, lines = [], []

    for name, content in MISTAKES:
        caplog.clear()
        codes.append((await game.act(0, name, content)).get("code"))
        lines.append([r.getMessage().partition(" error=")[0] for r in caplog.records if r.levelname == "ERROR"])
        assert (await game.act(1, "add", "1"))["type"] == "reply", name

    assert codes == ["INTERNAL"] * len(MISTAKES)
    assert lines == [["challenge failed type=clumsy"]] * len(MISTAKES)
    operator, _ = await stored(clumsy.arena, game.id)
    spoken = [m["content"] for m in operator if m["from"] == "operator"]
    assert spoken == [f"n is {n}, the share 0." for n in range(1, len(MISTAKES) + 1)]
    assert len(operator) == 2 * len(MISTAKES)


async def test_a_job_whose_result_is_not_json_is_a_failed_one_and_the_next_is_done(
    clumsy: Served, caplog: pytest.LogCaptureFixture
) -> None:
    game = await sit_down(clumsy, "clumsy")

    for kind in (*NO_JSON, "sigh", "seven"):
        assert (await game.act(0, "order", kind))["type"] == "reply"

    for kind in (*NO_JSON, "sigh"):
        await hear(game, f"{kind} failed.")
    await hear(game, "seven is 7.")
    failed = [r.getMessage().partition(" error=")[0] for r in caplog.records if r.levelname == "ERROR"]
    assert len(set(failed)) == len(failed) == len(NO_JSON)
    assert all(line.startswith(f"job failed type=clumsy id={game.id}:") for line in failed)  # a kind may be a secret


async def test_a_deadline_may_end_the_game_with_outcomes_in_plain_words(clumsy: Served) -> None:
    game = await sit_down(clumsy, "clumsy", ("ada", "ben"))

    await game.act(0, "wind", "words")

    for guest in game.players:
        await guest.hear("game_ended", challengeId=game.id)
    session = await clumsy.arena.engine.get(SessionId(game.id))
    assert session.standing.outcomes == ["played", "timeout"]
    await comes_true(lambda: counted(clumsy, {"ada": 1, "ben": 1}), "the game is counted")


async def counted(arena: Served, games: dict[str, int]) -> bool:
    return await tallies(arena.arena, "clumsy") == games


async def test_an_outcome_that_does_not_exist_spoils_that_deadline_and_no_other(
    clumsy: Served, caplog: pytest.LogCaptureFixture
) -> None:
    game = await sit_down(clumsy, "clumsy")

    await game.act(0, "wind", "nonsense")
    await game.act(0, "wind", "bell")
    await hear(game, "The bell rings.")
    await game.act(1, "add", "1")

    await hear(game, "n is 1, the share 0.")
    assert len([r for r in caplog.records if "challenge failed type=clumsy" in r.getMessage()]) == 1


async def test_a_deadline_that_orders_what_cannot_be_written_does_not_block_the_game(clumsy: Served) -> None:
    game = await sit_down(clumsy, "clumsy")

    await game.act(0, "wind", "half a job")
    answers = [await game.act(1, "add", "1") for _ in range(20)]

    assert [answer["type"] for answer in answers] == ["reply"] * 20


async def test_a_number_that_json_cannot_write_is_a_fault_also_where_none_is_allowed(clumsy: Served) -> None:
    game = await sit_down(clumsy, "clumsy")

    codes = [(await game.act(0, "outdo", content)).get("code") for content in ("nan", "inf")]

    assert codes == ["INTERNAL"] * 2
