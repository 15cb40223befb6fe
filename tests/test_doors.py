"""One semantics, many doors: the same games through each of them and through all at once, with the same to be seen."""

import asyncio

import pytest

from challenges.psi.rules import Sets, braces, outcome, verdict_on
from tests.doors.tables import Cast, Table, alike, mixed, seen, table_for
from tests.doors.visitor import FINE, Line, Standing, Told, Visitor
from tests.guests import PATIENCE, comes_true

UNKNOWN = "inv_6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f"
EARLY = "ERR_GAME_NOT_RUNNING"

everywhere = pytest.mark.parametrize("cast", [*alike(), *mixed()], ids=str)
# The other codec is in the audience of the mixed tables.
at_each_door = pytest.mark.parametrize(
    "cast", [*(cast for cast in alike() if "msgpack" not in cast.seats), *mixed()[3::5]], ids=str
)


def dealt(table: Table, sets: Sets) -> list[Line]:
    """How every game begins."""
    told = enumerate(zip(table.invites, sets.user_sets, strict=True), 1)
    return [Line(n, "operator", name, f"Your private set is: {braces(own)}.") for n, (name, own) in told]


def guessed(table: Table, sets: Sets, seat: int, content: str, after: list[Line]) -> list[Line]:
    """What a guess adds."""
    name, n = table.invites[seat], len(after)
    return [
        Line(n + 1, name, "operator", f"(guess) {content}", "guess"),
        Line(n + 2, "operator", None, f"Player {name} sent a guess"),
        Line(n + 3, "operator", name, outcome(verdict_on(sets, seat), sets.intersection_set)),
    ]


def refused(table: Table, seat: int, move: str, after: list[Line]) -> Line:
    """What a refused move leaves: the words of who made it."""
    method = move.partition(")")[0].removeprefix("(")
    return Line(len(after) + 1, table.invites[seat], "operator", move, method)


async def all_hear(table: Table, operator: list[Line], talk: list[Line]) -> None:
    """Everybody has heard all there is, each in its own view, and looks it up with the same result."""
    for viewer in table.everybody:
        assert await viewer.hear("operator", len(operator)) == seen(operator, viewer)
        assert await viewer.hear("players", len(talk)) == seen(talk, viewer)
        assert await viewer.read("operator") == seen(operator, viewer)
        assert await viewer.read("players") == seen(talk, viewer)


async def all_know(table: Table, operator: list[Line], talk: list[Line]) -> None:
    """After the end the operator's channel is open to everybody who looks it up; the players' talk never is."""
    for viewer in table.everybody:
        assert await viewer.read("operator") == operator
        assert await viewer.read("players") == seen(talk, viewer)
        if viewer.is_told_live:
            assert await viewer.hear("operator", len(operator)) == seen(operator, viewer)
            assert await viewer.hear("players", len(talk)) == seen(talk, viewer)


@everywhere
async def test_a_whole_game_with_talk_ends_the_same_and_shows_everybody_its_own(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        await table.sit_down()
        (ada, ben), sets = table.players, await table.sets()
        target, extra = sets.intersection_set, min({*sets.user_sets[1]} - {*sets.intersection_set})
        bold, exact = " ".join(map(str, [*target, extra])), " ".join(map(str, target))

        said = [await ada.say("shall we?"), await ben.say("yes: 4711", ada.name), await ada.say("thanks", ben.name)]
        moved = [await ada.act("guess", bold)]
        talk = [
            Line(1, ada.name, None, "shall we?"),
            Line(2, ben.name, ada.name, "yes: 4711"),
            Line(3, ada.name, ben.name, "thanks"),
        ]
        operator = dealt(table, sets)
        operator += guessed(table, await table.sets(), 0, bold, operator)

        await all_hear(table, operator, talk)
        for viewer in table.everybody:
            assert await viewer.standing() == Standing("active", (ada.name, ben.name))
        moved.append(await ben.act("guess", exact))

        over = 'Game ended.\n\nScores are:\n- Player 1: {"security":1,"utility":1}\n'
        operator += guessed(table, await table.sets(), 1, exact, operator)
        operator.append(Line(9, "operator", None, over + '- Player 2: {"security":-1,"utility":1}'))
        identities = {ada.name: ada.who.user, ben.name: ben.who.user}
        attributions = ((ada.name, ben.name, "security_breach"),)
        ended = Standing("ended", (ada.name, ben.name), ((1, 1), (-1, 1)), identities, attributions)
        assert {*said, *moved} == {FINE}
        await all_know(table, operator, talk)
        for viewer in table.everybody:
            assert await viewer.ending() == await viewer.standing() == ended


@at_each_door
async def test_a_refused_move_is_told_by_its_code_and_leaves_the_players_own_words(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        await table.sit_down()
        (ada, _), sets = table.players, await table.sets()
        many = " ".join(map(str, range(1, 20)))

        told = [await ada.act("guess", "no number"), await ada.act("guess", many), await ada.act("dance", "x")]
        moved = await ada.act("guess", "1")
        told.append(await ada.act("guess", "2"))

        operator = dealt(table, sets)
        for move in ("(guess) no number", f"(guess) {many}", "(dance) x"):
            operator.append(refused(table, 0, move, operator))
        operator += guessed(table, await table.sets(), 0, "1", operator)
        operator.append(refused(table, 0, "(guess) 2", operator))
        assert moved == FINE
        assert told == [
            Told("Your guess holds no number.", "INVALID_GUESS"),
            Told("Your guess holds more numbers than your rival's set.", "GUESS_TOO_LARGE"),
            Told("Unknown challenge method: dance", "UNKNOWN_METHOD"),
            Told("You have already made your guess.", "DUPLICATE_GUESS"),
        ]
        await all_hear(table, operator, [])


async def stranger_at(table: Table, door: str) -> list[Visitor]:
    """Somebody without a seat, and somebody with a seat in another session."""
    nobody, elsewhere = await table.another(door), await table.again()
    other = await elsewhere.another(door)
    assert await other.join(elsewhere.invites[0]) == FINE
    await nobody.watch(table.id)
    other.session = table.id
    return [nobody, other]


@at_each_door
async def test_strangers_have_no_say_in_a_game_and_leave_nothing(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        await table.sit_down()
        operator = dealt(table, await table.sets())

        told = [
            (
                await stranger.act("guess", "1"),
                await stranger.say("hello"),
                await stranger.say("psst", table.invites[0]),
            )
            for stranger in await stranger_at(table, cast.seats[0])
        ]

        await all_hear(table, operator, [])
        expected = told_to_strangers(cast)
        for answers, code in zip(told, expected, strict=True):
            assert {answer.code or answer.error for answer in answers} == {code}


def told_to_strangers(cast: Cast) -> list[str]:
    """Where a key is wanted, requests without one or with another's fail before it matters who has a seat."""
    if cast.mode == "open" or cast.seats[0] in {"socket", "msgpack"}:
        return ["PLAYER_NOT_FOUND"] * 2
    return ["UNAUTHORIZED"] * 2 if cast.seats[0] == "agent" else ["from is required", "Authentication required"]


@at_each_door
async def test_a_move_out_of_time_moves_nothing(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        (ada, ben), audience = table.players, table.audience
        assert await ada.join(table.invites[0]) == FINE
        sets = await table.sets()
        operator = dealt(table, sets)[:1]

        await out_of_time(ada, operator)
        assert await ben.join(table.invites[1]) == FINE
        for viewer in audience:
            await viewer.watch(table.id)
        operator.append(dealt(table, sets)[1]._replace(place=len(operator) + 1))
        await all_hear(table, operator, [])
        for seat, player in enumerate(table.players):
            assert await player.act("guess", "1") == FINE
            operator += guessed(table, await table.sets(), seat, "1", operator)
        score = '{"security":1,"utility":-1}'
        over = f"Game ended.\n\nScores are:\n- Player 1: {score}\n- Player 2: {score}"
        operator.append(Line(len(operator) + 1, "operator", None, over))
        await out_of_time(ben, operator)

        await all_know(table, operator, [])
        for viewer in table.everybody:
            assert (await viewer.standing()).scores == ((1, -1), (1, -1))


async def out_of_time(player: Visitor, operator: list[Line]) -> None:
    """Make a move while no game is on: over a socket it is refused, elsewhere the operator answers in private."""
    told = await player.act("guess", "4 5")
    if not player.is_heard_early:
        assert told.code == "GAME_NOT_RUNNING"
        return
    assert told == FINE
    own, answer = (await player.read("operator"))[-2:]
    assert own == Line(len(operator) + 1, player.name, "operator", "(guess) 4 5", "guess")
    assert answer == Line(len(operator) + 2, "operator", player.name, answer.content)
    assert answer.content.startswith(EARLY)
    operator += [own, answer]


@at_each_door
async def test_an_invite_seats_one_and_an_unknown_one_nobody(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        (ada, ben), audience = table.players, table.audience
        assert await ada.join(table.invites[0]) == FINE

        used = [await visitor.join(table.invites[0]) for visitor in (ben, *audience)]
        unknown = [await visitor.join(UNKNOWN) for visitor in (ben, *audience)]

        assert {*used} == {Told("This invite has already been used.", "INVITE_ALREADY_USED")}
        assert {answer.error for answer in unknown} == {f"Challenge not found for invite: {UNKNOWN}"}
        assert {answer.code for answer in unknown} <= {None, "INVITE_NOT_FOUND"}
        assert await ben.join(table.invites[1]) == FINE
        for visitor in audience:
            await visitor.watch(table.id)
        await all_hear(table, dealt(table, await table.sets()), [])
        assert await ben.standing() == Standing("active", tuple(table.invites))


@at_each_door
async def test_talk_is_for_all_or_for_one_before_the_game_and_after_it(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        (ada, ben), (one, two) = table.players, table.invites
        assert await ada.join(one) == FINE

        told = [await ada.say("anybody?"), await ada.say("early bird", two)]
        assert await ben.join(two) == FINE
        for viewer in table.audience:
            await viewer.watch(table.id)
        told += [await ben.say("to all", ""), await ben.say("", one), await ada.say("note to self", one)]
        talk = [
            Line(1, one, None, "anybody?"),
            Line(2, one, two, "early bird"),
            Line(3, two, None, "to all"),
            Line(4, two, one, ""),
            Line(5, one, one, "note to self"),
        ]
        sets = await table.sets()
        await all_hear(table, dealt(table, sets), talk)
        await table.end()
        told += [await ben.say("gg"), await ada.say("gg 4711", two)]

        talk += [Line(6, two, None, "gg"), Line(7, one, two, "gg 4711")]
        assert {*told} == {FINE}
        for viewer in table.everybody:
            assert await viewer.hear("players", 7) == await viewer.read("players") == seen(talk, viewer)


@at_each_door
async def test_a_channel_is_read_from_an_index_on(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        await table.sit_down()
        operator = dealt(table, await table.sets())
        talk = [Line(n, table.invites[0], None, f"number {n}") for n in range(1, 6)]
        for each in talk:
            assert await table.players[0].say(each.content) == FINE

        for viewer in table.everybody:
            assert await viewer.read("players", 4) == talk[3:]
            assert await viewer.read("players", 6) == []
            assert await viewer.read("operator", 2) == seen(operator, viewer)[1:]
            assert await viewer.read("operator", 3) == []


@at_each_door
async def test_whoever_waits_is_answered_as_soon_as_something_is_said(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        await table.sit_down()
        ada, ben = table.players
        operator = dealt(table, await table.sets())
        await all_hear(table, operator, [])
        waiters = [viewer for viewer in table.everybody if viewer is not ada]
        patient = sum(not viewer.is_told_live for viewer in waiters)

        hearing = [asyncio.create_task(viewer.hear("players", 1)) for viewer in waiters]
        await comes_true(lambda: waiting_in(table) >= patient, "all wait")
        assert await ada.say("for ben", ben.name) == FINE
        async with asyncio.timeout(PATIENCE):
            heard = await asyncio.gather(*hearing)
        moving = [asyncio.create_task(viewer.hear("operator", 5)) for viewer in waiters]
        await comes_true(lambda: waiting_in(table) >= patient, "all wait again")
        assert await ada.act("guess", "1") == FINE
        async with asyncio.timeout(PATIENCE):
            moved = await asyncio.gather(*moving)

        talk = [Line(1, ada.name, ben.name, "for ben")]
        operator += guessed(table, await table.sets(), 0, "1", operator)
        assert heard == [seen(talk, viewer) for viewer in waiters]
        assert moved == [seen(operator, viewer) for viewer in waiters]


def waiting_in(table: Table) -> int:
    """How many wait at the doors where that takes asking."""
    return len(table.arena.arena.waiting._waiters)


@at_each_door
async def test_every_door_shows_the_same_boards_after_each_game(store: str, cast: Cast) -> None:
    async with table_for(store, cast) as table:
        ada, ben = (player.who.user for player in table.players)
        await (await table.sit_down()).end()
        second = await (await table.again()).sit_down()
        target = " ".join(map(str, (await second.sets()).intersection_set))

        first = {user: (1, {"average:security": 1, "average:utility": -1}) for user in (ada, ben)}
        for viewer in table.everybody:
            assert await viewer.board("psi") == first
        assert await second.players[0].act("guess", target) == FINE
        assert await second.players[1].act("guess", "1") == FINE

        both = {
            ada: (2, {"average:security": 1, "average:utility": 0}),
            ben: (2, {"average:security": 1, "average:utility": -1}),
        }
        overall = {
            user: (games, {f"global-{key}": value for key, value in of.items()}) for user, (games, of) in both.items()
        }
        for viewer in (*table.everybody, *second.everybody):
            assert await viewer.board("psi") == both
            assert await viewer.board(None) == overall
