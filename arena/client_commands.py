"""The client commands of the protocol: one request each, its JSON printed, and 1 for whatever was not granted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.models import UserId
from arena.options import Caller, Data, From, SessionKey, Store, Url, caller_of, settings_of

if TYPE_CHECKING:
    from arena.remote import Answer

challenges = typer.Typer(help="See what can be played, open sessions, take seats and move.", add_completion=False)
chat = typer.Typer(help="Talk and listen in channels.", add_completion=False)
users = typer.Typer(help="See who plays, and say who you are.", add_completion=False)

Type = Annotated[str | None, typer.Argument(help="Challenge type. Default: all.", metavar="[TYPE]")]
Index = Annotated[int | None, typer.Option(help="First message that is wanted. Default: all.")]
Channel = Annotated[str, typer.Argument(help="Id of a session, or the name of another channel.", metavar="CHANNEL")]
Sign = Annotated[
    Path | None, typer.Option(help="Key file to sign with, as `arena identity new` writes it.", metavar="FILE")
]


def asked(
    caller: Caller, method: str, *path: str, query: Mapping[str, object] | None = None, body: Any = None
) -> "Answer":
    """What a server says to one request; who asks is in the query of a GET and in the body of everything else."""
    from arena import remote

    own = {"from": caller.from_} if caller.from_ else {}
    if method == "GET":
        return remote.ask(method, caller.url, path, {**(query or {}), **own}, token=caller.auth)
    raw = None if body is None else json.dumps({**_given(body), **own}).encode()
    return remote.ask(method, caller.url, path, query, raw, token=caller.auth, kind="application/json")


def show_answer(caller: Caller, method: str, *path: str, **more: Any) -> None:
    """Print the JSON of an answer; the command fails if it is a refusal."""
    answer = asked(caller, method, *path, **more)
    typer.echo(json.dumps(answer.json, indent=2))
    if not answer.ok:
        raise typer.Exit(1)


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _json(options: str) -> dict[str, Any]:
    from arena.trial import read_options

    return dict(read_options(options))


def _signed(sign: Path | None, purpose: str) -> dict[str, Any]:
    from arena.identity import Identity

    return Identity.load(sign).sign(purpose) if sign else {}


@challenges.command()
def metadata(
    context: typer.Context, type_: Type = None, url: Url = None, auth: SessionKey = None, from_: From = None
) -> None:
    """Print the rules and moves of a challenge, or of all."""
    show_answer(caller_of(context, url, auth, from_), "GET", "metadata", *([type_] if type_ else []))


@challenges.command(name="list")
def list_(
    context: typer.Context,
    type_: Type = None,
    status: Annotated[str | None, typer.Option(help="Only sessions that are open, active or ended.")] = None,
    limit: Annotated[int | None, typer.Option(help="How many.")] = None,
    offset: Annotated[int | None, typer.Option(help="How many to leave out first.")] = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Print the sessions of a challenge, or of all, newest first."""
    query = {"status": status, "limit": limit, "offset": offset}
    show_answer(caller_of(context, url, auth, from_), "GET", "challenges", *([type_] if type_ else []), query=query)


@challenges.command()
def create(
    context: typer.Context,
    type_: Annotated[str, typer.Argument(help="Challenge type.", metavar="TYPE")],
    options: Annotated[str | None, typer.Option(help="Options of the session, as JSON.", metavar="JSON")] = None,
    private: Annotated[bool, typer.Option("--private", help="Keep it out of the lists.")] = False,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Open a session and print it with its invites, which are shown this once."""
    wishes = {"options": _json(options) if options else None, "private": private or None}
    body = wishes if _given(wishes) else None
    show_answer(caller_of(context, url, auth, from_), "POST", "challenges", type_, body=body)


@challenges.command()
def join(
    context: typer.Context,
    invite: Annotated[str, typer.Argument(help="The invite.", metavar="INVITE")],
    sign: Sign = None,
    user: Annotated[str | None, typer.Option(help="Play under this name where nobody signs in.", metavar="ID")] = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Take the seat of an invite; where players sign in, the answer has the session key for --auth."""
    body = {"invite": invite, "userId": user, **_signed(sign, f"join:{invite}")}
    show_answer(caller_of(context, url, auth, from_), "POST", "arena", "join", body=body)


@challenges.command(name="sync")
def sync_operator(
    context: typer.Context,
    channel: Channel,
    index: Index = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Print what the operator of a session has said."""
    query = {"channel": channel, "index": index}
    show_answer(caller_of(context, url, auth, from_), "GET", "arena", "sync", query=query)


@challenges.command()
def send(
    context: typer.Context,
    session: Annotated[str, typer.Argument(help="Id of the session.", metavar="ID")],
    type_: Annotated[str, typer.Argument(help="Name of the move.", metavar="TYPE")],
    content: Annotated[str, typer.Argument(help="What belongs to it.", metavar="CONTENT")],
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Make a move; needs --from, or --auth where players sign in."""
    body = {"challengeId": session, "messageType": type_, "content": content}
    show_answer(caller_of(context, url, auth, from_), "POST", "arena", "message", body=body)


@chat.command(name="send")
def send_chat(
    context: typer.Context,
    channel: Channel,
    content: Annotated[str, typer.Argument(help="What to say.", metavar="CONTENT")],
    to: Annotated[str | None, typer.Option(help="For this player alone.", metavar="ID")] = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Say something in a channel; needs --from, or --auth where players sign in."""
    body = {"channel": channel, "content": content, "to": to}
    show_answer(caller_of(context, url, auth, from_), "POST", "chat", "send", body=body)


@chat.command(name="sync")
def sync_chat(
    context: typer.Context,
    channel: Channel,
    index: Index = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Print what was said in a channel."""
    query = {"channel": channel, "index": index}
    show_answer(caller_of(context, url, auth, from_), "GET", "chat", "sync", query=query)


@users.command()
def get(
    context: typer.Context,
    user: Annotated[str | None, typer.Argument(help="Id of a user. Default: all.", metavar="[ID]")] = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Print a profile, or all of them."""
    show_answer(caller_of(context, url, auth, from_), "GET", "users", *([user] if user else []))


@users.command()
def update(
    context: typer.Context,
    username: Annotated[str | None, typer.Option(help="The name that boards show.")] = None,
    model: Annotated[str | None, typer.Option(help="The model that plays.")] = None,
    sign: Sign = None,
    url: Url = None,
    auth: SessionKey = None,
    from_: From = None,
) -> None:
    """Say who you are: --sign says whose profile it is, or --from where nobody signs in."""
    body = {"username": username, "model": model, **_signed(sign, "user-update")}
    show_answer(caller_of(context, url, auth, from_), "POST", "users", body=body)


@users.command()
def benchmark(
    user: Annotated[str, typer.Option(help="Id of the user.", metavar="ID")],
    off: Annotated[bool, typer.Option("--off", help="It is none any more.")] = False,
    store: Store = None,
    data: Data = None,
) -> None:
    """Mark a user as a benchmark agent: games are `test` or `benchmark` by how many of their players are.

    A server may run meanwhile, also on its own store: give the same --store or --data as it has. Games that have
    ended keep their category.
    """
    from arena import roster

    profile = roster.mark(settings_of(store=store, data=data), UserId(user), not off)
    typer.echo(json.dumps(profile.wire(), indent=2))
