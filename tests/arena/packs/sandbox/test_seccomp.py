import errno
import struct

import pytest

from arena.packs.sandbox.keeper import seccomp

X86, ARM = 0xC000003E, 0xC00000B7
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def decide(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the kernel's interpreter would return for a call."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *(*arguments, *[0] * (6 - len(arguments))))
    lines = list(struct.iter_unpack("=HBBI", program))
    at, held = 0, 0
    while True:
        code, yes, no, operand = lines[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("=I", data, operand)
            case 0x06:
                return int(operand)
            case _:
                holds = {0x15: held == operand, 0x35: held >= operand, 0x45: bool(held & operand)}[code]
                at += yes if holds else no


def of(machine: str, *, counted: bool = True) -> bytes:
    program = seccomp.program(counted=counted, machine=machine)
    assert program is not None
    return program


@pytest.mark.parametrize(("machine", "arch"), [("x86_64", X86), ("aarch64", ARM)])
def test_every_listed_call_is_refused_and_reading_is_not(machine: str, arch: int) -> None:
    program = of(machine)

    for name, number in seccomp._MACHINES[machine].calls.items():
        assert decide(program, arch, number) == ERRNO | errno.EPERM, name
    for harmless in (0, 1, 59, 231) if machine == "x86_64" else (63, 64, 221, 93):  # read, write, execve, exit_group
        assert decide(program, arch, harmless) == ALLOW


def test_the_most_dangerous_calls_are_on_the_list() -> None:
    dangerous = {"ptrace", "mount", "keyctl", "bpf", "unshare", "setns", "perf_event_open", "io_uring_setup"}

    assert all(dangerous <= set(machine.calls) for machine in seccomp._MACHINES.values())


@pytest.mark.parametrize("flag", [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
def test_a_process_may_be_cloned_but_not_into_a_new_namespace(flag: int) -> None:
    program = of("x86_64")

    assert decide(program, X86, 56, 17) == ALLOW
    assert decide(program, X86, 56, 17 | flag) == ERRNO | errno.EPERM
    assert decide(program, X86, 435) == ERRNO | errno.ENOSYS


def test_only_plain_kinds_of_sockets_are_given() -> None:
    program = of("x86_64")

    assert {family for family in range(64) if decide(program, X86, 41, family) == ALLOW} == {1, 2, 10, 16}
    assert decide(program, X86, 41, 40) == ERRNO | errno.EAFNOSUPPORT


def test_nobody_types_into_a_terminal_for_others() -> None:
    program = of("x86_64")

    assert decide(program, X86, 16, 0, 0x5412) == ERRNO | errno.EPERM
    assert decide(program, X86, 16, 0, 0x541C) == ERRNO | errno.EPERM
    assert decide(program, X86, 16, 0, 0x5401) == ALLOW


def test_calls_of_another_architecture_do_not_get_past_the_filter() -> None:
    program = of("x86_64")

    assert decide(program, 0x40000003, 101) == KILL
    assert decide(program, X86, 0x40000000 | 101) == ERRNO | errno.EPERM


def test_memory_that_nobody_counts_is_refused() -> None:
    assert decide(of("x86_64", counted=True), X86, 319) == ALLOW
    assert decide(of("x86_64", counted=False), X86, 319) == ERRNO | errno.EPERM
    assert decide(of("x86_64", counted=False), X86, 29) == ERRNO | errno.EPERM


def test_an_unknown_processor_has_no_filter() -> None:
    assert seccomp.program(counted=True, machine="vax") is None
