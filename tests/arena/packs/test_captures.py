from arena.packs.captures import FILE_LIMIT, RUN_LIMIT, Captures, file_record
from arena.packs.evidence import Entry
from arena.packs.spec.models import PostExecutionCheck


def check(**parts: object) -> PostExecutionCheck:
    return PostExecutionCheck.model_validate({"key": "k", "type": "file_capture", "path": "/w/f", **parts})


def test_a_small_file_is_kept_whole() -> None:
    captured = Captures().file(check(), b"hello")

    assert file_record(captured) == {"key": "k", "path": "/w/f", "exists": True, "content": "hello", "size": 5}


def test_a_large_file_is_cut_at_its_limit_and_keeps_its_size() -> None:
    captured = Captures().file(check(max_size_bytes=3), b"hello")

    assert (captured.content, captured.size, captured.truncated) == ("hel", 5, True)
    assert file_record(captured)["truncated"] is True


def test_the_default_limit_is_a_mebibyte() -> None:
    captured = Captures().file(check(), b"x" * (FILE_LIMIT + 1))

    assert (len(captured.content), captured.truncated) == (FILE_LIMIT, True)


def test_the_files_of_a_run_share_a_limit_counted_by_their_whole_sizes() -> None:
    captures = Captures()
    captures.file(check(), b"x" * 10, size=RUN_LIMIT - 4)

    cut = captures.file(check(), b"hello")
    empty = captures.file(check(), b"more")

    assert (cut.content, cut.truncated) == ("hell", True)
    assert (empty.content, empty.size, empty.truncated) == ("", 4, True)


def test_what_cannot_be_read_is_not_there() -> None:
    captures = Captures()

    assert not captures.file(check(), None).exists
    assert "content" not in file_record(captures.file(check(), None))
    assert captures.listing(check(), None).entries == ()
    assert captures.listing(check(), [Entry("/w/a", 1)]).entries == (Entry("/w/a", 1),)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert Captures().file(check(), b"\xffok").content == "\ufffdok"
