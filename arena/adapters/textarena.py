"""Environments of TextArena as challenges: `arena serve --load arena.adapters.textarena`. Needs the extra `textarena`.

Operators are pure and environments are not: what is kept of a game is its seed and its actions, and whoever has not
played it so far plays it once more from these. An environment that then says something else is found out and stopped.
"""

import hashlib
import inspect
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from arena.adapters import worlds
from arena.adapters.worlds import Heard, World
from arena.effects import Effects, end, tell
from arena.errors import Internal, Invalid, Refused
from arena.models import Model, Score, Seat
from arena.operator import Operator, action

# Tried: they need no download, end, and play the same in every process.
ENVIRONMENTS = (
    "TicTacToe-v0",
    "ConnectFour-v0",
    "Nim-v0",
    "KuhnPoker-v0",
    "LiarsDice-v0",
    "IteratedPrisonersDilemma-v0",
    "IteratedRockPaperScissors-v0",
    "SimpleNegotiation-v0",
    "GuessTheNumber-v0",
    "ThreePlayerTicTacToe-v0",
)
READY = 64  # games that are kept as they stand, so that they need not be played again for each move


class Play(Model):
    """A game as it is kept: all that it can be played again from, and a mark by which that is checked."""

    seed: int
    actions: list[str] = []
    mark: str = ""
    current: int = 0
    done: bool = False


class PlayOptions(BaseModel):
    """What a creator may choose."""

    model_config = ConfigDict(extra="forbid")

    players: int = 2


class TextArenaGame(Operator[Play, PlayOptions]):
    """A game of TextArena."""

    environment: ClassVar[str]
    has_winner = True
    decided_by = ("utility",)
    security = (0, 0)
    _ready: ClassVar[OrderedDict[str, World]] = OrderedDict()

    def __init__(self, options: PlayOptions | Mapping[str, Any] | None = None) -> None:
        super().__init__(options)
        if self.players != type(self).players:
            self._try()

    def _try(self) -> None:
        try:
            World(self.environment, self.players, 0)
        except Exception as error:  # an environment says in its own way how many players it takes
            raise Invalid(f"options: players: {str(error)[:200] or 'the game takes another number'}") from None

    def deal(self, rng: Random) -> Play:
        """A seed for the environment."""
        return Play(seed=rng.getrandbits(32))

    def start(self, play: Play) -> Effects:
        """Tell everybody what the environment says first."""
        world = World(self.environment, self.players, play.seed)
        yield from self._after(play, world, world.first)

    def to_move(self, play: Play) -> list[Seat]:
        """The one whose turn it is."""
        return [] if play.done else [Seat(play.current)]

    @action(name="act")
    def take_turn(self, play: Play, seat: Seat, content: str) -> Effects:
        """Take your turn, in the words that the game has told you, for example `[4]`."""
        if seat != play.current:
            raise Refused("NOT_YOUR_TURN", f"Player {play.current} is to act.")
        world = self._world(play)
        heard = world.step(content)
        play.actions.append(content)
        yield from self._after(play, world, heard)
        if play.done:
            yield end(Score(utility=reward) for reward in world.rewards)

    def _after(self, play: Play, world: World, heard: Sequence[Heard]) -> Effects:
        """Note where the game stands, keep it ready, and tell what was said."""
        play.mark = _marked(play.mark, play.actions[-1:], heard)
        play.current, play.done = world.current, world.done
        if not play.done:
            self._keep(play.mark, world)
        yield from (tell(seat, words) for seat, words in heard)

    def _world(self, play: Play) -> World:
        """The environment as it stands after these actions; nobody else gets the same."""
        ready = self._ready.pop(self._name(play.mark), None)
        if ready is not None:
            return ready
        world = World(self.environment, self.players, play.seed)
        mark = _marked("", [], world.first)
        for made in play.actions:
            mark = _marked(mark, [made], world.step(made))
        if mark != play.mark:
            raise Internal(f"{self.environment} does not play the same game twice.")
        return world

    def _keep(self, mark: str, world: World) -> None:
        self._ready[self._name(mark)] = world
        while len(self._ready) > READY:
            self._ready.popitem(last=False)

    def _name(self, mark: str) -> str:
        return f"{self.environment}:{self.players}:{mark}"


def _marked(before: str, actions: Sequence[str], heard: Sequence[Heard]) -> str:
    return hashlib.sha256(json.dumps([before, list(actions), heard]).encode()).hexdigest()


def challenge(environment: str) -> type[TextArenaGame]:
    """An environment as the rules of a challenge."""
    players = worlds.probe(environment)
    module = worlds.source_of(environment)
    chosen = create_model("PlayOptions", __base__=PlayOptions, players=(int, Field(players, ge=1, le=32)))
    about = (inspect.getdoc(module) or "").strip().partition("\n")[0]
    prompt = f"A game of TextArena, {environment}. The operator tells each player the rules; answer with `act`."
    words = {"name": environment, "description": about or f"TextArena's {environment}.", "prompt": prompt}
    name = f"textarena-{environment.lower()}"
    made = {
        "environment": environment,
        "players": players,
        "version": worlds.VERSION,
        "told_as": words,
        "made_of": (Path(str(module.__file__)), Path(worlds.__file__)),
        "name": name,
        "__module__": __name__,
        "__doc__": TextArenaGame.__doc__,
    }
    operator: type[TextArenaGame] = type(environment, (TextArenaGame,), made)
    operator.options_type = chosen  # only now: a subclass begins with the options of its base
    return operator


def challenges(names: Sequence[str]) -> dict[str, type[TextArenaGame]]:
    """Environments by the names of their challenges; those that were tried if none is named."""
    made = [challenge(environment) for environment in names or ENVIRONMENTS]
    return {str(vars(one)["name"]): one for one in made}
