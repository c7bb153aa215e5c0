"""System calls that programs may not use, and their numbers on each kind of machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["ARGUMENTS", "DENIED", "EXECUTION", "FIRST_UNKNOWN", "WATCHING", "Numbers", "number_of"]

FIRST_UNKNOWN = 451
"""Calls from this number on are newer than this table and are answered as not implemented."""


class Numbers(NamedTuple):
    """The number of one call; None if the machine has no such call."""

    x86_64: int | None
    aarch64: int | None


EXECUTION: Mapping[str, Numbers] = {
    "clone": Numbers(56, 220),
    "clone3": Numbers(435, 435),
    "fork": Numbers(57, None),
    "vfork": Numbers(58, None),
    "execve": Numbers(59, 221),
    "execveat": Numbers(322, 281),
    "prlimit64": Numbers(302, 261),
}

_OTHER_PROCESSES = {
    "ptrace": Numbers(101, 117),
    "process_vm_readv": Numbers(310, 270),
    "process_vm_writev": Numbers(311, 271),
    "process_madvise": Numbers(440, 440),
    "process_mrelease": Numbers(448, 448),
    "kcmp": Numbers(312, 272),
    "pidfd_open": Numbers(434, 434),
    "pidfd_getfd": Numbers(438, 438),
    "pidfd_send_signal": Numbers(424, 424),
    "move_pages": Numbers(279, 239),
    "migrate_pages": Numbers(256, 238),
    "setpriority": Numbers(141, 140),
    "sched_setparam": Numbers(142, 118),
    "sched_setscheduler": Numbers(144, 119),
    "sched_setaffinity": Numbers(203, 122),
    "sched_setattr": Numbers(314, 274),
    "ioprio_set": Numbers(251, 30),
}
_NAMESPACES_AND_MOUNTS = {
    "unshare": Numbers(272, 97),
    "setns": Numbers(308, 268),
    "mount": Numbers(165, 40),
    "umount2": Numbers(166, 39),
    "pivot_root": Numbers(155, 41),
    "chroot": Numbers(161, 51),
    "open_tree": Numbers(428, 428),
    "move_mount": Numbers(429, 429),
    "fsopen": Numbers(430, 430),
    "fsconfig": Numbers(431, 431),
    "fsmount": Numbers(432, 432),
    "fspick": Numbers(433, 433),
    "mount_setattr": Numbers(442, 442),
    "name_to_handle_at": Numbers(303, 264),
    "open_by_handle_at": Numbers(304, 265),
}
_OUTSIDE_AND_KERNEL = {
    "socket": Numbers(41, 198),
    "io_uring_setup": Numbers(425, 425),
    "io_uring_enter": Numbers(426, 426),
    "io_uring_register": Numbers(427, 427),
    "bpf": Numbers(321, 280),
    "perf_event_open": Numbers(298, 241),
    "userfaultfd": Numbers(323, 282),
    "fanotify_init": Numbers(300, 262),
    "add_key": Numbers(248, 217),
    "request_key": Numbers(249, 218),
    "keyctl": Numbers(250, 219),
    "quotactl": Numbers(179, 60),
    "quotactl_fd": Numbers(443, 443),
    "acct": Numbers(163, 89),
    "swapon": Numbers(167, 224),
    "swapoff": Numbers(168, 225),
    "reboot": Numbers(169, 142),
    "sethostname": Numbers(170, 161),
    "setdomainname": Numbers(171, 162),
    "init_module": Numbers(175, 105),
    "finit_module": Numbers(313, 273),
    "delete_module": Numbers(176, 106),
    "kexec_load": Numbers(246, 104),
    "kexec_file_load": Numbers(320, 294),
    "syslog": Numbers(103, 116),
    "settimeofday": Numbers(164, 170),
    "clock_settime": Numbers(227, 112),
    "clock_adjtime": Numbers(305, 266),
    "adjtimex": Numbers(159, 171),
    "personality": Numbers(135, 92),
    "vhangup": Numbers(153, 58),
    "lookup_dcookie": Numbers(212, 18),
}
_MEMORY_OUTSIDE_THE_LIMITS = {
    "memfd_create": Numbers(319, 279),
    "memfd_secret": Numbers(447, 447),
    "shmget": Numbers(29, 194),
    "shmat": Numbers(30, 196),
    "shmctl": Numbers(31, 195),
    "semget": Numbers(64, 190),
    "semop": Numbers(65, 193),
    "semctl": Numbers(66, 191),
    "semtimedop": Numbers(220, 192),
    "msgget": Numbers(68, 186),
    "msgsnd": Numbers(69, 189),
    "msgrcv": Numbers(70, 188),
    "msgctl": Numbers(71, 187),
    "mq_open": Numbers(240, 180),
    "mq_unlink": Numbers(241, 181),
    "mbind": Numbers(237, 235),
    "set_mempolicy": Numbers(238, 237),
}
_LEFT_BEHIND = {
    "setxattr": Numbers(188, 5),
    "lsetxattr": Numbers(189, 6),
    "fsetxattr": Numbers(190, 7),
    "removexattr": Numbers(197, 14),
    "lremovexattr": Numbers(198, 15),
    "fremovexattr": Numbers(199, 16),
    "mincore": Numbers(27, 232),  # reveals which pages of a file another case has read
}

ARGUMENTS: Mapping[str, tuple[Numbers, tuple[int, ...]]] = {
    "fcntl": (Numbers(72, 25), (1024, 1036, 1038)),  # F_SETLEASE, F_SET_RW_HINT, F_SET_FILE_RW_HINT
    "ioctl": (Numbers(16, 29), (0x40086602, 0x401C5820)),  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
}
"""Calls that are refused with these second arguments, since they change a file without changing any of its times."""

DENIED: Mapping[str, Numbers] = {
    **_OTHER_PROCESSES,
    **_NAMESPACES_AND_MOUNTS,
    **_OUTSIDE_AND_KERNEL,
    **_MEMORY_OUTSIDE_THE_LIMITS,
    **_LEFT_BEHIND,
}

WATCHING = ("mount", "pidfd_open", "setns", "unshare")
"""The refused calls that launcher and watchers need, and no program may use."""


def number_of(numbers: Numbers, machine: str) -> int | None:
    """Return the number of a call on `machine` (`x86_64`, `aarch64`)."""
    return numbers.x86_64 if machine == "x86_64" else numbers.aarch64
