"""The plot of a heist: what its players do, what goes wrong, and how it ends."""

import asyncio
from typing import Any

from arena.wire import JSON, MSGPACK
from tests.guests import Guest, comes_true
from tests.heist import Heist, token
from tests.ledger import APART, nobody, only, until_the_end
from tests.witnesses import Seated, Witness

LARGE = 40_000  # characters, more than content may have
HUGE = 70_000  # more than a request or frame may have


class Impostor(Witness):
    """Somebody who shows no key and goes by a name that is not his."""

    alias = "operator"

    @property
    def handle(self) -> dict[str, str]:
        """What he says that he is."""
        return {"from": self.alias}


class Plot(Heist):
    """A heist from its beginning to its end."""

    async def run(self) -> None:
        """All of it."""
        await self.open()
        await self.look()
        self.ledger.phase = "active"
        await self.begin()
        await self.talk()
        await self.play()
        await self.fail()
        await self.lie()
        await self.look()
        self.ledger.phase = "ended"
        await self.end()
        await self.talk_on()
        await self.look()

    async def begin(self) -> None:
        """The last one sits down."""
        cy = self.witnesses["cy"]
        await self.join(cy, self.invites[2])
        await cy.follow(self.session)
        await self.tell_lobby(status="active")

    @property
    def moves_only(self) -> frozenset[tuple[str, str]]:
        """Doors that do not show what players say to each other."""
        return frozenset((name, "mcp-arena") for name in self.witnesses)

    # What players say

    async def talk(self) -> None:
        """Talk to all, and to one, by different doors; somebody waits for it over REST."""
        ada, ben, cy = self.players
        said = await self.say_aloud(ada)
        waiting = asyncio.create_task(
            self.witnesses["anonymous"].get("/chat/sync", channel=self.session, index=2, wait="5")
        )
        text = self.whisper("dm of ada", ada, ben)
        answer = await ada.guests[0].ask("chat", channel=self.session, content=text, to=ben.seat.invite, key=self.key())
        assert answer["type"] == "reply"
        assert (await waiting)["count"] == 1
        text = self.whisper("dm of ben", ben, cy)
        assert "index" in await ben.post("/chat/send", channel=self.session, content=text, to=cy.seat.invite)
        text = self.whisper("dm of cy", cy, ada)
        told = await cy.tool("chat", content=text, to=ada.seat.invite, **self.about(cy))
        assert "index" in told.json()["result"]["structuredContent"]
        text = self.keep("dm to the operator's name", token(), only("ada"), self.doors("ada") - self.moves_only)
        await ada.guests[1].get("chat", channel=self.session, content=text, to="operator")
        await self.tell_lobby(last=said)

    async def say_aloud(self, player: Witness) -> str:
        """Something for everybody, which has to arrive at every door."""
        names = ("ada", "ben", "cy", "anonymous")
        seen = self.doors(*names) - self.moves_only
        said = self.keep("public talk", token(), lambda record: record.viewer not in APART, seen)
        await player.guests[0].get("chat", channel=self.session, content=said)
        return said

    def whisper(self, name: str, sender: Witness, to: Witness) -> str:
        """A direct message; awkward to write in any codec."""
        core = self.keep(name, token(), only(sender.name, to.name), self.doors(sender.name, to.name) - self.moves_only)
        return f'"é\n\\{core}\u2028</script>'

    def key(self) -> str:
        """A key of a request, which nobody is told."""
        return self.keep("idempotency key", token())

    def about(self, player: Witness) -> dict[str, str]:
        """The arguments of a tool that name the game, and the player where that is needed."""
        return {"challengeId": self.session, **player.handle}

    # What players do

    async def play(self) -> None:
        """Bid in secret, by different doors; and be refused."""
        ada, ben, cy = self.players
        key = self.key()
        answer = await self.act(ada.guests[0], "bid", self.move("bid of ada", ada), key=key)
        assert answer["type"] == "reply"
        answer = await self.act(ada.guests[1], "bid", self.lost("another bid under the same key"), key=key)
        assert answer["code"] == "KEY_REUSED"
        sent = {"challengeId": self.session, "messageType": "bid", "content": self.move("bid of ben", ben)}
        assert await ben.post("/arena/message", **sent) == {"ok": "Message sent"}
        told = await cy.tool("act", method="bid", content=self.move("bid of cy", cy), **self.about(cy))
        assert "structuredContent" in told.json()["result"]
        refused = await self.act(ben.guests[1], "haggle", self.move("haggling of ben", ben))
        assert refused["code"] == "TOO_LOW"
        unknown = await self.act(ada.guests[1], self.move("method of ada", ada), "")
        assert unknown["code"] == "UNKNOWN_METHOD"
        await self.act(cy.guests[0], "wind", self.move("deadline of cy", cy))
        await self.act(cy.guests[0], "delegate", self.move("job of cy", cy))
        channel = f"challenge_{self.session}"

        def gone() -> bool:
            return any("appraiser" in each["content"] for each in ada.guests[0].messages(channel))

        await comes_true(gone, "the job has failed")

    async def act(self, guest: Guest, type: str, content: str, **fields: Any) -> Any:
        """Make a move over a socket."""
        return await guest.ask("message", challengeId=self.session, messageType=type, content=content, **fields)

    def move(self, name: str, player: Witness) -> str:
        """What a player tells the operator."""
        return self.keep(name, token(), until_the_end(player.name), self.doors(player.name, "anonymous"))

    def lost(self, name: str) -> str:
        """Something that is refused so early, or goes so wrong, that nobody ever gets it."""
        return self.keep(name, token(), nobody)

    # What goes wrong

    async def fail(self) -> None:
        """Have the operator fall over, and send what is too large or cannot be read."""
        ada, ben, cy = self.players
        answer = await self.act(ada.guests[0], "stumble", self.lost("fall over a socket"))
        assert answer["code"] == "INTERNAL"
        sent = {"challengeId": self.session, "messageType": "stumble", "content": self.lost("fall over REST")}
        assert await ben.post("/arena/message", **sent) == {"error": "Internal server error"}
        await cy.tool("act", method="stumble", content=self.lost("fall over MCP"), **self.about(cy))
        for guest in ada.guests:
            large = self.lost("too large for a socket") + "x" * LARGE
            assert (await self.act(guest, "bid", large))["code"] == "TOO_LARGE"
            assert (await guest.ask("chat", channel=self.session, content=large))["code"] == "TOO_LARGE"
        large = self.lost("too large for REST") + "x" * LARGE
        await ben.post("/arena/message", challengeId=self.session, messageType="bid", content=large)
        await ben.post("/chat/send", channel=self.session, content=large)
        await cy.tool("chat", content=self.lost("too large for MCP") + "x" * LARGE, **self.about(cy))
        huge = {"channel": self.session, "content": self.lost("huge") + "x" * HUGE}
        assert (await ben.ask("POST", "/api/chat/send", json=huge)).status_code == 413
        await self.send_nonsense(ada)

    async def send_nonsense(self, player: Witness) -> None:
        """What is no JSON, no frame, no request."""
        broken = self.lost("broken JSON")
        for path in ("/api/chat/send", "/api/arena/mcp", "/mcp"):
            await player.ask("POST", path, content=b'{"content": "' + broken.encode(), headers={"x-request-id": "a b"})
        await player.post("/chat/send", channel=[self.lost("wrong type")], content={self.lost("wrong content"): 1})
        await player.tool(self.lost("unknown tool")[:12], arguments={})
        for codec in (JSON, MSGPACK):
            async with player.connected(codec) as guest:
                text = self.lost("no frame")
                await guest.socket.send(text if codec.text else text.encode())
                await guest.hear("error", code="BAD_FRAME")
            async with player.connected(codec) as guest:
                text = self.lost("huge frame") + "x" * HUGE
                await guest.socket.send(text if codec.text else text.encode())
                assert await guest.closed() == 1009

    async def lie(self) -> None:
        """Strangers who act, and people with wrong keys and false names."""
        eve = self.witnesses["eve"]
        for guest in eve.guests:
            assert (await self.act(guest, "bid", self.lost("stranger's bid")))["code"] == "PLAYER_NOT_FOUND"
        sent = {"challengeId": self.session, "messageType": "bid", "content": self.lost("stranger's bid over REST")}
        assert "error" in await eve.post("/arena/message", **sent)
        assert "error" in await eve.post("/chat/send", channel=self.session, content=self.lost("stranger's talk"))
        for number, key in enumerate((f"s_0.{token()}{token()}{token()[:16]}", token())):
            await self.try_key(await self.witness(f"burglar {number}", Seated(key=self.keep("wrong key", key))))
        liar = self.witnesses["liar"] = Impostor(self.place, "liar", self.stack)
        liar.alias = self.invites[0] if self.place.signed else "operator"
        await liar.enter()
        await liar.look_by_rest(self.session, ())
        await liar.look_by_mcp(self.session)
        await liar.look_by_stream(self.session)

    async def try_key(self, burglar: Witness) -> None:
        """Show a wrong key at every door."""
        key, id_ = burglar.seat.key, self.session
        for channel in (id_, f"challenge_{id_}"):
            await burglar.get("/chat/sync", channel=channel, key=key)
            await burglar.ask("GET", f"/api/chat/sync?channel={channel}", headers={"authorization": f"Bearer {key}"})
            if self.place.signed:  # elsewhere a stream would begin, which has no end
                assert (await burglar.ask("GET", f"/api/chat/ws/{channel}?key={key}")).status_code == 401
        await burglar.tool("read", challengeId=id_, sessionKey=key)
        await burglar.tool("act", challengeId=id_, sessionKey=key, method="bid")
        async with burglar.connected(JSON) as guest:
            assert await guest.refusal("resume", challengeId=id_, sessionKey=key) == "UNAUTHORIZED"
        async with burglar.connected(JSON, f"?challenge={id_}&key={key}") as guest:
            assert await guest.closed() == 4401

    # How it ends

    async def end(self) -> None:
        """The last move; what comes out with it, and only then."""
        ben = self.witnesses["ben"]
        assert await ben.post("/arena/message", challengeId=self.session, messageType="finish", content="")
        for follower in self.followers:
            for guest in follower.guests:
                await guest.hear("game_ended")
            for _, reader in follower.readers:
                await reader.hear("game_ended")
                follower.note_events(reader)
        await self.tell_lobby(status="ended")
        listed = await self.witnesses["anonymous"].get("/challenges/vault")
        [shown] = [each for each in listed["challenges"] if each["id"] == self.session]
        seen = frozenset({("anonymous", "rest"), ("anonymous", "ws-json"), ("lobby", "ws-msgpack")})
        hidden = {name: shown["reveal"][name] for name in ("secret", "seed")}
        hidden["buried"] = shown["gameState"]["buried"]
        for name, text in hidden.items():
            self.keep(name, text, until_the_end(), seen)
        for worth in shown["gameState"]["worth"]:  # the operator's last words are the scores
            self.keep("score", str(worth), lambda record: record.phase == "ended" and record.door != "log", seen)

    async def talk_on(self) -> None:
        """What players say to each other stays between them; moves come too late, and are shown with the rest."""
        ada, ben, _ = self.players
        text = self.whisper("dm after the end", ada, ben)
        await ada.guests[0].get("chat", channel=self.session, content=text, to=ben.seat.invite)
        late = self.keep("late move", token(), until_the_end("ada"), self.doors("ada"))
        await ada.post("/arena/message", challengeId=self.session, messageType="bid", content=late)
        answer = await self.act(ada.guests[0], "bid", self.lost("late move over a socket"))
        assert answer["code"] == "GAME_NOT_RUNNING"
        await self.update(ben, self.keep("name of ben", f"Ben {token()}", until_the_end(), LATER))


LATER = frozenset({("anonymous", "rest"), ("anonymous", "ws-json")})
