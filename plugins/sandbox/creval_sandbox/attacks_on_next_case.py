"""Attacks of a case on the next case of the same program: attempts to leave something visible to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from creval_sandbox.attack import Attack, attempt

__all__ = ["ATTACKS_ON_NEXT_CASE"]

_WAYS: Mapping[str, tuple[str, str]] = {
    "in the times of its folder": (
        "os.utime('/tmp', ns=(5117, os.stat('/tmp').st_mtime_ns))",
        "os.stat('/tmp').st_atime_ns == 5117",
    ),
    "by reading a device": (
        "open('/dev/urandom', 'rb', 0).read(1)",
        "time.time() - os.stat('/dev/urandom').st_atime < 1",
    ),
    "in the mode of its folder": ("os.chmod('/tmp', 0o1776)", "os.stat('/tmp').st_mode & 1 == 0"),
    "in an extended attribute of its folder": (
        "os.setxattr('/tmp', 'user.creval', b'5117')",
        "os.getxattr('/tmp', 'user.creval') == b'5117'",
    ),
    "in the flags of its folder": (
        "fcntl.ioctl(os.open('/tmp', 0), 0x40086602, (0x40).to_bytes(8, 'little'))",
        "fcntl.ioctl(os.open('/tmp', 0), 0x80086601, bytes(8))[0] & 0x40",
    ),
    "in the hint for writing to its folder": (
        "fcntl.fcntl(os.open('/tmp', 0), 1036, (3).to_bytes(8, 'little'))",
        "fcntl.fcntl(os.open('/tmp', 0), 1035, bytes(8))[0] == 3",
    ),
    "in a process that lives on": ("os.fork() or time.sleep(5)", "len(set(alive())) > 1"),
    "in the number of its process": ("pass", "os.getpid() != 2"),
    "in the numbers of its threads": ("thread()", "thread() != 3"),
}
_CASES = """
import fcntl, threading, time
def thread():
    numbers = []
    started = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
    started.start()
    started.join()
    return numbers[0]
def alive():
    for pid in range(2, 64):
        try:
            os.kill(pid, 0)
        except OSError:
            continue
        yield pid
if input() == "leave":
    LEAVE
else:
    found = LOOK
"""


def _cases(leave: str, look: str) -> str:
    return attempt(_CASES.replace("LEAVE", leave).replace("LOOK", look))


ATTACKS_ON_NEXT_CASE: Sequence[Attack] = tuple(
    Attack(f"leave something to the next case {name}", _cases(leave, look), cases=(b"leave", b"look"))
    for name, (leave, look) in _WAYS.items()
)
