"""What can be taken home of a session: nothing that not everybody may see, and all of it safe to open."""

import json
import re

from tests.callers import Caller
from tests.servers import Served

SECRET = "the-secret-is-4711"
HOSTILE = "</script><script>hacked=1</script><!--"


async def test_a_running_game_is_taken_home_without_its_secrets(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")
    await caller.post(
        "/chat/send", channel=session.id, content=SECRET, to=session.invites[1], **{"from": session.invites[0]}
    )
    private = [m["content"] for seat in (0, 1) for m in await session.operator(seat) if m["content"]]

    answers = [await caller.client.get(f"/api/sessions/{session.id}/replay.{kind}") for kind in ("html", "ndjson")]

    assert len(private) == 2
    for answer in answers:
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith('attachment; filename="psi-')
        assert answer.headers["content-security-policy"].startswith("sandbox")
        assert not [words for words in (*private, SECRET, '"ada"', '"ben"') if words in answer.text]


async def test_no_text_of_a_player_ends_the_script_it_lies_in(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down("ada", "ben")
    await caller.post("/chat/send", channel=session.id, content=HOSTILE, **{"from": session.invites[0]})

    page = (await caller.client.get(f"/api/sessions/{session.id}/replay.html")).text

    assert HOSTILE not in page
    assert page.count("<script") == page.count("</script>") == 3
    record = re.search(r'id="record">\n(.*?)</script>', page, re.DOTALL)
    assert record
    lines = [json.loads(line) for line in record[1].splitlines()]
    assert [line["kind"] for line in lines] == ["arena", "game"]
    assert HOSTILE in [message["content"] for message in lines[1]["messages"]]


async def test_the_file_lets_nothing_run_but_what_it_brings(arena: Served, caller: Caller) -> None:
    session = await caller.sit_down()

    page = (await caller.client.get(f"/api/v1/sessions/{session.id}/replay.html")).text

    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    imports = json.loads(re.search(r'type="importmap">(.*?)</script>', page, re.DOTALL)[1])["imports"]  # type: ignore[index]
    assert {"arena/offline.js", "arena/elements/session-page.js", "arena/view.js"} <= imports.keys()
    assert all(address.startswith("data:text/javascript;base64,") for address in imports.values())


async def test_what_is_not_there_cannot_be_taken_home(arena: Served, caller: Caller) -> None:
    for id_ in ("nope", "%3Cscript%3E", "00000000-0000-0000-0000-000000000000"):
        answer = await caller.client.get(f"/api/sessions/{id_}/replay.html")

        assert (answer.status_code, answer.json()) == (404, {"error": "Challenge not found", "code": "NOT_FOUND"})
