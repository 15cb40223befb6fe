import hashlib
import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from arena import Effects, Operator, Seat, action, breach, end, score
from arena.errors import Internal
from arena.models import Invite, Version
from arena.session import Header, challenge_view, commit_to, creator_view, result_of, state_view
from arena.testing import ID, START, Table

VERSION = Version(version="1", content_hash="abc")


class Vault(BaseModel):
    code: int
    tried: list[int | None] = [None, None]


class Burglary(Operator[Vault]):
    def deal(self, rng: Random) -> Vault:
        return Vault(code=rng.randrange(10**6))

    @action
    def crack(self, vault: Vault, seat: Seat, code: int) -> Effects:
        vault.tried[seat] = code
        yield breach(by=seat, of=1 - seat)
        yield score(seat, utility=1)

    @action
    def leave(self, vault: Vault, seat: Seat) -> Effects:
        yield end()


def _table(seated: int = 2, seed: int = 0, users: tuple[str | None, ...] = ("ada", "ben")) -> Table[Vault, Any]:
    table = Table(Burglary(), seed=seed, seated=0)
    for seat in range(seated):
        table.join(seat, users[seat])
    return table


def _played(seed: int = 0) -> Table[Vault, Any]:
    table = _table(seed=seed)
    table.act(0, "crack", code=123)
    return table


def _ended() -> Table[Vault, Any]:
    table = _played()
    table.advance(1)
    table.act(1, "leave")
    return table


def test_before_the_end_a_view_shows_who_sits_and_nothing_that_is_secret() -> None:
    session = _played().session

    assert challenge_view(session).wire() == {
        "id": ID,
        "name": "Burglary",
        "createdAt": START,
        "challengeType": "Burglary",
        "invites": ["inv_0", "inv_1"],
        "state": {"status": "active", "scores": [], "players": ["inv_0", "inv_1"], "playerIdentities": {}},
        "gameState": {},
        "gameCategory": "train",
        "seedCommitment": session.header.commitment,
        "course": {"joined": [START, START], "started": START},
    }


def test_after_the_end_a_view_shows_everything() -> None:
    table = _ended()
    header = table.session.header
    crack = next(message for message in table.log if message.type == "crack")

    assert challenge_view(table.session).wire() == {
        "id": ID,
        "name": "Burglary",
        "createdAt": START,
        "challengeType": "Burglary",
        "invites": ["inv_0", "inv_1"],
        "state": {
            "status": "ended",
            "completedAt": START + 1000,
            "scores": [{"security": 0, "utility": 1}, {"security": 0, "utility": 0}],
            "players": ["inv_0", "inv_1"],
            "playerIdentities": {"inv_0": "ada", "inv_1": "ben"},
            "attributions": [{"from": "inv_0", "to": "inv_1", "type": "security_breach"}],
        },
        "gameState": {"code": table.state.code, "tried": [123, None]},
        "gameCategory": "train",
        "seedCommitment": header.commitment,
        "reveal": {
            "secret": header.secret,
            "seed": header.seed,
            "version": header.version.wire(),
            "options": header.options,
        },
        "course": {"joined": [START, START], "started": START, "causes": [crack.index]},
    }


@given(
    seed=st.integers(),
    names=st.tuples(st.text(min_size=1), st.text(min_size=1)),
    codes=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
)
def test_no_view_before_the_end_depends_on_what_is_secret(
    seed: int, names: tuple[str, str], codes: tuple[int, int]
) -> None:
    plain, other = _table(users=(None, None)), _table(seed=seed, users=names)
    for seat, code in enumerate(codes):
        other.act(seat, "crack", code=code)

    views = [challenge_view(table.session).wire() for table in (plain, other)]

    assert views[0].pop("seedCommitment")
    assert views[1].pop("seedCommitment")
    assert views[0] == views[1]
    assert state_view(plain.session) == state_view(other.session)


def test_invites_that_nobody_used_are_blank_except_the_one_that_was_presented() -> None:
    session = _table(seated=1).session
    nobody = _table(seated=0).session

    assert challenge_view(session).invites == ["inv_0", ""]
    assert challenge_view(session, Invite("inv_1")).invites == ["inv_0", "inv_1"]
    assert challenge_view(nobody, Invite("inv_1")).invites == ["", "inv_1"]
    assert challenge_view(nobody, Invite("inv_9")).invites == ["", ""]


def test_whoever_creates_a_session_sees_every_invite_and_a_zero_per_seat_and_no_more() -> None:
    session = _table(seated=0).session

    created, listed = creator_view(session).wire(), challenge_view(session).wire()

    assert created.pop("invites") == ["inv_0", "inv_1"]
    assert created["state"].pop("scores") == [{"security": 0, "utility": 0}] * 2
    del listed["invites"], listed["state"]["scores"]
    assert created == listed


def test_a_paired_session_keeps_its_deal_to_itself_after_the_end() -> None:
    ended = _ended().session
    sealed = replace(ended, standing=ended.standing.model_copy(update={"revealed": False}))

    seen = challenge_view(sealed)

    assert seen.game_state == {}
    assert seen.reveal is None
    assert seen.state == state_view(ended)


def test_a_game_in_which_nobody_did_anything_to_anybody_has_no_attributions() -> None:
    table = _table()
    table.act(0, "leave")

    assert "attributions" not in challenge_view(table.session).wire()["state"]
    assert table.result.attributions == []


def test_the_commitment_can_be_checked_with_what_is_revealed() -> None:
    session = _ended().session
    seen = challenge_view(session)
    header = session.header

    assert seen.reveal is not None
    opened = commit_to(seen.reveal.secret, seen.reveal.seed, header.type, header.version, header.options)
    assert opened == seen.seed_commitment


def test_the_commitment_is_a_digest_that_others_can_compute() -> None:
    promised = ["00ff", "seed", "psi", {"version": "1", "contentHash": "abc"}, {"a": 1, "b": ["ü", None]}]
    canonical = json.dumps(promised, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    made = commit_to("00ff", "seed", "psi", VERSION, {"b": ["ü", None], "a": 1})

    assert made == hashlib.sha256(canonical).hexdigest()


def test_the_commitment_binds_every_part() -> None:
    parts: list[Any] = ["00", "seed", "psi", VERSION, {"a": 1}]
    others: list[Any] = ["01", "seeds", "psy", Version(version="2", content_hash="abc"), {"a": 2}]

    changed = [[*parts[:n], others[n], *parts[n + 1 :]] for n in range(5)]

    assert len({commit_to(*promised) for promised in (parts, *changed)}) == 6


def test_all_randomness_comes_from_secret_seed_and_input_number() -> None:
    header = _table().session.header
    draws = [
        header.rng(0).random(),
        header.rng(1).random(),
        _with(header, seed="other").rng(0).random(),
        _with(header, secret="11" * 32).rng(0).random(),
    ]

    assert len(set(draws)) == 4
    assert header.rng(0).random() == _with(header, name="renamed").rng(0).random() == draws[0]


def _with(header: Header, **changed: str) -> Header:
    return header.model_copy(update=changed)


def test_a_revealed_seed_deals_the_same_game_again() -> None:
    table = _ended()
    seen = challenge_view(table.session)

    assert seen.reveal is not None
    drawn = _with(table.session.header, secret=seen.reveal.secret, seed=seen.reveal.seed).rng(0)
    assert Burglary().deal(drawn).code == seen.game_state["code"]


def test_the_result_of_a_game_is_what_scoring_needs() -> None:
    result = _ended().result

    assert result.wire() == {
        "gameId": ID,
        "challengeType": "Burglary",
        "createdAt": START,
        "startedAt": START,
        "completedAt": START + 1000,
        "players": ["inv_0", "inv_1"],
        "playerIdentities": {"inv_0": "ada", "inv_1": "ben"},
        "scores": [{"security": 0, "utility": 1}, {"security": 0, "utility": 0}],
        "attributions": [{"from": "inv_0", "to": "inv_1", "type": "security_breach"}],
        "outcomes": ["played", "played"],
        "options": {},
        "seedCommitment": result.seed_commitment,
        "challengeVersion": {"version": "1", "contentHash": ""},
        "gameCategory": "train",
        "seeded": False,
        "ranked": True,
        "decidedBy": ["utility", "security"],
    }
    assert type(result).from_json(result.to_json()) == result


@pytest.mark.parametrize("seated", [0, 1, 2])
def test_only_an_ended_game_has_a_result(seated: int) -> None:
    with pytest.raises(Internal):
        result_of(_table(seated=seated).session)
