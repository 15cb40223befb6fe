"""Debian packages that packs ask for: the sandbox shows the server's own system, so they have to be installed there."""

import re
import shutil
from functools import lru_cache
from pathlib import Path

_STATUS = Path("/var/lib/dpkg/status")
_INSTALLED = re.compile(r"^Package: (\S+)\n(?:.+\n)*?Status: install ok installed$", re.MULTILINE)


def refusal(wanted: tuple[str, ...], status: Path = _STATUS) -> str:
    """Which of the wanted packages are missing, in words; nothing if they are all there."""
    missing = [name for name in wanted if not is_installed(name, status)]
    if not missing:
        return ""
    return f"the pack needs packages that this server does not have: {', '.join(missing)}; install them on the server"


def is_installed(name: str, status: Path = _STATUS) -> bool:
    """Whether a package is there; without a list of packages a program of that name will do."""
    try:
        known = _installed(status, status.stat().st_mtime_ns)
    except OSError:
        return shutil.which(name) is not None
    return name in known


@lru_cache(maxsize=2)
def _installed(status: Path, _changed: int) -> frozenset[str]:
    return frozenset(_INSTALLED.findall(status.read_text(encoding="utf-8", errors="replace")))
