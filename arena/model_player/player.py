"""A model on a seat: it is told what is new, says what it wants done, and that is done, until the game is over."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from arena.client import ChatMessage, Ended, Game, Started
from arena.llm.talk import Answer, Message, Unanswered
from arena.model_player import words
from arena.model_player.envelope import Envelope
from arena.model_player.hands import Hands, Heard, Step
from arena.model_player.inbox import Inbox
from arena.model_player.journal import Journal
from arena.model_player.memory import Memory, TooSmall
from arena.model_player.mind import Mind, remembered
from arena.model_player.names import Names
from arena.model_player.purse import Spent
from arena.model_player.tools import Toolbox

IN_A_ROW = 6  # answers without news between them
NUDGE = 30.0  # seconds after which a model that has not asked to wait is asked again; doubles each time
NUDGES = 6  # times in a row that it is asked though there is no news
HURRY = 3  # into how many parts it divides its time while its clock runs
GRACE = 10.0  # seconds for a move that is under way when the game ends
TALK_SHARE = 0.5  # of the budget, for calls that nothing but talk of others has caused

WhenOut = Literal["resign", "silent"]
Stopped = Literal["budget", "failed"]


@dataclass(frozen=True)
class Manner:
    """How a model plays."""

    context: int = 64_000  # tokens of a question and its answer
    system: str = ""  # what the user tells it beside our own words
    when_out: WhenOut = "resign"  # what becomes of the seat when the model is not asked any more
    may_resign: bool = True
    nudge: float = NUDGE


DEFAULT = Manner()


class ModelPlayer:
    """One model on one seat."""

    def __init__(self, game: Game, mind: Mind, manner: Manner, journal: Journal, heard: Heard) -> None:
        self.game, self.mind, self.manner, self.journal, self.heard = game, mind, manner, journal, heard
        self.stopped: Stopped | None = None
        self.reason = ""  # why it was stopped
        self.envelope = Envelope()
        self.names = Names(game.handle, game.seat)
        self.teller = words.Teller(game, self.names, self.envelope)
        self.toolbox = Toolbox(game.info.methods, may_resign=manner.may_resign)
        self.hands = Hands(game, self.names, self.toolbox, journal, heard)
        self.inbox = Inbox(game)
        self._talk_share = 0.0
        self._doing: asyncio.Task[Step] | None = None
        journal.hide([game.handle, game.session_key])

    async def play(self) -> Ended:
        """Play to the end of the game."""
        thinking = asyncio.create_task(self._think(), name="model")
        listening = asyncio.create_task(self._listen(), name="news")
        try:
            await asyncio.wait([listening, thinking], return_when=asyncio.FIRST_COMPLETED)
            if thinking.done():
                thinking.result()  # raises what nobody foresaw
            return await listening
        finally:
            thinking.cancel()
            listening.cancel()
            await asyncio.gather(thinking, listening, return_exceptions=True)
            await self._finish()

    async def _listen(self) -> Ended:
        async for event in self.game.events():
            match event:
                case Started(players):
                    self.names.learn(players)
                    self.journal.hide(players)
                    self.inbox.begin()
                case ChatMessage():
                    self.inbox.hear(event)
                case Ended():
                    return event
        raise ConnectionError("The game was left before it ended.")

    async def _finish(self) -> None:
        """Let what is being done be done: the move that ends a game is answered when the game is over."""
        if self._doing is not None:
            await asyncio.wait([self._doing], timeout=GRACE)
            self._doing.cancel()
            await asyncio.gather(self._doing, return_exceptions=True)

    async def _think(self) -> None:
        try:
            await self._decide()
        except (Spent, TooSmall) as spent:
            await self._stop("budget", str(spent))
        except Unanswered as failed:
            await self._stop("failed", str(failed))

    async def _stop(self, stopped: Stopped, reason: str) -> None:
        """The model is out of the game; its seat is given up, or stays where it is."""
        self.stopped, self.reason = stopped, reason
        self.journal.note("stopped", by=stopped, reason=reason)
        self.heard(f"The model is not asked any more: {reason}.")
        if self.manner.when_out == "resign":
            await self.hands.resign()

    async def _decide(self) -> None:
        """Ask, do, wait for news, and ask again."""
        await self.inbox.begun()
        memory = self._begin()
        in_a_row = nudges = 0
        by_talk = False
        while True:
            step = await self._turn(memory, by_talk)
            in_a_row += 1
            if step.resigned:
                return
            if step.refused and in_a_row < IN_A_ROW:
                continue
            patience = self._patience(step, nudges)
            await self.inbox.wait(patience)
            news = self.inbox.take()
            self.journal.note("news", operator=len(news.operator), players=len(news.players))
            in_a_row, nudges = 0, 0 if news else nudges + 1
            by_talk = bool(news.players) and not news.operator
            told = self.teller.news(news, memory.news_room)
            memory.tell(told if news else self._silence(patience), self.teller.facts(news.operator))

    def _begin(self) -> Memory:
        """What the model has in mind at first: the rules and what it was told until now stay for the whole game."""
        first = self.teller.news(self.inbox.take(), self.manner.context // 4)
        self.journal.note("tools", tools=[tool._asdict() for tool in self.toolbox.tools])
        system = Message("system", words.system(self.envelope, self.manner.system))
        rules, private = Message("user", self.teller.rules()), Message("user", f"{first}\n\nThe game is on.")
        return Memory(self.manner.context, [system, rules], private, self.toolbox.tools)

    async def _turn(self, memory: Memory, by_talk: bool) -> Step:
        """One question, and what comes of its answer."""
        purse, before = self.mind.purse, self.mind.purse.share
        answer, took = await self.mind.answer(memory, self.toolbox.tools, self.journal)
        if by_talk:
            self._talk_share += purse.share - before
            self.inbox.is_deaf = self._talk_share >= TALK_SHARE
        self._doing = asyncio.create_task(self._do(answer, took), name="moves")
        step = await asyncio.shield(self._doing)
        memory.answered(remembered(answer), answer.tokens.output, step.results, step.facts)
        return step

    async def _do(self, answer: Answer, took: int) -> Step:
        await self.hands.report(self.mind.model, answer, took)
        return await self.hands.carry_out(answer, self.envelope, self.manner.context // 64)

    def _patience(self, step: Step, nudges: int) -> float | None:
        """How long to wait for news before the model is asked without any."""
        if nudges >= NUDGES:
            return None
        wait = self.manner.nudge * 2**nudges if step.wait is None else step.wait
        left = self.game.time_left if self.game.is_on_clock else None
        return wait if left is None else min(wait, max(1.0, left / HURRY))

    def _silence(self, seconds: float | None) -> str:
        told = words.SILENCE.format(seconds=round(seconds or 0))
        return "\n\n".join(filter(None, (told, self.teller.clock())))
