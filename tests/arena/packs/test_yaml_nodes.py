import time
from collections.abc import Iterator

import pytest

from arena.packs.errors import DecodeError, InvalidPack
from arena.packs.nodes import MAX_BYTES, MAX_DEPTH, MAX_NODES, Items, Members, Scalar, compose, line_at
from arena.packs.read import compose_text
from arena.packs.shapes import decode_any


def doubled(levels: int) -> Iterator[str]:
    yield "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"
    for level in range(1, levels):
        yield f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]"


HOSTILE = {
    "a bomb of aliases": "\n".join(doubled(9)),
    "a bomb of merges": "a0: &a0 {k: 1}\n"
    + "\n".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 60)),
    "open brackets": "[" * 1_000_000,
    "open mappings": "{a: " * 100_000,
    "dashes": "- " * 200_000,
    "question marks": "? " * 200_000,
    "many small lists": "[" + "[]," * 1_000_000 + "]",
    "too many bytes": "x" * (MAX_BYTES + 1),
    "aliases that nest": "a0: &a0 [x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 120)),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_refused_in_little_time(text: str) -> None:
    begun = time.process_time()

    with pytest.raises(DecodeError):
        compose(text)

    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "digits", ["9" * 1_000_000, "0x" + "f" * 1_000_000, "1e" + "9" * 100_000, "." + "1" * 1_000_000]
)
def test_a_number_of_any_length_is_read_in_little_time(digits: str) -> None:
    begun = time.process_time()

    decode_any(compose(f"a: {digits}") or Items(1))

    assert time.process_time() - begun < 2


def test_what_is_just_within_the_limits_is_read() -> None:
    assert compose("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert compose("[" + "x," * (MAX_NODES - 1) + "]")
    assert compose("x" * MAX_BYTES)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "'a' is already set at line 1"),
        ("a:\n  b: {c: 1, c: 2}\n", 2, "'c' is already set"),
        ('1: a\n"1": b\n', 2, "already set"),
        ("a: {slug: x", 1, "not YAML"),
        ("a:\n  b: 1\n c: 2\n", 3, "not YAML"),
        ("a: *nobody", 1, "unknown anchor"),
        ("a: &a [*a]", 1, "contains itself"),
        ("a: &a {b: {<<: *a}}", 1, "contains itself"),
        ("? [x]\n: y", 1, "single value"),
        ("a: {<<: 3}", 1, "merged"),
        ("<<: {a: 1}\n<<: {b: 1}\n", 2, "already set"),
    ],
)
def test_a_text_of_the_wrong_shape_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(DecodeError, match=words) as refused:
        compose(text)

    assert refused.value.line == line


@pytest.mark.parametrize("text", ["a: \x00", "a: \ud800", "a: \x07"])
def test_characters_that_yaml_does_not_know_are_refused(text: str) -> None:
    with pytest.raises(DecodeError, match="not YAML"):
        compose(text)


@pytest.mark.parametrize("raw", [b"", b" \n\t\n", "\u2003\u00a0".encode(), b"\xef\xbb\xbf \n"])
def test_a_blank_text_is_no_bundle(raw: bytes) -> None:
    with pytest.raises(InvalidPack, match="bundle is required"):
        compose_text(raw)


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(DecodeError, match="UTF-8") as refused:
        compose_text(b"a: 1\nb: \xff\n")

    assert refused.value.line == 2


def test_only_the_first_document_is_read_whatever_follows() -> None:
    assert decode_any(compose("a: 1\n---\n[ not even yaml") or Items(1)) == {"a": 1}


def test_a_byte_order_mark_is_not_part_of_the_first_key() -> None:
    assert decode_any(compose_text(b"\xef\xbb\xbfa: 1\n") or Items(1)) == {"a": 1}


def test_aliases_and_merges_are_unfolded_and_what_is_written_here_wins() -> None:
    text = """
    base: &base {a: 1, b: 2}
    other: &other {b: 3, c: 4}
    one: {<<: *base, a: 9}
    both: {<<: [*base, *other]}
    quoted: {"<<": x}
    list: [*base]
    """

    data = decode_any(compose(text) or Items(1))

    assert data["one"] == {"a": 9, "b": 2}
    assert data["both"] == {"a": 1, "b": 2, "c": 4}
    assert data["quoted"] == {"<<": "x"}
    assert data["list"] == [{"a": 1, "b": 2}]


def test_an_anchor_that_is_set_again_means_the_newer_value() -> None:
    assert decode_any(compose("[&a 1, *a, &a 2, *a]") or Items(1)) == [1, 1, 2, 2]


def test_the_line_of_a_path_is_that_of_the_key_or_of_the_nearest_parent() -> None:
    root = compose("a:\n  b:\n    - x: 1\n    - y:\n        z: 2\n") or Scalar("", "", 1)

    assert isinstance(root, Members)
    assert line_at(root, ["a", "b", 1, "y", "z"]) == 5
    assert line_at(root, ["a", "b", 1, "missing", "z"]) == 4
    assert line_at(root, ["a", "b", 7]) == 2
    assert line_at(root, []) == 1
