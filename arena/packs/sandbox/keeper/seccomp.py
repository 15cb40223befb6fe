"""A seccomp filter, assembled by hand: the calls that lead out of a sandbox, or deep into the kernel, are refused."""

import errno
import platform
import struct
from typing import NamedTuple

# instruction, true and false jumps, operand; the filter reads struct seccomp_data
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NAMESPACES = 0x7E020080  # every CLONE_NEW… flag
_X32 = 0x40000000
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; vsock and others know no namespaces
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


class _Machine(NamedTuple):
    """What the filter has to know of a processor."""

    audit: int
    calls: dict[str, int]


# Numbers from 424 on are the same everywhere.
_NEW = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "open_tree_attr": 467,
}
_X86 = {
    "ptrace": 101,
    "syslog": 103,
    "personality": 135,
    "ustat": 136,
    "sysfs": 139,
    "vhangup": 153,
    "modify_ldt": 154,
    "pivot_root": 155,
    "_sysctl": 156,
    "adjtimex": 159,
    "chroot": 161,
    "acct": 163,
    "settimeofday": 164,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "sethostname": 170,
    "setdomainname": 171,
    "iopl": 172,
    "ioperm": 173,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "lookup_dcookie": 212,
    "clock_settime": 227,
    "mbind": 237,
    "set_mempolicy": 238,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "migrate_pages": 256,
    "unshare": 272,
    "move_pages": 279,
    "perf_event_open": 298,
    "fanotify_init": 300,
    "name_to_handle_at": 303,
    "open_by_handle_at": 304,
    "clock_adjtime": 305,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
}
_ARM = {
    "lookup_dcookie": 18,
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "chroot": 51,
    "vhangup": 58,
    "quotactl": 60,
    "acct": 89,
    "personality": 92,
    "unshare": 97,
    "kexec_load": 104,
    "init_module": 105,
    "delete_module": 106,
    "clock_settime": 112,
    "syslog": 116,
    "ptrace": 117,
    "reboot": 142,
    "sethostname": 161,
    "setdomainname": 162,
    "settimeofday": 170,
    "adjtimex": 171,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "swapon": 224,
    "swapoff": 225,
    "mbind": 235,
    "set_mempolicy": 237,
    "migrate_pages": 238,
    "move_pages": 239,
    "perf_event_open": 241,
    "fanotify_init": 262,
    "name_to_handle_at": 264,
    "open_by_handle_at": 265,
    "clock_adjtime": 266,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "bpf": 280,
    "userfaultfd": 282,
    "kexec_file_load": 294,
}
_MACHINES = {
    "x86_64": _Machine(0xC000003E, {**_X86, **_NEW}),
    "aarch64": _Machine(0xC00000B7, {**_ARM, **_NEW}),
}
_SPECIAL = {
    "x86_64": {"clone": 56, "clone3": 435, "socket": 41, "ioctl": 16, "memfd_create": 319, "shmget": 29},
    "aarch64": {"clone": 220, "clone3": 435, "socket": 198, "ioctl": 29, "memfd_create": 279, "shmget": 194},
}


def _line(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, operand)


def _refuse(number: int) -> bytes:
    return _line(_RETURN, _ERRNO | number)


def program(*, counted: bool, machine: str = "") -> bytes | None:
    """The filter for this processor, or none if we have no table for it.

    Memory that belongs to no process is refused unless something else counts it.
    """
    name = machine or platform.machine()
    if name not in _MACHINES:
        return None
    known, special = _MACHINES[name], _SPECIAL[name]
    hidden = () if counted else (special["memfd_create"], special["shmget"])
    lines = [
        _line(_LOAD, _ARCH),
        _line(_EQUAL, known.audit, yes=1),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    if name == "x86_64":
        lines += [_line(_AT_LEAST, _X32, no=1), _refuse(errno.EPERM)]
    for number in (*known.calls.values(), *hidden):
        lines += [_line(_EQUAL, number, no=1), _refuse(errno.EPERM)]
    # clone3 hides its flags behind a pointer; without it libraries fall back to clone, whose flags can be read.
    lines += [_line(_EQUAL, special["clone3"], no=1), _refuse(errno.ENOSYS)]
    lines += [
        *(_line(_EQUAL, special["clone"], no=4), _line(_LOAD, _FIRST)),
        *(_line(_ANY_BIT, _NAMESPACES, no=1), _refuse(errno.EPERM), _line(_RETURN, _ALLOW)),
    ]
    lines += [_line(_EQUAL, special["socket"], no=len(_FAMILIES) + 3), _line(_LOAD, _FIRST)]
    lines += [_line(_EQUAL, family, yes=len(_FAMILIES) - index) for index, family in enumerate(_FAMILIES)]
    lines += [_refuse(errno.EAFNOSUPPORT), _line(_RETURN, _ALLOW)]
    lines += [
        *(_line(_EQUAL, special["ioctl"], no=4), _line(_LOAD, _SECOND)),
        *(_line(_EQUAL, _TIOCSTI, yes=1), _line(_EQUAL, _TIOCLINUX, no=1), _refuse(errno.EPERM)),
        _line(_RETURN, _ALLOW),
    ]
    return b"".join(lines)
