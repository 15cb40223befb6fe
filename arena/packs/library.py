"""The library of one worker: publishes packs, and keeps its catalog in step with what all workers have published."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import JsonValue

from arena.catalog import Catalog, Offer
from arena.clock import Clock
from arena.errors import (
    Internal,
    Invalid,
    NotFound,
    Refused,
    StoreUnavailable,
    Taken,
    TooLarge,
    UnknownChallengeType,
    trace,
)
from arena.models import ChallengeMetadata, Version
from arena.packs.blocks import Bundle
from arena.packs.findings import Finding
from arena.packs.isolate import Isolate, Stopped
from arena.packs.manifest import bundle_of, manifest_json
from arena.packs.operator import pack_type
from arena.packs.public import public_manifest, scrubbed, secrets_of
from arena.packs.release import AssetHead, Release, prepare, rejected
from arena.settings import Settings
from arena.store.boards import GLOBAL
from arena.store.packs import Packs, Shelves

logger = logging.getLogger(__name__)

RESERVED = frozenset({GLOBAL})
VERSION = "version"  # the option that names a version


class Library:
    """What is published, as this worker knows it. Bundles are read when a session first needs them."""

    def __init__(self, packs: Packs, catalog: Catalog, isolate: Isolate, clock: Clock, settings: Settings) -> None:
        self.packs = packs
        self.catalog = catalog
        self.isolate = isolate
        self.clock = clock
        self.settings = settings
        self._known = Shelves(0, {})
        self._seen = 0  # the revision up to which everything is offered
        self._built_in = frozenset(catalog.challenges) | RESERVED
        self._bundles: dict[tuple[str, int], Bundle] = {}
        self._offered: dict[str, int] = {}  # the number that a type was made of
        self._refreshing = asyncio.Lock()
        catalog.shelf = self

    # Publishing

    async def publish(self, text: bytes, files: Mapping[str, bytes] | None = None) -> Release:
        """Check a pack, store it as a version for ever with the files that came along, and offer it as a challenge."""
        limit = self.settings.limit_pack_bytes
        if limit and len(text) > limit:
            raise TooLarge(f"A pack may have at most {limit} bytes.")
        try:
            made = await self.isolate.run(prepare, text)
        except Stopped as stopped:
            raise rejected([Finding("bundle", f"cannot be read: it was {stopped}")]) from None
        slug, brought = made.release.slug, [self._fitting(made.release, *file) for file in (files or {}).items()]
        await self.refresh()
        if slug in self._built_in:
            raise Taken("NAME_TAKEN", f"A challenge of this server is called {slug}; give the pack another slug.")
        stamped = made.release.model_copy(update={"published_at": self.clock.now()})
        release = await self.packs.publish(made._replace(release=stamped), text)
        for asset, content in brought:
            await self.packs.keep(release, asset, content)
        await self.refresh()
        if release.slug not in self.catalog.challenges:
            raise Internal("The pack is stored, but cannot be offered.")
        logger.info("pack published slug=%s version=%d", release.slug, release.number)
        return self.release(release.slug, release.number)

    async def archive(self, slug: str, number: int | None, away: bool) -> None:
        """Take a pack, or one version, out of what can be played, or offer it again; sessions go on."""
        await self.refresh()
        mark = self.releases(slug)[0].slug if number is None else self.release(slug, number).mark
        await self.packs.archive(mark, away)
        await self.refresh()

    async def keep(self, slug: str, number: int, name: str, content: bytes) -> AssetHead:
        """Store a file that a version speaks of."""
        release = await self.find(slug, number)
        asset, content = self._fitting(release, name, content)
        return await self.packs.keep(release, asset, content)

    def _fitting(self, release: Release, name: str, content: bytes) -> tuple[AssetHead, bytes]:
        """A file that a version speaks of and that is not too large."""
        limit = self.settings.limit_asset_bytes
        if limit and len(content) > limit:
            raise TooLarge(f"A file of a pack may have at most {limit} bytes.")
        return named(release.assets, name), content

    async def asset(self, slug: str, number: int, name: str) -> tuple[AssetHead, bytes]:
        """A file of a version, with what is known of it."""
        release = await self.find(slug, number)
        found = named(await self.packs.assets(release), name)
        if found.sha256 is None:
            raise NotFound(f"{found.path} was not uploaded.")
        return found, await self.packs.blob(found.sha256)

    async def _bytes(self, slug: str, number: int, name: str) -> bytes | None:
        """The content of a file, if it was uploaded."""
        try:
            return (await self.asset(slug, number, name))[1]
        except NotFound:
            return None

    # Looking up

    def all(self) -> list[list[Release]]:
        """All packs by slug, each with its versions, the newest first."""
        return [self.releases(slug) for slug in sorted(self._known.releases)]

    def releases(self, slug: str) -> list[Release]:
        """The versions of a pack, the newest first."""
        found = self._known.releases.get(slug)
        if found is None:
            raise NotFound("There is no such pack.")
        return sorted(found.values(), key=lambda release: -release.number)

    def release(self, slug: str, number: int) -> Release:
        """One version of a pack."""
        found = self._known.releases.get(slug, {}).get(number)
        if found is None:
            raise NotFound("There is no such version.")
        return found

    async def find(self, slug: str, number: int) -> Release:
        """One version of a pack, also if another worker has published it a moment ago."""
        if number not in self._known.releases.get(slug, {}):
            await self.refresh()
        return self.release(slug, number)

    async def text(self, release: Release) -> bytes:
        """A pack as it was published."""
        return await self.packs.blob(release.bundle_sha256)

    async def manifest(self, release: Release, *, whole: bool) -> bytes:
        """The manifest as JSON: whole, or what everybody may see of it."""
        manifest = await self.packs.blob(release.manifest_sha256)
        return manifest if whole else await asyncio.to_thread(public_manifest, manifest)

    # The catalog's side

    def __contains__(self, name: object) -> bool:
        return name in self._known.releases and name not in self._built_in

    def has(self, name: str, version: Version) -> bool:
        """Whether the rules of a session can be used at once: those of a pack may have to be fetched first."""
        return (name, _number(version)) in self._bundles if name in self else name in self._built_in

    async def offer(self, name: str, options: Mapping[str, JsonValue] | None) -> Offer:
        """What a new session of a pack is made of: its options name the version from now on."""
        await self.refresh()
        if name not in self:
            raise UnknownChallengeType(f"Unknown challenge type: {name}")
        release = self._chosen(name, (options or {}).get(VERSION))
        await self._fetch(release)
        kind = self.catalog.challenge(name)
        return Offer(kind, {**(options or {}), VERSION: release.number}, _version(release))

    def _chosen(self, name: str, wanted: JsonValue) -> Release:
        if wanted is None:
            release = self._newest(name)
        elif isinstance(wanted, bool) or not isinstance(wanted, int):
            raise Invalid("options: version: the number of a version is needed.")
        else:
            known = self._known.releases[name]
            if wanted not in known:
                raise Refused("UNKNOWN_VERSION", f"There is no version {wanted} of {name}.")
            release = known[wanted]
        if release.archived:
            raise Refused("ARCHIVED", f"{name} is archived: no new sessions of it are opened.")
        return release

    async def fetch(self, name: str, version: Version) -> None:
        """Make the rules of a session ready, whoever has published them."""
        if name in self._built_in:
            return
        number = _number(version)
        if number not in self._known.releases.get(name, {}):
            await self.refresh()
        release = self._known.releases.get(name, {}).get(number)
        if release is not None:
            await self._fetch(release)

    async def _fetch(self, release: Release) -> Bundle:
        key = (release.slug, release.number)
        if key not in self._bundles:
            manifest = await self.packs.blob(release.manifest_sha256)
            # Reading a large pack takes a while, and its text was found harmless before it was stored.
            self._bundles[key] = await asyncio.to_thread(_read, manifest)
        return self._bundles[key]

    def load(self, slug: str, number: int = 0) -> Bundle:
        """A version that was made ready; 0 is the one that is offered."""
        try:
            return self._bundles[slug, number or self._offered[slug]]
        except KeyError:
            raise Refused("UNKNOWN_VERSION", f"There is no version {number} of {slug}.") from None

    async def refresh(self) -> None:
        """Catch up with what was published anywhere; whoever comes meanwhile waits until that is done."""
        if await self.packs.revision() == self._seen:
            return
        async with self._refreshing:
            self._known = await self.packs.shelves()
            for slug in self._known.releases:
                if slug in self._built_in:
                    logger.warning("published pack is not offered, for a challenge has its name slug=%s", slug)
                elif self._offered.get(slug) != self._newest(slug).number:
                    await self._try(self._newest(slug))
            self._seen = self._known.revision

    async def _try(self, release: Release) -> None:
        """Offer a pack; one that cannot be offered concerns no other."""
        try:
            await self._register(release)
        except StoreUnavailable:
            raise
        except Exception as error:  # a pack of another version of ours may be wrong in any way
            logger.error("pack is not offered slug=%s version=%d %s", release.slug, release.number, trace(error))

    def _newest(self, slug: str) -> Release:
        """The newest version that takes sessions, or else the newest at all."""
        return max(self._known.releases[slug].values(), key=lambda release: (not release.archived, release.number))

    async def _register(self, release: Release) -> None:
        bundle = await self._fetch(release)
        self._offered[release.slug] = release.number
        load, fetch = partial(self.load, release.slug), partial(self._bytes, release.slug)
        kind = pack_type(release.slug, load, fetch)
        words = scrubbed(kind.metadata.wire(), secrets_of(manifest_json(bundle)))
        metadata = ChallengeMetadata.from_json(json.dumps(words))
        self.catalog.register(replace(kind, metadata=metadata, version=_version(release)))


def named(assets: list[AssetHead], name: str) -> AssetHead:
    """The file of a key or a path; a key that stands for several files is refused."""
    found = [asset for asset in assets if asset.path == name] or [asset for asset in assets if asset.key == name]
    if not found:
        raise NotFound("The pack speaks of no such file.")
    if len(found) > 1:
        raise Invalid(f"Several files have the key {name}: name one by its path.")
    return found[0]


def _version(release: Release) -> Version:
    return Version(version=str(release.number), content_hash=release.content_hash)


def _number(version: Version) -> int:
    return int(version.version) if version.version.isdecimal() else 0


def _read(manifest: bytes) -> Bundle:
    whole: Any = json.loads(manifest)
    return bundle_of(whole)
