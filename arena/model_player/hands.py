"""Hands: what a model wants done is done, and what comes of it is put into words for it."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from arena.client import Game
from arena.errors import ArenaError
from arena.llm.talk import Answer, Message, ToolCall
from arena.model_player import words
from arena.model_player.envelope import Envelope
from arena.model_player.journal import Journal
from arena.model_player.mind import remembered
from arena.model_player.names import Names
from arena.model_player.tools import RESIGN, Act, Misused, Say, Toolbox, Wait
from arena.reports import REPORT

MOST_CALLS = 8  # of tools in one answer
EVERYBODY = frozenset({"all", "everybody", "everyone"})

Heard = Callable[[str], None]


@dataclass
class Step:
    """What came of an answer."""

    results: list[Message] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)  # what was done
    wait: float | None = None  # seconds, if the model wants to wait
    refused: bool = False  # something is to be mended
    resigned: bool = False


class Hands:
    """One seat, and the tools for it."""

    def __init__(self, game: Game, names: Names, toolbox: Toolbox, journal: Journal, heard: Heard) -> None:
        self.game, self.names, self.toolbox, self.journal, self.heard = game, names, toolbox, journal, heard
        self.moves = self.refusals = 0
        self._reports = True

    async def carry_out(self, answer: Answer, envelope: Envelope, room: int) -> Step:
        """Do what an answer asks for, call by call; a result has at most so many characters."""
        step = Step()
        for at, call in enumerate(remembered(answer).calls):
            told = (
                await self._use(call, step) if at < MOST_CALLS else self._refuse("TOO_MANY", "Too many calls at once.")
            )
            step.refused |= "refused" in told
            text = envelope.clean(self.names.hide(json.dumps(told, ensure_ascii=False)), room)
            step.results.append(Message("tool", text, call_id=call.id))
        if not answer.calls:
            step.refused = True
            step.results.append(Message("user", words.CUT if answer.stop == "length" else words.TALKED))
        return step

    async def report(self, model: str, answer: Answer, took: int) -> None:
        """Tell the arena what a call took, as far as that is known."""
        if not self._reports or not answer.tokens.total:
            return
        told: dict[str, float] = {"input_tokens": answer.tokens.input, "output_tokens": answer.tokens.output}
        told |= {"latency_ms": took} | ({} if answer.usd is None else {"cost_usd": answer.usd})
        refusal = await self._do(lambda: self.game.act(REPORT, {"model": model, **told}))
        self.journal.note("report", **told, refused=refusal and refusal.code)
        self._reports = refusal is None or refusal.code != "UNKNOWN_METHOD"

    async def resign(self) -> None:
        """Give the seat up, if that is still possible."""
        await self._do(self.game.resign)

    async def _use(self, call: ToolCall, step: Step) -> dict[str, str]:
        try:
            wish = self.toolbox.read(call)
        except Misused as misused:
            return self._refuse("MISUSED", str(misused))
        match wish:
            case Wait(seconds):
                step.wait = seconds
                return {"ok": "You are told as soon as there is news."}
            case Act(method, content):
                return await self._act(method, content, step)
            case Say(text, to):
                return await self._say(text, to, step)

    async def _act(self, method: str, content: str, step: Step) -> dict[str, str]:
        refusal = await self._do(lambda: self.game.act(method, self.names.show(content)))
        self.journal.note("move", method=method, content=content, refused=refusal and refusal.code)
        self.heard(f"{method} {content}{_outcome(refusal)}")
        if refusal is not None:
            return self._refuse(refusal.code, refusal.message)
        self.moves += 1
        step.resigned |= method == RESIGN.name
        step.facts.append(f"you: {method} {content}")
        return {"ok": "The operator took the move. Its answer follows."}

    async def _say(self, text: str, to: str | None, step: Step) -> dict[str, str]:
        reader = self.names.handle(to) if to else None
        if to and reader is None and to.lower() not in EVERYBODY:
            return self._refuse("NO_SUCH_PLAYER", f"Players are called {self.names.me} and so on.")
        refusal = await self._do(lambda: self.game.say(text, reader))
        self.journal.note("chat", text=text, to=to, refused=refusal and refusal.code)
        self.heard(f"says{f' to {to}' if to else ''}: {text}{_outcome(refusal)}")
        if refusal is not None:
            return self._refuse(refusal.code, refusal.message)
        step.facts.append(f"you said to {to or 'all'}: {text}")
        return {"ok": "Said."}

    def _refuse(self, code: str, message: str) -> dict[str, str]:
        self.refusals += 1
        return {"refused": code, "why": message}

    async def _do(self, do: Callable[[], Awaitable[None]]) -> ArenaError | None:
        try:
            await do()
        except ArenaError as refusal:
            return refusal
        return None


def _outcome(refusal: ArenaError | None) -> str:
    return f" (refused: {refusal.code})" if refusal else ""
