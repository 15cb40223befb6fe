"""Session keys: one opens one seat of one session, for the invite that sits there, on a server with this secret."""

import hmac
import re

import pytest

from arena import auth
from arena.auth import ANONYMOUS, SPKI, Credential, Keyring, Signed, Viewer
from arena.errors import Unauthorized
from arena.identity import Identity
from arena.models import Invite, Millis, SessionId

SECRET = bytes(range(32))
OPEN = Keyring(SECRET)
SESSION = SessionId("6f1f64c6-7b8f-4f0e-9d3a-0c8c3b1d2e4f")
ADA, BEN = Invite("inv_ada"), Invite("inv_ben")


def key(seat: int = 0, invite: Invite = ADA, session: SessionId = SESSION, secret: bytes = SECRET) -> str:
    return auth.session_key(Keyring(secret), session, seat, invite)


def test_a_key_opens_the_seat_it_was_made_for() -> None:
    players = [ADA, BEN]

    seats = [auth.seat_of(OPEN, SESSION, players, key(seat, invite)) for seat, invite in enumerate(players)]

    assert seats == [0, 1]


def test_a_key_names_its_seat_and_tells_neither_invite_nor_secret() -> None:
    made = key(1, BEN)

    assert re.fullmatch(r"s_1\.[0-9a-f]{64}", made)
    assert "inv_ben" not in made
    assert SECRET.hex() not in made


def test_a_key_is_the_same_on_every_server_with_the_secret_and_another_for_anything_else() -> None:
    others = {key(1), key(invite=BEN), key(session=SessionId("other")), key(secret=b"another")}

    assert key() == key()
    assert key() not in others
    assert len(others) == 4


@pytest.mark.parametrize(
    "players",
    [
        [],  # the store lost the join
        [BEN],  # and somebody else sits there now
        [BEN, ADA],  # or the same player on another seat
        [Invite("")],
    ],
)
def test_a_key_whose_invite_does_not_sit_there_opens_nothing(players: list[Invite]) -> None:
    with pytest.raises(Unauthorized):
        auth.seat_of(OPEN, SESSION, players, key())


def test_a_key_for_no_invite_opens_no_empty_seat() -> None:
    for seat in range(3):
        with pytest.raises(Unauthorized):
            auth.seat_of(OPEN, SESSION, [], key(seat, Invite("")))


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "s_0",
        "s_0." + "0" * 64,
        key(secret=b"another"),
        key(session=SessionId("other")),
        key().replace("s_0.", "s_1."),
        key().replace("s_0.", "s_00."),
        key().replace("s_0.", "s_-1."),
        key().replace("s_0.", "s_9999999999."),
        key().upper(),
        key() + "\n",
        key()[:-1],
    ],
)
def test_a_forged_key_opens_nothing(forged: str) -> None:
    with pytest.raises(Unauthorized):
        auth.seat_of(OPEN, SESSION, [ADA, BEN], forged)


def test_of_an_address_a_digest_is_kept_that_tells_one_from_another() -> None:
    kept = [auth.origin(SECRET, address) for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]

    assert kept[0] == kept[1] != kept[2]
    assert "192" not in kept[0]
    assert auth.origin(b"another", "192.0.2.1") != kept[0]


def test_where_keys_are_required_a_key_is_that_of_the_protocol() -> None:
    ring = Keyring(b"secret", required=True)
    proof = hmac.new(b"secret", f"arena:v1:session:{SESSION}:1".encode(), "sha256").hexdigest()

    made = auth.session_key(ring, SESSION, 1, BEN)

    assert made == f"s_1.{proof}"
    assert auth.seat_of(ring, SESSION, [ADA, BEN], made) == 1
    with pytest.raises(Unauthorized):
        auth.seat_of(ring, SESSION, [ADA], made)


@pytest.mark.parametrize(("handle", "name"), [("ada", "ada"), ("viewer", None), ("", None), (None, None)])
def test_in_open_mode_a_viewer_is_the_handle_it_claims(handle: str | None, name: str | None) -> None:
    seen = auth.viewer_of(OPEN, Credential("any key", handle), SESSION, [ADA])

    assert seen == Viewer(name)


def test_where_keys_are_required_a_viewer_is_the_one_who_sits_where_its_key_fits() -> None:
    ring = Keyring(SECRET, required=True)
    fits = auth.session_key(ring, SESSION, 1, BEN)

    assert auth.viewer_of(ring, Credential(fits, "ada"), SESSION, [ADA, BEN]) == Viewer(BEN)
    assert auth.viewer_of(ring, Credential(None, "ada"), SESSION, [ADA, BEN]) == ANONYMOUS
    assert auth.viewer_of(ring, Credential("nonsense"), None) == ANONYMOUS
    with pytest.raises(Unauthorized):
        auth.viewer_of(ring, Credential(key()), SESSION, [ADA, BEN])


P = 2**255 - 19
ORDER_8 = int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little")
SIGNATURES = ("01" + "00" * 63, "00" * 64, "01" + "00" * 30 + "80" + "00" * 32)


@pytest.mark.parametrize("y", [0, 1, P - 1, ORDER_8, P - ORDER_8, P, P + 1, 2**255 - 1], ids=lambda y: hex(y)[-4:])
def test_a_key_that_signs_anything_or_is_written_in_another_way_signs_nobody_in(y: int) -> None:
    for high in (0, 2**255):
        key = SPKI + (y + high).to_bytes(32, "little").hex()
        for timestamp in range(1000, 1100):  # some of them sign one text in eight
            for signature in SIGNATURES:
                with pytest.raises(Unauthorized, match="Invalid signature"):
                    auth.sign_in(Signed(key, signature, str(timestamp)), "join:x", Millis(1000))


def test_the_keys_of_people_sign_them_in() -> None:
    for _ in range(200):
        signed = Identity.new().sign("join:x", 1000)

        user = auth.sign_in(Signed(signed["publicKey"], signed["signature"], "1000"), "join:x", Millis(1000))

        assert user == auth.user_of(signed["publicKey"])
