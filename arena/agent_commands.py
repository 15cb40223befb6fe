"""The part of the command line for agents that look for company, and that say what they are made of."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.options import Url, caller_of

User = Annotated[str | None, typer.Option(help="Who you are, where names are believed.", metavar="ID")]
Sign = Annotated[
    Path | None, typer.Option(help="Private key file to sign with, where signatures are wanted.", metavar="KEYFILE")
]


def queue(
    context: typer.Context,
    type_: Annotated[str, typer.Argument(help="Challenge type.", metavar="TYPE")],
    user: User = None,
    sign: Sign = None,
    practice: Annotated[bool, typer.Option("--practice", help="Play a game that counts on no board.")] = False,
    options: Annotated[str | None, typer.Option(help="Options of the challenge, as JSON.", metavar="JSON")] = None,
    timeout: Annotated[float | None, typer.Option(help="Give up after so many seconds.", min=0)] = None,
    url: Url = None,
) -> None:
    """Wait for others who want to play the same, and print the invite of a seat.

    It is kept for you for a while: join with it at once, under the same name. Exit code 1 if there was no company in
    time; Ctrl-C gives the place in the queue up.
    """
    from arena.trial import read_options

    wanted = None if options is None else read_options(options)
    waiting = _wait(caller_of(context, url).url, type_, wanted, user, sign, patience=timeout, ranked=not practice)
    try:
        typer.echo(asyncio.run(waiting))
    except TimeoutError:
        typer.echo("arena: nobody came in time", err=True)
        raise typer.Exit(1) from None


async def _wait(
    url: str,
    type: str,
    options: dict[str, Any] | None,
    user: str | None,
    sign: Path | None,
    *,
    patience: float | None,
    ranked: bool,
) -> str:
    from arena.client import Arena, Disconnected, Identity
    from arena.errors import CannotStart

    identity = Identity.load(sign) if sign else None
    try:
        async with asyncio.timeout(patience), Arena(url, identity=identity) as arena:
            return await arena.queue(type, options, ranked=ranked, user=user)
    except Disconnected as error:
        raise CannotStart(str(error)) from None


def declare(
    context: typer.Context,
    user: User = None,
    sign: Sign = None,
    owner: Annotated[str, typer.Option(help="Who runs the agent.")] = "",
    model: Annotated[str, typer.Option(help="The language model behind it.")] = "",
    prompt: Annotated[
        str, typer.Option(help="Its prompt: a file, of which only the SHA-256 is sent, or that as sha256:…")
    ] = "",
    harness: Annotated[str, typer.Option(help="Its program: a file likewise, or any fingerprint.")] = "",
    url: Url = None,
) -> None:
    """Say what your agent is made of from now on. Another model, prompt or harness is another entrant on the boards.

    Without any of them you take back what you said. Prints what the server then knows, as JSON.
    """
    from arena import remote
    from arena.client import Identity

    told = {"owner": owner, "model": model, "prompt": _of_prompt(prompt), "harness": fingerprint(harness)}
    signed = Identity.load(sign).sign("agent-update") if sign else {"userId": user or ""}
    body = json.dumps({**told, **signed}).encode()
    answer = remote.ask("POST", caller_of(context, url).url, ["agents"], body=body)
    typer.echo(json.dumps(answer.json, indent=2))
    raise typer.Exit(0 if answer.ok else 1)


def fingerprint(text: str) -> str:
    """The SHA-256 of a file, or the text itself if it is none."""
    try:
        found = Path(text).read_bytes()
    except (OSError, ValueError):
        return text
    return f"sha256:{hashlib.sha256(found).hexdigest()}"


def _of_prompt(text: str) -> str:
    """The fingerprint of a prompt, which is a file or was made before: nobody's words are sent by a slip."""
    found = fingerprint(text)
    if text and found == text and not text.startswith("sha256:"):
        raise typer.BadParameter("a prompt is a file that can be read, or its sha256:…", param_hint="--prompt")
    return found
