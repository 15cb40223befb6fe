"""What the creator of a session of a pack may choose."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

MOST_SEATS = 16


def _without_default(schema: dict[str, Any]) -> None:
    """A form that showed how long a vote is would seem to ask for one."""
    del schema["default"]


class Votes(BaseModel):
    """A vote of spectators on pairs of outputs, before the evaluation."""

    model_config = ConfigDict(extra="forbid")

    seconds: Annotated[float, Field(ge=0.1, le=86_400)] = Field(
        default=300,
        description="How long spectators may vote on pairs of outputs; without it nobody is asked.",
        json_schema_extra=_without_default,
    )


class PackOptions(BaseModel):
    """One seat makes an evaluation, several make a race on the same cases."""

    model_config = ConfigDict(extra="forbid")

    players: Annotated[int, Field(ge=1, le=MOST_SEATS)] = Field(
        default=1, validation_alias=AliasChoices("players", "seats"), description="Seats."
    )
    input_set: str | None = Field(
        default=None,
        validation_alias=AliasChoices("input_set", "challenge_input_set_id", "input_set_id"),
        description="Key or id of the input set; needed where the pack has several.",
    )
    order: Literal["in-order", "at-once"] = Field(default="in-order", description="How cases are handed out.")
    show_outputs: bool = Field(
        default=False, description="Whether everybody sees outputs as soon as nobody can make use of them any more."
    )
    version: Annotated[int, Field(ge=0)] = Field(default=0, description="Version of the pack, 0 for the newest.")
    judge_seat: bool = Field(default=False, description="Whether somebody on a judge's seat judges in place of models.")
    judge_seconds: Annotated[float, Field(ge=0.1, le=86_400)] = Field(
        default=3_600, description="How long that judge has for its verdicts."
    )
    votes: Votes | None = Field(default=None, description="A vote of spectators, where there are several seats.")
