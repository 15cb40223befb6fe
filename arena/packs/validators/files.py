"""Files and directories that were captured after a run."""

import posixpath
from typing import Any

from arena.packs.evidence import Listing
from arena.packs.records import read_listing
from arena.packs.text import collapse
from arena.packs.validators.configs import ContentConfig, DirectoryConfig, ExistsConfig, FileSchemaConfig
from arena.packs.validators.documents import apply_schema, read_document
from arena.packs.validators.outcome import Fault, Outcome, PackFault, verdict
from arena.packs.validators.texts import read_config, search
from arena.packs.values import NotJson, parse_json, same_value

MATCH_MODES = ("exact", "contains", "not_contains", "regex", "json_equal")


def file_exists(actual: str | None, _expected: str, raw: Any) -> Outcome:
    """A file is there, or is not, as the pack wants it."""
    wanted = read_config(ExistsConfig, raw, "file_exists").must_exist
    if actual is None:
        return Outcome(
            not wanted, float(not wanted), "file does not exist" if wanted else "file is absent, as it should be"
        )
    return verdict(wanted, "file exists but should not")


def file_content_match(actual: str, expected: str, raw: Any) -> Outcome:
    """The content of a file, compared in one of several modes."""
    config = read_config(ContentConfig, raw, "file_content_match")
    mode = config.match_mode or "contains"
    if mode == "regex":
        return verdict(search(expected, actual), "file content does not match the pattern")
    if mode == "json_equal":
        return _json_equal(actual, expected)
    if config.ignore_whitespace:
        actual, expected = collapse(actual), collapse(expected)
    if mode == "exact":
        return verdict(actual == expected, "file content is not exactly the expected text")
    if mode == "contains":
        return verdict(expected in actual, "file content does not contain the expected text")
    if mode == "not_contains":
        return verdict(expected not in actual, "file content contains the forbidden text")
    raise PackFault(f"unsupported match_mode {mode!r:.60}")


def _json_equal(actual: str, expected: str) -> Outcome:
    try:
        said = parse_json(actual)
    except NotJson as error:
        raise Fault(f"parse actual as JSON: {error}") from None
    try:
        wanted = parse_json(expected)
    except NotJson as error:
        raise PackFault(f"parse expected as JSON: {error}") from None
    return verdict(same_value(said, wanted), "file content is not the expected JSON value")


def file_json_schema(actual: str, _expected: str, raw: Any) -> Outcome:
    """The content of a file is valid under the schema of the config."""
    config = read_config(FileSchemaConfig, raw, "file_json_schema")
    if not config.given("schema_"):
        raise PackFault("file_json_schema needs a schema in its config")
    return apply_schema(read_document(actual), config.schema_)


def directory_structure(actual: str, _expected: str, raw: Any) -> Outcome:
    """A directory holds what it must and nothing that it must not."""
    if raw is None:
        raise PackFault("directory_structure needs a config")
    config = read_config(DirectoryConfig, raw, "directory_structure")
    listing = _listing(actual)
    names = {name for entry in listing.entries for name in _names(listing.path, entry.path)}
    directories = {name for entry in listing.entries if entry.is_dir for name in _names(listing.path, entry.path)}
    missing = [name for name in config.required_files if name not in names]
    forbidden = [name for name in config.forbidden_files if name in names]
    gone = [name for name in config.required_directories if not _is_directory(name, names, directories)]
    found = (("missing required files", missing), ("forbidden files present", forbidden))
    problems = [
        f"{what}: {', '.join(which)}" for what, which in (*found, ("missing required directories", gone)) if which
    ]
    return verdict(not problems, "; ".join(problems))


def _listing(text: str) -> Listing:
    try:
        raw = parse_json(text)
    except NotJson as error:
        raise Fault(f"parse directory listing: {error}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("entries"), list | None):
        raise Fault("parse directory listing: the target is no listing")
    return read_listing("", raw)


def _names(base: str, path: str) -> set[str]:
    """How a path may be called: as it is listed, and relative to the listing."""
    if base.startswith("/") != path.startswith("/"):
        return {path}
    root = "" if base.startswith("/") else "/_/"  # relpath would ask for the working directory
    return {path, posixpath.relpath(root + path, root + (base or "."))}


def _is_directory(name: str, names: set[str], directories: set[str]) -> bool:
    bare = name.rstrip("/") or name
    return bare in directories or name in directories or bare in names
