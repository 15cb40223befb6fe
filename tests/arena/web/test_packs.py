"""The door of the library: who may publish what, what comes back, and what nobody is shown."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from arena.packs.lock import content_hash
from arena.packs.read import parse_bundle
from tests.bundles import ELSEWHERE, OURS
from tests.callers import Caller, Told, calling
from tests.servers import Process, Served, served
from tests.shelves import PRICES, quiz, vault

TOKEN = "an admin token of at least thirty-two letters".replace(" ", "-")
ADMIN = {"authorization": f"Bearer {TOKEN}"}


async def publish(caller: Caller, text: bytes, **headers: str) -> Told:
    return await caller.ask("POST", "/packs", content=text, headers=headers)


@pytest.fixture
async def kept(store: str) -> AsyncIterator[Served]:
    """A server with an admin."""
    async with served(store, admin_token=TOKEN) as running:
        yield running


async def test_a_published_pack_can_be_listed_shown_downloaded_and_played(caller: Caller) -> None:
    text = quiz()

    made = (await publish(caller, text)).body
    listed = await caller.get("/packs")
    shown = await caller.get("/packs/quiz")
    version = await caller.get("/packs/quiz/versions/1")
    download = await caller.client.get("/api/packs/quiz/versions/1/bundle")
    words = await caller.get("/metadata/quiz")
    session = await caller.sit_down("ada", type="quiz")

    ids = ("challenge_pack_id", "challenge_pack_version_id", "evaluation_spec_id", "bundle_artifact_id")
    assert len({made[name] for name in ids} | set(made["input_set_ids"])) == 5
    assert made["content_hash"] == content_hash(parse_bundle(text))
    assert made["input_sets"] == [{"id": made["input_set_ids"][0], "key": "d", "name": "D", "cases": 2}]
    assert [(pack["slug"], pack["latest"], pack["archived"]) for pack in listed["packs"]] == [("quiz", 1, False)]
    assert shown["versions"] == [made]
    assert version["manifest"]["challenges"][0]["instructions"] == "What is {{question}}?"
    assert (download.content, download.headers["content-type"]) == (text, "application/yaml")
    assert "attachment" in download.headers["content-disposition"]
    assert words["name"] == "Quiz"
    for answer in ("4", "9"):
        assert (await session.act(0, answer, "submit")).status == 200


async def test_the_same_content_again_has_the_same_ids_and_other_content_needs_another_number(caller: Caller) -> None:
    first = (await publish(caller, quiz())).body
    again = await publish(caller, b"# the same, with a remark\n" + quiz())
    other = await publish(caller, quiz(challenges__0__title="Another"))
    second = (await publish(caller, quiz(number=2, challenges__0__title="Another"))).body

    assert again == Told(200, first)
    assert (other.status, other.body["code"]) == (409, "VERSION_EXISTS")
    assert second["challenge_pack_id"] == first["challenge_pack_id"]
    assert second["challenge_pack_version_id"] != first["challenge_pack_version_id"]
    assert (await caller.get("/packs/quiz"))["latest"] == 2
    assert (await caller.client.get("/api/packs/quiz/versions/1/bundle")).content == quiz()


async def test_a_session_keeps_the_version_that_it_began_with(arena: Served, caller: Caller) -> None:
    first = (await publish(caller, quiz())).body
    old = await caller.create("quiz")
    second = (await publish(caller, quiz(number=2, challenges__0__title="Another"))).body
    new, chosen = await caller.create("quiz"), await caller.create("quiz", options={"version": 1})

    headers = [(await arena.arena.engine.get(session.id)).header for session in (old, new, chosen)]
    assert [header.version.version for header in headers] == ["1", "2", "1"]
    hashes = [first["content_hash"], second["content_hash"], first["content_hash"]]
    assert [header.version.content_hash for header in headers] == hashes
    assert [header.options["version"] for header in headers] == [1, 2, 1]


async def test_a_version_that_is_not_there_is_refused(caller: Caller) -> None:
    await publish(caller, quiz())

    for version, code in ((9, "UNKNOWN_VERSION"), ("1", None), (True, None), ([1], None)):
        told = await caller.refusal("/challenges/quiz", options={"version": version})
        assert (told.status, told.body.get("code")) == (400, code)


async def test_an_archived_pack_opens_no_new_sessions_and_old_ones_go_on(caller: Caller) -> None:
    await publish(caller, quiz())
    session = await caller.sit_down("ada", type="quiz")

    archived = await caller.post("/packs/quiz/archive")
    refused = await caller.refusal("/challenges/quiz")
    moves = [await session.act(0, answer, "submit") for answer in ("4", "9")]
    await caller.post("/packs/quiz/unarchive")

    assert archived["archived"] is True
    assert refused == Told(400, {"error": "quiz is archived: no new sessions of it are opened.", "code": "ARCHIVED"})
    assert [move.status for move in moves] == [200, 200]
    await caller.create("quiz")


async def test_when_the_newest_version_is_archived_the_one_before_is_offered(caller: Caller) -> None:
    await publish(caller, quiz())
    await publish(caller, quiz(number=2, pack__name="Second"))

    await caller.post("/packs/quiz/archive", version=2)

    assert (await caller.get("/metadata/quiz"))["name"] == "Quiz"
    assert (await caller.refusal("/challenges/quiz", options={"version": 2})).body["code"] == "ARCHIVED"
    await caller.create("quiz", options={"version": 1})
    missing = await caller.refusal("/packs/quiz/archive", version=3)
    assert (missing.status, missing.body["code"]) == (404, "NOT_FOUND")


async def test_the_names_of_other_challenges_are_taken(caller: Caller) -> None:
    for slug in ("psi", "global"):
        told = await publish(caller, quiz(slug))
        assert (told.status, told.body["code"]) == (409, "NAME_TAKEN")
    assert (await caller.get("/packs"))["packs"] == []


async def test_everything_that_is_wrong_with_a_pack_is_told_with_its_line(caller: Caller) -> None:
    told = await publish(caller, b"pack:\n  slug: a\nversion: {number: 0}\n")

    assert (told.status, told.body["code"]) == (400, "INVALID_PACK")
    found = {each["field"]: each["line"] for each in told.body["errors"]}
    assert found["version.number"] == 3
    assert {"pack.name", "pack.family", "challenges", "input_sets"} <= set(found)
    for text in (b"", b"\xff", b"a: [", b"- 1", b"a: &a [*a]"):
        assert (await publish(caller, text)).body["code"] == "INVALID_PACK"


# Who may


async def test_only_an_admin_publishes_where_there_is_one(kept: Served) -> None:
    async with calling(kept) as caller:
        refused = [
            await publish(caller, quiz()),
            await publish(caller, quiz(), authorization=f"Bearer {TOKEN[:-1]}x"),
            await caller.ask("POST", "/packs/quiz/archive"),
            await caller.ask("GET", "/packs/quiz/versions/1/bundle"),
            await caller.ask("PUT", "/packs/quiz/versions/1/assets/a", content=b""),
            await caller.ask("GET", "/packs/quiz/versions/1/assets/a"),
        ]

        assert {(told.status, told.body["code"]) for told in refused} == {(403, "FORBIDDEN")}
        assert (await publish(caller, quiz(), **ADMIN)).status == 200
        assert (await caller.ask("POST", "/packs/quiz/archive", headers=ADMIN)).status == 200


async def test_without_an_admin_only_this_machine_publishes_on_an_open_server(store: str, caller: Caller) -> None:
    strangers: list[dict[str, str]] = [
        {"origin": "https://evil.example"},
        {"host": "evil.example"},
        {"x-forwarded-for": "203.0.113.7"},
    ]
    for headers in strangers:
        assert (await publish(caller, quiz(), **headers)).status == 403
    async with served(store, host="0.0.0.0", auth="open") as wide, calling(wide) as somebody:
        assert (await publish(somebody, quiz())).status == 403
    async with served(store, auth="required", auth_secret="x" * 32) as strict, calling(strict) as somebody:
        assert (await publish(somebody, quiz())).status == 403

    assert (await publish(caller, quiz())).status == 200


# What nobody is shown


async def test_nobody_but_an_admin_is_shown_expectations_and_secrets(kept: Served) -> None:
    text, secrets = vault()
    async with calling(kept) as caller:
        assert (await publish(caller, text, **ADMIN)).status == 200
        paths = ("/packs", "/packs/vault", "/packs/vault/versions/1", "/metadata", "/metadata/vault", "/challenges")
        shown = [(await caller.client.get(f"/api{path}")).text for path in paths]
        shown += [(await caller.client.get(path)).text for path in ("/skill.md", "/skill.json", "/openapi.json")]
        whole = (await caller.client.get("/api/packs/vault/versions/1", headers=ADMIN)).text

    assert [(n, secret) for n, each in enumerate(shown) for secret in secrets if secret in each] == []
    assert [secret for secret in secrets if secret not in whole] == []
    public = json.loads(shown[2])["manifest"]
    assert public["security"] == {"planted_secrets": 2, "forbidden_outputs": 1, "adversarial_prompts": 1}
    assert public["tools"] == [{"name": "peek", "description": "Look."}]
    assert public["challenges"][0]["instructions"] == "Guard the vault; [hidden] is what you guard."


# Limits and files


async def test_a_keeper_may_ask_for_what_everybody_sees(caller: Caller) -> None:
    text, secrets = vault()
    assert (await publish(caller, text)).status in {200, 201}

    whole = json.dumps(await caller.get("/packs/vault/versions/1"))
    public = json.dumps(await caller.get("/packs/vault/versions/1", public="true"))

    assert all(secret in whole for secret in secrets)
    assert not any(secret in public for secret in secrets)


async def test_packs_and_files_have_limits_of_their_own(store: str) -> None:
    asset = {"key": "a", "path": "a.bin"}
    text = quiz(version__assets=[asset, {"key": "b", "path": "b.bin"}])
    limits = {"limit_pack_bytes": len(text), "limit_asset_bytes": 100_000, "limit_library_bytes": 150_000}
    async with served(store, **limits) as arena, calling(arena) as caller:
        assert (await publish(caller, text)).status == 200
        large = await publish(caller, text + b" ")
        put = "/packs/quiz/versions/1/assets"
        fits = await caller.ask("PUT", f"{put}/a", content=b"x" * 100_000)
        huge = await caller.ask("PUT", f"{put}/b", content=b"x" * 100_001)
        full = await caller.ask("PUT", f"{put}/b", content=b"y" * 100_000)
        json_body = await caller.ask("POST", "/packs/quiz/archive", content=b" " * 70_000)

    assert (fits.status, fits.body["size"]) == (200, 100_000)
    assert [(told.status, told.body["code"]) for told in (large, huge, full, json_body)] == [(413, "TOO_LARGE")] * 4
    assert "no room" in full.body["error"]


async def test_files_come_with_the_pack_or_after_it_and_never_change(caller: Caller) -> None:
    assets = [{"key": "table", "path": "data/table.csv", "media_type": "text/csv"}, {"key": "other", "path": "o"}]
    files = {"pack": quiz(version__assets=assets), "table": b"1,2"}

    made = await caller.ask("POST", "/packs", files=files)
    later = await caller.ask("PUT", "/packs/quiz/versions/1/assets/other", content=b"later")
    again = await caller.ask("PUT", "/packs/quiz/versions/1/assets/other", content=b"later")
    changed = await caller.ask("PUT", "/packs/quiz/versions/1/assets/other", content=b"changed")
    stranger = await caller.ask("PUT", "/packs/quiz/versions/1/assets/stranger", content=b"")
    shown = await caller.get("/packs/quiz/versions/1")
    got = await caller.client.get("/api/packs/quiz/versions/1/assets/data%2Ftable.csv")

    assert made.status == 200
    assert later == again
    assert (changed.status, changed.body["code"]) == (409, "ASSET_EXISTS")
    assert (stranger.status, stranger.body["code"]) == (404, "NOT_FOUND")
    assert [(asset["path"], asset["size"]) for asset in shown["assets"]] == [("data/table.csv", 3), ("o", 5)]
    assert (got.content, got.headers["content-type"]) == (b"1,2", "application/octet-stream")


async def test_an_upload_that_cannot_be_taken_as_a_whole_publishes_nothing(caller: Caller) -> None:
    stranger = await caller.ask("POST", "/packs", files={"pack": quiz(), "stranger": b"x"})
    nothing = await caller.ask("POST", "/packs", files={"table": b"x"})
    boundary = {"content-type": "multipart/form-data; boundary=x"}
    broken = await caller.ask("POST", "/packs", content=b"--x\r\nnonsense", headers=boundary)
    bare = await caller.ask("POST", "/packs", content=b"--x", headers={"content-type": "multipart/form-data"})

    assert stranger.status == 404
    assert [told.status for told in (nothing, broken, bare)] == [400, 400, 400]
    assert (await caller.get("/packs"))["total"] == 0


async def test_a_hostile_pack_is_refused_while_the_server_answers_everybody_else(caller: Caller) -> None:
    bomb = b"a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for n in range(98, 107):
        bomb += f"{chr(n)}: &{chr(n)} [{', '.join([f'*{chr(n - 1)}'] * 10)}]\n".encode()
    large = f"v: &v {'y' * 500_000}\npack: {{{', '.join(f'k{n}: *v' for n in range(900))}}}\n".encode()
    slow = b"{" * 50_000 + b"a: " * 100_000
    publishing = asyncio.gather(*(publish(caller, text) for text in (bomb, large, slow)))

    answered = 0
    while not publishing.done():
        await caller.get("/stats")
        answered += 1

    assert {answer.body["code"] for answer in await publishing} <= {"INVALID_PACK", "TOO_LARGE"}
    assert answered > 10  # one at a time, so none of them waited for a pack
    assert (await caller.get("/packs"))["total"] == 0


# Workers


async def test_what_one_worker_publishes_another_knows_at_once(store: str) -> None:
    async with served(store) as one, served(store) as two, calling(one) as ada, calling(two) as ben:
        await publish(ada, quiz())
        session = await ben.create("quiz")
        await publish(ada, quiz(number=2, challenges__0__title="Another"))
        newest = await ben.create("quiz")
        await publish(ada, quiz("other"))

        assert (await two.arena.engine.get(newest.id)).header.options["version"] == 2
        assert (await ben.get("/metadata/other"))["name"] == "Quiz"
        assert (await ben.get("/scoring/other")) == {}
        await ada.post("/arena/join", invite=session.invites[0], userId="ada")
        await publish(ben, quiz("third"))
        made = await ben.create("third")
        joined = await ada.post("/arena/join", invite=made.invites[0])
        assert joined["ChallengeInfo"]["name"] == "Quiz"
        both = [{pack["slug"] for pack in (await caller.get("/packs"))["packs"]} for caller in (ada, ben)]
        assert both == [{"quiz", "other", "third"}] * 2


async def test_nobody_gets_ahead_of_a_worker_that_is_just_catching_up(store: str) -> None:
    async with served(store) as one, served(store) as two, calling(one) as ada:
        await publish(ada, quiz())
        catching_up = asyncio.create_task(two.arena.library.refresh())
        while "quiz" not in two.arena.library._known.releases:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0)

        assert await two.arena.catalog.look_for("quiz") is not None
        await catching_up


async def test_of_two_who_publish_the_same_number_at_once_one_wins(store: str) -> None:
    texts = [quiz(challenges__0__title=title) for title in ("One", "Two")]
    async with served(store) as one, served(store) as two, calling(one) as ada, calling(two) as ben:
        told = await asyncio.gather(*(publish(who, text) for who in (ada, ben) for text in texts))

        won = {answer.body["content_hash"] for answer in told if answer.status == 200}
        assert len(won) == 1
        assert {answer.body["code"] for answer in told if answer.status != 200} == {"VERSION_EXISTS"}
        assert {(await who.get("/packs/quiz"))["versions"][0]["content_hash"] for who in (ada, ben)} == won


def test_packs_and_their_sessions_are_there_after_a_restart() -> None:
    with Process(workers=2) as process:
        made = httpx.post(f"{process.url}/api/packs", content=quiz()).json()
        session = httpx.post(f"{process.url}/api/challenges/quiz").json()
        process.kill()
        process.start()

        assert httpx.get(f"{process.url}/api/packs/quiz").json()["versions"] == [made]
        assert "quiz" in httpx.get(f"{process.url}/api/metadata").json()
        joined = httpx.post(f"{process.url}/api/arena/join", json={"invite": session["invites"][0]})
        assert joined.status_code == 200


async def test_every_pack_that_can_be_read_can_be_published(caller: Caller) -> None:
    elsewhere = [json.loads(path.read_text()) for path in sorted(ELSEWHERE.glob("*.summary.json"))]
    for path in (*OURS, *(ELSEWHERE / each["file"] for each in elsewhere if each["accepted"])):
        told = await publish(caller, path.read_bytes())

        assert told.status == 200, path.name
        assert told.body["slug"] in await caller.get("/metadata")


async def test_packs_of_a_configuration_get_its_options(store: str, tmp_path: Path) -> None:

    path = tmp_path / "arena.json"
    path.write_text(json.dumps({"challenges": [{"name": "unit-prices", "options": {"input_set": "market"}}]}))
    async with served(store, config=path) as arena, calling(arena) as caller:
        await publish(caller, PRICES.read_bytes())
        session = await caller.create("unit-prices")

        assert (await arena.arena.engine.get(session.id)).header.options["input_set"] == "market"
