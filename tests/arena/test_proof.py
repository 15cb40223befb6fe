"""Records of games: anybody can check one, and nobody can change a byte of it unnoticed."""

import re
from typing import Any

import pytest

from arena import JobFailed, opening, rerun, verifying
from arena.catalog import Catalog
from arena.testing import Table
from arena.verifying import Finding, Verdict, Wrong
from challenges.psi.rules import PrivateSetIntersection
from challenges.ultimatum.rules import Ultimatum
from tests.plugins.tally import Tally
from tests.proofs import PUBLIC, forged, known, openings, record

LINE = re.compile(r"^line (\d+): ")


def psi() -> Table[Any, Any]:
    table = Table(PrivateSetIntersection(), seed=7)
    table.chat(0, "for you alone: 42", to=1)
    table.chat(1, "hello, all of you")
    table.act(0, "guess", "1 2 3")
    table.act(1, "guess", "1")
    return table


def verdicts(data: bytes, rules: Catalog, key: str | None = PUBLIC) -> list[Finding]:
    found, findings = verifying.check(data, key)
    return findings if found is None else [*findings, rerun.check(found, rules)]


def wrong(findings: list[Finding]) -> list[str]:
    return [words for verdict, words in findings if verdict is Verdict.WRONG]


def bargain() -> Table[Any, Any]:
    """Three players, one whose time is up and one who resigns."""
    table = Table(Ultimatum({"players": 3, "maxRounds": 2, "clock": {"move": 10}}), seed="x")
    table.act(0, "submit_offer", "40, 30, 30")
    table.advance(11)
    table.resign(2)
    table.advance(60)
    return table


def sum_up() -> Table[Any, Any]:
    """Deadlines and jobs of the game's own, one of which fails."""
    table = Table(Tally(), seed=3)
    table.act(0, "wind", name="bell", after=5)
    table.advance(6)
    table.act(1, "order", kind="double", payload=2)
    table.finish(table.jobs[0], 4)
    table.act(1, "order", kind="break", payload=1)
    table.finish(table.jobs[0], JobFailed("no luck"))
    table.act(0, "stop")
    return table


@pytest.mark.parametrize("play", [psi, bargain, sum_up], ids=["talk", "clocks", "jobs"])
def test_a_record_is_right_and_its_rules_make_the_same_game_of_its_inputs(play: Any) -> None:
    table = play()
    assert table.status == "ended"

    findings = verdicts(record(table), known(table))

    assert {finding.verdict for finding in findings} == {Verdict.RIGHT}
    assert "Played again" in findings[-1].words


def test_what_players_told_each_other_in_private_is_promised_and_not_shown() -> None:
    table = psi()

    data = record(table)

    assert b"for you alone" not in data
    assert b"hello, all of you" in data
    assert data.count(b'"withheld"') == 1


def test_a_changed_byte_anywhere_is_found_in_its_line() -> None:
    table = psi()
    data = record(table)
    starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == ord("\n"))]
    places = {*range(0, len(data), 5), *range(starts[-2], len(data)), *(start for start in starts[:-1])}
    assert len(starts) > 10

    for place in sorted(places):
        for flip in (1, 32):
            changed = bytearray(data)
            changed[place] ^= flip
            found, findings = verifying.check(bytes(changed))
            assert found is None, place
            where = LINE.match(findings[-1].words)
            if data[place] == ord("\n"):
                continue
            assert where, findings[-1].words
            assert int(where[1]) == data[:place].count(b"\n") + 1, (place, findings[-1].words)


def test_lines_that_are_left_out_put_in_or_moved_are_found() -> None:
    lines = record(psi()).splitlines(keepends=True)

    for place in range(len(lines)):
        left_out = [*lines[:place], *lines[place + 1 :]]
        twice = [*lines[:place], lines[place], *lines[place:]]
        moved = [*lines[: place - 1], lines[place], lines[place - 1], *lines[place + 1 :]] if place else lines[1:]
        for changed in (left_out, twice, moved):
            assert verifying.check(b"".join(changed))[0] is None, place


@pytest.mark.parametrize("data", [b"", b"\n", b"{}\n{}\n", b"\xff\xfe\n\n", b'{"kind":"seal"}\n' * 3, b"[" * 100_000])
def test_what_is_no_record_is_refused_in_words(data: bytes) -> None:
    found, findings = verifying.check(data)

    assert found is None
    assert len(wrong(findings)) == 1


def test_another_key_than_the_one_that_is_trusted_is_refused() -> None:
    table = psi()

    other = PUBLIC[:-1] + ("0" if PUBLIC[-1] != "0" else "1")

    assert "another key" in wrong(verdicts(record(table), known(table), other))[0]
    assert "name the one that you trust" in str(verdicts(record(table), known(table), None))


def lie(fields: list[dict[str, Any]], place: int, *path: Any, to: Any) -> None:
    inner: Any = fields[place]
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = to


LIES: list[tuple[int, tuple[Any, ...], Any]] = [
    (0, ("result", "scores", 0, "utility"), 0.125),
    (0, ("result", "outcomes", 1), "forfeit"),
    (0, ("result", "completedAt"), 1_700_000_000_001),
    (0, ("result", "attributions"), [{"from": "inv_0", "to": "inv_1", "type": "security_breach"}]),
    (0, ("result", "seedCommitment"), "0" * 64),
    (0, ("result", "options", "setSize"), 11),
    (0, ("opened", "seed"), "8"),
    (0, ("opened", "secret"), "11" * 32),
    (0, ("gameState", "guesses"), {}),
    (0, ("sealed",), True),
    (1, ("number",), 2),
    (1, ("input", "invite"), "inv_7"),
    (3, ("input", "content"), "1 2"),
    (4, ("input", "seat"), 9),
    (5, ("message", "content"), "something else"),
    (6, ("message", "index"), 1),
    (6, ("message", "channel"), "elsewhere"),
]


@pytest.mark.parametrize(("place", "path", "value"), LIES, ids=lambda part: str(part)[:40])
def test_a_server_that_lies_is_found_out_by_the_rules(place: int, path: tuple[Any, ...], value: Any) -> None:
    table = psi()

    data = forged(record(table), lambda fields: lie(fields, place, *path, to=value))
    complaints = wrong(verdicts(data, known(table)))

    assert len(complaints) == 1
    assert LINE.match(complaints[0]), complaints


def test_a_record_that_was_signed_anew_without_a_lie_is_right() -> None:
    table = psi()

    assert forged(record(table), lambda fields: None) == record(table)


def test_a_sealed_game_is_checked_as_far_as_it_is_shown() -> None:
    table = psi()

    data = record(table, sealed=True)
    findings = verdicts(data, known(table))

    assert b"1 2 3" not in data
    assert b'"seed"' not in data
    assert [finding.verdict for finding in findings[:-1]] == [Verdict.RIGHT] * (len(findings) - 1)
    assert findings[-1].verdict is Verdict.OPEN
    assert "sealed" in findings[-1].words


def test_what_was_withheld_is_opened_checked_and_played_again() -> None:
    table = psi()
    found, _ = verifying.check(record(table, sealed=True))
    assert found is not None
    given = openings(table)

    whole = opening.apply(found, given)

    assert rerun.check(whole, known(table)).verdict is Verdict.RIGHT
    assert "for you alone: 42" in [line.message.content for line in whole.messages]
    for said, reason in ((b"1 2 3", "line 4: what is said"), (b"for you alone: 42", r"line \d+: what is said")):
        with pytest.raises(Wrong, match=reason):
            opening.apply(found, given.replace(said, b"4" * len(said), 1))
    with pytest.raises(Wrong, match="promised was"):
        opening.apply(found, given.replace(b'"seed":"7"', b'"seed":"8"'))
    with pytest.raises(Wrong, match="line 2: nothing opens it"):
        opening.apply(found, given.splitlines()[0])
    with pytest.raises(Wrong, match="make no sense"):
        opening.apply(found, b"what")


def test_rules_that_are_not_here_or_of_another_version_are_not_asked() -> None:
    table = psi()

    missing = verdicts(record(table), Catalog())
    rules = known(Table(Ultimatum()))
    others = Catalog(challenges={table.session.header.type: rules.challenge("Ultimatum")})

    assert missing[-1].verdict is Verdict.OPEN
    assert verdicts(record(table), others)[-1].verdict is Verdict.OPEN
