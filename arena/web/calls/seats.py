"""Seats: who somebody is, sessions that are created, invites that are looked up, offered and used."""

from collections.abc import Sequence
from typing import Any

from arena import auth, chat
from arena.auth import Credential, Signed, Viewer
from arena.deals import Deal, draw, secret_of
from arena.engine import Joined
from arena.errors import Invalid, InviteAlreadyUsed, NotFound, TooLarge, Unauthorized
from arena.models import OPERATOR, Invite, Seat, SessionId, UserId
from arena.runtime import Arena
from arena.session import Session, challenge_view, creator_view
from arena.store.channels import INVITES
from arena.store.sessions import request_key
from arena.web.calls.bodies import Claim, Create, Join, Pair, SignedJoin, read, read_truthy


async def viewer(arena: Arena, credential: Credential, channel: str | None) -> Viewer:
    """Who sends a request that names this channel or session, or none."""
    ring = arena.ring
    anywhere = auth.viewer_of(ring, credential)
    if not ring.required or credential.key is None or not channel or anywhere.admin:
        return anywhere
    id_ = chat.session_of(channel)
    try:
        seen = await arena.engine.recall(id_)
        try:
            return auth.viewer_of(ring, credential, id_, seen.handles)
        except Unauthorized:  # somebody may have sat down since
            session = await arena.engine.get(id_)
            return auth.viewer_of(ring, credential, id_, session.handles)
    except (NotFound, Unauthorized):
        raise Unauthorized("Authentication required") from None


async def create(arena: Arena, type: str, body: Any, origin: str, creator: Viewer) -> dict[str, Any]:
    """Open a session; its creator alone is told all invites."""
    wish = read(Create, body)
    arena.leases.spend("creates", origin)
    deal = deal_for(arena, creator, wish.seed, wish.ranked)
    session = await arena.engine.create(type, wish.options, private=wish.private, origin=origin, deal=deal)
    return creator_view(session).wire()


async def pair(arena: Arena, type: str, body: Any, origin: str, creator: Viewer) -> dict[str, Any]:
    """Open two sessions on the same deal."""
    wish = read(Pair, body)
    arena.leases.spend("creates", origin)
    deal = deal_for(arena, creator, wish.seed, wish.ranked)
    return pair_view(await arena.engine.pairs.create(type, wish.options, deal=deal, swap=wish.swap, origin=origin))


def deal_for(arena: Arena, creator: Viewer, seed: str | None, ranked: bool | None) -> Deal:
    """What a new session is dealt from. Who chooses a seed may play it, so it is ranked only if an admin chose it."""
    if seed is None or ranked is False or not (ranked or creator.admin):
        return draw(seed, ranked=ranked)
    auth.check_admin(creator)
    return draw(seed, ranked=True, secret=secret_of(arena.secret, seed))


def pair_view(sessions: Sequence[Session]) -> dict[str, Any]:
    """What the one who created a pair gets to see, once."""
    return {"pair": sessions[0].header.pair, "challenges": [creator_view(session).wire() for session in sessions]}


async def join(arena: Arena, body: Any, origin: str) -> dict[str, Any]:
    """Take the seat of an invite."""
    arena.leases.spend("joins", origin)
    if not arena.ring.required:
        wish = read(Join, body)
        user = UserId(wish.user_id) if wish.user_id else None
        joined = await arena.engine.join(Invite(wish.invite), user, wish.key)
        return {"ChallengeID": joined.session, "ChallengeInfo": joined.kind.words}
    signed = read_truthy(SignedJoin, body)
    if not signed.invite:
        raise Invalid("invite is required")
    user = sign_in(arena, signed.invite, Signed(signed.public_key, signed.signature, signed.timestamp))
    joined = await arena.engine.join(Invite(signed.invite), user, signed.key)
    key = auth.session_key(arena.ring, joined.session, joined.seat, Invite(signed.invite))
    return {"ChallengeID": joined.session, "ChallengeInfo": joined.kind.words, "sessionKey": key}


def sign_in(arena: Arena, invite: str, signed: Signed) -> UserId:
    """Who wants to join by this invite, by a signature; one who does so too often is refused."""
    user = auth.sign_in(signed, f"join:{invite}", arena.clock.now())
    arena.leases.spend("joins", user)
    return user


async def rejoin(arena: Arena, id_: SessionId, invite: Invite, user: UserId) -> Joined:
    """Take the seat of an invite, or come back to it if it is one's own already."""
    try:
        return await arena.engine.join(invite, user, id_=id_)
    except InviteAlreadyUsed:
        session = await arena.engine.get(id_)
        seat = session.seat_of(invite)
        if seat is None or session.standing.player_identities.get(invite) != user:
            raise
        await arena.catalog.fetch(session.header.type, session.header.version)
        return Joined(session.id, Seat(seat), arena.catalog.challenge(session.header.type))


async def invited(arena: Arena, invite: str) -> dict[str, Any]:
    """The session that a free invite is for."""
    return challenge_view(await _with_free_seat(arena, invite), Invite(invite)).wire()


async def claim(arena: Arena, body: Any, origin: str) -> dict[str, Any]:
    """Offer a free seat to whoever reads the channel of invites; it stays free until somebody joins.

    It may be offered again and again, but half of the channel's room is for seats that were not offered yet.
    """
    arena.leases.spend("joins", origin)
    invite = read(Claim, body).invite_id
    if not invite:
        raise Invalid("inviteId is required")
    await _with_free_seat(arena, invite)
    now = arena.clock.now()
    entry = chat.entry(INVITES, OPERATOR, invite, now)
    try:
        await arena.channels.post(INVITES, entry, request_key(OPERATOR, None), now, spare=True)
    except TooLarge:
        await arena.channels.post(INVITES, entry, request_key(OPERATOR, invite, invite), now)
    return {"success": True}


async def _with_free_seat(arena: Arena, invite: str) -> Session:
    session = await arena.engine.get(await arena.engine.session_of(invite))
    if session.seat_of(invite) is not None:
        raise InviteAlreadyUsed(f"Invite already used: {invite}")
    return session
