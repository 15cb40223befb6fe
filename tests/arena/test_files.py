"""Files that people name: what cannot be read or written is told in one sentence."""

from pathlib import Path

import pytest

from arena import files
from arena.errors import CannotStart


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = files.make_folder(tmp_path / "a" / "b") / "c"
    files.write(file, b"\x00 whole")

    assert files.read(file) == b"\x00 whole"


def test_what_cannot_be_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="cannot be read: Is a directory"):
        files.read(tmp_path)
    with pytest.raises(CannotStart, match="cannot be written: No such file"):
        files.write(tmp_path / "none" / "x", b"")
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match="cannot be made"):
        files.make_folder(tmp_path / "file")


def test_without_a_file_it_goes_to_the_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    files.write(None, b"bytes")

    assert capfdbinary.readouterr().out == b"bytes"
