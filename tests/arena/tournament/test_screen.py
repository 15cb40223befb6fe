"""A tournament in a terminal: how it ended is said whole, and an interval ends where the points do."""

from typing import Any

import pytest

from arena.tournament.screen import Scene, summary
from arena.tournament.standings import standings
from tests.tourneys import TWO, made, play


def stopped_early() -> dict[str, Any]:
    setup = made(2, games_per_pair=50, stop_when_decided=True)
    now, done = play(setup)
    assert now.ending is not None
    games = {"most": 50, "played": len(done), "void": 0, "playing": 0, "saved": now.ending.saved}
    rows = [row.wire() for row in standings(setup, TWO, done)]
    return {
        "id": "t",
        "challenge": "psi",
        "phase": "finished",
        "reason": now.ending.reason,
        "games": games,
        "standings": rows,
    }


def test_how_many_games_were_saved_is_said_to_the_last_letter() -> None:
    told = stopped_early()

    last = summary(told).splitlines()[-1]

    played, saved = told["games"]["played"], told["games"]["saved"]
    assert last == f"Finished: the ranking is decided. {played} of 50 games, {saved} saved."


def test_games_that_were_saved_are_not_called_played(capsys: pytest.CaptureFixture[str]) -> None:
    told = stopped_early()

    with Scene("http://127.0.0.1:1", told):
        pass

    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Watch it at http://127.0.0.1:1/tournaments/t (Ctrl-C stops, and it can go on)"
    assert lines[1:] == [f"{told['games']['played']} of 50 games; first is agent-0"]


def test_no_interval_of_points_leaves_what_a_game_is_worth() -> None:
    setup = made(3, games_per_pair=1)
    _, done = play(setup, strength=dict.fromkeys(setup.names, 0.0))

    intervals = [row.share.interval for row in standings(setup, TWO, done) if row.share and row.share.interval]

    assert intervals
    assert all(0 <= low < high <= 1 for low, high in intervals)
