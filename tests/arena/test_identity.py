"""Key pairs and their files: what one writes another reads, and nobody else may."""

import json
import re
import stat
from pathlib import Path

import pytest

from arena import auth
from arena.auth import SPKI, Signed
from arena.errors import CannotStart, Unauthorized
from arena.identity import Identity, known
from arena.models import Millis
from tests.commands import call

NOW = Millis(1_700_000_000_000)


def test_what_is_signed_is_believed_for_the_purpose_it_was_signed_for() -> None:
    ada = Identity.new()
    signed = ada.sign("join:inv_1", NOW)
    proof = Signed(signed["publicKey"], signed["signature"], str(signed["timestamp"]))

    assert auth.sign_in(proof, "join:inv_1", NOW) == ada.user
    with pytest.raises(Unauthorized):
        auth.sign_in(proof, "user-update", NOW)


def test_a_public_key_is_spki_and_a_user_the_digest_of_its_text() -> None:
    ada = Identity.new()

    assert re.fullmatch(SPKI + "[0-9a-f]{64}", ada.public_key)
    assert auth.user_of(ada.public_key.upper()) == ada.user


def test_a_private_key_is_not_shown_by_accident() -> None:
    ada = Identity.new()

    assert ada.private_key not in repr(ada)


def test_a_saved_identity_is_read_again_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    ada, folder = Identity.new(), tmp_path / "some" / "keys"

    ada.save(folder)

    private, public = folder / f"{ada.user}.key", folder / f"{ada.user}.pub"
    assert Identity.load(private).user == ada.user
    assert public.read_text().strip() == ada.public_key
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    with pytest.raises(CannotStart):
        ada.save(folder)


@pytest.mark.parametrize("text", ["", "zz", "00ff", "ü"])
def test_a_file_that_is_no_key_is_told_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.key"
    path.write_text(text)

    with pytest.raises(CannotStart, match=r"bad\.key"):
        Identity.load(path)


def test_new_prints_the_key_pair_and_show_all_but_the_private_keys(tmp_path: Path) -> None:
    made = json.loads(call("identity", "new", env={"HOME": str(tmp_path)}).out)

    shown = call("identity", "show", env={"HOME": str(tmp_path)})

    folder = tmp_path / ".arena" / "keys"
    assert set(made) == {"hash", "publicKey", "privateKey"}
    assert (folder / f"{made['hash']}.key").read_text().strip() == made["privateKey"]
    assert json.loads(shown.out) == [
        {"hash": made["hash"], "publicKey": made["publicKey"], "file": str(folder / f"{made['hash']}.key")}
    ]
    assert made["privateKey"] not in shown.out


def test_show_without_any_identity_is_an_empty_list(tmp_path: Path) -> None:
    assert json.loads(call("identity", "show", "--keys", tmp_path / "none").out) == []
    assert known(tmp_path) == []
