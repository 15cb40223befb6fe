"""Any challenge as a PettingZoo environment (AEC), played at a table in memory. Needs the extra `pettingzoo`.

An observation is the text of what a seat may read; an action is a move of the challenge, something said, or nothing.
"""

import asyncio
import string
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar, NamedTuple

import numpy as np

from arena import catalog, chat
from arena.errors import ArenaError, Invalid
from arena.models import ChatMessage, Outcome, Status
from arena.operator import Operator
from arena.terminal import harmless
from arena.testing import Table

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError(f"PettingZoo is not installed: pip install 'arena-server[pettingzoo]' ({error})") from None

WIDEST = 2_000  # characters of a line that is rendered
CHAT, WAIT = "chat", "wait"  # what a seat may do beside the moves of its challenge
Observation = dict[str, Any]
Action = Mapping[str, Any]


class Mix(NamedTuple):
    """What a reward is made of: so much of what a seat achieved, so much of what it kept."""

    utility: float = 1.0
    security: float = 1.0


BOTH = Mix()


class Words(spaces.Text):
    """Any text up to a length, in any script; samples are made of what every keyboard has."""

    def __init__(self, longest: int) -> None:
        super().__init__(longest, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        """Whether it is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


class ArenaEnv(AECEnv[str, Observation, Action]):  # type: ignore[misc] # it has no types
    """A challenge as an environment: agents are `player_0`, `player_1` … by seat.

    The agent that is to act is the next one that the game waits for, or the next one at all where that is not known.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "arena", "render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(
        self,
        challenge: str | Operator[Any, Any],
        options: Mapping[str, Any] | None = None,
        *,
        mix: Mix = BOTH,
        max_steps: int = 1_000,
        seconds_per_step: float = 0.0,
        longest: int = 20_000,
        load: Sequence[str] = (),
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.operator, self.prompt = _rules(challenge, options, load)
        self.mix, self.max_steps, self.seconds_per_step, self.longest = mix, max_steps, seconds_per_step, longest
        self.render_mode = render_mode
        self.moves = [*(name for name in self.operator.actions), CHAT, WAIT]
        self.possible_agents = [f"player_{seat}" for seat in range(self.operator.players)]
        self.agents: list[str] = []
        self.observation_spaces = {name: self._seen_by(seat) for seat, name in enumerate(self.possible_agents)}
        self.action_spaces = {name: self._done_by() for name in self.possible_agents}
        self._seeds = Random()  # noqa: S311 - which games are played, where nobody says
        self._table: Table[Any, Any] | None = None

    def _seen_by(self, seat: int) -> spaces.Space[Any]:
        return spaces.Dict({"seat": spaces.Discrete(len(self.possible_agents)), "text": Words(self.longest)})

    def _done_by(self) -> spaces.Space[Any]:
        whom = spaces.Discrete(len(self.possible_agents) + 1)
        return spaces.Dict({"move": spaces.Discrete(len(self.moves)), "content": Words(self.longest), "to": whom})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent may be shown."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent may do: `move` is a place in `moves`, `to` whom something is said, 0 for everybody."""
        return self.action_spaces[agent]

    def action(self, move: str, content: str = "", to: int | None = None) -> Observation:
        """An action by the name of its move, and for `chat` by the seat it is for."""
        return {"move": self.moves.index(move), "content": content, "to": 0 if to is None else to + 1}

    @property
    def table(self) -> Table[Any, Any]:
        """Where it is played."""
        if self._table is None:
            raise Invalid("The environment must be reset before it is used.")
        return self._table

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game: the same one for the same seed. Without a seed, games follow from the one before."""
        if seed is not None:
            self._seeds = Random(seed)  # noqa: S311
        dealt = seed if seed is not None else self._seeds.getrandbits(64)
        self._table = Table(self.operator, seed=str(dealt))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._steps, self._given = 0, [0.0] * len(self.agents)
        self._said: list[ChatMessage] = []
        self._read = [0, 0]
        self._work()
        self._listen()
        self.infos = {name: self._info(seat) for seat, name in enumerate(self.agents)}
        self._end()
        self.agent_selection = self._next(-1)

    def step(self, action: Action | None) -> None:
        """Let the agent whose turn it is act; a move that the rules refuse changes nothing and is told in its info."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        seat = self.possible_agents.index(agent)
        refused = self._act(seat, action)
        self._listen()
        self._steps += 1
        self.table.advance(self.seconds_per_step)
        self._work()
        self._listen()
        self._reward()
        self.infos = {name: self._info(place) for place, name in enumerate(self.possible_agents)}
        self.infos[agent]["refused"] = refused
        self._end()
        self.agent_selection = self._next(seat)
        self._accumulate_rewards()

    def _act(self, seat: int, action: Action | None) -> str | None:
        if action is None or not self.action_spaces[self.possible_agents[seat]].contains(dict(action)):
            raise Invalid(f"An action is a dict with move, content and to; the moves are {', '.join(self.moves)}.")
        move, content, to = self.moves[int(action["move"])], action["content"], int(action["to"])
        try:
            if move == CHAT:
                self.table.chat(seat, content, to - 1 if to else None)
            elif move != WAIT:
                self.table.act(seat, move, content)
        except ArenaError as refusal:
            return refusal.code
        return None

    def _work(self) -> None:
        """Do the jobs that the game waits for, at once."""
        while self.table.jobs and self.table.status is not Status.ENDED:
            asyncio.run(self.table.work())

    def _reward(self) -> None:
        """Give everybody what its score has grown by."""
        scores = self.table.scores or []
        for seat, score in enumerate(scores):
            total = self.mix.utility * score.utility + self.mix.security * score.security
            self.rewards[self.possible_agents[seat]] = total - self._given[seat]
            self._given[seat] = total

    def _info(self, seat: int) -> dict[str, Any]:
        standing = self.table.session.standing
        score = standing.scores[seat] if standing.scores else None
        told = {"utility": score.utility if score else 0, "security": score.security if score else 0}
        outcome = str(standing.outcomes[seat]) if standing.outcomes else None
        return {**told, "outcome": outcome, "refused": None}

    def _end(self) -> None:
        """A game that the rules end is terminated; one that the clock or the number of steps ends is truncated."""
        standing = self.table.session.standing
        over = standing.status is Status.ENDED
        late = Outcome.TIMEOUT in standing.outcomes or (not over and self._steps >= self.max_steps)
        self.terminations = dict.fromkeys(self.agents, over and not late)
        self.truncations = dict.fromkeys(self.agents, late)

    def _next(self, seat: int) -> str:
        """The agent after this seat that the game waits for."""
        count = len(self.possible_agents)
        order = [(seat + step) % count for step in range(1, count + 1)]
        waits = None
        if self.table.status is Status.ACTIVE:
            waits = self.operator.to_move(self.table.state)
        return self.possible_agents[next((each for each in order if waits and each in waits), order[0])]

    def observe(self, agent: str) -> Observation:
        """What an agent may read: the words of the challenge, then what was said, the newest last."""
        seat = self.possible_agents.index(agent)
        lines = [self.prompt, *(self._line(message) for message in self._heard(seat))]
        return {"seat": np.int64(seat), "text": "\n".join(lines)[-self.longest :]}

    def _heard(self, seat: int) -> list[ChatMessage]:
        me = self.table.handles[seat]
        return [message for message in self._said if chat.may_read(message.from_, message.to, me)]

    def _listen(self) -> None:
        """Put what was said since in its place; no step adds to more than one of the two channels."""
        for which, log in enumerate((self.table.log, self.table.talk)):
            self._said += log[self._read[which] :]
            self._read[which] = len(log)

    def _line(self, message: ChatMessage) -> str:
        whom = f" to {self._name(message.to)}" if message.to else ""
        return f"{self._name(message.from_)}{whom}: {message.content}"

    def _name(self, handle: str) -> str:
        names = dict(zip(map(str, self.table.handles), self.possible_agents, strict=True))
        return names.get(handle, handle)

    def render(self) -> str | None:
        """What the operator has said to everybody."""
        return "\n".join(harmless(line, WIDEST) for line in self.table.said) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is held."""

    def __str__(self) -> str:
        return f"arena_{type(self.operator).__name__}"


def env(challenge: str | Operator[Any, Any], options: Mapping[str, Any] | None = None, **more: Any) -> ArenaEnv:
    """A challenge by its name, or its rules themselves, as an environment."""
    return ArenaEnv(challenge, options, **more)


def _rules(
    challenge: str | Operator[Any, Any], options: Mapping[str, Any] | None, load: Sequence[str]
) -> tuple[Operator[Any, Any], str]:
    if isinstance(challenge, Operator):
        return challenge, (type(challenge).__doc__ or "").strip()
    kind = catalog.load(load).challenge(challenge)
    return kind.operator(options), kind.metadata.prompt
