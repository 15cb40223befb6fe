"""The tool by which agents find company."""

import asyncio
from contextlib import suppress

from pydantic import JsonValue
from starlette.requests import ClientDisconnect

from arena.queueing import QueueState
from arena.web.calls import queues
from arena.web.hangup import unless_gone
from arena.web.limits import place
from arena.web.mcp.tools import Asked, tool
from arena.web.mcp.views import Next, Told
from arena.web.mcp.wishes import Queue


class Queued(Told):
    """How a ticket stands."""

    queue: QueueState


@tool
async def find_game(asked: Asked, wish: Queue) -> Queued:
    """Wait for others who want to play the same: you get a ticket, and the invite of a seat when there is company.

    Call it again with the ticket, and with `wait`, until it is matched; who is silent for too long loses the ticket.
    """
    maker = asked.arena.matchmaker
    if wish.leave and wish.ticket:
        return _told(await maker.leave(wish.challenge_type, wish.ticket))
    if wish.ticket:
        state = await maker.state(wish.challenge_type, wish.ticket)
    else:
        body = wish.model_dump(by_alias=True, exclude_unset=True, exclude={"challenge_type", "ticket", "wait", "leave"})
        state = await queues.enter(asked.arena, wish.challenge_type, body, asked.origin)
    seconds = min(wish.wait, asked.until - asyncio.get_running_loop().time())
    if seconds > 0 and not state.is_final:
        with place(asked.arena, asked.address), suppress(ClientDisconnect):
            state = await unless_gone(asked.receive, maker.wait(state.challenge_type, state.ticket, seconds))
    return _told(state)


def _told(state: QueueState) -> Queued:
    match state.status:
        case "matched":
            why = "Take your seat; it is kept for a while only."
            then = Next(tool="join_session", arguments={"invite": state.invite}, why=why)
        case "waiting":
            again: dict[str, JsonValue] = {"challengeType": state.challenge_type, "ticket": state.ticket, "wait": 20}
            then = Next(tool="find_game", arguments=again, why="There is no company yet: go on waiting.")
        case _:
            then = Next(
                tool="find_game",
                arguments={"challengeType": state.challenge_type},
                why="This ticket is no more; get another if you like.",
            )
    return Queued(queue=state, next=then)
