"""Global average: the mean over challenge types, each with the same weight."""

from collections.abc import Mapping

from arena import ScoringEntry
from arena.models import UserId
from scoring_strategies.average import Average
from scoring_strategies.global_average import GlobalAverage
from tests.results import EXAMPLE, board_of


def entry(games: int, **metrics: float) -> ScoringEntry:
    keys = {f"average:{name}": value for name, value in metrics.items()}
    return ScoringEntry(player_id=UserId("A"), games_played=games, metrics=keys)


def combined(entries: Mapping[str, ScoringEntry]) -> ScoringEntry | None:
    return GlobalAverage().combine(UserId("A"), entries)


async def test_with_one_type_the_global_average_is_the_average() -> None:
    board = await board_of(Average(), EXAMPLE)

    made = GlobalAverage().combine(UserId("B"), {"psi": board.entries[UserId("B")]})

    assert made == ScoringEntry(
        player_id=UserId("B"), games_played=1, metrics={"global-average:security": -1, "global-average:utility": 1}
    )


def test_in_the_global_average_every_type_weighs_the_same() -> None:
    made = combined({"psi": entry(99, security=1, utility=1), "ultimatum": entry(1, security=0, utility=-0.5)})

    assert made is not None
    assert made.metrics == {"global-average:security": 0.5, "global-average:utility": 0.25}
    assert made.games_played == 100


def test_a_metric_that_some_types_do_not_have_is_averaged_over_those_that_do() -> None:
    made = combined({"psi": entry(1, security=1, utility=0), "ultimatum": entry(1, utility=1)})

    assert made is not None
    assert made.metrics == {"global-average:security": 1, "global-average:utility": 0.5}


def test_the_order_of_the_types_does_not_matter() -> None:
    entries = {"a": entry(1, utility=0.1), "b": entry(2, utility=0.2), "c": entry(3, utility=0.7)}

    assert combined(entries) == combined(dict(reversed(entries.items())))


def test_a_player_without_entries_has_no_line_on_the_global_board() -> None:
    assert combined({}) is None


def test_the_metrics_that_the_global_average_announces_are_those_it_keeps() -> None:
    made = combined({"psi": entry(1, security=0, utility=0)})

    assert made is not None
    assert [metric.key for metric in GlobalAverage.metrics] == list(made.metrics)
