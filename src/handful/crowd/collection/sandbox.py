"""Locks the decoding child in: no files, no sockets, no processes, as far as the kernel allows.

Three layers, none of which can be taken back by the process that asked for them:

- resource limits (every system that Python runs on): little memory, little time, no byte written to a file;
- Landlock (Linux from 5.13): no path may be opened, no port connected to or bound;
- seccomp (Linux on x86-64 and aarch64): a list of system calls that decoding needs; every other one fails.

What a process could still do after that is tried out, not assumed: `still_possible`.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import socket
import struct
import sys
from collections.abc import Callable

MEMORY_BYTES = 1_500_000_000
CPU_SECONDS = 300

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_FILE_ACCESS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}  # by version of Landlock; from the fifth on, the next
_FILE_ACCESS_NOW = 0xFFFF
_NETWORK_ACCESS = 0x3  # bind and connect over TCP, from the fourth version on
_SCOPES = 0x3  # abstract sockets and signals to others, from the sixth version on

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # classic BPF
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS = 1, 38
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT, _THIRD_ARGUMENT_AT = 0, 4, 16, 32
_PROT_EXEC, _CLONE_THREAD = 0x4, 0x10000

# What decoding needs, by the number that the system call has on x86-64 and on aarch64.
_NEEDED = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "lseek": (8, 62),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "readv": (19, 65),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "rseq": (334, 293),
}
_MAPPING = {"mmap": (9, 222), "mprotect": (10, 226)}  # allowed unless the memory is to be executed
_CLONE, _CLONE3 = (56, 220), (435, 435)  # a thread may be started, a process not
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def lock_this_process() -> None:
    """Apply every layer that this system has."""
    _limit()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:  # both others need it
            _close_files_and_ports(libc)
            _allow_few_system_calls(libc)


def still_possible() -> tuple[str, ...]:
    """What this process can do although decoding does not need it: "files", "sockets", "processes"."""
    attempts = (("files", _open_a_file), ("sockets", _make_a_socket), ("processes", _start_a_process))
    return tuple(what for what, attempt in attempts if _succeeds(attempt))


def _limit() -> None:
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def _close_files_and_ports(libc: ctypes.CDLL) -> None:
    """Landlock: a set of rules that allows nothing of what it governs."""
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return  # an older kernel, or Landlock is switched off
    governed = [_FILE_ACCESS.get(version, _FILE_ACCESS_NOW)]
    governed += [_NETWORK_ACCESS] * (version >= 4)
    governed += [_SCOPES] * (version >= 6)
    attributes = struct.pack(f"={len(governed)}Q", *governed)
    rules = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules >= 0:
        libc.syscall(_LANDLOCK_RESTRICT_SELF, rules, 0)
        os.close(rules)


def _allow_few_system_calls(libc: ctypes.CDLL) -> None:
    """Seccomp: what is not needed fails with EPERM."""
    if platform.machine() not in _ARCHITECTURES:
        return
    program = _filter(*_ARCHITECTURES[platform.machine()])
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(Program(len(program) // 8, ctypes.addressof(code))))


def _filter(column: int, architecture: int) -> bytes:
    """The program that the kernel runs before each system call."""
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    for numbers in _NEEDED.values():
        steps += [(_JUMP_IF_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_JUMP_IF_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _FAIL | _ENOSYS)]  # glibc then tries clone
    for numbers in _MAPPING.values():
        steps += _if_argument(numbers[column], _THIRD_ARGUMENT_AT, _PROT_EXEC, allowed_if_set=False)
    steps += _if_argument(_CLONE[column], _FIRST_ARGUMENT_AT, _CLONE_THREAD, allowed_if_set=True)
    steps.append((_RETURN, 0, 0, _FAIL | _EPERM))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _if_argument(number: int, where: int, bit: int, *, allowed_if_set: bool) -> list[tuple[int, int, int, int]]:
    """Allow one system call if a bit of an argument is set, or if it is not."""
    set_, clear = (_ALLOW, _FAIL | _EPERM) if allowed_if_set else (_FAIL | _EPERM, _ALLOW)
    return [
        (_JUMP_IF_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, where),
        (_JUMP_IF_ANY_BIT, 0, 1, bit),
        (_RETURN, 0, 0, set_),
        (_RETURN, 0, 0, clear),
    ]


def _open_a_file() -> None:
    os.close(os.open(os.sep, os.O_RDONLY))


def _make_a_socket() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()


def _start_a_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True
