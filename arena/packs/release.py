"""Releases: a pack as it is published, checked, numbered and hashed, with ids that the same content always gets."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import ConfigDict

from arena.errors import Rejected, TooLarge
from arena.models import Millis, Model
from arena.packs.blocks import Bundle
from arena.packs.blocks.cases import Asset
from arena.packs.findings import Finding, examine
from arena.packs.lock import content_hash
from arena.packs.manifest import manifest_json
from arena.packs.public import scrubbed, secrets_of

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "arena:challenge-packs")
GROWTH = 4  # times the size of its text that a pack may have with all aliases unfolded
LEAST = 1024 * 1024  # bytes that it may have in any case

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")  # stands in addresses and in names of the store


class Record(Model):
    """The base of what is told of packs, under the names of their contract."""

    model_config = ConfigDict(alias_generator=None)


class InputSetHead(Record):
    """An input set, by its id and by its key."""

    id: str
    key: str
    name: str
    cases: int


class AssetHead(Record):
    """A file that a pack speaks of; once it is uploaded, with its size and its hash."""

    key: str
    path: str
    kind: str = ""
    media_type: str = ""
    size: int | None = None
    sha256: str | None = None


class Release(Record):
    """One version of a pack, which never changes."""

    slug: str
    number: int
    name: str
    family: str
    description: str = ""
    execution_mode: str
    content_hash: str
    challenge_pack_id: str
    challenge_pack_version_id: str
    evaluation_spec_id: str
    input_set_ids: list[str]
    bundle_artifact_id: str
    input_sets: list[InputSetHead]
    assets: list[AssetHead] = []
    bundle_bytes: int
    bundle_sha256: str
    manifest_sha256: str
    published_at: Millis = Millis(0)
    archived: bool = False

    @property
    def mark(self) -> str:
        """Its name among all releases; no slug has an @."""
        return f"{self.slug}@{self.number}"


class Prepared(NamedTuple):
    """A release that may be published, with its manifest as JSON."""

    release: Release
    manifest: bytes


def prepare(text: bytes) -> Prepared:
    """Check a pack and make all that is stored of it; tells everything that is wrong at once.

    This meets whatever somebody sends, so it is to run where it can be stopped.
    """
    found = examine(text)
    if found.bundle is None or found.errors:
        raise rejected(found.errors)
    bundle = found.bundle
    if not _SLUG.fullmatch(bundle.pack.slug):
        raise rejected([Finding("pack.slug", "must be up to 64 of a-z, 0-9, dot, dash and underscore to be published")])
    whole = manifest_json(bundle)
    manifest = json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()
    if len(manifest) > max(LEAST, GROWTH * len(text)):
        raise TooLarge(f"The pack has {len(manifest)} bytes with its aliases unfolded, which is too much.")
    release = _release(bundle, text, manifest)
    # Releases are shown to everybody, and an author may have talked too much.
    words = scrubbed({"name": release.name, "description": release.description}, secrets_of(whole))
    return Prepared(release.model_copy(update=words), manifest)


def rejected(findings: list[Finding]) -> Rejected:
    """What is wrong with a pack, as a client is told it."""
    lines = [f"{each.field} {each.message}".strip() for each in findings]
    return Rejected("; ".join(lines[:10]), [each._asdict() for each in findings[:1000]])


def pack_id(slug: str) -> uuid.UUID:
    """The id of a pack, the same on every server."""
    return uuid.uuid5(NAMESPACE, slug)


def version_id(bundle: Bundle) -> uuid.UUID:
    """The id of a version of a pack, the same on every server."""
    return uuid.uuid5(pack_id(bundle.pack.slug), f"{bundle.version.number}:{content_hash(bundle)}")


def input_set_id(version: uuid.UUID, key: str) -> str:
    """The id of an input set of a version."""
    return str(uuid.uuid5(version, f"input_set:{key}"))


def _release(bundle: Bundle, text: bytes, manifest: bytes) -> Release:
    digest = hashlib.sha256(text).hexdigest()
    version = version_id(bundle)
    sets = [
        InputSetHead(id=input_set_id(version, each.key), key=each.key, name=each.name, cases=count)
        for each in bundle.input_sets
        if (count := len(each.cases))
    ]
    return Release(
        slug=bundle.pack.slug,
        number=bundle.version.number,
        name=bundle.pack.name,
        family=bundle.pack.family,
        description=bundle.pack.description,
        execution_mode=bundle.version.execution_mode,
        content_hash=content_hash(bundle),
        challenge_pack_id=str(pack_id(bundle.pack.slug)),
        challenge_pack_version_id=str(version),
        evaluation_spec_id=str(uuid.uuid5(version, "evaluation_spec")),
        input_set_ids=[each.id for each in sets],
        bundle_artifact_id=str(uuid.uuid5(version, f"bundle:{digest}")),
        input_sets=sets,
        assets=[_head(asset) for asset in declared(bundle)],
        bundle_bytes=len(text),
        bundle_sha256=digest,
        manifest_sha256=hashlib.sha256(manifest).hexdigest(),
    )


def declared(bundle: Bundle) -> Iterator[Asset]:
    """The files that a pack speaks of, each path once: those of the version first."""
    cases = (case for each in bundle.input_sets for case in each.cases)
    lists = [bundle.version.assets, *(each.assets for each in bundle.challenges), *(case.assets for case in cases)]
    seen: set[str] = set()
    for asset in (asset for each in lists for asset in each):
        if asset.path not in seen:
            seen.add(asset.path)
            yield asset


def _head(asset: Asset) -> AssetHead:
    return AssetHead(key=asset.key, path=asset.path, kind=asset.kind, media_type=asset.media_type)
