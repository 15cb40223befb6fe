"""`arena play --model`: the options of a model player, and what people and programs are told of its game."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from arena.client.place import Place
    from arena.model_player.spec import Played
    from arena.model_player.wishes import ModelWish

FAILED = 3  # the model could not be asked any more
SPENT = 4  # the budget was spent before the game was over
CODES = (
    f"With --model also: {FAILED} the model could not be asked any more; {SPENT} its budget was spent before the game "
    "was over."
)
PANEL = "With --model"

ModelName = Annotated[
    str | None, typer.Option("--model", help="Let this language model play.", metavar="NAME", rich_help_panel=PANEL)
]
ModelConfig = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Configuration whose section `models` has routes and prices, as docs/judges.md says.",
        metavar="FILE",
        envvar="ARENA_CONFIG",
        rich_help_panel=PANEL,
    ),
]
Api = Annotated[
    Literal["openai", "anthropic"] | None,
    typer.Option(help="What the endpoint speaks. Default: by the name of the model.", rich_help_panel=PANEL),
]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of the endpoint. Default: the provider's own.", rich_help_panel=PANEL)
]
KeyEnv = Annotated[
    str | None,
    typer.Option(
        help="Variable that holds the key. Default: ARENA_MODEL_KEY if it is set; else with --base-url none, and "
        "without OPENAI_API_KEY or ANTHROPIC_API_KEY.",
        metavar="NAME",
        rich_help_panel=PANEL,
    ),
]
ModelPrice = Annotated[
    str | None,
    typer.Option(
        "--price",
        help="USD per million tokens of questions and of answers, as 3/15.",
        metavar="IN/OUT",
        rich_help_panel=PANEL,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="The most USD that the game may cost. Needs a price.", min=0, rich_help_panel=PANEL),
]
MaxTokens = Annotated[int, typer.Option(help="The most tokens of all calls together.", min=0, rich_help_panel=PANEL)]
MaxTurns = Annotated[int, typer.Option(help="The most calls of the model.", min=0, rich_help_panel=PANEL)]
MaxAnswer = Annotated[int, typer.Option(help="The most tokens of an answer.", min=64, rich_help_panel=PANEL)]
Context = Annotated[
    int,
    typer.Option("--context", help="Tokens that a question and its answer may have.", min=4096, rich_help_panel=PANEL),
]
Temperature = Annotated[
    float | None, typer.Option(help="Default: the provider's own.", min=0, max=2, rich_help_panel=PANEL)
]
Timeout = Annotated[float, typer.Option(help="Seconds for an answer.", min=1, max=300, rich_help_panel=PANEL)]
System = Annotated[
    Path | None,
    typer.Option(help="File with what the model is told beside the rules.", metavar="FILE", rich_help_panel=PANEL),
]
TranscriptFile = Annotated[
    Path | None,
    typer.Option(
        "--transcript",
        help="New file for everything asked and answered, as lines of JSON; or a directory that gets one.",
        metavar="FILE",
        rich_help_panel=PANEL,
    ),
]
WhenOut = Annotated[
    Literal["resign", "silent"],
    typer.Option(help="What the seat does when the model is not asked any more.", rich_help_panel=PANEL),
]
MayResign = Annotated[
    bool, typer.Option("--may-resign/--may-not-resign", help="Whether the model may give up.", rich_help_panel=PANEL)
]


async def play_model(place: "Place", wish: "ModelWish", environment: dict[str, str], *, as_json: bool) -> int:
    """Play a seat and tell what came of it; the exit code says whether the model played to the end."""
    from arena.model_player.wishes import model_player

    played = await model_player(wish, environment, None if as_json else _say).run(place)
    typer.echo(json.dumps(result(played), indent=2) if as_json else told(played))
    return {None: 0, "failed": FAILED, "budget": SPENT}[played.summary.stopped]


def result(played: "Played") -> dict[str, Any]:
    """A game for programs."""
    ended = played.ended
    return {
        **played.summary.wire(),
        "state": ended.state.wire(),
        "profiles": {user: profile.wire() for user, profile in ended.profiles.items()},
    }


def told(played: "Played") -> str:
    """A game for people."""
    from arena.terminal import harmless
    from arena.transcript import usage_line

    summary, lines = played.summary, ["The game is over."]
    for number, score in enumerate(played.ended.state.scores):
        mine = number == summary.player_index
        who = f"{harmless(summary.model)} (player {number + 1})" if mine else f"player {number + 1}"
        lines.append(f"{who}: security {score.security:+g}, utility {score.utility:+g}")
    usage = summary.usage
    lines.append(f"The model took {usage_line(usage.wire())} in {usage.latency_ms / 1000:.1f} s.")
    if usage.assumed_tokens:
        lines.append(f"Calls without a bill may have taken {usage.assumed_tokens} tokens more.")
    if summary.stopped:
        lines.append(f"It was not asked to the end: {harmless(summary.reason, 300)}.")
    return "\n".join(lines)


def _say(line: str) -> None:
    from arena.terminal import harmless

    typer.echo(harmless(line, 200), err=True)
