"""The OpenAPI document: it is whole, it is valid, and the server keeps to it."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import jsonschema_rs
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from arena.auth import SPKI
from arena.identity import Identity
from arena.version import __version__
from arena.web import rest
from arena.web.app import create_app
from arena.web.pages import VIEWS
from arena.web.spec import openapi
from tests import tourneys
from tests.bundles import small
from tests.callers import Caller, Session, calling
from tests.documents import Document, complaints, fetch, operations, refs, resolve
from tests.guests import comes_true
from tests.servers import Served, served

VOTING = {"players": 2, "votes": {"seconds": 600}}
SECRET = "a secret of at least thirty-two bytes"


@pytest.fixture
async def strict(store: str) -> AsyncIterator[Served]:
    async with served(store, auth="required", auth_secret=SECRET) as running:
        yield running


async def both(arena: Served, strict: Served) -> list[Document]:
    return [await fetch(arena), await fetch(strict)]


async def test_every_route_of_the_server_is_described(arena: Served) -> None:
    document = await fetch(arena)

    app = create_app(arena.arena.settings, arena.arena.catalog, "")
    described = [route for route in app.routes if isinstance(route, Route) and route.path not in VIEWS[1:]]
    pages = {(method, route.path) for route in described for method in route.methods or ()}
    known = {(method, path) for method, path, _ in operations(document)}
    assert {("GET", "/health"), ("GET", "/openapi.json"), ("POST", "/api/arena/join")} <= known
    assert {(route.method, f"/api{route.path}") for route in rest.ROUTES} <= known
    assert {(method, path) for method, path in pages if method != "HEAD" and "/v1/" not in path} <= known
    assert {path for path in app_mounts(app.routes) if path not in {"/api", "/static"}} <= set(document["paths"])


def app_mounts(routes: list[Any]) -> Iterator[str]:
    return (route.path for route in routes if isinstance(route, Mount))


def test_a_route_that_nobody_has_described_makes_no_document() -> None:
    async def page(request: Request) -> Response:
        raise NotImplementedError

    with pytest.raises(KeyError, match="/new"):
        openapi.document([Route("/new", page)], [], must_sign=False)


async def test_the_document_is_about_this_server(arena: Served, strict: Served) -> None:
    lax, auth = await both(arena, strict)

    assert lax["openapi"] == "3.1.0"
    assert lax["info"]["version"] == __version__
    assert lax["servers"] == [{"url": arena.url}]
    assert (lax["info"]["x-auth-mode"], auth["info"]["x-auth-mode"]) == ("open", "required")
    assert lax["components"]["parameters"]["name"]["schema"]["examples"] == list(arena.arena.catalog.challenges)


async def test_who_one_is_is_asked_for_as_the_mode_wants_it(arena: Served, strict: Served) -> None:
    lax, auth = await both(arena, strict)

    def parameters(document: Document) -> set[str]:
        return {one["name"] for one in document["paths"]["/api/arena/sync"]["get"]["parameters"]}

    assert "from" in parameters(lax)
    assert "from" not in parameters(auth)
    assert "from" in lax["components"]["schemas"]["Message"]["properties"]
    assert "from" not in auth["components"]["schemas"]["Message"]["properties"]
    assert set(lax["components"]["securitySchemes"]) == {"adminToken"}
    assert {one["scheme"] for one in auth["components"]["securitySchemes"].values() if "scheme" in one} == {"bearer"}
    assert auth["paths"]["/api/arena/message"]["post"]["security"] == [{"sessionKey": []}, {"sessionKeyInQuery": []}]
    assert {} in auth["paths"]["/api/arena/sync"]["get"]["security"]
    assert "arena:v1:" in auth["paths"]["/api/arena/join"]["post"]["description"]
    assert "401" not in lax["paths"]["/api/arena/join"]["post"]["responses"]
    assert "401" in auth["paths"]["/api/arena/join"]["post"]["responses"]


async def test_what_an_admin_may_do_is_told_in_both_modes(arena: Served, strict: Served) -> None:
    for document in await both(arena, strict):
        for path in ("/api/challenges/{name}", "/api/pairs/{name}"):
            create = document["paths"][path]["post"]
            assert create["security"] == [{}, {"adminToken": []}]
            assert "403" in create["responses"]


async def test_all_references_lead_somewhere_and_all_schemas_are_schemas(arena: Served, strict: Served) -> None:
    for document in await both(arena, strict):
        assert all(isinstance(resolve(document, ref), dict) for ref in refs(document))
        for schema in document["components"]["schemas"].values():
            jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


async def test_every_operation_has_a_name_of_its_own_a_chapter_and_all_its_answers(arena: Served) -> None:
    document = await fetch(arena)

    found = list(operations(document))
    ids = [operation["operationId"] for _, _, operation in found]
    assert len(ids) == len(set(ids))
    assert {tag for _, _, operation in found for tag in operation["tags"]} == {tag["name"] for tag in document["tags"]}
    links = [link for _, _, operation in found for link in operation["responses"]["200"].get("links", {}).values()]
    assert {link["operationId"] for link in links} <= set(ids)
    for method, path, operation in found:
        if path.startswith("/api"):
            assert {"200", "429", "500", "503"} <= operation["responses"].keys(), path
            assert ("413" in operation["responses"]) == (method in {"POST", "PUT"}), path


def examples(document: Document) -> Iterator[tuple[str, Document, Any]]:
    for method, path, operation in operations(document):
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for content in part.get("content", {}).values():
                if "example" in content:
                    yield f"{method} {path}", content["schema"], content["example"]


async def test_every_example_is_valid_and_every_json_body_has_one(arena: Served, strict: Served) -> None:
    for document in await both(arena, strict):
        shown = list(examples(document))

        assert len(shown) > 100
        assert [(where, wrong) for where, schema, data in shown if (wrong := complaints(document, schema, data))] == []
        bodies = {f"{method} {path}" for method, path, operation in operations(document) if "requestBody" in operation}
        assert bodies <= {where for where, _, _ in shown}


async def test_no_example_holds_anything_that_could_be_a_secret(arena: Served, strict: Served) -> None:
    for document in await both(arena, strict):
        for where, _, data in examples(document):
            for word in re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}", str(data)):
                assert set(word.removeprefix(SPKI)) <= set("01248-"), where


async def test_what_the_server_answers_in_a_game_is_as_described(arena: Served) -> None:
    document, seen = await fetch(arena), set[tuple[str, str]]()
    async with calling(arena, event_hooks={"response": [checking(document, seen)]}) as caller:
        await play(caller)
        await publish(caller)
        await compete(caller)

    described = {(path, "200") for _, path, _ in operations(document) if path.startswith("/api/")}
    lines = {"/api/chat/ws/{channel}", "/api/challenges/{name}/{id}/runs/{seat}/{case}/events"}  # no JSON
    assert {path for path, _ in described - seen if not path.endswith("/mcp")} <= lines
    assert {"400", "404", "409"} <= {status for _, status in seen}


async def test_what_the_server_answers_to_signers_is_as_described(strict: Served) -> None:
    document, seen = await fetch(strict), set[tuple[str, str]]()
    async with calling(strict, event_hooks={"response": [checking(document, seen)]}) as caller:
        session, ada, ben = await caller.create(), Identity.new(), Identity.new()
        await session.sign_in(0, ada)
        await session.sign_in(1, ben)
        await caller.post("/users", username="ada", **ada.sign("user-update"))
        await caller.post("/agents", model="m-1", **ada.sign("agent-update"))
        await caller.post("/queue/psi", **ada.sign("queue:psi"))
        for key in session.keys:
            move = {"challengeId": session.id, "messageType": "guess", "content": "1"}
            await caller.ask("POST", "/arena/message", json=move, headers={"authorization": f"Bearer {key}"})
        await caller.get(f"/users/{ada.user}/challenges")
        assert (await caller.ask("GET", "/arena/sync", params={"channel": session.id, "key": "x"})).status == 401

    assert {("/api/agents", "200"), ("/api/queue/{name}", "200")} <= seen
    assert {("/api/arena/join", "200"), ("/api/arena/message", "200"), ("/api/arena/sync", "401")} <= seen


async def play(caller: Caller) -> None:
    """A game in which everything is asked for once, and some of it in vain."""
    await caller.post("/agents", userId="ada", owner="acme", model="m-1", prompt="sha256:aa", harness="h")
    await caller.get("/agents/ada")
    session = await caller.sit_down("ada", "ben")
    await caller.post("/users", userId="ada", username="Ada", model="m")
    await queue(caller)
    await caller.post("/chat/send", channel=session.id, content="hi", **{"from": session.invites[0]})
    await session.act(0, "none at all")
    await session.end()
    await session.operator(1)
    free = await caller.create()
    await caller.post("/pairs/psi")
    await caller.refusal("/pairs/chess")
    await caller.post("/invites", inviteId=free.invites[0])
    for path in ("/metadata", "/metadata/psi", "/challenges", "/challenges/psi", "/scoring", "/scoring/psi", "/stats"):
        await caller.get(path)
    for path in ("/users", "/users/ada", "/users/ada/challenges", "/users/ada/scores", "/users/nobody/scores"):
        await caller.get(path)
    await caller.get("/users/batch", ids="ada,ben")
    for path in (
        "",
        "/psi/win-rate",
        "/global/global-average",
        "/psi/average/players/ben",
        "/psi/average/head-to-head",
    ):
        await caller.get(f"/leaderboards{path}")
    await caller.get("/leaderboards/psi/average", metric="average:utility", at="2126-01-01", limit=1)
    await caller.get("/leaderboards/psi/average", by="owner")
    await caller.get("/users/ben/leaderboards")
    for kind in ("html", "ndjson"):
        assert (await caller.client.get(f"/api/sessions/{session.id}/replay.{kind}")).status_code == 200
        assert (await caller.client.get(f"/api/sessions/none/replay.{kind}")).status_code == 404
    for path in (f"/api/sessions/{session.id}/record", f"/api/challenges/psi/{session.id}/record"):
        assert (await caller.client.get(path)).status_code == 200
    await caller.get(f"/invites/{free.invites[1]}")
    await caller.get("/chat/sync", channel="invites")
    for path in ("/metadata/none", "/users/none", f"/invites/{session.invites[0]}"):
        assert (await caller.ask("GET", path)).status >= 400


async def queue(caller: Caller) -> None:
    """Two who find each other, one who gives up, and some who are refused."""
    tickets = [await caller.post("/queue/psi", userId=user) for user in ("cid", "dan")]
    for ticket in tickets:
        assert (await caller.get("/queue/psi", ticket=ticket["ticket"], wait=20))["status"] == "matched"
    left = await caller.post("/queue/psi", userId="eve", options={"setSize": 5})
    assert (await caller.refusal("/queue/psi", userId="eve")).status == 409
    await caller.get("/queue/psi")
    await caller.ask("DELETE", "/queue/psi", params={"ticket": left["ticket"]})
    assert (await caller.ask("GET", "/queue/psi", params={"ticket": left["ticket"]})).status == 404
    assert (await caller.refusal("/queue/psi", ranked=1)).status == 400
    assert (await caller.refusal("/agents", userId="ada", prompt="two words")).status == 400
    assert (await caller.ask("GET", "/agents/nobody")).status == 404


async def compete(caller: Caller) -> None:
    """A tournament, from its beginning to its report."""
    made = await caller.post("/tournaments", setup=tourneys.told(3, games_per_pair=20))
    here = f"/tournaments/{made['id']}"
    await caller.post(f"{here}/pause")
    await caller.post(f"{here}/resume", concurrency=2)

    async def has_games() -> bool:
        return bool((await caller.get(here))["games"]["played"])

    await comes_true(has_games, "a game is over")
    for path in ("/tournaments", f"{here}/games", f"{here}/report", f"{here}/seats"):
        await caller.get(path)


async def publish(caller: Caller) -> None:
    """A pack with a file, and everything that can be asked of it."""
    table = {"key": "table", "path": "data/table.csv"}
    text = json.dumps(small(version__execution_mode="prompt_eval", version__assets=[table]))
    for told, status in ((text, 200), (text.replace("Do.", "Do it."), 409), ("pack: {}", 400)):
        assert (await caller.ask("POST", "/packs", content=told)).status == status
    for path in ("/packs", "/packs/small", "/packs/small/versions/1"):
        await caller.get(path)
    where = "/packs/small/versions/1/assets"
    assert (await caller.ask("PUT", f"{where}/table", content=b"1,2")).status == 200
    assert (await caller.ask("PUT", f"{where}/chair", content=b"1,2")).status == 404
    for path in (f"{where}/data%2Ftable.csv", "/packs/small/versions/1/bundle"):
        assert (await caller.client.get(f"/api{path}")).status_code == 200
    for verb in ("archive", "unarchive"):
        await caller.post(f"/packs/small/{verb}", version=1)
    await race(caller)


async def race(caller: Caller) -> None:
    """Two seats on the case of that pack, a vote on what they say, and one seat that is scored."""
    voted, scored = (
        await caller.sit_down("ada", "ben", type="small", options=VOTING),
        await caller.sit_down(type="small"),
    )
    for session, seat in ((voted, 0), (voted, 1), (scored, 0)):
        assert (await session.act(seat, "x", "submit")).status == 200
    await comes_true(lambda: said(voted, '"type": "ballot"'), "a ballot")
    await caller.post(f"/challenges/small/{voted.id}/votes", ballot="b1", choice="A", userId="eve")
    await comes_true(lambda: ended(scored), "a scorecard")
    for path in ("runs", "scorecards"):
        await caller.get(f"/challenges/small/{scored.id}/{path}")
    assert (await caller.client.get(f"/api/challenges/small/{scored.id}/runs/0/k/events")).status_code == 200


async def said(session: Session, words: str) -> bool:
    return any(words in message["content"] for message in await session.operator())


async def ended(session: Session) -> bool:
    listed = await session.caller.get("/challenges/small", status="ended")
    return session.id in {challenge["id"] for challenge in listed["challenges"]}


def checking(document: Document, seen: set[tuple[str, str]]) -> Any:
    """A hook that compares every answer with what the document says of it."""

    async def check(answer: httpx.Response) -> None:
        await answer.aread()
        method, path = answer.request.method, template(document, answer.request.url.raw_path.decode().partition("?")[0])
        told = document["paths"][path][method.lower()]["responses"][str(answer.status_code)]
        kind = answer.headers["content-type"].partition(";")[0]
        schema = told["content"][kind]["schema"]
        content = answer.json() if kind == "application/json" else answer.text
        assert complaints(document, schema, content) == [], f"{method} {path}"
        seen.add((path, str(answer.status_code)))

    return check


def template(document: Document, path: str) -> str:
    """The path as the document has it."""
    if path in document["paths"]:
        return path
    known: list[str] = list(document["paths"])
    return next(one for one in known if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path))


async def test_an_answer_that_lacks_a_field_or_has_a_strange_one_is_not_as_described(caller: Caller) -> None:
    document = (await caller.client.get("/openapi.json")).json()
    made = await caller.post("/challenges/psi")
    schema = {"$ref": "#/components/schemas/Challenge"}

    assert complaints(document, schema, made) == []
    assert complaints(document, schema, {**made, "strange": 1})
    assert complaints(document, schema, {**made, "reveal": None})
    assert complaints(document, schema, {name: value for name, value in made.items() if name != "state"})


STRANGE = ["evil.example", "127.0.0.1:80/x", "no host", "[::1", "127.0.0.1@evil.example", "x" * 300]


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json", "/skill.md", "/skill.json", "/llms.txt"])
async def test_a_name_that_cannot_be_ours_is_not_repeated(arena: Served, path: str) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as client:
        for host in STRANGE:
            told = (await client.get(path, headers={"host": host})).text

            assert host not in told
            assert arena.url.removeprefix("http://") in told


async def test_a_name_that_the_settings_know_is_ours(store: str) -> None:
    async with served(store, origins=("https://arena.example",)) as arena:
        document = await fetch(arena, host="arena.example")

        assert document["servers"] == [{"url": "http://arena.example"}]
