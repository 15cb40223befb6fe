"""Workshop: what a server lends to the operator of packs, so that the tools of its cases can be used."""

import asyncio
from collections.abc import Mapping
from typing import Any

from arena.packs.blocks import Bundle, Case
from arena.packs.sandbox.choice import Choice, refusal
from arena.packs.sandbox.layout import Files, lay_out
from arena.packs.sandbox.provider import USUAL, Sandbox
from arena.packs.sandbox.snapshot import Shelf, Snapshot
from arena.packs.sandbox.toolbox import Toolbox, ToolOutcome
from arena.packs.sandbox.tools.files import TROUBLES
from arena.packs.sandbox.verify import Event, verify


class Workshop:
    """Tools, work directories and graders on the sandbox of this server, if it has one."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.shelf = Shelf(USUAL.room) if choice.sandbox is None else choice.sandbox.shelf

    @property
    def sandbox(self) -> Sandbox | None:
        """What confines commands here."""
        return self.choice.sandbox

    def refuses(self, bundle: Bundle) -> str:
        """Why a pack cannot be played here; nothing if it can."""
        return refusal(bundle, self.choice)

    async def open(self, bundle: Bundle, case: Case, files: Files) -> Snapshot:
        """The work directory that a case begins with."""
        return await asyncio.to_thread(lambda: self.shelf.pack(lay_out(bundle, case, files)))

    async def call(
        self,
        bundle: Bundle,
        case: Case,
        snapshot: Snapshot,
        name: str,
        arguments: Mapping[str, Any],
        secrets: Mapping[str, str],
    ) -> ToolOutcome:
        """Have a tool called; it gets the secrets that the pack's own tools name, and no others."""
        toolbox = Toolbox(bundle, case)
        named = {each: secrets[each] for each in toolbox.secret_names if each in secrets}
        return await toolbox.call(self.sandbox, snapshot, name, arguments, named)

    async def upload(self, snapshot: Snapshot, path: str, content: bytes) -> Snapshot:
        """The work directory with a file more."""
        try:
            return await asyncio.to_thread(lambda: self.shelf.pack(self.shelf.unpack(snapshot).write(path, content)))
        except TROUBLES as error:
            raise ValueError(str(error)) from None

    async def verify(
        self, bundle: Bundle, case: Case, snapshot: Snapshot, files: Files, secrets: Mapping[str, str]
    ) -> list[Event]:
        """What graders find in a work directory."""
        return await verify(bundle, case, self.sandbox, snapshot, secrets, files)
