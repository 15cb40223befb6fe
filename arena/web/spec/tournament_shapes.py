"""Answers of the routes of tournaments: what the views build, under names of its own."""

from pydantic import JsonValue

from arena.models import Invite, Millis, Model, Number, Outcome, Score, SessionId, Version
from arena.tournament.entry import Phase
from arena.tournament.games import State
from arena.tournament.setup import Format
from arena.tournament.standings import AgentRow, MetAgent


class GameCounts(Model):
    """How many games there are."""

    most: int
    played: int
    void: int
    playing: int
    saved: int


class TournamentLine(Model):
    """A tournament in a list."""

    id: str
    challenge: str
    format: Format
    phase: Phase
    reason: str | None = None
    created_at: Millis
    ended_at: Millis | None = None
    agents: int
    games: GameCounts


class TournamentList(Model):
    """A page of tournaments, the newest first."""

    tournaments: list[TournamentLine]
    total: int
    limit: int
    offset: int


class TournamentAgent(Model):
    """A participant."""

    name: str
    kind: str
    plays: str
    anchor: bool | None = None


class TournamentMatch(Model):
    """Games whose winner goes on."""

    name: str
    round: int
    agents: list[str]
    winner: str | None = None


class TournamentBye(Model):
    """An agent that rested in a round."""

    round: int
    agent: str


class TournamentGame(Model):
    """A game; seats, scores and all that tells who sat where are there when it is over."""

    key: str
    round: int
    match: str
    state: State
    session: SessionId
    started_at: Millis
    agents: list[str] | None = None
    deal: str | None = None
    seats: list[str] | None = None
    attempt: int | None = None
    run: int | None = None
    ended_at: Millis | None = None
    commitment: str | None = None
    scores: list[Score] | None = None
    places: list[int] | None = None
    outcomes: list[Outcome] | None = None
    breaches: list[tuple[int, int]] | None = None
    costs: list[Number | None] | None = None
    reason: str | None = None


class TournamentView(Model):
    """A tournament as it stands."""

    id: str
    challenge: str
    format: Format
    phase: Phase
    reason: str | None = None
    created_at: Millis
    ended_at: Millis | None = None
    games: GameCounts
    agents: list[TournamentAgent]
    seats: int
    replayable: bool
    games_per_pair: int
    rounds: int | None = None
    rank_by: str
    ranked: bool
    stop_when_decided: bool | str
    concurrency: int
    budget: dict[str, JsonValue]
    seconds: Number
    cost: Number
    options: dict[str, JsonValue]
    version: Version
    arena: str
    standings: list[AgentRow]
    matches: list[TournamentMatch]
    byes: list[TournamentBye]
    playing: list[TournamentGame]


class TournamentGames(Model):
    """A page of the games of a tournament."""

    games: list[TournamentGame]
    total: int
    limit: int
    offset: int


class FreeSeat(Model):
    """A seat that waits for its agent; they are taken in this order."""

    agent: str
    invite: Invite


class WaitingGame(Model):
    """A game in which programs or models sit."""

    key: str
    session: SessionId
    attempt: int
    seats: list[FreeSeat]


class WaitingGames(Model):
    """Games that wait for whoever runs their agents."""

    games: list[WaitingGame]
    phase: Phase


class AgentRating(Model):
    """A strength by Bradley and Terry."""

    agent: str
    rating: Number
    interval: tuple[Number, Number]
    group: int


class TournamentReport(Model):
    """Everything that a tournament has to say."""

    tournament: TournamentView
    ratings: list[AgentRating]
    anytime: dict[str, tuple[Number, Number]]
    head_to_head: dict[str, dict[str, MetAgent]]
    games: list[TournamentGame]
    methods: dict[str, str]
    again: dict[str, JsonValue]
