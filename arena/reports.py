"""Reports: what players say that their models took. Nobody can check it, so it decides nothing and is shown as said.

`report` is a move that every challenge understands. It leaves no message, takes no turn and stops no clock: rivals
learn nothing from it, not even that it was made. A challenge that has a `report` of its own, as packs do, hears it.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from arena.errors import Invalid, TooLarge
from arena.models import LONGEST, ReportedUsage, complaint

REPORT = "report"
MOST = 10_000  # reports of a seat in one game
MODELS = 8  # that a seat may name

Tokens = Annotated[int, Field(ge=0, le=10**12)]
Amount = Annotated[float, Field(ge=0, le=10**12, allow_inf_nan=False)]


class Report(BaseModel):
    """What an agent says that a call of its model took."""

    model_config = ConfigDict(extra="forbid")

    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    total_tokens: Tokens = 0
    provider: str = ""
    model: str = ""
    cost_usd: Amount | None = None
    latency_ms: Amount | None = None
    case: str | None = None  # of a pack

    @property
    def usage(self) -> dict[str, JsonValue]:
        """As run events tell it."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total,
        }

    @property
    def total(self) -> int:
        """All tokens: as many as were told, and never less than those of the parts."""
        return max(self.total_tokens, self.input_tokens + self.output_tokens)


def read(content: str) -> Report:
    """The report that a message's content stands for."""
    try:
        return Report.model_validate_json(content)
    except ValidationError as error:
        raise Invalid(f"{REPORT}: {complaint(error)}") from None


def plus(before: ReportedUsage | None, report: Report) -> ReportedUsage:
    """What a seat has told, with one call more."""
    known = before or ReportedUsage()
    if known.calls >= MOST:
        raise TooLarge(f"A seat may make at most {MOST} reports.")
    name = report.model[:LONGEST]
    is_new = bool(name) and name not in known.models and len(known.models) < MODELS
    return ReportedUsage(
        calls=known.calls + 1,
        input_tokens=known.input_tokens + report.input_tokens,
        output_tokens=known.output_tokens + report.output_tokens,
        total_tokens=known.total_tokens + report.total,
        cost_usd=_sum(known.cost_usd, report.cost_usd),
        latency_ms=_sum(known.latency_ms, report.latency_ms),
        models=[*known.models, name] if is_new else known.models,
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return one if other is None else (one or 0.0) + other
