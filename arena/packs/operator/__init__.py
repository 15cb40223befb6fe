"""Packs as challenges: `pack_type` makes a challenge type of a published pack."""

from arena.catalog import ChallengeType, options_schema
from arena.models import ChallengeMetadata, Version
from arena.packs.blocks import Bundle
from arena.packs.lock import content_hash
from arena.packs.operator.referee import Referee
from arena.packs.operator.seams import Fetch, Load

__all__ = ["Fetch", "Load", "pack_type"]


def pack_type(slug: str, load: Load, fetch: Fetch | None = None) -> ChallengeType:
    """The challenge that a pack is: `load` gives its versions by number (0 is the newest), `fetch` files of assets."""
    members = {"load": staticmethod(load), "fetch": staticmethod(fetch) if fetch else None}
    operator = type("PackReferee", (Referee,), {**members, "__module__": __name__, "__doc__": Referee.__doc__})
    bundle = load(0)
    version = Version(version=str(bundle.version.number), content_hash=content_hash(bundle))
    return ChallengeType(slug, operator, _metadata(bundle, operator), version)


def _metadata(bundle: Bundle, operator: type[Referee]) -> ChallengeMetadata:
    """The words of a pack: what it is about, never a case of it."""
    sets = ", ".join(each.key for each in bundle.input_sets)
    tasks = ", ".join(dict.fromkeys(each.title for each in bundle.challenges))
    described = bundle.pack.description or bundle.pack.name
    prompt = (
        f"{described}\n\nTasks: {tasks}. Input sets: {sets}. Every seat gets each case as a direct message: a JSON "
        "object with its instructions, inputs and limits. Hand in answers with `submit`, answer in conversations with "
        "`reply`, call what is under `tools` with `tool`, and tell what your model took with `report`."
    )
    return ChallengeMetadata(
        name=bundle.pack.name,
        description=described.partition("\n")[0],
        players=1,
        prompt=prompt,
        methods=[each.method for each in operator.actions.values()],
        tags=list(filter(None, ["pack", bundle.pack.family, bundle.version.execution_mode])),
        options=options_schema(operator),
        utility=operator.utility,
        security=operator.security,
        at_limit=str(operator.at_limit),
        replayable=False,
    )
