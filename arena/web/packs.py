"""The door of the library: packs are published, shown, downloaded and archived."""

from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import orjson
from pydantic import NonNegativeInt
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, HTTPConnection

from arena.errors import Forbidden, Invalid, NotFound, TooLarge
from arena.packs.release import Release
from arena.web.calls.bodies import Body, read
from arena.web.calls.lists import stretch
from arena.web.errors import CODED, Row
from arena.web.http import header, read_body
from arena.web.local import is_local, is_own_page
from arena.web.routing import Call, File, Route

YAML = "application/yaml"
MULTIPART = "multipart/form-data"
PACK = "pack"  # the part of an upload that is the pack; every other one is a file of it
PARTS = 100

UPLOADING = {**CODED, TooLarge: Row(413)}


class Upload(NamedTuple):
    """What came with a request: a pack, and files of it by key or path."""

    text: bytes
    files: dict[str, bytes]


class Shelved(Body):
    """Which version is meant; without one the whole pack is."""

    version: NonNegativeInt | None = None


async def publish(call: Call) -> Any:
    """A new version."""
    check_keeper(call)
    upload = await _uploaded(call)
    return (await call.arena.library.publish(upload.text, upload.files)).wire()


async def packs(call: Call) -> Any:
    """All packs."""
    await call.arena.library.refresh()
    part, found = stretch(call.query, 50), call.arena.library.all()
    shown = [_head(releases) for releases in found[part.offset : part.offset + part.limit]]
    return {"packs": shown, "total": len(found), **part._asdict()}


async def pack(call: Call) -> Any:
    """One pack with its versions."""
    await call.arena.library.refresh()
    releases = call.arena.library.releases(call.argument)
    return {**_head(releases), "versions": [release.wire() for release in releases]}


async def version(call: Call) -> Any:
    """One version with its manifest: to its keepers whole, to all others, or if so asked, without answers."""
    release = await _release(call)
    assets = await call.arena.library.packs.assets(release)
    told = orjson.dumps(release.model_copy(update={"assets": assets}).wire())
    whole = call.query.get("public") != "true" and is_keeper(call)
    manifest = await call.arena.library.manifest(release, whole=whole)
    return File(told[:-1] + b',"manifest":' + manifest + b"}", "application/json")


async def bundle(call: Call) -> Any:
    """A version as it was published."""
    check_keeper(call)
    release = await _release(call)
    return File(await call.arena.library.text(release), YAML, f"{release.slug}-{release.number}.yaml")


async def archive(call: Call) -> Any:
    """No new sessions."""
    return await _shelve(call, away=True)


async def unarchive(call: Call) -> Any:
    """New sessions again."""
    return await _shelve(call, away=False)


async def _shelve(call: Call, *, away: bool) -> Any:
    check_keeper(call)
    wish = read(Shelved, call.content if isinstance(call.content, dict) else {})
    await call.arena.library.archive(call.argument, wish.version, away)
    return await pack(call)


async def put_asset(call: Call) -> Any:
    """A file of a version."""
    check_keeper(call)
    release, content = await _release(call), await read_body(call.receive)
    return (await call.arena.library.keep(release.slug, release.number, call.arguments[2], content)).wire()


async def get_asset(call: Call) -> Any:
    """The same, back again."""
    check_keeper(call)
    release = await _release(call)
    asset, content = await call.arena.library.asset(release.slug, release.number, call.arguments[2])
    return File(content, "application/octet-stream", asset.path.rpartition("/")[2])


def check_keeper(call: Call) -> None:
    """Refuse whoever may not change the library."""
    if not is_keeper(call):
        raise Forbidden("Packs are kept by admins: show the token of this server as a bearer.")


def is_keeper(call: Call) -> bool:
    """Whether somebody keeps the packs: an admin, or anybody on the machine of an open server without admins."""
    ring, connection = call.arena.ring, HTTPConnection(call.scope)
    if call.viewer.admin or ring.admin or ring.required:
        return call.viewer.admin
    return is_local(connection, call.arena.settings) and is_own_page(connection, call.arena.settings)


async def _release(call: Call) -> Release:
    slug, number = call.arguments[:2]
    if not (number.isascii() and number.isdigit() and len(number) <= 10):
        raise NotFound("There is no such version.")
    return await call.arena.library.find(slug, int(number))


def _head(releases: list[Release]) -> dict[str, Any]:
    newest = releases[0]
    return {
        **newest.model_dump(include={"slug", "name", "family", "description", "challenge_pack_id"}),
        "latest": newest.number,
        "archived": all(release.archived for release in releases),
    }


async def _uploaded(call: Call) -> Upload:
    kind = header(call.scope["headers"], b"content-type") or ""
    if not kind.startswith(MULTIPART):
        return Upload(await read_body(call.receive), {})
    settings, headers = call.arena.settings, Headers(scope=call.scope)
    most = max(settings.limit_pack_bytes, settings.limit_asset_bytes) or 2**40
    parser = MultiPartParser(headers, _stream(call), max_files=PARTS, max_fields=PARTS, max_part_size=most)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        raise Invalid(f"The parts of the upload cannot be read: {getattr(error, 'message', 'no boundary')}") from None
    parts = {name: await _content(part) for name, part in form.multi_items()}
    await form.close()
    if PACK not in parts:
        raise Invalid(f"An upload in parts has the pack in the part `{PACK}`.")
    return Upload(parts.pop(PACK), parts)


async def _content(part: UploadFile | str) -> bytes:
    return part.encode() if isinstance(part, str) else await part.read()


async def _stream(call: Call) -> AsyncGenerator[bytes, None]:
    while True:
        message = await call.receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        yield message.get("body", b"")
        if not message.get("more_body"):
            return


ROUTES = (
    Route("GET", "/packs", packs, CODED),
    Route("POST", "/packs", publish, UPLOADING, raw=True),
    Route("GET", "/packs/{slug}", pack, CODED),
    Route("POST", "/packs/{slug}/archive", archive, CODED),
    Route("POST", "/packs/{slug}/unarchive", unarchive, CODED),
    Route("GET", "/packs/{slug}/versions/{number}", version, CODED),
    Route("GET", "/packs/{slug}/versions/{number}/bundle", bundle, CODED),
    Route("GET", "/packs/{slug}/versions/{number}/assets/{asset}", get_asset, CODED),
    Route("PUT", "/packs/{slug}/versions/{number}/assets/{asset}", put_asset, UPLOADING, raw=True),
)
