"""`arena play`: a seat for a program, a house bot, a language model, or whoever sits at this terminal."""

import asyncio
import json
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena import model_cli
from arena.options import SessionKey, Url, caller_of

if TYPE_CHECKING:
    from arena.client import Ended
    from arena.client.place import Place
    from arena.players import Player

GAVE_UP = 3  # the program failed too often
LEFT = 130  # as after Ctrl-C

CODES = (
    "Exit codes: 0 the game was played to its end; 1 it could not be played (no server, a refused invite, a program "
    f"that cannot be started); 2 wrong usage; {GAVE_UP} the program failed too often and its seat was given up; "
    f"{LEFT} you left with Ctrl-C or /quit, and the game goes on. {model_cli.CODES}"
)


def play(
    context: typer.Context,
    invite: Annotated[str, typer.Argument(help="The invite; or with --auth the id of a session to come back to.")],
    cmd: Annotated[
        str | None, typer.Option(help="Run this program: frames as lines of JSON on its input and output.")
    ] = None,
    bot: Annotated[str | None, typer.Option(help="Let a house bot play, as psi/honest.", metavar="TYPE/NAME")] = None,
    url: Url = None,
    auth: SessionKey = None,
    user: Annotated[str | None, typer.Option(help="Play under this name. Default: anonymously.", metavar="ID")] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="Key file to sign in with, as `arena identity new` writes it.", envvar="ARENA_KEY"),
    ] = None,
    restarts: Annotated[
        int, typer.Option(help="How often a program may fail before its seat is given up.", min=0, max=1000)
    ] = 3,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Run the program in a sandbox, without network.")] = False,
    network: Annotated[bool, typer.Option("--network", help="Give a program in a sandbox the network.")] = False,
    readable: Annotated[
        list[Path] | None,
        typer.Option(help="Directory that a program in a sandbox may read. May be repeated.", metavar="DIR"),
    ] = None,
    seed: Annotated[str | None, typer.Option(help="The same seed draws the same for a bot.")] = None,
    load: Annotated[
        list[str] | None, typer.Option(help="Python module with a bot's challenge. May be repeated.", metavar="MODULE")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON; at the terminal the server's frames, a line each.")
    ] = False,
    model: model_cli.ModelName = None,
    config: model_cli.ModelConfig = None,
    api: model_cli.Api = None,
    base_url: model_cli.BaseUrl = None,
    key_env: model_cli.KeyEnv = None,
    price: model_cli.ModelPrice = None,
    max_cost: model_cli.MaxCost = None,
    max_tokens: model_cli.MaxTokens = 500_000,
    max_turns: model_cli.MaxTurns = 100,
    max_answer: model_cli.MaxAnswer = 4096,
    model_context: model_cli.Context = 64_000,
    temperature: model_cli.Temperature = None,
    timeout: model_cli.Timeout = 120,
    system: model_cli.System = None,
    transcript: model_cli.TranscriptFile = None,
    when_out: model_cli.WhenOut = "resign",
    may_resign: model_cli.MayResign = True,
) -> None:
    """Play a seat: with a program, a house bot, a language model, or yourself, here in the terminal.

    A lost connection is made again and nothing is missed or done twice. Who plays here types a move as its name and
    what belongs to it, `/say TEXT` to talk, `/tell 2 TEXT` to talk to one player, and `/help` for the rest.
    """
    if sum(word is not None for word in (cmd, bot, model)) > 1:
        raise typer.BadParameter("a seat is for one player: give --cmd, --bot or --model")
    if model is None and any((api, base_url, key_env, price, max_cost, temperature, system, transcript)):
        raise typer.BadParameter("how a model is asked is for a model: give --model")
    if cmd is None and (sandbox or network or readable):
        raise typer.BadParameter("a sandbox is for a program: give --cmd")
    if (network or readable) and not sandbox:
        raise typer.BadParameter("--network and --readable belong to --sandbox")
    from arena.client import Identity
    from arena.client.place import Place
    from arena.evals.sessions import is_session
    from arena.logs import set_up_logging

    set_up_logging("error")
    caller = caller_of(context, url, auth)
    identity = Identity.load(key) if key else None
    place = Place(invite, caller.url, user, identity, caller.auth if is_session(invite) else None)
    if model is not None:
        from arena.model_player.wishes import ModelWish

        wish = ModelWish(
            model=model,
            api=api,
            base_url=base_url,
            key_env=key_env,
            config=config,
            price=price,
            max_cost=max_cost,
            max_tokens=max_tokens,
            max_turns=max_turns,
            max_answer=max_answer,
            context=model_context,
            temperature=temperature,
            timeout=timeout,
            system=system,
            transcript=transcript,
            when_out=when_out,
            may_resign=may_resign,
        )
        playing = model_cli.play_model(place, wish, dict(os.environ), as_json=as_json)
    elif cmd is None and bot is None:
        playing = _in_person(place, as_json)
    else:
        from arena.confined import Cage
        from arena.players import player_of

        cage = Cage(network, tuple(readable or ()), (key,) if key else ()) if sandbox else None
        player = player_of(bot=bot, cmd=cmd, load=load or (), restarts=restarts, cage=cage)
        playing = _have_played(player, place, Random(seed), as_json)  # noqa: S311
    raise typer.Exit(_run(playing, place))


def _run(playing: Coroutine[Any, Any, int], place: "Place") -> int:
    """Play; whatever keeps the game from its end is told in a line."""
    from arena.client import Disconnected
    from arena.errors import ArenaError, CannotStart
    from arena.person import Left

    try:
        return asyncio.run(playing)
    except (KeyboardInterrupt, Left):
        typer.echo("arena: You have left the game; it goes on without you.", err=True)
        return LEFT
    except Disconnected as error:
        raise CannotStart(str(error)) from None
    except ArenaError as refusal:
        unsigned = refusal.code == "VALIDATION" and "publicKey" in refusal.message and place.identity is None
        how = ": players sign in here, so give --key FILE; `arena identity new` makes one" if unsigned else ""
        raise CannotStart(f"{refusal.message} ({refusal.code}){how}") from None


async def _in_person(place: "Place", as_json: bool) -> int:
    from arena.keyboard import typed_lines
    from arena.person import Person
    from arena.terminal import Screen

    async with place.taken(raw=True) as game:
        hint = f"ARENA_AUTH={game.session_key} arena play {game.id} --url {place.url}"
        try:
            await Person(game, Screen(), typed_lines(), as_json=as_json).sit()
        except BaseException:
            if not game.is_over and sys.stderr.isatty():  # the key is for nobody's logs
                typer.echo(f"\nTo come back: {hint}", err=True)
            raise
    return 0


async def _have_played(player: "Player", place: "Place", rng: Random, as_json: bool) -> int:
    from arena.players import CommandSpec

    gave_up = False
    if isinstance(player, CommandSpec):
        ended, gave_up = await player.run(place)
    else:
        ended = await player.play(place, rng)
    typer.echo(json.dumps(_result(ended, place, gave_up), indent=2) if as_json else _told(ended, place, player.label))
    if gave_up:
        typer.echo("arena: The program failed too often, and its seat was given up.", err=True)
    return GAVE_UP if gave_up else 0


def _result(ended: "Ended", place: "Place", gave_up: bool) -> dict[str, Any]:
    seat = _seat(ended, place)
    return {
        "playerIndex": seat,
        "score": ended.state.scores[seat].wire(),
        "gaveUp": gave_up,
        "state": ended.state.wire(),
        "profiles": {user: profile.wire() for user, profile in ended.profiles.items()},
    }


def _told(ended: "Ended", place: "Place", label: str) -> str:
    from arena.terminal import harmless

    seat = _seat(ended, place)
    lines = []
    for number, score in enumerate(ended.state.scores):
        who = f"{harmless(label)} (player {number + 1})" if number == seat else f"player {number + 1}"
        lines.append(f"{who}: security {score.security:+g}, utility {score.utility:+g}")
    return "\n".join(["The game is over.", *lines])


def _seat(ended: "Ended", place: "Place") -> int:
    """Which of the players it was; a session key begins with that."""
    if place.session_key is not None:
        return int(place.session_key.partition(".")[0].removeprefix("s_"))
    return [str(player) for player in ended.state.players].index(place.invite)
