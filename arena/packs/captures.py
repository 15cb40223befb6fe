"""Post-execution checks: what is kept of files and directories, within limits, before a sandbox goes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from arena.packs.evidence import CapturedFile, Entry, Listing
from arena.packs.spec.models import PostExecutionCheck

FILE_LIMIT = 1024 * 1024
RUN_LIMIT = 10 * 1024 * 1024


@dataclass(slots=True)
class Captures:
    """The captures of one run, which share a limit; whoever reads the sandbox asks here how much to read."""

    used: int = 0

    def limit(self, check: PostExecutionCheck) -> int:
        """How many bytes of a file are kept at most."""
        own = check.max_size_bytes if check.max_size_bytes > 0 else FILE_LIMIT
        return max(0, min(own, RUN_LIMIT - self.used))

    def file(self, check: PostExecutionCheck, content: bytes | None, size: int | None = None) -> CapturedFile:
        """Keep a file, or note that it could not be read; `size` is that of the whole file."""
        if content is None:
            return CapturedFile(check.key, check.path)
        limit, whole = self.limit(check), len(content) if size is None else size
        self.used += whole
        text = content[:limit].decode("utf-8", errors="replace")
        return CapturedFile(check.key, check.path, exists=True, content=text, size=whole, truncated=whole > limit)

    def listing(self, check: PostExecutionCheck, entries: Iterable[Entry] | None) -> Listing:
        """Keep a listing; an unreadable directory is an empty one."""
        return Listing(check.key, check.path, tuple(entries or ()))


def file_record(captured: CapturedFile) -> dict[str, Any]:
    """A capture as the payload of its event."""
    record: dict[str, Any] = {"key": captured.key, "path": captured.path, "exists": captured.exists}
    content = {"content": captured.content} if captured.exists else {}
    return {**record, **content, "size": captured.size, **({"truncated": True} if captured.truncated else {})}
