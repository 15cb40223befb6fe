"""Lobby: what happens in all public sessions, and on the boards, for those who want to know."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from arena.catalog import Catalog
from arena.chat import operator_channel, player_channel
from arena.duties import again, attempt
from arena.engine import Engine
from arena.errors import ArenaError, NotFound
from arena.models import Challenge, ChallengeOperatorState, Millis, SessionId, Status
from arena.room import Listener
from arena.scorer import Scorer
from arena.session import challenge_view
from arena.store import boards, index, keys
from arena.store.feeds import Feeds
from arena.store.index import Index
from arena.wire import Push

logger = logging.getLogger(__name__)

PAUSE = 1.0  # seconds between two frames about the same session, or the same board
SHOWN = 100  # sessions of each status in the first answer
WAITING = 1_000  # sessions that a lagging listener is told about when it has room again
TAIL = 16  # messages looked through for the newest public one

Board = tuple[str, str]  # challenge type or "global", strategy
News = dict[str, Any]  # as the index publishes it: event, id, type, createdAt


@dataclass(eq=False)
class Guest:
    """A connection in the lobby."""

    listener: Listener
    type: str | None
    waiting: dict[SessionId, News] = field(default_factory=dict)  # what it had no room for: the newest per session


class Lobby:
    """Those who follow sessions and boards rather than a game."""

    def __init__(self, engine: Engine, index: Index, scorer: Scorer, feeds: Feeds, catalog: Catalog) -> None:
        self.engine = engine
        self.index = index
        self.scorer = scorer
        self.feeds = feeds
        self.catalog = catalog
        self.guests: dict[Listener, Guest] = {}
        self.boards: defaultdict[Board, set[Listener]] = defaultdict(set)
        self._news: asyncio.Queue[News] = asyncio.Queue(maxsize=10_000)
        self._shown: dict[SessionId, str] = {}  # sessions that guests were told of and that have not ended, with type
        self._moved: defaultdict[Board, set[Listener]] = defaultdict(set)  # and who is to be told
        self._touched: set[SessionId] = set()
        self._changed: dict[SessionId, News] = {}  # what was reported since guests were told last

    async def enter(self, listener: Listener, type: str | None) -> dict[str, Any]:
        """Follow the sessions of a type, or of all; answers with those that wait or run."""
        if type is not None:
            self.catalog.challenge(type)
        await self.feeds.subscribe(keys.LOBBY_FEED)
        self.guests[listener] = Guest(listener, type)
        found: list[Challenge] = []
        total = 0
        for status in (Status.ACTIVE, Status.OPEN):
            listed = await self.index.page(index.name(type, status), 0, SHOWN)
            found += await self._views(listed.ids)
            total += listed.total
        self._shown |= {challenge.id: challenge.challenge_type for challenge in found}
        return {"challenges": [challenge.wire() for challenge in found], "total": total}

    def leave(self, listener: Listener) -> None:
        """Stop following sessions."""
        if self.guests.pop(listener, None) is not None and not self.guests:
            self.feeds.unsubscribe(keys.LOBBY_FEED)
            self._shown.clear()

    async def follow(self, listener: Listener, type: str | None, strategy: str | None) -> dict[str, Any]:
        """Follow a board; answers with its top."""
        where, name, entries = await self.scorer.board(type, strategy)
        await self.feeds.subscribe(boards.feed(where))
        self.boards[where, name].add(listener)
        return {"challengeType": where, "strategy": name, "entries": [entry.wire() for entry in entries]}

    def unfollow(self, listener: Listener, type: str | None, strategy: str | None) -> None:
        """Stop following a board: the one that `follow` with the same words would follow, all strategies if none."""
        for where, name in list(self.boards):
            if where == (type or boards.GLOBAL) and strategy in {None, name}:
                self._drop(listener, (where, name))

    def _drop(self, listener: Listener, board: Board) -> None:
        self.boards[board].discard(listener)
        if not self.boards[board]:
            del self.boards[board]
            if all(where != board[0] for where, _ in self.boards):
                self.feeds.unsubscribe(boards.feed(board[0]))

    def forget(self, listener: Listener) -> None:
        """A connection is gone."""
        self.leave(listener)
        for board in list(self.boards):
            self._drop(listener, board)

    def hear(self, feed: str, payload: bytes) -> None:
        """One piece of news from the store."""
        if feed == keys.LOBBY_FEED:
            news: News = orjson.loads(payload)
            if news["event"] == "changed":  # each worker reports at its own pace, and a session may be busy on several
                self._changed[news["id"]] = news
            else:
                self._changed.pop(news["id"], None)
                self._take(news)
            return
        type_ = feed.removeprefix("{score:").removesuffix("}:f")
        board = (type_, payload.decode())
        if board in self.boards:
            self._moved[board] |= self.boards[board]

    def confirm(self, feed: str) -> None:
        """A feed has begun, perhaps anew after a lost connection: what moved in between was not told."""
        for (type_, strategy), listeners in self.boards.items():
            if feed == boards.feed(type_):
                self._moved[type_, strategy] |= listeners
        if feed == keys.LOBBY_FEED:
            for id_, type_ in self._shown.items():
                self._take({"event": "changed", "id": id_, "type": type_, "createdAt": 0})

    def _take(self, news: News) -> None:
        if self.guests and not self._news.full():
            self._news.put_nowait(news)

    def touch(self, session: SessionId) -> None:
        """Something was said or done in a session by this worker."""
        self._touched.add(session)

    async def run(self) -> None:
        """Pass news on, for as long as the server lives."""
        async with asyncio.TaskGroup() as group:
            group.create_task(again("lobby news", 0, self._pass_on), name="lobby news")
            group.create_task(again("lobby pace", PAUSE, self._keep_up), name="lobby pace")

    async def _pass_on(self) -> None:
        await self._tell(await self._news.get())

    async def _tell(self, news: News) -> None:
        guests = [guest for guest in self.guests.values() if guest.type in {None, news["type"]}]
        if not guests:
            return
        push = Push(_constant(await self._frame(news)))
        for guest in guests:
            if guest.listener.has_room and not guest.waiting:
                guest.listener.push(push.encoded(guest.listener.codec))
            elif len(guest.waiting) < WAITING or news["id"] in guest.waiting:
                guest.waiting[news["id"]] = news
                guest.listener.lag()

    async def bring(self, listener: Listener) -> bool:
        """Tell a guest the next thing it had no room for; False if there is none."""
        guest = self.guests.get(listener)
        if guest is None or not guest.waiting:
            return False
        news = guest.waiting.pop(next(iter(guest.waiting)))
        frame = await self._frame(news)
        listener.push(listener.codec.encode(frame))
        return True

    async def _frame(self, news: News) -> dict[str, Any]:
        id_, event = SessionId(news["id"]), news["event"]
        try:
            session = await self.engine.get(id_)
        except NotFound:
            self._shown.pop(id_, None)
            return {"type": "session", "event": "removed", "challenge": self._gone(news).wire()}
        if session.standing.status is Status.ENDED:
            self._shown.pop(id_, None)
            event = "ended"
        else:
            self._shown[id_] = session.header.type
        frame = {"type": "session", "event": event, "challenge": challenge_view(session).wire()}
        last = await self._last_line(id_)
        return frame if last is None else {**frame, "lastLine": last}

    async def _last_line(self, id_: SessionId) -> dict[str, Any] | None:
        """The newest message that everybody may read."""
        public: list[dict[str, Any]] = []
        for channel in (operator_channel(id_), player_channel(id_)):
            page = await self.engine.sessions.tail(channel, TAIL)
            lines = (entry.fields(number) for number, entry in enumerate(page.entries, page.first))
            public += [line for line in lines if not line.get("to")]
        # Reversed, since all messages of one turn have its time, and the last of them is the newest.
        return max(reversed(public), key=lambda line: line["timestamp"], default=None)

    def _gone(self, news: News) -> Challenge:
        known = self.catalog.challenges.get(news["type"])
        return Challenge(
            id=SessionId(news["id"]),
            name=known.metadata.name if known else news["type"],
            created_at=Millis(news.get("createdAt", 0)),
            challenge_type=news["type"],
            invites=[],
            state=ChallengeOperatorState(),
        )

    async def _views(self, ids: Iterable[SessionId]) -> list[Challenge]:
        async def view(id_: SessionId) -> Challenge | None:
            try:
                return challenge_view(await self.engine.get(id_))
            except NotFound:
                return None

        return [found for found in await asyncio.gather(*map(view, ids)) if found is not None]

    async def _keep_up(self) -> None:
        """At most once a second: tell boards that moved, and tell the lobby what this worker's sessions did."""
        touched, self._touched = self._touched, set()
        changed, self._changed = self._changed, {}
        for news in changed.values():
            self._take(news)
        for board in list(self._moved):
            await self._push_board(board)
        if touched and await self._has_guests():
            await asyncio.gather(*(attempt("report", self._report(id_)) for id_ in touched))

    async def _push_board(self, board: Board) -> None:
        type_, strategy = board
        where = None if type_ == boards.GLOBAL else type_
        waiting = self._moved.pop(board)
        try:
            _, _, entries = await self.scorer.board(where, strategy)
        except ArenaError:
            self._moved[board] |= waiting
            raise
        told = [entry.wire() for entry in entries]
        frame = {"type": "leaderboard", "challengeType": type_, "strategy": strategy, "entries": told}
        push = Push(lambda: frame)
        for listener in waiting & self.boards.get(board, set()):
            if listener.has_room:
                listener.push(push.encoded(listener.codec))
            else:
                self._moved[board].add(listener)

    async def _has_guests(self) -> bool:
        """Whether any worker has somebody in the lobby."""
        reply = await self.index.nodes.run(keys.LOBBY_FEED, "PUBSUB", "SHARDNUMSUB", keys.LOBBY_FEED)
        return int(reply[1]) > 0

    async def _report(self, id_: SessionId) -> None:
        try:
            session = await self.engine.get(id_)
        except NotFound:
            return
        if not session.header.private and session.standing.status is not Status.ENDED:
            await self.index.changed(id_, session.header.type)


def _constant(frame: dict[str, Any]) -> Any:
    return lambda: frame
