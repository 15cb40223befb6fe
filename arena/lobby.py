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
from arena.errors import ArenaError, NotFound, UnknownChallengeType, Unreadable
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
NEWS = 10_000  # pieces of news that may wait to be told; more of them are told at the next pause
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
        self._news: asyncio.Queue[News] = asyncio.Queue(NEWS)
        self._cut = asyncio.Event()  # the feed has begun anew, and may have lost something
        self._shown: dict[SessionId, str] = {}  # sessions that guests were told of and that have not ended, with type
        self._moved: defaultdict[Board, set[Listener]] = defaultdict(set)  # and who is to be told
        self._touched: dict[SessionId, int | None] = {}  # sessions to report; with their spectators if those changed
        self._watched: dict[SessionId, int] = {}  # spectators of sessions that somebody watches by this worker
        self._seen: dict[SessionId, int] = {}  # spectators as any worker has reported them since guests are here
        self._changed: dict[SessionId, News] = {}  # what was reported since guests were told last

    async def enter(self, listener: Listener, type: str | None) -> dict[str, Any]:
        """Follow the sessions of a type, or of all; answers with those that wait or run."""
        if type is not None and await self.catalog.look_for(type) is None:
            raise UnknownChallengeType(f"Unknown challenge type: {type}")
        await self.feeds.subscribe(keys.LOBBY_FEED)
        self.guests[listener] = Guest(listener, type)
        found, total = await self._list(type)
        self._shown |= {challenge.id: challenge.challenge_type for challenge in found}
        running = [challenge.id for challenge in found if challenge.state.status is Status.ACTIVE]
        lines = zip(running, await asyncio.gather(*map(self._last_line, running)), strict=True)
        watched = self._seen | self._watched
        return {
            "challenges": [challenge.wire() for challenge in found],
            "total": total,
            "lastLines": {id_: line for id_, line in lines if line is not None},
            "spectators": {challenge.id: watched[challenge.id] for challenge in found if challenge.id in watched},
        }

    async def _list(self, type: str | None) -> tuple[list[Challenge], int]:
        """The newest sessions that wait or run, and how many there are."""
        found: list[Challenge] = []
        total = 0
        for status in (Status.ACTIVE, Status.OPEN):
            listed = await self.index.page(index.name(type, status), 0, SHOWN)
            found += await self.views(listed.ids)
            total += listed.total
        return found, total

    def leave(self, listener: Listener) -> None:
        """Stop following sessions."""
        if self.guests.pop(listener, None) is not None and not self.guests:
            self.feeds.unsubscribe(keys.LOBBY_FEED)
            self._shown.clear()
            self._seen.clear()

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
            if "spectators" in news:
                self._seen[news["id"]] = news["spectators"]
            if news["event"] == "changed":  # each worker reports at its own pace, and a session may be busy on several
                self._changed.setdefault(news["id"], news)
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
        if feed == keys.LOBBY_FEED and self.guests:
            self._cut.set()

    def _take(self, news: News) -> None:
        if not self.guests:
            return
        if self._news.full():
            self._changed.setdefault(news["id"], news)
        else:
            self._news.put_nowait(news)

    def touch(self, session: SessionId) -> None:
        """Something was said or done in a session by this worker."""
        self._touched.setdefault(session, None)

    def watch(self, session: SessionId, spectators: int) -> None:
        """Somebody has begun or ceased to watch a session by this worker; so many watch it by all of them."""
        if spectators == self._watched.get(session, 0):
            return
        self._touched[session] = self._watched[session] = spectators
        if spectators == 0:
            del self._watched[session]

    async def run(self) -> None:
        """Pass news on, for as long as the server lives."""
        async with asyncio.TaskGroup() as group:
            group.create_task(again("lobby news", 0, self._pass_on), name="lobby news")
            group.create_task(again("lobby pace", PAUSE, self._keep_up), name="lobby pace")
            group.create_task(again("lobby cuts", 0, self._make_good), name="lobby cuts")

    async def _pass_on(self) -> None:
        news = await self._news.get()
        try:
            await self._tell(news)
        except ArenaError:
            self._changed.setdefault(news["id"], news)
            raise

    async def _make_good(self) -> None:
        """After a cut: tell of sessions that one who enters now would be shown, and look again at those told of."""
        await self._cut.wait()
        self._cut.clear()
        try:
            lists = [await self._list(type_) for type_ in {guest.type for guest in self.guests.values()}]
        except ArenaError:
            self._cut.set()
            raise
        found = {challenge.id: challenge for challenges, _ in lists for challenge in challenges}
        for id_, challenge in found.items():
            if id_ not in self._shown:
                type_, created = challenge.challenge_type, challenge.created_at
                self._take({"event": "created", "id": id_, "type": type_, "createdAt": created})
        for id_, type_ in self._shown.items():
            self._take({"event": "changed", "id": id_, "type": type_, "createdAt": 0})

    async def _tell(self, news: News) -> None:
        guests = [guest for guest in self.guests.values() if guest.type in {None, news["type"]}]
        if not guests:
            return
        frame = await self._frame(news)
        if frame is None:
            return
        push = Push(lambda: frame)
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
        try:
            frame = await self._frame(news)
        except ArenaError:
            guest.waiting.setdefault(news["id"], news)
            raise
        if frame is not None:
            listener.push(listener.codec.encode(frame))
        return True

    async def _frame(self, news: News) -> dict[str, Any] | None:
        """What guests are told of a session; None if nobody can read it."""
        id_, event = SessionId(news["id"]), news["event"]
        try:
            session = await self.engine.get(id_)
            challenge = challenge_view(session).wire()
        except NotFound:
            self._forget(id_)
            return {"type": "session", "event": "removed", "challenge": self._gone(news).wire()}
        except Unreadable:
            _leave_out(id_)
            return None
        if session.standing.status is Status.ENDED:
            self._forget(id_)
            event = "ended"
        else:
            self._shown[id_] = session.header.type
        frame = {"type": "session", "event": event, "challenge": challenge}
        if id_ in self._seen:
            frame["spectators"] = self._seen[id_]
        last = await self._last_line(id_)
        return frame if last is None else {**frame, "lastLine": last}

    def _forget(self, id_: SessionId) -> None:
        self._shown.pop(id_, None)
        self._seen.pop(id_, None)

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

    async def views(self, ids: Iterable[SessionId]) -> list[Challenge]:
        """Those sessions of a list that are there, as everybody may see them; one that cannot be read is left out."""
        return [found for found in await asyncio.gather(*map(self._view, ids)) if found is not None]

    async def _view(self, id_: SessionId) -> Challenge | None:
        try:
            session = await self.engine.sessions.load(id_)
            return None if session is None else challenge_view(session)
        except Unreadable:
            _leave_out(id_)
            return None

    async def _keep_up(self) -> None:
        """At most once a second: tell boards that moved, and tell the lobby what this worker's sessions did."""
        touched, self._touched = self._touched, {}
        changed, self._changed = self._changed, {}
        for news in changed.values():
            self._take(news)
        for board in list(self._moved):
            await attempt("board", self._push_board(board))
        if touched and await self._has_guests():
            await asyncio.gather(*(attempt("report", self._report(*each)) for each in touched.items()))

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

    async def _report(self, id_: SessionId, spectators: int | None) -> None:
        try:
            session = await self.engine.get(id_)
        except NotFound:
            return
        if not session.header.private and session.standing.status is not Status.ENDED:
            await self.index.changed(id_, session.header.type, spectators)


def _leave_out(id_: SessionId) -> None:
    """One session that cannot be read is missing, and the others are there."""
    logger.error("session not understood, left out id=%s", id_)
