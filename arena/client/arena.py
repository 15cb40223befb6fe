"""A link to an arena that comes back by itself: lost connections, restarts and a store that is away are waited out."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from random import Random
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlunsplit

from pydantic import JsonValue
from websockets.exceptions import InvalidHandshake, InvalidStatus

from arena.chat import session_of
from arena.client.connection import Client, Frame, client, new_key
from arena.client.desk import Desk, Disconnected, page_of
from arena.client.feed import Feed, Watched
from arena.client.game import Game
from arena.errors import ArenaError, RateLimited, Refused, StoreUnavailable
from arena.identity import Identity
from arena.models import Challenge, RankedEntry, SessionId
from arena.remote import parts_of
from arena.wire import JSON, Codec

HERE = "http://127.0.0.1:3001"
FINAL = frozenset({1000, 1003, 1007, 1009, 4401, 4404, 4409})  # close codes after which coming back makes no sense
GAP = 4000  # with what we close a connection that skipped something
SERVER_ERRORS = 500
PATIENCE = 300.0  # seconds without a connection after which it is given up
LONGEST = 15.0  # seconds between two tries
ASK_AGAIN = 5.0  # seconds after which it is asked again what came of a ticket
AWAY = 0.5  # seconds before a frame is sent again to a server whose store is away

Value = TypeVar("Value")
Heard = TypeVar("Heard", bound=Feed)


def back_off(rng: Random) -> Iterator[float]:
    """Seconds to wait before each try: doubling, with jitter, so that a crowd does not come back at once."""
    for failures in itertools.count():
        yield min(LONGEST, 0.3 * 2 ** min(failures, 10)) * rng.uniform(0.5, 1)


def socket_of(url: str) -> str:
    """The address of an arena's socket, from that of its page."""
    parts = parts_of(url, "http", "https", "ws", "wss")
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    return urlunsplit((scheme, parts.netloc, parts.path if parts.path.strip("/") else "/ws", "", ""))


class Arena(Desk):
    """An arena as a player sees it. Any number of games go over one connection, which is made anew when it is lost.

    Whatever is sent carries a key, so that it is done once however often it has to be sent.
    """

    def __init__(
        self, url: str = HERE, *, identity: Identity | None = None, codec: Codec = JSON, patience: float = PATIENCE
    ) -> None:
        self.url = socket_of(url)
        super().__init__(page_of(self.url), identity)
        self.codec = codec
        self.patience = patience
        self.games: dict[SessionId, Game] = {}  # seats in games that are not over
        self.watched: dict[SessionId, Watched] = {}
        self._asking = 0  # joins and the like that are being answered
        self._early: dict[SessionId, list[Frame]] = {}  # what comes of them before their answer is read
        self._tickets: dict[str, asyncio.Event] = {}  # set when something has come of them
        self._rng = Random()  # noqa: S311
        self._online: asyncio.Future[Client] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._online = asyncio.get_running_loop().create_future()
        self._running = asyncio.create_task(self._live(), name="arena link")
        try:
            await asyncio.shield(self._online)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        self._give_up(Disconnected("The link was closed."))

    # What one may ask for

    async def create(
        self, challenge: str, options: Mapping[str, JsonValue] | None = None, *, private: bool = False
    ) -> Challenge:
        """Open a session; the answer has its invites, which nobody is shown again."""
        made = await self._once("create", {"challengeType": challenge, "options": options, "private": private or None})
        return Challenge.from_wire(made)

    async def join(self, invite: str, user: str | None = None, *, raw: bool = False) -> Game:
        """Take the seat of an invite; a raw one hears the frames of the protocol and no events."""
        key = new_key()

        async def sit() -> Game:
            signed = self.identity.sign(f"join:{invite}") if self.identity else {"userId": user}
            return await self._sit(invite, "join", raw=raw, invite=invite, key=key, **signed)

        return await self._insist(sit)

    async def queue(
        self,
        challenge: str,
        options: Mapping[str, JsonValue] | None = None,
        *,
        ranked: bool = True,
        user: str | None = None,
    ) -> str:
        """Wait until there is company for a game; the invite of a seat. Who stops waiting gives its ticket up."""
        wish = {"challengeType": challenge, "options": options, "ranked": ranked, "key": new_key()}

        async def enter() -> Frame:
            signed = self.identity.sign(f"queue:{challenge}") if self.identity else {"userId": user}
            return await self._once("queue", {**wish, **signed})

        ticket = ""
        try:
            while (state := await self._insist(enter))["status"] == "waiting":
                ticket = state["ticket"]
                told = self._tickets.setdefault(ticket, asyncio.Event())
                with suppress(TimeoutError):
                    async with asyncio.timeout(ASK_AGAIN):  # a new connection has to be told to follow it
                        await told.wait()
        except asyncio.CancelledError:
            with suppress(Exception):
                ticket = ticket or (await enter())["ticket"]
                await self._once("queue", {"challengeType": challenge, "ticket": ticket, "off": True})
            raise
        finally:
            self._tickets.pop(ticket, None)
        if state["status"] != "matched":
            raise Refused(state.get("code", "NOT_FOUND"), state.get("error", "The ticket is gone."))
        return str(state["invite"])

    async def find(
        self,
        challenge: str,
        options: Mapping[str, JsonValue] | None = None,
        *,
        ranked: bool = True,
        user: str | None = None,
    ) -> Game:
        """Wait for company, and take the seat."""
        return await self.join(await self.queue(challenge, options, ranked=ranked, user=user), user)

    async def resume(self, session: str, session_key: str, *, raw: bool = False) -> Game:
        """Come back to a seat that was taken before, also by another program; it hears the game from its beginning."""
        seat = {"challengeId": session, "sessionKey": session_key}
        game = await self._insist(lambda: self._sit("", "resume", raw=raw, **seat))
        await game.seen.wait()  # before that it is not known which of the players this is
        return game

    async def watch(self, session: str, *, raw: bool = False) -> Watched:
        """Follow a session without a seat; what is not for everybody comes `redacted`."""
        if session in self.games:
            raise Refused("FORBIDDEN", "This link has a seat in that session, which hears more than who watches.")

        async def look() -> Watched:
            guest = await self._connected()
            with self._expecting():
                challenge = Challenge.from_wire(await self._ask(guest, "watch", {"challengeId": session}))
                watched = Watched(self, challenge.id, raw=raw)
                self.watched[challenge.id] = watched
                return await self._take_up(guest, watched)

        return await self._insist(look)

    async def leave(self, watched: Watched) -> None:
        """Watch a session no more."""
        self.watched.pop(watched.id, None)
        watched.lose(Disconnected("It is watched no more."))
        await self.call("unwatch", challengeId=watched.id)

    async def leaderboard(self, challenge: str | None = None, strategy: str | None = None) -> list[RankedEntry]:
        """The top of a board, best first; without a challenge that of all of them."""
        board = {"challengeType": challenge, "strategy": strategy}
        told = await self.call("leaderboard", **board)
        await self.call("leaderboard", **board, off=True)
        return [RankedEntry.from_wire(entry) for entry in told["entries"]]

    async def call(self, type: str, **fields: Any) -> Frame:
        """Send a frame that may be sent twice, until it is answered; raises `Refused` with the server's code."""
        return await self._insist(lambda: self._once(type, fields))

    async def play(self, game: Game, type: str, **fields: Any) -> Frame:
        """The same from the seat of a game."""
        return await self._insist(lambda: self._once(type, fields, game))

    async def _insist(self, ask: Callable[[], Awaitable[Value]]) -> Value:
        while True:
            try:
                return await ask()
            except Disconnected:
                raise
            except ConnectionError:
                continue
            except RateLimited as refusal:
                await asyncio.sleep(refusal.retry_after)
            except Refused as refusal:
                if refusal.code != StoreUnavailable.code:
                    raise
                await asyncio.sleep(AWAY)

    async def _once(self, type: str, fields: Mapping[str, Any], game: Game | None = None) -> Frame:
        guest = await self._connected()
        if game is not None and game.carrier is not guest:
            await self._resume(guest, game)
        return await self._ask(guest, type, fields)

    async def _sit(self, handle: str, type: str, *, raw: bool = False, **fields: Any) -> Game:
        guest = await self._connected()
        with self._expecting():
            game = Game(self, await self._ask(guest, type, fields), handle, raw=raw)
            self.games[game.id] = game
            return await self._take_up(guest, game)

    @contextmanager
    def _expecting(self) -> Iterator[None]:
        """Keep what comes of a session before the answer that makes it one of ours."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._early.clear()

    async def _take_up(self, guest: Client, feed: Heard) -> Heard:
        feed.carrier = guest
        for frame in self._early.pop(feed.id, ()):
            self._hand_over(feed, frame)
        if self._online is not None and self._online.done() and await self._connected() is not guest:
            await self._resume(await self._connected(), feed)  # lost right behind the answer, and back already
        return feed

    async def _connected(self) -> Client:
        if self._online is None:
            raise RuntimeError("Use it as `async with Arena(url) as arena`.")
        return await asyncio.shield(self._online)

    async def _ask(self, guest: Client, type: str, fields: Mapping[str, Any]) -> Frame:
        """Ask over one connection; once it is lost nobody else asks there, so that trying again means waiting."""
        try:
            return await guest.call(type, **fields)
        except ConnectionError:
            self._go_offline(guest)
            raise

    # The life of the link

    async def _live(self) -> None:
        """Keep the link; should it break by a fault, whoever waits hears of it and does not wait for ever."""
        try:
            await self._run()
        except Exception as error:
            broken = Disconnected(f"The link to {self.url} broke: {error!r}")
            broken.__cause__ = error
            self._give_up(broken)

    async def _run(self) -> None:
        """Connect, and connect again, until somebody says that it makes no sense."""
        waits = back_off(self._rng)
        loop = asyncio.get_running_loop()
        lost_at = loop.time()
        was_reached = False
        while True:
            reason: object = None
            try:
                async with client(self.url, self.codec) as guest:
                    waits, was_reached = back_off(self._rng), True
                    await self._serve(guest)
            except (OSError, InvalidHandshake, EOFError) as error:
                reason = error
                was_reached |= not isinstance(error, OSError) or type(error) is ConnectionError
                if isinstance(error, InvalidStatus) and error.response.status_code < SERVER_ERRORS:
                    return self._give_up(Disconnected(f"The server answered {error.response.status_code}."))
            else:
                if guest.socket.close_code in FINAL:
                    reason = guest.socket.close_reason or guest.socket.close_code
                    return self._give_up(Disconnected(f"The server said farewell: {reason}."))
                lost_at = loop.time()
                reason = f"closed with {guest.socket.close_code}"
            if not was_reached or loop.time() - lost_at > self.patience:
                return self._give_up(Disconnected(f"No arena answers at {self.url}: {reason}"))
            await asyncio.sleep(next(waits))

    async def _serve(self, guest: Client) -> None:
        """Take all seats again, let whoever waits go on, and pass on what is heard until the connection ends."""
        listening = asyncio.create_task(self._listen(guest), name="arena frames")
        try:
            while left := [feed for feed in self._feeds() if feed.carrier is not guest and not feed.is_over]:
                await asyncio.gather(*(self._resume(guest, feed) for feed in left))
            if self._online is not None and not self._online.done():
                self._online.set_result(guest)
            await listening
        except ConnectionError:
            return
        finally:
            self._go_offline(guest)
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    def _feeds(self) -> list[Feed]:
        return [*self.games.values(), *self.watched.values()]

    async def _resume(self, guest: Client, feed: Feed) -> None:
        while True:
            try:
                await self._ask(guest, feed.again, feed.back())
                feed.carrier = guest
            except RateLimited as refusal:
                await asyncio.sleep(refusal.retry_after)
            except ArenaError as refusal:
                if refusal.code != StoreUnavailable.code:
                    return feed.lose(refusal)
                await asyncio.sleep(AWAY)
            else:
                return None

    async def _listen(self, guest: Client) -> None:
        while True:
            frame = await guest.hear()
            if frame["type"] == "queue":
                self._tickets.get(frame["ticket"], asyncio.Event()).set()
                continue
            channel = frame.get("channel") or frame.get("message", {}).get("channel") or frame.get("challengeId")
            if channel is None:
                continue
            session = session_of(channel)
            if (feed := self.games.get(session) or self.watched.get(session)) is not None:
                if self._hand_over(feed, frame):
                    # Something is missing between the last message and this one: go on from the cursor.
                    await guest.socket.close(GAP)
            elif self._asking:
                self._early.setdefault(session, []).append(frame)

    def _hand_over(self, feed: Feed, frame: Frame) -> bool:
        """Let a session hear a frame; one that is over is of no more concern. True if something is missing."""
        gap = feed.hear(frame)
        if feed.is_over:
            (self.games if isinstance(feed, Game) else self.watched).pop(feed.id, None)
        return gap

    def _go_offline(self, guest: Client) -> None:
        """Let those who ask from now on wait for the next connection."""
        online = self._online
        if online is not None and online.done() and online.exception() is None and online.result() is guest:
            self._online = asyncio.get_running_loop().create_future()

    def _give_up(self, reason: Disconnected) -> None:
        for feed in self._feeds():
            feed.lose(reason)
        if self._online is not None:
            if self._online.done():
                self._online = asyncio.get_running_loop().create_future()
            self._online.set_exception(reason)
            self._online.exception()  # seen: nobody has to wait for it
