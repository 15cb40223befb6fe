"""Published packs in the store: releases that never change, and their texts and files by hash. All in one slot."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from arena.errors import NotFound, Taken, TooLarge
from arena.packs.release import AssetHead, Prepared, Release
from arena.store import keys
from arena.store.nodes import Nodes

FULL = "There is no room left for packs on this server."


class Shelves(NamedTuple):
    """All that is published, as of a revision; a release says whether it is archived."""

    revision: int
    releases: Mapping[str, Mapping[int, Release]]  # by slug and number


class Packs:
    """The packs of a store."""

    def __init__(self, nodes: Nodes, most: int) -> None:
        self.nodes = nodes
        self.most = most  # bytes of all of them; 0 is no limit

    async def revision(self) -> int:
        """A number that moves whenever something is published or archived."""
        return int(await self.nodes.run(keys.PACK_REVISION, "GET", keys.PACK_REVISION) or 0)

    async def shelves(self) -> Shelves:
        """Everything that is published, at least as of the revision that comes with it."""
        revision = await self.revision()
        found, archived = await self.nodes.run_all(
            [
                (keys.RELEASES, ("HVALS", keys.RELEASES)),
                (keys.ARCHIVED, ("SMEMBERS", keys.ARCHIVED)),
            ]
        )
        closed = {mark.decode() for mark in archived}
        shelves: dict[str, dict[int, Release]] = {}
        for release in map(Release.from_json, found):
            away = release.slug in closed or release.mark in closed
            shelves.setdefault(release.slug, {})[release.number] = release.model_copy(update={"archived": away})
        return Shelves(revision, shelves)

    async def publish(self, made: Prepared, text: bytes) -> Release:
        """Store a release, or find that the same is there already."""
        release = made.release
        names = [
            keys.RELEASES,
            keys.pack_blob(release.bundle_sha256),
            keys.pack_blob(release.manifest_sha256),
            keys.PACK_BYTES,
            keys.PACK_REVISION,
        ]
        record = release.to_json()
        reply = await self.nodes.script("publish", names, release.mark, record, text, made.manifest, self.most)
        if reply[0] == b"full":
            raise TooLarge(FULL)
        stored = Release.from_json(reply[1])
        if stored.content_hash != release.content_hash:
            raise Taken(
                "VERSION_EXISTS",
                f"Version {release.number} of {release.slug} is published with other content; raise its number.",
            )
        return stored

    async def blob(self, sha256: str) -> bytes:
        """A text or a file."""
        name = keys.pack_blob(sha256)
        found: bytes | None = await self.nodes.run(name, "GET", name)
        if found is None:
            raise NotFound("There is no such file.")
        return found

    async def archive(self, mark: str, away: bool) -> None:
        """Take a pack, or one release of it, out of what can be played, or offer it again."""
        await self.nodes.script("shelve", [keys.ARCHIVED, keys.PACK_REVISION], mark, "1" if away else "")

    async def assets(self, release: Release) -> list[AssetHead]:
        """The files that a release speaks of; those that were uploaded with size and hash."""
        name = keys.pack_assets(release.mark)
        flat = await self.nodes.run(name, "HGETALL", name)
        found = dict(zip(flat[::2], flat[1::2], strict=True)) if isinstance(flat, list) else flat
        stored = {path.decode(): AssetHead.from_json(record) for path, record in found.items()}
        return [stored.get(asset.path, asset) for asset in release.assets]

    async def keep(self, release: Release, asset: AssetHead, content: bytes) -> AssetHead:
        """Store a file of a release, or find that the same is there already."""
        digest = hashlib.sha256(content).hexdigest()
        kept = asset.model_copy(update={"size": len(content), "sha256": digest})
        names = [keys.RELEASES, keys.pack_assets(release.mark), keys.pack_blob(digest), keys.PACK_BYTES]
        reply = await self.nodes.script("asset", names, release.mark, asset.path, kept.to_json(), content, self.most)
        match reply[0]:
            case b"full":
                raise TooLarge(FULL)
            case b"none":
                raise NotFound("There is no such version.")
        stored = AssetHead.from_json(reply[1])
        if stored.sha256 != digest:
            raise Taken("ASSET_EXISTS", f"{asset.path} is there already with other content; publish a new version.")
        return stored
