"""What the routes of the library do, in words."""

from arena.errors import Forbidden, Invalid, NotFound, Rejected, Taken, TooLarge
from arena.packs.release import AssetHead, Release
from arena.web.packs import YAML, Shelved
from arena.web.spec import shapes
from arena.web.spec.examples import ID, TIME
from arena.web.spec.operation import Content, Operation, Parameter, Tag

_INPUT_SET = {"id": ID, "key": "default", "name": "Two recipes", "cases": 2}
_ASSET = {"key": "table", "path": "data/table.csv", "kind": "", "media_type": "text/csv"}
_KEPT = {**_ASSET, "size": 120, "sha256": "0" * 64}
_RELEASE = {
    "slug": "recipes",
    "number": 1,
    "name": "Recipes for more people",
    "family": "reasoning",
    "description": "Scale a recipe without a calculator.",
    "execution_mode": "prompt_eval",
    "content_hash": f"sha256:{'0' * 64}",
    "challenge_pack_id": ID,
    "challenge_pack_version_id": ID,
    "evaluation_spec_id": ID,
    "input_set_ids": [ID],
    "bundle_artifact_id": ID,
    "input_sets": [_INPUT_SET],
    "assets": [_ASSET],
    "bundle_bytes": 1200,
    "bundle_sha256": "0" * 64,
    "manifest_sha256": "0" * 64,
    "published_at": TIME,
    "archived": False,
}
_HEAD = {
    "slug": "recipes",
    "name": "Recipes for more people",
    "family": "reasoning",
    "description": "Scale a recipe without a calculator.",
    "challenge_pack_id": ID,
    "latest": 1,
    "archived": False,
}
_DETAIL = {**_HEAD, "versions": [_RELEASE]}
_LENIENT = ["integer", "string"]
_PAGE = (
    Parameter("limit", "How many at most, 1 to 100; 50 if it is no number.", {"type": _LENIENT, "default": 50}),
    Parameter("offset", "How many to leave out first.", {"type": _LENIENT, "default": 0}),
)
_KEEPERS = "For admins; on an open server without them, for whoever is on its machine."

PACKS: dict[tuple[str, str], Operation] = {
    ("GET", "/api/packs"): Operation(
        "listPacks",
        Tag.PACKS,
        "The packs that are published here",
        Content(shapes.PackList, {"packs": [_HEAD], "total": 1, "limit": 50, "offset": 0}),
        query=_PAGE,
    ),
    ("POST", "/api/packs"): Operation(
        "publishPack",
        Tag.PACKS,
        "Publish a version of a pack",
        Content(Release, _RELEASE),
        "The body is the YAML of the pack, or `multipart/form-data` with the pack in the part `pack` and its files in "
        "parts that are called by their keys. From then on the pack is a challenge whose type is its slug. A version "
        "never changes: the same content again gets the same ids, and other content under its number is refused. "
        f"{_KEEPERS}",
        body=Content(YAML, "pack: {slug: recipes, name: Recipes for more people, family: reasoning}\n…\n"),
        admin=True,
        errors=(Rejected, Invalid, Forbidden, NotFound, Taken, TooLarge),
    ),
    ("GET", "/api/packs/{slug}"): Operation(
        "showPack",
        Tag.PACKS,
        "One pack and its versions, the newest first",
        Content(shapes.PackDetail, _DETAIL),
        errors=(NotFound,),
    ),
    ("POST", "/api/packs/{slug}/archive"): Operation(
        "archivePack",
        Tag.PACKS,
        "Open no new sessions of a pack, or of one version",
        Content(shapes.PackDetail, _DETAIL),
        f"Sessions that there are go on. {_KEEPERS}",
        body=Content(Shelved, {"version": 1}),
        needs_body=False,
        admin=True,
        errors=(Invalid, Forbidden, NotFound),
    ),
    ("POST", "/api/packs/{slug}/unarchive"): Operation(
        "unarchivePack",
        Tag.PACKS,
        "Open new sessions again",
        Content(shapes.PackDetail, _DETAIL),
        _KEEPERS,
        body=Content(Shelved, {"version": 1}),
        needs_body=False,
        admin=True,
        errors=(Invalid, Forbidden, NotFound),
    ),
    ("GET", "/api/packs/{slug}/versions/{number}"): Operation(
        "showPackVersion",
        Tag.PACKS,
        "One version of a pack with its manifest",
        Content(shapes.ReleaseDetail, {**_RELEASE, "manifest": {"schema_version": 1}}),
        "To admins the manifest is shown whole. To everybody else it is shown without what would give away an answer: "
        "expectations, cases, the settings of validators and judges, and whatever is planted.",
        query=(Parameter("public", "With `true`, admins too see what everybody sees.", {"type": "string"}),),
        admin=True,
        errors=(NotFound,),
    ),
    ("GET", "/api/packs/{slug}/versions/{number}/bundle"): Operation(
        "downloadPack",
        Tag.PACKS,
        "A version as it was published",
        Content(YAML),
        _KEEPERS,
        admin=True,
        errors=(Forbidden, NotFound),
    ),
    ("GET", "/api/packs/{slug}/versions/{number}/assets/{asset}"): Operation(
        "downloadAsset",
        Tag.PACKS,
        "A file of a pack",
        Content("application/octet-stream"),
        _KEEPERS,
        admin=True,
        errors=(Forbidden, NotFound, Invalid),
    ),
    ("PUT", "/api/packs/{slug}/versions/{number}/assets/{asset}"): Operation(
        "uploadAsset",
        Tag.PACKS,
        "Bring a file that a version of a pack speaks of",
        Content(AssetHead, _KEPT),
        f"A file never changes either: the same content again is fine, other content is refused. {_KEEPERS}",
        body=Content("application/octet-stream", "id,price\n1,2.50\n"),
        admin=True,
        errors=(Forbidden, NotFound, Invalid, Taken, TooLarge),
    ),
}
