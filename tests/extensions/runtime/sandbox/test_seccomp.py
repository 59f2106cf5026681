"""The filter's decisions, for both architectures on any machine: the program that the kernel gets is run here."""

from __future__ import annotations

import errno
import struct

import pytest

from hatbox.extensions.runtime.sandbox.seccomp import program
from hatbox.extensions.runtime.sandbox.system_calls import ARCHITECTURES

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
READ = {"x86_64": 0, "aarch64": 63}
NEEDED = {  # what Deno calls, and subprocess to start it
    "x86_64": {"execve": 59, "vfork": 58, "futex": 202, "mmap": 9, "openat": 257, "epoll_wait": 232, "exit_group": 231},
    "aarch64": {"execve": 221, "futex": 98, "mmap": 222, "openat": 56, "epoll_pwait": 22, "exit_group": 94},
}

machines = pytest.mark.parametrize("machine", ARCHITECTURES)


def decide(code: bytes, number: int, audit: int, *arguments: int) -> int:
    """Run a filter over one call, as the kernel does."""
    data = struct.pack(
        "=iIQ6Q", number if number < 1 << 31 else number - (1 << 32), audit, 0, *(*arguments, *[0] * 6)[:6]
    )
    at, accumulator = 0, 0
    while True:
        operation, if_true, if_not, operand = struct.unpack_from("=HBBI", code, 8 * at)
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x54:
            accumulator &= operand
        elif operation == 0x06:
            return int(operand)
        else:
            holds = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}
            at += if_true if holds[operation] else if_not


def decided(machine: str, name: str, *arguments: int, **options: bool) -> int:
    architecture = ARCHITECTURES[machine]
    return decide(program(machine, **options), architecture.calls[name], architecture.audit, *arguments)


@machines
def test_what_deno_needs_is_allowed(machine: str) -> None:
    audit = ARCHITECTURES[machine].audit
    for number in (READ[machine], *NEEDED[machine].values()):
        assert decide(program(machine), number, audit) == ALLOW


@machines
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    others = [0x40000003, 0x40000028, *(each.audit for name, each in ARCHITECTURES.items() if name != machine)]
    for audit in others:
        assert decide(program(machine), READ[machine], audit) == KILL


def test_calls_of_the_x32_abi_are_refused() -> None:
    audit = ARCHITECTURES["x86_64"].audit
    for number in (0x40000000 | READ["x86_64"], 0x40000000 | 41, 0x40000000 | 520, 0xFFFFFFFF):
        assert decide(program("x86_64"), number, audit) == EPERM


@machines
@pytest.mark.parametrize(
    "name", ["socket", "connect", "ptrace", "kill", "tkill", "memfd_create", "fchmodat", "setrlimit"]
)
def test_what_reaches_others_is_refused(machine: str, name: str) -> None:
    assert decided(machine, name) == EPERM


@machines
def test_threads_and_the_start_of_deno_are_all_that_clone_may(machine: str) -> None:
    assert decided(machine, "clone", 0x3D0F00) == ALLOW  # as pthread_create
    assert decided(machine, "clone", 0x4111) == ALLOW  # as subprocess
    assert decided(machine, "clone", 0x1200011) == EPERM  # as fork
    assert decided(machine, "clone", 0x10000000 | 17) == EPERM  # a user namespace
    assert decided(machine, "clone", 0x4111 | 0x10000000) == EPERM
    assert decided(machine, "clone3") == ENOSYS


@machines
def test_limits_may_be_read_and_only_its_own(machine: str) -> None:
    assert decided(machine, "prlimit64", 0, 7, 0, 1) == ALLOW
    assert decided(machine, "prlimit64", 1234, 7, 0, 1) == EPERM
    assert decided(machine, "prlimit64", 0, 7, 0x7F00, 0) == EPERM
    assert decided(machine, "prlimit64", 0, 7, 0x7F00000000, 0) == EPERM


@machines
def test_a_pair_of_sockets_is_of_streams(machine: str) -> None:
    assert decided(machine, "socketpair", 1, 1) == ALLOW
    assert decided(machine, "socketpair", 1, 1 | 0o2004000) == ALLOW  # not blocking, not inherited
    assert decided(machine, "socketpair", 1, 2) == EPERM
    assert decided(machine, "socketpair", 16, 1) == EPERM


@machines
def test_descriptors_have_no_owner_and_terminals_no_input(machine: str) -> None:
    for command in (8, 10, 15):
        assert decided(machine, "fcntl", 5, command) == EPERM
    assert decided(machine, "fcntl", 5, 4) == ALLOW
    for request in (0x8901, 0x8902, 0x5412, 0x541C):
        assert decided(machine, "ioctl", 5, request) == EPERM
    assert decided(machine, "ioctl", 5, 0x5421) == ALLOW


@machines
def test_an_inspected_child_may_listen_and_no_more(machine: str) -> None:
    for name in ("socket", "bind", "listen"):
        assert decided(machine, name, listen=True) == ALLOW
    assert decided(machine, "connect", listen=True) == EPERM


@machines
def test_signals_to_threads_are_refused_unless_landlock_limits_them(machine: str) -> None:
    assert decided(machine, "tgkill") == EPERM
    assert decided(machine, "tgkill", signals=True) == ALLOW
    assert decided(machine, "kill", signals=True) == EPERM
