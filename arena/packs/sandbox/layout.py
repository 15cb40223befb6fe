"""What lies in a work directory when a case begins, and what every command finds in its environment."""

from collections.abc import Iterator, Mapping
from typing import Any

from arena.packs.blocks import Bundle, Case
from arena.packs.sandbox.tree import WORKSPACE, NoFile, Tree
from arena.packs.text import trim

Files = Mapping[str, bytes]  # contents by the key of an asset


def environment(bundle: Bundle) -> dict[str, str]:
    """The variables of a pack, and the secrets that it plants there."""
    own = dict(bundle.version.sandbox.env_vars) if bundle.version.sandbox else {}
    planted = bundle.security.planted_secrets if bundle.security else []
    return {**own, **{secret.name: secret.value for secret in planted if secret.location == "env"}}


def lay_out(bundle: Bundle, case: Case, files: Files) -> Tree:
    """The work directory of a case: its assets, its inputs and planted files; `files` holds contents by asset key.

    An asset lies where an input says, else under its own path; what only expectations name stays away.
    """
    tree = Tree()
    for path, content in _placed(bundle, case, files):
        tree = tree.write(path, content)
    return tree


def restore(bundle: Bundle, case: Case, tree: Tree, files: Files) -> Tree:
    """The work directory with the files of `filesystem.protected` as they were at the beginning."""
    protected = {_relative(path) for path in _texts((bundle.version.filesystem or {}).get("protected"))}
    for path, content in _placed(bundle, case, files):
        if _relative(path) in protected:
            tree = _replaced(tree, path, content)
    return tree


def _replaced(tree: Tree, path: str, content: bytes) -> Tree:
    """The file at exactly this place, whatever is there or on the way: a link may not lead it elsewhere."""
    place = _relative(path)
    above = {place[:at] for at, sign in enumerate(place) if sign == "/"}
    kept = [
        entry
        for entry in tree
        if entry.path != place
        and not entry.path.startswith(f"{place}/")
        and not (entry.path in above and entry.kind != "dir")
    ]
    return Tree(kept).write(place, content)


def _placed(bundle: Bundle, case: Case, files: Files) -> Iterator[tuple[str, bytes]]:
    challenge = next((each for each in bundle.challenges if each.key == case.challenge_key), None)
    paths = {asset.key: asset.path for asset in bundle.version.assets}
    refs = [*(challenge.artifact_refs if challenge else []), *case.artifacts]
    given = {each.artifact_key: each.path for each in case.inputs if each.artifact_key}
    wanted = {ref.key: paths[ref.key] for ref in refs if ref.key in paths}
    wanted |= {key: path or paths[key] for key, path in given.items() if key in paths}
    wanted |= {asset.key: asset.path for asset in [*(challenge.assets if challenge else []), *case.assets]}
    yield from ((path, files[key]) for key, path in wanted.items() if key in files)
    for each in case.inputs:
        if each.path and not each.artifact_key and isinstance(each.value, str):
            yield each.path, each.value.encode()
    for secret in bundle.security.planted_secrets if bundle.security else []:
        if secret.location == "file" and secret.file_path and is_inside(secret.file_path):
            yield secret.file_path, f"{secret.value}\n".encode()


def is_inside(path: str) -> bool:
    """Whether a path lies in the work directory."""
    try:
        Tree().write(path, b"")
    except NoFile:
        return False
    return True


def _relative(path: str) -> str:
    return "/".join(part for part in path.removeprefix(WORKSPACE).split("/") if part not in {"", "."})


def _texts(value: Any) -> list[str]:
    return [trim(each) for each in value if isinstance(each, str)] if isinstance(value, list) else []
