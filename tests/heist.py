"""A heist: a game full of secrets, with everybody looking on through every door, from before its start till after it.

Players act by different doors, moves are refused, too large or make the operator fall over, keys are wrong; beside
the game there are others: one of a stranger, a private one, and one that waits for players.
"""

import secrets
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from arena.identity import Identity
from arena.wire import JSON, MSGPACK
from tests.guests import Guest
from tests.ledger import Ledger, Record, Secret, nobody, only, until_the_end
from tests.witnesses import ADDRESS, Place, Seated, Witness

PLAYERS = ("ada", "ben", "cy")
FOLLOWERS = (*PLAYERS, "eve", "anonymous")
BY_READING = ("ws-json", "ws-msgpack", "sse", "rest", "mcp", "mcp-arena", "mcp-chat")
ABOUT_PEOPLE = ("/api/users", "/api/scoring")


def token() -> str:
    """Something that turns up nowhere by chance."""
    return secrets.token_hex(12)


class Heist:
    """One run, on one server. Secrets are put into the list as they come up, some only after the end."""

    def __init__(self, place: Place, stack: AsyncExitStack) -> None:
        self.place = place
        self.ledger: Ledger = place.ledger
        self.stack = stack
        self.secrets: list[Secret] = []
        self.witnesses: dict[str, Witness] = {}
        self.lobby: list[Guest] = []
        self.session = ""
        self.invites: list[str] = []
        self.users: dict[str, str] = {}
        self.waiting = ""  # a seat that stays free

    # Who is there

    async def witness(self, name: str, seat: Seated | None = None) -> Witness:
        """Somebody new."""
        found = self.witnesses[name] = Witness(self.place, name, self.stack, seat)
        await found.enter()
        return found

    @property
    def players(self) -> list[Witness]:
        """Those who sit in the game."""
        return [self.witnesses[name] for name in PLAYERS]

    @property
    def followers(self) -> list[Witness]:
        """Those who look at it."""
        return [self.witnesses[name] for name in FOLLOWERS if name in self.witnesses]

    def doors(self, *viewers: str) -> frozenset[tuple[str, str]]:
        """All doors at which messages can be read, for these viewers."""
        mine = BY_READING[:-2] if self.place.signed else BY_READING
        return frozenset((viewer, door) for viewer in viewers for door in mine)

    def keep(self, name: str, text: str, may: Any = nobody, must: frozenset[tuple[str, str]] = frozenset()) -> str:
        """Have a secret; its text."""
        self.secrets.append(Secret(name, text, may, must))
        return text

    # Before the game

    async def open(self) -> None:
        """Create the game, and seat all but one."""
        creator = await self.witness("creator")
        made = await creator.post("/challenges/vault")
        self.session, self.invites = made["id"], made["invites"]
        await self.keep_invites()
        for name in FOLLOWERS:
            await self.witness(name, Seated())
        await self.witness("lobby")
        await self.enter_lobby()
        await self.name_themselves()
        await self.join_strangers()
        for player, invite in list(zip(self.players, self.invites, strict=True))[:2]:
            await self.join(player, invite)
        for follower in self.followers:
            if follower.name != "cy":
                await follower.follow(self.session)

    async def keep_invites(self) -> None:
        """Codes that nobody has used: of the game's last seat, and of a session that waits for ever."""
        self.keep("last invite", self.invites[2], self.may_know_last_invite, frozenset({("creator", "rest")}))
        waiting = await self.witnesses["creator"].post("/challenges/vault")
        for number, invite in enumerate(waiting["invites"]):
            must = frozenset({("creator", "rest"), *([("invited", "rest")] if number == 0 else [])})
            self.keep(f"waiting invite {number}", invite, only("creator", *["invited"][number:]), must)
        self.waiting = waiting["invites"][0]
        await (await self.witness("invited")).get(f"/invites/{self.waiting}")

    def may_know_last_invite(self, record: Record) -> bool:
        """A code is a secret until somebody sits there; then it is that player's name."""
        return record.viewer == "creator" or (record.phase != "open" and record.door != "log")

    async def enter_lobby(self) -> None:
        """Two who follow all sessions."""
        for codec in (JSON, MSGPACK):
            guest = await self.witnesses["lobby"].connect(codec)
            await guest.get("lobby")
            self.lobby.append(guest)

    async def name_themselves(self) -> None:
        """Who plays is not told before the end, though some are known; Ada has a name, the others get one later."""
        for player in self.players:
            user = player.seat.identity.user if self.place.signed else f"user-{token()}"
            self.users[player.name] = user
            if player.name == "ada":
                username = self.keep("name of ada", f"Ada {token()}", may_know_person, PEOPLE)
                await self.update(player, username)
            must = PEOPLE if player.name == "ada" else frozenset({("anonymous", "rest"), ("anonymous", "ws-json")})
            rule = may_know_person if player.name == "ada" else until_the_end()
            self.keep(f"user {player.name}", user, rule, must)
            if self.place.signed:
                self.keep(f"public key of {player.name}", public_key(player.seat.identity))

    async def update(self, player: Witness, username: str) -> None:
        """Tell who a player is."""
        if not self.place.signed:
            await player.post("/users", userId=self.users[player.name], username=username)
            return
        proof = player.seat.identity.sign("user-update")
        self.keep(f"signature of {player.name}", proof["signature"])
        await player.post("/users", username=username, **proof)

    async def join_strangers(self) -> None:
        """A player of another session, and a private session."""
        eve = self.witnesses["eve"]
        other = await eve.post("/challenges/vault")
        for number, invite in enumerate(other["invites"][1:]):
            self.keep(f"eve's other invite {number}", invite, only("eve"), frozenset({("eve", "rest")}))
        eve.seat.key = await self.join_by_socket(eve, other["invites"][0])
        eve.seat.session, eve.seat.invite = other["id"], other["invites"][0]
        [dealt] = (await eve.get("/arena/sync", channel=other["id"]))["messages"]
        self.keep("set of eve", dealt["content"], only("eve"), frozenset({("eve", "rest"), ("eve", "ws-json")}))
        self.keep("key of eve", eve.seat.key, only("eve"), frozenset({("eve", "ws-json")}))
        await self.play_privately()

    async def play_privately(self) -> None:
        """A game that nobody hears of but those who are in it."""
        pia = await self.witness("pia", Seated())
        made = (await pia.tool("create_session", challengeType="vault", private=True)).json()["result"]
        made = made["structuredContent"]
        id_, invites = made["session"]["challengeId"], made["invites"]
        seen = frozenset({("pia", "mcp")})
        self.keep("private id", id_, lambda record: record.viewer == "pia" or record.door == "log", seen)
        for number, invite in enumerate(invites):
            self.keep(f"private invite {number}", invite, only("pia"), seen)
            user = {"userId": f"pia-{number}"} if not self.place.signed else Identity.new().sign(f"join:{invite}")
            pia.seat.invite = invite
            joined = (await pia.tool("join_session", invite=invite, **user)).json()["result"]["structuredContent"]
            pia.seat.key = joined.get("sessionKey", "")
        line = self.keep("private talk", token(), only("pia"), seen)
        about = {"challengeId": id_, **pia.handle}
        await pia.tool("chat", content=line, **about)
        await pia.tool("act", method="finish", **about)
        await pia.tool("read", **about)

    async def join_by_socket(self, player: Witness, invite: str) -> str:
        """Take a seat; the key to it."""
        known = player.seat.proof(invite) if self.place.signed else {}
        if not self.place.signed and player.name in self.users:
            known = {"userId": self.users[player.name]}
        async with player.connected(JSON) as guest:
            joined = await guest.get("join", invite=invite, **known)
        key: str = joined["sessionKey"]
        return key

    async def join(self, player: Witness, invite: str) -> None:
        """Take a seat in the game; what a player is dealt and given is its own."""
        player.seat.key = await self.join_by_socket(player, invite)
        player.seat.session, player.seat.invite = self.session, invite
        self.keep(f"key of {player.name}", player.seat.key, only(player.name), frozenset({(player.name, "ws-json")}))
        messages = (await player.get("/arena/sync", channel=self.session))["messages"]
        [dealt] = [each["content"] for each in messages if each.get("to") == invite]
        mine = until_the_end(player.name)
        for number in (word.strip("[],.") for word in dealt.split()):
            if number.isdigit():
                self.keep(f"number of {player.name}", number, mine, self.doors(player.name))

    # While it is on

    async def look(self) -> None:
        """Have everybody look at everything."""
        ada = self.witnesses["ada"]
        counts = [(await ada.get(path, channel=self.session))["count"] for path in ("/arena/sync", "/chat/sync")]
        for follower in self.followers:
            if follower.guests:
                await follower.hear(self.session, *counts)
                await follower.look(self.session, (self.users["ada"],) if follower.name == "anonymous" else ())
        creator = self.witnesses["creator"]
        await creator.get(f"/invites/{self.invites[0]}")
        history = await self.witnesses["anonymous"].get(f"/users/{self.users['ada']}/challenges")
        assert history["total"] == (1 if self.ledger.phase == "ended" else 0)  # who plays where is a secret till then
        await self.look_around()

    async def look_around(self) -> None:
        """What is not about any session."""
        reader = self.witnesses.get("reader") or await self.witness("reader")
        for path in ("/openapi.json", "/asyncapi.json", "/skill.md", "/skill.json", "/llms.txt", "/docs", "/", "/nope"):
            await reader.ask("GET", path, "documents")
        scraper = self.witnesses.get("scraper") or await self.witness("scraper")
        shown = await scraper.ask("GET", "/metrics", "metrics", headers={"authorization": f"Bearer {METRICS_TOKEN}"})
        assert shown.status_code == 200

    async def tell_lobby(self, status: str = "", last: str = "") -> None:
        """Wait until those in the lobby have heard of the game's new status, or its last line."""

        def find(guest: Guest) -> bool | None:
            frames = [frame for frame in guest.of("session") if frame["challenge"]["id"] == self.session]
            lines = (frame.get("lastLine", {}).get("content") for frame in frames)
            states = [frame["challenge"]["state"]["status"] for frame in frames]
            return (last in lines if last else status in states) or None

        for guest in self.lobby:
            await guest.until(partial(find, guest), f"the lobby hears {status or last}")


PEOPLE = frozenset({("anonymous", "rest"), ("anonymous", "ws-json"), ("anonymous", "mcp")})
METRICS_TOKEN = token()
ADMIN_TOKEN = token() + token()
SERVER_SECRET = token() + token()


def may_know_person(record: Record) -> bool:
    """Who has told something about itself is known to all; not where it plays."""
    about_people = record.door == "rest" and record.what.partition(" ")[2].startswith(ABOUT_PEOPLE)
    return about_people or until_the_end()(record)


def public_key(identity: Identity) -> str:
    """The part of a public key that no other has."""
    return identity.public_key[-64:]


def of_the_server(signed: bool) -> list[Secret]:
    """What the server itself keeps."""
    kept = [
        Secret("metrics token", METRICS_TOKEN, nobody),
        Secret("admin token", ADMIN_TOKEN, nobody),
        Secret("address", ADDRESS, nobody),
        Secret("traceback", "Traceback (most recent call last)", nobody),
        Secret("name of the software", "server: uvicorn", nobody),
    ]
    return [*kept, Secret("secret of the server", SERVER_SECRET, nobody)] if signed else kept
