"""Input sets, their cases, and what cases are made of."""

from typing import Any

from arena.packs.blocks.base import Block, Int32, Uuid, told
from arena.packs.blocks.simulator import Expectation, UserSimulator


class Asset(Block):
    """A file that comes with the pack."""

    kept = frozenset({"key", "path"})

    key: str = told("", "Name of the asset, unique in its list.", needed=True)
    kind: str = told("", "What it is, in your own words: `file`, `dataset`, …")
    path: str = told("", "Where the file lies in the pack.", needed=True)
    media_type: str = told("", "Media type, such as `text/csv`.")
    artifact_id: Uuid | None = told(None, "Id of an uploaded artifact, if the file is kept there.")


class ArtifactRef(Block):
    """A reference to an asset of the version."""

    kept = frozenset({"key"})

    key: str = told("", "Key of one of `version.assets`; those of challenges and cases do not count.", needed=True)


class CaseInput(Block):
    """Something that a case hands to the agent."""

    kept = frozenset({"key", "kind"})

    key: str = told("", "Name of the input, unique in its case; templates see it as `{{key}}`.", needed=True)
    kind: str = told("", "What it is, in your own words: `text`, `json`, `file`, …", needed=True)
    value: Any = told(None, "The input itself, any JSON value.")
    artifact_key: str = told("", "Version asset that holds the input instead.")
    path: str = told("", "Where the input lies in the workspace.")


class Case(Block):
    """One task with its inputs and what is expected of the answer."""

    kept = frozenset({"challenge_key", "case_key", "item_key"})

    challenge_key: str = told("", "Challenge that the case belongs to; the same for all cases of a set.", needed=True)
    case_key: str = told("", "Name of the case, unique in its set. Either this or `item_key` is needed.")
    item_key: str = told("", "The older name of `case_key`.")
    payload: dict[str, Any] = told({}, "Free data of the case: templates and `case.payload` references read it.")
    inputs: list[CaseInput] = told([], "What the agent is given.")
    expectations: list[Expectation] = told([], "What validators compare with.")
    artifacts: list[ArtifactRef] = told([], "Version assets that the case needs.")
    assets: list[Asset] = told([], "Files of this case alone.")
    user_simulator: UserSimulator | None = told(
        None, "Who talks to the agent; needed in mode `multi_turn`, forbidden in all others."
    )
    case_timeout_seconds: Int32 = told(0, "Time for this case in seconds; 0 leaves it to the runner.")

    @property
    def effective_key(self) -> str:
        """The key that results are filed under."""
        return self.case_key or self.item_key


class Item(Block):
    """A case in the older form."""

    challenge_key: str = told("", "Challenge that the item belongs to.", needed=True)
    item_key: str = told("", "Name of the item.", needed=True)
    payload: dict[str, Any] = told({}, "Free data of the item.")
    assets: list[Asset] = told([], "Files of this item alone.")


class InputSet(Block):
    """Cases that are run together."""

    kept = frozenset({"key", "name", "cases"})

    key: str = told("", "Name for programs, unique in the bundle.", needed=True)
    name: str = told("", "Name for people.", needed=True)
    description: str = told("", "What these cases try.")
    cases: list[Case] = told([], "The cases, one at least, all of the same challenge.", least=1)
    items: list[Item] = told([], "The older form of `cases`, read only when there are none.")
