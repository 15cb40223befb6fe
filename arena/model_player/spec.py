"""A model as a player: a value that can be handed to whoever has games to be played."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from arena.client import Ended
from arena.client.place import Place
from arena.errors import CannotStart
from arena.llm.models import Models
from arena.llm.routes import ModelsConfig
from arena.model_player import memory, mind
from arena.model_player.journal import Journal, open_journal
from arena.model_player.mind import Mind
from arena.model_player.player import DEFAULT, Manner, ModelPlayer, Stopped
from arena.model_player.purse import Limits, Purse, Usage
from arena.models import Model, Score, SessionId

DEFAULT_LIMITS = Limits(calls=100, tokens=500_000)


class Summary(Model):
    """What came of one game of a model."""

    challenge_id: SessionId
    model: str
    player_index: int
    score: Score | None = None
    stopped: Stopped | None = None  # why the model was not asked any more, if the game was not over
    reason: str | None = None
    moves: int
    refusals: int
    usage: Usage


class Played(NamedTuple):
    """A game that is over, and how the model got on in it."""

    ended: Ended
    summary: Summary


def _ignore(_: str) -> None:
    pass


@dataclass(frozen=True)
class ModelSpec:
    """A model, how it plays, and what each of its games may cost. Keys are in the environment and nowhere else."""

    model: str
    config: ModelsConfig
    environment: Mapping[str, str] = field(repr=False, compare=False)
    limits: Limits = DEFAULT_LIMITS
    manner: Manner = DEFAULT
    temperature: float | None = None
    max_answer: int = mind.MOST
    seconds: float = mind.SECONDS
    transcript: Path | None = None  # a new file, or a directory that gets one for each game
    heard: Callable[[str], None] = field(default=_ignore, compare=False)  # what the model does, for people

    @property
    def label(self) -> str:
        """The name of the model."""
        return self.model

    def check(self) -> None:
        """Refuse what cannot be played, before any seat is taken."""
        if trouble := Models(self.config, self.environment).trouble(self.model):
            raise CannotStart(f"The model cannot be asked: {trouble}.")
        if self.limits.usd is not None and self.config.price(self.model) is None:
            raise CannotStart(f"Nobody knows the price of {self.model}, so its cost cannot be limited.")
        if self.manner.context < memory.LEAST:
            raise CannotStart(f"A context has at least {memory.LEAST} tokens.")

    async def play(self, place: Place, rng: Random) -> Ended:
        """Play a seat to the end of the game; a model draws nothing from `rng`."""
        return (await self.run(place)).ended

    async def run(self, place: Place) -> Played:
        """The same; tells also what it took."""
        self.check()
        purse = Purse(self.limits, self.config.price(self.model))
        async with Models(self.config, self.environment) as models:
            await models.prepare(self.model)  # takes seconds, and no clock runs yet
            thinker = Mind(
                models, self.model, purse, temperature=self.temperature, most=self.max_answer, seconds=self.seconds
            )
            is_folder = self.transcript is not None and self.transcript.is_dir()
            journal = Journal() if is_folder else open_journal(self.transcript)
            try:
                async with place.taken() as game:
                    if is_folder and self.transcript is not None:
                        journal = open_journal(self.transcript / f"{game.id}-{game.seat + 1}.jsonl")
                    journal.hide(models.keys)
                    journal.note("begin", session=game.id, seat=game.seat, model=self.model)
                    player = ModelPlayer(game, thinker, self.manner, journal, self.heard)
                    try:
                        ended = await player.play()
                    finally:
                        summary = _summary(player)
                        journal.note("end", **summary.wire())
                    return Played(ended, summary)
            finally:
                journal.close()


def _summary(player: ModelPlayer) -> Summary:
    return Summary(
        challenge_id=player.game.id,
        model=player.mind.model,
        player_index=player.game.seat,
        score=player.game.score,
        stopped=player.stopped,
        reason=player.reason or None,
        moves=player.hands.moves,
        refusals=player.hands.refusals,
        usage=player.mind.purse.usage,
    )
