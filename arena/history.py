"""History: a channel as a viewer may read it, a page at a time.

How far a page reaches depends on nothing but what its viewer sees of it. If it depended on what lies in the log,
anybody could tell from the pages how long the messages are that others exchange in private.
"""

from typing import Any, NamedTuple

from arena import chat
from arena.chat import TAG, Entry
from arena.models import Channel
from arena.session import Session, course_of, state_view
from arena.store.sessions import Page, Sessions

HIDDEN = 64  # bytes that a message counts for which the viewer may not read, and the names in it


class Reading(NamedTuple):
    """What a viewer gets of a stretch of a log, and the cursor after it."""

    messages: list[dict[str, Any]]
    next: int
    epoch: str


def is_revealed(session: Session | None, channel: Channel) -> bool:
    """Whether everybody may read everything: in the operator channel of a game that is over."""
    return session is not None and session.standing.revealed and channel == chat.operator_channel(session.id)


async def read(
    sessions: Sessions, channel: Channel, page: Page, viewer: str | None, most: int, *, revealed: bool
) -> Reading:
    """Turn a page of a log, whatever it holds, into so many bytes as this viewer sees them; reads on where it must."""
    if page.next > page.length:  # nothing was left out, and no message counts for more than it has in the log
        return Reading(chat.read(page.entries, page.first, viewer, revealed=revealed), page.next, page.epoch)
    messages: list[dict[str, Any]] = []
    size, epoch = 0, page.epoch
    while page.entries:
        for index, entry in enumerate(page.entries, page.first):
            seen = chat.view(entry.fields(index), viewer, revealed=revealed)
            size += _cost(entry, seen)
            if messages and size > most:
                return Reading(messages, index, epoch)
            messages.append(seen)
            epoch = entry.tag
        if page.next > page.length or size >= most:
            break
        page = await sessions.page(channel, page.next, epoch, most - size)
        if not page.holds:  # the log has lost its end meanwhile
            break
    return Reading(messages, messages[-1]["index"] + 1 if messages else page.next, epoch)


def _cost(entry: Entry, seen: dict[str, Any]) -> int:
    """What a message counts for: its bytes if the viewer has them, else about those of what is left of it."""
    if "redacted" not in seen:
        return TAG + len(entry.body)
    return HIDDEN + sum(len(seen[name]) for name in ("channel", "from", "to"))


async def end_data(sessions: Sessions, session: Session) -> dict[str, Any]:
    """The final state of a game, with its course and the profiles of those who played."""
    profiles = await sessions.profiles(session.standing.player_identities.values())
    told = {user: profile.wire() for user, profile in profiles.items()}
    course = course_of(session.standing)
    return {**state_view(session).wire(), "profiles": told, **({"course": course.wire()} if course else {})}
