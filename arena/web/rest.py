"""The REST door: the routes of the protocol under `/api` and `/api/v1`, each a line onto a call."""

from typing import Any

from arena.errors import Invalid
from arena.models import Channel, UserId
from arena.web import packs, proofs, runs, tournaments
from arena.web.calls import agents, lists, moves, people, queues, rankings, seats
from arena.web.calls.bodies import Chat, Message, read
from arena.web.errors import CODED, PLAYING
from arena.web.hangup import unless_gone
from arena.web.limits import place
from arena.web.routing import Call, Route


async def metadata(call: Call) -> Any:
    """All challenges."""
    return lists.metadata(call.arena)


async def metadata_of(call: Call) -> Any:
    """One challenge."""
    return await lists.metadata_of(call.arena, call.argument)


async def challenges(call: Call) -> Any:
    """Sessions of all types."""
    return await lists.challenges(call.arena, lists.stretch(call.query, 50), status=call.query.get("status"))


async def challenges_of(call: Call) -> Any:
    """Sessions of one type."""
    part = lists.stretch(call.query, 10)
    return await lists.challenges(call.arena, part, call.argument, call.query.get("status"))


async def create(call: Call) -> Any:
    """A new session; a body that is no object is ignored."""
    wish = call.content if isinstance(call.content, dict) else {}
    return await seats.create(call.arena, call.argument, wish, call.origin, call.viewer)


async def pair(call: Call) -> Any:
    """Two new sessions on the same deal."""
    return await seats.pair(call.arena, call.argument, call.body, call.origin, call.viewer)


async def join(call: Call) -> Any:
    """A seat."""
    return await seats.join(call.arena, call.body, call.origin)


async def enter_queue(call: Call) -> Any:
    """A ticket."""
    return (await queues.enter(call.arena, call.argument, call.wish, call.origin)).wire()


async def queue(call: Call) -> Any:
    """How a ticket stands, or how many wait."""
    ticket, wait = call.query.get("ticket"), moves.read_wait(call.query.get("wait"))
    if ticket is None:
        return await queues.overview(call.arena, call.argument)
    standing = await queues.state(call.arena, call.argument, ticket)
    if not wait or standing["status"] != "waiting":
        return standing
    with place(call.arena, call.address):
        return await unless_gone(call.receive, queues.state(call.arena, call.argument, ticket, wait))


async def leave_queue(call: Call) -> Any:
    """A ticket given up."""
    return await queues.leave(call.arena, call.argument, call.query.get("ticket"))


async def message(call: Call) -> Any:
    """A move."""
    return await moves.message(call.arena, call.viewer, read(Message, call.body))


async def arena_sync(call: Call) -> Any:
    """What was said in the operator channel."""
    return await _sync(call, moves.operator_channel(_channel(call)))


async def chat_sync(call: Call) -> Any:
    """What was said in any channel."""
    return await _sync(call, Channel(_channel(call)))


async def _sync(call: Call, channel: Channel) -> Any:
    index, seconds = moves.read_index(call.query.get("index")), moves.read_wait(call.query.get("wait"))

    async def wait() -> None:
        with place(call.arena, call.address):
            await unless_gone(call.receive, call.arena.waiting.until(channel, index, seconds))

    return await moves.sync(call.arena, call.viewer, channel, index, wait if seconds else None)


def _channel(call: Call) -> str:
    if "channel" not in call.query:
        raise Invalid("Required")
    return call.query["channel"]


async def talk(call: Call) -> Any:
    """A message."""
    return await moves.talk(call.arena, call.viewer, read(Chat, call.body))


async def invited(call: Call) -> Any:
    """The session of an invite."""
    return await seats.invited(call.arena, call.argument)


async def claim(call: Call) -> Any:
    """An invite for anybody."""
    return await seats.claim(call.arena, call.body, call.origin)


async def board(call: Call) -> Any:
    """The global board."""
    return await people.board(call.arena)


async def boards(call: Call) -> Any:
    """The boards of one challenge."""
    return await people.boards(call.arena, call.argument)


async def stats(call: Call) -> Any:
    """How much has been played."""
    return await people.stats(call.arena)


async def users(call: Call) -> Any:
    """All profiles."""
    return await people.users(call.arena)


async def batch(call: Call) -> Any:
    """Some profiles."""
    return await people.batch(call.arena, call.query.get("ids"))


async def user(call: Call) -> Any:
    """One profile."""
    return await people.user(call.arena, call.argument)


async def history(call: Call) -> Any:
    """A user's games."""
    return await lists.history(call.arena, UserId(call.argument), lists.stretch(call.query, 50))


async def scores(call: Call) -> Any:
    """A user's lines on the boards."""
    return await people.scores(call.arena, call.argument)


async def update(call: Call) -> Any:
    """A change of a profile."""
    return await people.update(call.arena, call.viewer, call.body)


async def declare(call: Call) -> Any:
    """What an agent is made of."""
    return await agents.declare(call.arena, call.viewer, call.body)


async def agent(call: Call) -> Any:
    """What an agent has declared, now and before."""
    return await agents.show(call.arena, call.argument)


async def leaderboards(call: Call) -> Any:
    """What boards there are."""
    return await rankings.overview(call.arena)


async def leaderboard(call: Call) -> Any:
    """A stretch of a board."""
    return await rankings.board(call.arena, call.arguments, call.query)


async def on_board(call: Call) -> Any:
    """A player on a board."""
    return await rankings.player(call.arena, call.arguments, call.query)


async def head_to_head(call: Call) -> Any:
    """Who met whom."""
    return await rankings.head_to_head(call.arena, call.arguments, call.query)


async def on_boards(call: Call) -> Any:
    """A player on all its boards."""
    return await rankings.everywhere(call.arena, call.argument)


ROUTES = (
    Route("GET", "/metadata", metadata, packed=True),
    Route("GET", "/metadata/{name}", metadata_of),
    Route("GET", "/challenges", challenges),
    Route("GET", "/challenges/{name}", challenges_of),
    Route("POST", "/challenges/{name}", create, PLAYING),
    Route("POST", "/pairs/{name}", pair, CODED),
    Route("POST", "/arena/join", join, PLAYING),
    Route("POST", "/arena/message", message, PLAYING),
    Route("GET", "/arena/sync", arena_sync),
    Route("POST", "/queue/{name}", enter_queue, CODED),
    Route("GET", "/queue/{name}", queue, CODED),
    Route("DELETE", "/queue/{name}", leave_queue, CODED),
    Route("GET", "/invites/{invite}", invited),
    Route("POST", "/invites", claim),
    Route("POST", "/chat/send", talk, PLAYING),
    Route("GET", "/chat/sync", chat_sync),
    Route("GET", "/scoring", board),
    Route("GET", "/scoring/{name}", boards),
    Route("GET", "/stats", stats),
    Route("GET", "/users", users),
    Route("POST", "/users", update),
    Route("GET", "/users/batch", batch),
    Route("GET", "/users/{user}", user),
    Route("GET", "/users/{user}/challenges", history),
    Route("GET", "/users/{user}/scores", scores),
    Route("GET", "/users/{user}/leaderboards", on_boards),
    Route("POST", "/agents", declare, CODED),
    Route("GET", "/agents/{user}", agent, CODED),
    Route("GET", "/leaderboards", leaderboards),
    Route("GET", "/leaderboards/{board}/{strategy}", leaderboard),
    Route("GET", "/leaderboards/{board}/{strategy}/players/{user}", on_board),
    Route("GET", "/leaderboards/{board}/{strategy}/head-to-head", head_to_head),
    *proofs.ROUTES,
    *packs.ROUTES,
    *runs.ROUTES,
    *tournaments.ROUTES,
)
