"""What a run cost, by the price list of its pack."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from arena.packs.evidence import Evidence, Model, Usage
from arena.packs.spec.models import PricingModel
from arena.packs.text import trim

_DATED = re.compile(r"(.+)-[0-9]{4}-[0-9]{2}-[0-9]{2}", re.DOTALL)
_MILLION = 1_000_000


class Cost(NamedTuple):
    """An amount, or the reason why there is none."""

    usd: float | None
    reason: str = ""


def undated(model_id: str) -> str:
    """The name of a model without the date of its snapshot."""
    name = trim(model_id)
    dated = _DATED.fullmatch(name)
    return dated[1] if dated else name


def find_price(prices: Iterable[PricingModel], provider: str, model_id: str) -> PricingModel | None:
    """The row of a model, or of the model that it is a snapshot of."""
    rows = {(row.provider_key, row.provider_model_id): row for row in reversed(list(prices))}
    return rows.get((provider, model_id)) or rows.get((provider, undated(model_id)))


def model_cost(prices: list[PricingModel], evidence: Evidence) -> Cost:
    """What all model calls of a run cost together; one unknown price makes the whole unknown."""
    if not prices:
        return Cost(None, "model pricing is unavailable")
    rows = list(_usage(evidence))
    if not rows:
        return Cost(None, "model usage evidence is unavailable")
    total = 0.0
    for (provider, model_id), usage in rows:
        price = find_price(prices, provider, model_id)
        if price is None:
            return Cost(None, f'pricing for model "{provider}/{model_id}" is unavailable')
        total += usage.input_tokens / _MILLION * price.input_cost_per_million_tokens
        total += usage.output_tokens / _MILLION * price.output_cost_per_million_tokens
    return Cost(total)


def _usage(evidence: Evidence) -> Iterator[tuple[Model, Usage]]:
    if evidence.usage:
        yield from evidence.usage.items()
        return
    tokens = (evidence.input_tokens, evidence.output_tokens, evidence.total_tokens)
    if len(evidence.models) == 1 and any(count is not None for count in tokens):
        yield next(iter(evidence.models)), Usage(*(count or 0 for count in tokens))
