"""Deals: where the randomness of a session comes from, who chose it, and how anybody can check it afterwards."""

import hmac
import secrets
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import StringConstraints

from arena.catalog import Catalog
from arena.models import Challenge, Reveal, SessionId, Status, Version
from arena.operator import Moment, Operator
from arena.session import commit_to, rng_of

KNOWN = "00" * 32  # the secret of deals whose seed was chosen by somebody who may play: there is nothing to hide

Seed = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,64}$")]


class Deal(NamedTuple):
    """What decides every draw of a session, and what follows from how it was chosen."""

    secret: str
    seed: str
    seeded: bool = False
    ranked: bool = True
    pair: str | None = None  # sessions that share this deal
    twins: tuple[SessionId, ...] = ()  # the others of them
    swap: bool = False  # whether a player may sit elsewhere in a twin


def draw(seed: str | None = None, *, ranked: bool | None = None, secret: str | None = None) -> Deal:
    """A new deal. A seed that the caller chose is not ranked, unless the caller is one who may say that it is.

    Everybody who knows such a seed knows the deal: a session with seed 7 deals what `Table(…, seed=7)` deals.
    """
    if seed is None:
        return Deal(secret or secrets.token_hex(32), secrets.token_hex(16), ranked=ranked is not False)
    return Deal(secret or KNOWN, seed, seeded=True, ranked=bool(ranked))


def secret_of(server: bytes, seed: str) -> str:
    """The secret that goes with a seed for rank: the same whenever it is chosen, and before the first reveal unknown.

    Without one, whoever sees the commitment could try all likely seeds, and would know the deal.
    """
    return hmac.digest(server, f"arena:v1:deal:{seed}".encode(), "sha256").hex()


class Finding(NamedTuple):
    """What came of one check."""

    is_right: bool
    words: str


def check(shown: Challenge, catalog: Catalog, commitment: str | None = None) -> list[Finding]:
    """Whether a deal that was revealed is the one that was promised, and whether the rules deal it."""
    if shown.reveal is None:
        over = shown.state.status is Status.ENDED
        why = "it waits for the other session of its pair" if over else "the game is not over"
        return [Finding(False, f"Nothing is revealed yet: {why}.")]
    return [_check_promise(shown, shown.reveal, commitment), _check_draw(shown, shown.reveal, catalog)]


def _check_promise(shown: Challenge, reveal: Reveal, commitment: str | None) -> Finding:
    made = commit_to(reveal.secret, reveal.seed, shown.challenge_type, reveal.version, reveal.options)
    for promised in filter(None, (shown.seed_commitment, commitment)):
        if made != promised:
            return Finding(False, f"Secret, seed, rules and options make {made}; promised was {promised}.")
    return Finding(True, f"Secret, seed, rules and options are those of the promise {made}.")


def _check_draw(shown: Challenge, reveal: Reveal, catalog: Catalog) -> Finding:
    known = catalog.challenges.get(shown.challenge_type)
    if known is None:
        return Finding(False, f"There are no rules of {shown.challenge_type} here to deal it again.")
    if not _is_same(known.version, reveal.version):
        return Finding(False, "The rules here are of another version, so they cannot tell.")
    dealt = deal_again(known.operator(reveal.options), shown, reveal)
    same = [name for name, value in dealt.items() if shown.game_state.get(name) == value]
    other = [name for name in dealt if name not in same]
    if not same:
        return Finding(False, "The rules deal something else; nothing in the state of the game is the same.")
    moved = f"; the game itself has changed {', '.join(other)}" if other else ""
    return Finding(True, f"Dealt again: {', '.join(same)} are the same{moved}.")


def _is_same(ours: Version, theirs: Version) -> bool:
    return ours.content_hash == theirs.content_hash


def deal_again(operator: Operator[Any, Any], shown: Challenge, reveal: Reveal) -> dict[str, Any]:
    """The state that the rules deal from a revealed seed."""
    moment = Moment(shown.created_at, (), lambda: rng_of(reveal.secret, reveal.seed, 0))
    dealt: dict[str, Any] = orjson.loads(operator.begin(moment).model_dump_json(by_alias=True))
    return dealt
