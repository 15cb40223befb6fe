"""The client commands of the protocol, as scripts run them: names, flags, variables, JSON and exit codes."""

import asyncio
import json
from pathlib import Path
from typing import Any

from arena.client import Identity
from arena.models import ChatMessage
from tests.commands import Done, arena
from tests.servers import Served, served

SECRET = "long enough to be a secret"


class Script:
    """Somebody who knows the arena from its command line alone."""

    def __init__(self, running: Served, home: Path) -> None:
        self.env = {"ARENA_URL": running.url, "HOME": str(home)}

    async def run(self, *words: str, **env: str) -> Done:
        """Run a command."""
        return await asyncio.to_thread(arena, *words, env={**self.env, **env})

    async def get(self, *words: str, **env: str) -> Any:
        """The JSON of a command that is granted."""
        done = await self.run(*words, **env)
        assert done.code == 0, done
        assert done.out == json.dumps(json.loads(done.out), indent=2) + "\n"
        return json.loads(done.out)

    async def refused(self, *words: str, **env: str) -> Any:
        """The JSON of a command that is refused."""
        done = await self.run(*words, **env)
        assert done.code == 1, done
        return json.loads(done.out)


async def test_a_script_plays_where_nobody_signs_in(arena: Served, tmp_path: Path) -> None:
    script = Script(arena, tmp_path)
    types, game = await asyncio.gather(
        script.get("challenges", "metadata"), script.get("challenges", "create", "millionaire")
    )
    ada, ben = game["invites"]
    joined = await script.get("challenges", "join", ada)
    await script.get("challenges", "join", ben, "--user", "ben")

    early = await script.refused("challenges", "send", game["id"], "guess", "x", "--from", ada)
    spoken = await script.get("--from", ben, "chat", "send", game["id"], "hello", "--to", ada)
    await script.get("--from", ada, "challenges", "send", game["id"], "guess", "50")
    heard, others, dm = await asyncio.gather(
        script.get("--from", ada, "challenges", "sync", game["id"], "--index", "1"),
        script.get("challenges", "sync", game["id"], "--index", "2"),
        script.get("chat", "sync", game["id"], "--from", ada),
    )
    nobody = await script.refused("challenges", "send", game["id"], "guess", "50")
    await script.get("--from", ben, "challenges", "send", game["id"], "guess", "50")
    listed, boards, board, me = await asyncio.gather(
        script.get("challenges", "list", "millionaire"),
        script.get("scoring", "millionaire"),
        script.get("scoring"),
        script.get("--from", "ben", "users", "update", "--username", "Ben", "--model", "abacus"),
    )
    someone, missing = await asyncio.gather(
        script.get("users", "get", "ben"), script.refused("users", "get", "nobody-of-that-name")
    )

    assert types["millionaire"]["methods"][0]["name"] == "guess"
    assert joined["ChallengeID"] == game["id"]
    assert early["code"] == "INVALID_GUESS"
    assert (spoken["from"], spoken["to"]) == (ben, ada)
    own = [ChatMessage.from_wire(message) for message in heard["messages"]]
    assert own[0].content.startswith("Your wealth is $")
    assert [message["index"] for message in others["messages"]] == list(range(2, len(own) + 1))
    assert others["messages"][0].get("redacted")
    assert [message["content"] for message in dm["messages"]] == ["hello"]
    assert nobody == {"error": "from is required"}
    assert [session["state"]["status"] for session in listed["challenges"]] == ["ended"]
    assert [entry["playerId"] for entry in boards["average"]] == [entry["playerId"] for entry in board] == ["ben"]
    assert me == someone == {"userId": "ben", "username": "Ben", "model": "abacus"}
    assert missing["error"] == "User not found"


async def test_a_script_plays_where_players_sign_in(store: str, tmp_path: Path) -> None:
    async with served(store, auth="required", auth_secret=SECRET) as running:
        script = Script(running, tmp_path)
        made, game = await asyncio.gather(
            script.get("identity", "new"), script.get("challenges", "create", "millionaire")
        )
        key = str(tmp_path / ".arena" / "keys" / f"{made['hash']}.key")
        unsigned, joined = await asyncio.gather(
            script.refused("challenges", "join", game["invites"][0]),
            script.get("challenges", "join", game["invites"][0], "--sign", key),
        )
        session_key = joined["sessionKey"]
        before, variable, none, forged, profile, bad_file = await asyncio.gather(
            script.get("--auth", session_key, "challenges", "sync", game["id"]),
            script.get("chat", "send", game["id"], "hello", ARENA_AUTH=session_key),
            script.get("challenges", "sync", game["id"], ARENA_AUTH="required"),
            script.refused("chat", "send", game["id"], "hello", "--auth", "s_0." + "0" * 64),
            script.get("users", "update", "--username", "Ada", "--sign", key),
            script.run("users", "update", "--sign", "no-such-file"),
        )

    assert unsigned["error"] == "publicKey, signature, and timestamp are required"
    assert before["messages"][0]["content"].startswith("Your wealth is $")
    assert variable["from"] == game["invites"][0]
    assert none["messages"][0]["redacted"]
    assert forged == {"error": "Authentication required"}
    assert profile == {"userId": made["hash"], "username": "Ada"}
    assert Identity.load(Path(key)).user == made["hash"]
    assert (bad_file.code, bad_file.out) == (1, "")


async def test_a_server_that_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    done = await asyncio.to_thread(arena, "--url", "http://127.0.0.1:9", "challenges", "list")

    assert (done.code, done.out) == (1, "")
    assert "No arena answers" in done.err
