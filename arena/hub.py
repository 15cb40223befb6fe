"""Hub: who is listening on this worker. Fed by the store's feed alone, also for what this very worker committed."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import NamedTuple

from arena import history
from arena.chat import Entry
from arena.duties import again, attempt
from arena.engine import Engine
from arena.errors import ArenaError, NotFound
from arena.models import Channel, Invite, SessionId
from arena.room import Listener, Log, Position, Room, Subscription
from arena.states import States
from arena.store import keys
from arena.store.feeds import Feeds
from arena.store.sessions import Heads, Page, Sessions, read_end
from arena.wire import Cursor, Line, Push

logger = logging.getLogger(__name__)

STATE_PAUSE = 0.25  # seconds between two `state` frames of a session
CHECK_PAUSE = 1.0  # seconds between two shares of rooms that are compared with the log
CHECK_SHARES = 5
NEWS_TIME = 0.5  # seconds that news may be under way


class Known(NamedTuple):
    """What was known of a room at some moment."""

    heads: list[Position]
    end: tuple[int, int] | None


class Hub:
    """The rooms of this worker."""

    def __init__(self, engine: Engine, sessions: Sessions, feeds: Feeds, page_bytes: int) -> None:
        self.engine = engine
        self.sessions = sessions
        self.feeds = feeds
        self.page_bytes = page_bytes
        self.worker = secrets.token_hex(4)
        self.delivered: Callable[[int], None] = lambda count: None  # told how many messages went out
        self.rooms: dict[SessionId, Room] = {}
        self.states = States(engine, sessions.nodes, self.worker, self.rooms, self._shut, self._spawn)
        self._opening: dict[SessionId, asyncio.Task[Room]] = {}
        self._suspect: set[Room] = set()  # news did not fit
        self._tasks: set[asyncio.Task[bool]] = set()
        self._share = 0

    # Listening

    async def subscribe(
        self,
        listener: Listener,
        session: SessionId,
        viewer: Invite | None,
        cursors: Mapping[str, Cursor] | None = None,
        only: Channel | None = None,
    ) -> Subscription:
        """Have a connection follow a session, or only one channel, from its cursors on."""
        room = await self.enter(session)
        given = [(cursors or {}).get(log.channel) for log in room.logs]
        places = [None if cursor is None else Position(cursor.index, cursor.epoch) for cursor in given]
        subscription = Subscription(listener, room, viewer, places, only)
        room.subscriptions.add(subscription)
        self.states.stir(room)
        listener.lag()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Stop following."""
        room = subscription.room
        room.remove(subscription)
        self.leave(room)

    async def enter(self, session: SessionId) -> Room:
        """A room that is open, and stays so until the caller has taken a place in it without waiting for anything."""
        room = await self._open(session)
        while self.rooms.get(session) is not room:  # closed while we waited for it
            room = await self._open(session)
        return room

    def leave(self, room: Room) -> None:
        """Somebody has left a room: it is closed before long if nobody else is there."""
        self.states.stir(room)

    def demote(self, subscriptions: Iterable[Subscription]) -> None:
        """A connection does not keep up."""
        for subscription in subscriptions:
            subscription.room.demote(subscription)

    async def _open(self, session: SessionId) -> Room:
        """The room of a session: its feed first, then where the logs stand, so that nothing falls in between."""
        if session in self.rooms:
            return self.rooms[session]
        task = self._opening.get(session)
        if task is None:
            task = self._opening[session] = asyncio.create_task(self._make(session), name="open room")
            task.add_done_callback(lambda _: self._opening.pop(session, None))
        return await asyncio.shield(task)

    async def _make(self, session: SessionId) -> Room:
        feed = keys.feed(session)
        try:
            await self.feeds.subscribe(feed)
            heads = await self.sessions.heads(session)
            if not heads.tag:
                raise NotFound("Challenge not found")
        except ArenaError:
            self.feeds.unsubscribe(feed)
            raise
        room = self.rooms[session] = Room(session, asyncio.get_running_loop().call_later)
        self._set_heads(room, heads, self.known(room))
        if room.is_game:
            self.states.ask(room)
        return room

    # News

    def hear(self, feed: str, payload: bytes) -> None:
        """One piece of news from the store."""
        room = self.rooms.get(keys.fed_by(feed))
        if room is None:
            return
        head, _, rest = payload.partition(b"\n")
        kind, *words = head.decode().split(" ")
        match kind:
            case "o" | "p":
                self._take(room, room.logs[0 if kind == "o" else -1], words, rest)
            case "x":
                self._close(room)
            case _:
                self.states.hear(room, kind, words)

    def _take(self, room: Room, log: Log, words: Sequence[str], lines: bytes) -> None:
        entries = [Entry.unpack(line) for line in lines.split(b"\n")] if lines else []
        before = Position(int(words[0]) + 1, "" if words[1] == "-" else words[1])
        if room.advance(log, before, entries):
            self.delivered(len(entries) * sum(map(len, log.live.values())))
        elif before.next + len(entries) > log.head.next:
            self.suspect(room)  # anything else is old news: the log has told us already
        if len(words) > 2:
            room.stand(words[3], int(words[2]))
            room.end = room.end or read_end(words[4])
            self.states.stir(room)
            self._keep_end(room)

    def confirm(self, feed: str) -> None:
        """A feed has begun, perhaps anew after a lost connection: what came in between is in the log.

        Who came and went at other workers is not, so they are asked, and told who is here. And if the store has lost
        the end of its history, then we remember a version that is newer than the news and wrong.
        """
        room = self.rooms.get(keys.fed_by(feed))
        if room is not None:
            self.engine.drop(room.session)
            self.suspect(room)
            room.published = None
            self.states.stir(room)
            self.states.ask(room)

    def suspect(self, room: Room) -> None:
        """What we know of a room may be wrong: compare it with the log."""
        if room not in self._suspect:
            self._suspect.add(room)
            self._spawn(self._check(room))

    def suspect_all(self) -> None:
        """The store is a new process: compare everything."""
        for room in self.rooms.values():
            self.suspect(room)

    async def _check(self, room: Room) -> None:
        """Compare a room that must be wrong somewhere with the log, and correct it."""
        self._suspect.discard(room)
        known = self.known(room)
        self._set_heads(room, await self.sessions.heads(room.session), known)

    async def _look(self, room: Room) -> None:
        """Compare a room that is probably right with the log: news under way are given the time to arrive."""
        known = self.known(room)
        heads = await self.sessions.heads(room.session)
        if heads.tag != room.tag or heads.end != room.end or _positions(heads) != known.heads:
            await asyncio.sleep(NEWS_TIME)
            self._set_heads(room, await self.sessions.heads(room.session), known)
        else:
            self._keep_end(room)

    def known(self, room: Room) -> Known:
        """What we know of a room before we ask the log."""
        return Known([log.head for log in room.logs], room.end)

    def _set_heads(self, room: Room, heads: Heads, known: Known) -> None:
        """Believe the log, but for what the feed has moved on since we asked."""
        if not heads.tag:
            self._close(room)
            return
        for log, head, was in zip(room.logs, _positions(heads), known.heads, strict=True):
            if log.head == was:
                room.correct(log, head)
        if heads.tag != room.tag or room.state_push is None:
            room.stand(heads.tag)
            self.states.stir(room)
        if room.end == known.end != heads.end:
            room.end, room.end_push = heads.end, None
            for subscription in room.subscriptions:
                subscription.told_end = False
        self._keep_end(room)

    def _shut(self, room: Room) -> None:
        """Listen to a session no more."""
        del self.rooms[room.session]
        self.feeds.unsubscribe(keys.feed(room.session))

    def _close(self, room: Room) -> None:
        """The session is gone."""
        if self.rooms.get(room.session) is not room:
            return
        self._shut(room)
        for subscription in list(room.subscriptions):
            room.remove(subscription)
            subscription.listener.removed(room.session)
        for log in room.logs:
            log.dismiss()

    def _keep_end(self, room: Room) -> None:
        """Have `game_ended` prepared if a game is over and it is not; what failed before is tried again."""
        if room.end is not None and room.end_push is None:
            self._spawn(self._prepare_end(room))

    async def _prepare_end(self, room: Room) -> None:
        """Fetch what `game_ended` has to say."""
        session = await self.engine.at_tag(room.session, room.tag)
        if room.end_push is not None or room.end is None:
            return
        data = await history.end_data(self.sessions, session)
        frame = {"type": "game_ended", "challengeId": room.session, "data": data}
        room.end_push = Push(lambda: frame)
        for subscription in room.subscriptions:
            subscription.listener.lag()

    @property
    def behind(self) -> int:
        """How many readers are served from the log, by channel."""
        rooms = self.rooms.values()
        return sum(len(room.subscriptions) - sum(map(len, log.live.values())) for room in rooms for log in room.logs)

    # Catching up

    async def bring(self, subscription: Subscription) -> bool:
        """Bring a subscription one step further; False if it has to wait for news."""
        room, listener = subscription.room, subscription.listener
        for log in room.logs:
            if subscription.behind[log.number] is not None and subscription not in log.ahead:
                return await self._bring_page(subscription, log)
        if subscription.owes_end and room.end_push is not None:
            subscription.told_end = True
            room.flush()  # the last message of the game goes first
            listener.push(room.end_push.encoded(listener.codec))
        elif subscription.state_stale and room.state_push is not None:
            subscription.state_stale = False
            listener.push(room.state_push.encoded(listener.codec))
        else:
            return False
        return True

    async def _bring_page(self, subscription: Subscription, log: Log) -> bool:
        room, head, position = subscription.room, log.head, subscription.behind[log.number] or log.head
        at = (log.channel, position.next)
        if room.is_game:
            page, tag = await self.sessions.glance(room.session, *at, self.page_bytes, position.epoch)
        else:
            page, tag = await self.sessions.page(*at, position.epoch, self.page_bytes), ""
        reached = await self._send_page(subscription, log, page, tag)
        if subscription not in room.subscriptions:
            return False
        if room.settle(subscription, log, reached) or page.entries:
            return True
        if log.head == head and reached.next <= head.next:
            self.suspect(room)  # the log ends before what the feed has told
        return log.head != head  # else we have read further than the feed has told, and wait for it

    async def _send_page(self, subscription: Subscription, log: Log, page: Page, tag: str) -> Position:
        """Send what a page holds, as `initial` if it is the first; where that ends. The session stood at that tag."""
        listener, number = subscription.listener, log.number
        if subscription.begun[number] and page.holds:
            self.delivered(len(page.entries))
            for index, entry in enumerate(page.entries, page.first):
                listener.push(Line(entry, index).encoded(listener.codec, subscription.viewer))
            return Position(page.next, page.epoch)
        recovered = page.holds and (subscription.given[number] or subscription.begun[number])
        room, viewer = subscription.room, subscription.viewer
        session = await self.engine.at_tag(room.session, tag) if room.is_game else None
        revealed = history.is_revealed(session, log.channel)
        read = await history.read(self.sessions, log.channel, page, viewer, self.page_bytes, revealed=revealed)
        self.delivered(len(read.messages))
        subscription.begun[number] = True
        frame = {"type": "initial", "channel": log.channel, **read._asdict(), "recovered": recovered}
        listener.push(listener.codec.encode(frame))
        return Position(read.next, read.epoch)

    # What goes on by itself

    async def run(self) -> None:
        """Keep states fresh and rooms honest, for as long as the server lives."""
        async with asyncio.TaskGroup() as group:
            group.create_task(again("states", STATE_PAUSE, self.states.keep), name="hub states")
            group.create_task(again("checks", CHECK_PAUSE, self._keep_honest), name="hub checks")

    async def _keep_honest(self) -> None:
        """Compare a share of the rooms with the log, and tell peers that we are still here."""
        self._share = (self._share + 1) % CHECK_SHARES
        rooms = [room for number, room in enumerate(self.rooms.values()) if number % CHECK_SHARES == self._share]
        await asyncio.gather(*(attempt("check", self._look(room)) for room in rooms))
        for room in rooms:
            self.states.renew(room)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        """Do something aside; what is lost here comes back with the next check."""
        task = asyncio.create_task(attempt("hub", work), name="hub")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _positions(heads: Heads) -> list[Position]:
    return [Position(length + 1, tag) for length, tag in heads.logs]
