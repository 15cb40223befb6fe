"""The few system calls that Python 3.11 has no names for."""

import ctypes
import os

NEWNS, NEWUSER, NEWPID, NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
NOSUID, NODEV, NOEXEC, BIND, REC, SLAVE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x80000
_PDEATHSIG, _NO_NEW_PRIVS = 1, 38

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(done: int, what: str) -> None:
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave namespaces behind: the calling thread alone, where the kernel allows that."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount something in this mount namespace."""
    encoded = (None if text is None else os.fsencode(text) for text in (source, target, kind))
    done = _libc.mount(*encoded, ctypes.c_ulong(flags), None if options is None else options.encode())
    _checked(done, f"mount {target}")


def die_with_parent(signal: int = 9) -> None:
    """Get a signal when the parent ends; a change of user undoes this."""
    _checked(_libc.prctl(_PDEATHSIG, signal, 0, 0, 0), "prctl")


def give_up_privileges_for_good() -> None:
    """No program started from here gains anything by its set-user-ID bit."""
    _checked(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
