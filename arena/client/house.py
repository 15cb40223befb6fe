"""House bots as guests: a plain object decides, a seat carries it."""

from collections import deque
from collections.abc import Awaitable, Callable

from arena.bots import Bot, Move, Moves, Talk
from arena.client.arena import Arena
from arena.client.connection import new_key
from arena.client.feed import Ended, Started
from arena.client.game import Game
from arena.errors import ArenaError
from arena.models import ChatMessage

Pause = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """The pause of a bot that is in a hurry."""


def any_name(move: Move | Talk) -> str:
    """The name of a move that is not made again by anybody else."""
    return new_key()


async def play(url: str, invite: str, bot: Bot, user: str | None = None, pause: Pause = at_once) -> Ended:
    """Let a bot play a game over a connection of its own, with a pause before each move."""
    async with Arena(url) as arena:
        return await sit(await arena.join(invite, user), bot, pause)


async def sit(game: Game, bot: Bot, pause: Pause = at_once, name: Callable[[Move | Talk], str] = any_name) -> Ended:
    """Let a bot play on a seat that was taken for it; each of its moves is named, so that none is made twice."""
    async for event in game.events():
        match event:
            case Started(players):
                await _make(game, pause, name, bot, bot.begin(game.handle, players))
            case ChatMessage():
                await _make(game, pause, name, bot, bot.hear(event))
            case Ended():
                return event
    raise ConnectionError("The game was left before it ended.")


async def _make(game: Game, pause: Pause, name: Callable[[Move | Talk], str], bot: Bot, moves: Moves) -> None:
    waiting = deque(moves)
    while waiting:
        move = waiting.popleft()
        await pause()
        try:
            if isinstance(move, Move):
                await game.act(move.type, move.content, key=name(move))
            else:
                await game.say(move.content, move.to, key=name(move))
        except ArenaError as refusal:
            waiting.extendleft(reversed([*bot.refused(move, refusal.code)]))
