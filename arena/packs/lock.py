"""The content hash of a pack: the same for every way to write the same pack, another for any other."""

import hashlib
import json
from typing import Any

from arena.packs.blocks import Bundle
from arena.packs.blocks.base import wholes
from arena.packs.manifest import manifest_json
from arena.packs.spec import normalise_spec


def content_hash(bundle: Bundle) -> str:
    """SHA-256 over the manifest of a normalised bundle, with its spec normalised too."""
    text = json.dumps(
        wholes(locked(bundle)), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return "sha256:" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def locked(bundle: Bundle) -> dict[str, Any]:
    """What the hash covers; an absent list of the spec is the same as an empty one."""
    spec = normalise_spec(bundle.version.evaluation_spec).document()
    for owner, name in ((spec, "validators"), (spec, "metrics"), (spec["scorecard"], "dimensions")):
        owner[name] = owner[name] or []
    return {**manifest_json(bundle), "evaluation_spec": spec}
