"""Owners: a board with one line for all entrants of an owner. Pure."""

from collections.abc import Sequence

from arena.models import user_behind
from arena.standing import BoardRow, Variant


def by_owner(rows: Sequence[BoardRow], metric: str) -> list[BoardRow]:
    """One line per owner, that of its best entrant, with all of them disclosed. Who declares no owner is its own."""
    groups: dict[tuple[bool, str], list[BoardRow]] = {}
    for row in rows:
        owner = row.declared.owner if row.declared else None
        groups.setdefault((owner is not None, owner or user_behind(row.player_id)), []).append(row)
    found: list[BoardRow] = []
    for number, (best, *others) in enumerate(groups.values(), 1):
        shares = bool(found) and best.metrics.get(metric) == found[-1].metrics.get(metric)
        told = {"rank": found[-1].rank if shares else number, "rank_interval": None, "tied": None}
        found.append(best.model_copy(update={**told, "variants": [_variant(row) for row in (best, *others)]}))
    return found


def _variant(row: BoardRow) -> Variant:
    return Variant(
        player_id=row.player_id,
        rank=row.rank,
        games_played=row.games_played,
        metrics=row.metrics,
        declared=row.declared,
    )
