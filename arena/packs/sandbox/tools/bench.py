"""What a primitive works with, and how it tells what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.packs.sandbox.provider import USUAL, Command, Finished, Limits, Sandbox, Way
from arena.packs.sandbox.tree import Tree


class ToolFailure(Exception):
    """A call that failed, with a sentence for the agent; `origin` says whose fault it was."""

    def __init__(self, message: str, origin: str = "tool") -> None:
        super().__init__(message)
        self.origin = origin


class Done(NamedTuple):
    """What a primitive answers, a text or JSON, and the work directory after it; none leaves it as it was."""

    answer: Any
    tree: Tree | None = None
    submitted: str | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """The work directory of a call, and what else the pack gives to it."""

    tree: Tree
    sandbox: Sandbox | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    way: Way | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)

    @property
    def limits(self) -> Limits:
        """What a call may use up."""
        return USUAL if self.sandbox is None else self.sandbox.limits

    async def run(self, command: Command) -> Finished:
        """Run a command in the sandbox; without one there is nothing to run it in."""
        if self.sandbox is None:
            raise ToolFailure("tool is not available in this runtime: there is no sandbox", "sandbox")
        return await self.sandbox.run(self.tree, command)
