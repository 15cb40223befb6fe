"""`arena export` and `arena import`: boards and games that can be made again elsewhere, and no secret on the way."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from arena.archive import check_record
from arena.archived import GameLine
from arena.errors import Invalid
from tests.callers import Caller
from tests.commands import arena, call
from tests.servers import Process

RECORD, OPENINGS = "game.record.ndjson", "game.openings.ndjson"
Lines = list[dict[str, Any]]


async def play(url: str) -> tuple[str, str]:
    """Two games that end, and one that goes on; the ids of an ended and of the running one."""
    async with httpx.AsyncClient(base_url=url) as client:
        caller = Caller(client)
        await caller.post("/users", userId="ada", username="Ada", model="m-1")
        for users in (("ada", "ben"), ("cyd", "ada")):
            session = await caller.sit_down(*users)
            await caller.post(
                "/chat/send",
                channel=session.id,
                content="for you alone",
                to=session.invites[1],
                **{"from": session.invites[0]},
            )
            await session.end()
        running = await caller.sit_down("dan-at-play", "eve")
        return session.id, running.id


async def boards(url: str) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=url) as client:
        caller = Caller(client)
        found = {name: await caller.get(f"/leaderboards/psi/{name}") for name in ("average", "win-rate", "red-team")}
        for board in found.values():
            del board["fittedAt"]
        return {**found, "global": await caller.get("/scoring"), "psi": await caller.get("/scoring/psi")}


async def read(url: str, path: str, **query: str) -> Any:
    async with httpx.AsyncClient(base_url=url) as client:
        return await Caller(client).get(path, **query)


def lines(path: Path) -> Lines:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str, str, Any]:
    path = tmp_path_factory.mktemp("archive") / "arena.ndjson"
    with Process() as server:
        ended, running = asyncio.run(play(server.url))
        before = asyncio.run(boards(server.url))
        game = asyncio.run(read(server.url, "/challenges/psi", status="ended"))

        done = arena("export", path, "--data", server.data)

        taken = arena("record", ended, "--url", server.url, "--out", path.with_name(RECORD))
        early = arena("record", running, "--url", server.url)
        opened = arena("signing", "open", ended, "--data", server.data, "--out", path.with_name(OPENINGS))

        assert (taken.code, taken.err) == (opened.code, opened.err) == (0, "")
        assert (early.code, early.err) == (1, "arena: The game is not over: it has no record yet.\n")
        assert done.code == 0, done.err
        assert done.err == "2 results, 3 games, 1 profile written\n"
        return path, before, ended, running, game


def test_an_archive_makes_the_same_boards_and_games_elsewhere_however_often_it_is_read(exported: Any) -> None:
    path, before, ended, running, game = exported
    with Process() as server:
        first = arena("import", path, "--data", server.data)
        again = arena("import", path, "--data", server.data)

        assert first.code == again.code == 0, first.err + again.err
        assert first.err == "2 results, 2 games, 1 profile taken in, 0 known already, 1 unfinished left out\n"
        assert again.err == "0 results, 0 games, 0 profiles taken in, 5 known already, 1 unfinished left out\n"
        assert asyncio.run(boards(server.url)) == before
        shown = asyncio.run(read(server.url, "/challenges/psi", status="ended"))
        assert shown == game
        messages = asyncio.run(read(server.url, "/arena/sync", channel=ended))["messages"]
        assert any("Game ended" in message["content"] for message in messages)
        assert running not in str(shown)
        rotated = arena("signing", "rotate", "--data", server.data)
        assert rotated.code == 0, rotated.err
        record = httpx.get(f"{server.url}/api/challenges/psi/{ended}/record").content
        assert orjson.loads(record.splitlines()[-1])["publicKey"] != orjson.loads(rotated.out)["publicKey"]
        assert without_time(record) == without_time(path.with_name(RECORD).read_bytes())


def test_an_archive_holds_nothing_that_not_everybody_may_see(exported: Any) -> None:
    path, _, ended, running, _ = exported
    found = lines(path)

    games = {line["challenge"]["id"]: line for line in found if line["kind"] == "game"}
    assert found[0]["kind"] == "arena"
    assert "for you alone" not in path.read_text()
    assert games[running]["challenge"]["state"]["status"] == "active"
    assert "inputs" not in games[running]
    assert "reveal" not in games[running]["challenge"]
    assert games[running]["challenge"]["gameState"] == {}
    assert games[running]["challenge"]["state"]["playerIdentities"] == {}
    assert all(message["content"] == "" for message in games[running]["messages"] if "to" in message)
    assert any("to" in message for message in games[running]["messages"])
    assert "dan-at-play" not in path.read_text()
    assert len(games[ended]["inputs"]) == 4
    assert games[ended]["challenge"]["reveal"]["secret"]


def test_results_alone_make_the_same_boards(exported: Any, tmp_path: Path) -> None:
    path, before, *_ = exported
    short = tmp_path / "results.ndjson"
    short.write_bytes(b"".join(line for line in path.read_bytes().splitlines(True) if b'"kind":"game"' not in line))
    with Process() as server:
        assert call("import", short, "--data", server.data).code == 0

        assert asyncio.run(boards(server.url)) == before


def without_time(record: bytes) -> list[Any]:
    """What a record says of its game, whenever it was signed."""
    fields = [orjson.loads(line) for line in record.splitlines()]
    del fields[0]["signedAt"], fields[-1]["signature"]
    return [{name: value for name, value in line.items() if name != "prev"} for line in fields]


def test_a_record_is_verified_offline_and_a_changed_one_is_told_by_its_line(exported: Any, tmp_path: Path) -> None:
    whole = exported[0].with_name(RECORD)
    key = orjson.loads(whole.read_bytes().splitlines()[-1])["publicKey"]
    changed = tmp_path / "changed.ndjson"
    changed.write_bytes(whole.read_bytes().replace(b'"content":"1"', b'"content":"2"', 1))

    right = call("verify", whole, "--key", key, "--openings", whole.with_name(OPENINGS))
    stranger = call("verify", whole, "--key", key[:-2] + "ff", "--no-rerun")
    wrong = call("verify", changed, "--json")
    missing = call("verify", tmp_path / "nothing")

    assert right.code == 0, right.out + right.err
    assert "What was withheld is what was promised." in right.out
    assert "Played again: 4 inputs make the same" in right.out
    assert stranger.code == 1
    assert "WRONG: line" in stranger.out
    assert wrong.code == 1
    assert orjson.loads(wrong.out)["findings"][-1]["words"].startswith("line 4: it was changed")
    assert (missing.code, missing.err.count("\n")) == (1, 1)


def test_a_game_with_the_record_of_another_is_not_taken_in(exported: Any) -> None:
    one, two = [line for line in lines(exported[0]) if "record" in line]
    spoiled = one["record"].replace("psi", "pst", 1)

    for record, reason in ((two["record"], "of another game"), (spoiled, "is not right: line 1")):
        with pytest.raises(Invalid, match=reason):
            check_record(GameLine.from_json(orjson.dumps({**one, "record": record})))


def with_result(found: Lines, **change: Any) -> Lines:
    """An archive with a game that cannot have been."""
    line = next(line for line in found if line["kind"] == "result")
    return [found[0], {"kind": "result", "result": {**line["result"], "gameId": "another", **change}}]


def profile(**told: str) -> dict[str, Any]:
    return {"kind": "profile", "profile": {"userId": "ada", **told}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: found[1:], "no archive of an arena"),
        (lambda found: [*found[:2], {"kind": "result"}], "line 3 is not understood"),
        (lambda found: [*found[:2], {"kind": "song"}], "line 3 is not understood"),
        (lambda found: [found[0], tampered(found)], "its parts do not belong together"),
        (lambda found: [found[0], disordered(found)], "its messages are not in order"),
        (lambda found: [found[0], profile(username="x" * 129)], "names of 1 to 128 characters"),
        (lambda found: with_result(found, outcomes=["played"]), "no result of a game"),
    ],
    ids=["no beginning", "no result", "unknown kind", "another deal", "messages", "long name", "impossible"],
)
def test_a_bad_archive_is_refused_with_the_number_of_the_line(
    exported: Any, tmp_path: Path, change: Any, words: str
) -> None:
    bad = tmp_path / "bad.ndjson"
    bad.write_bytes(b"\n".join(map(orjson.dumps, change(lines(exported[0])))))

    done = call("import", bad, "--data", tmp_path / "data")

    assert done.code == 1
    assert words in done.err
    assert done.err.count("\n") == 1


def ended_game(found: Lines) -> dict[str, Any]:
    return next(line for line in found if line["kind"] == "game" and "result" in line)


def tampered(found: Lines) -> dict[str, Any]:
    game = ended_game(found)
    game["challenge"]["reveal"]["seed"] += "1"
    return game


def disordered(found: Lines) -> dict[str, Any]:
    game = ended_game(found)
    game["messages"].reverse()
    return game


def test_a_challenge_that_is_not_there_is_not_exported_as_nothing(exported: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert call("import", exported[0], "--data", data).code == 0

    done = call("export", tmp_path / "x.ndjson", "--type", "pis", "--data", data)

    assert done.code == 1
    assert "no games of 'pis'" in done.err


def test_files_that_cannot_be_opened_are_told(tmp_path: Path) -> None:
    missing = call("import", tmp_path / "nothing", "--data", tmp_path / "data")
    nowhere = call("export", "--data", tmp_path / "nowhere")

    assert (missing.code, nowhere.code) == (1, 1)
    assert "cannot be opened: No such file" in missing.err
    assert "There are no games" in nowhere.err
