"""Attacks on the files, folders and devices of the machine that are visible from inside.

Each attack tries one call on all of them, with their current values, so that only the time of change would change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from creval_sandbox.attack import Attack, attempt

__all__ = ["ATTACKS_ON_FILES"]

_CALLS: Mapping[str, str] = {
    "set the mode": "os.chmod(path, seen.st_mode & 0o7777)",
    "set the mode through a descriptor": "os.fchmod(handle, seen.st_mode & 0o7777)",
    "set the owner": "os.chown(path, -1, -1)",
    "set the owner to its own": "os.chown(path, seen.st_uid, seen.st_gid)",
    "set the owner through a descriptor": "os.fchown(handle, -1, -1)",
    "set the times": "os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))",
    "set the times to now": "os.utime(path)",
    "set the times through a descriptor": "os.utime(handle)",
    "change extended attributes": "os.removexattr(path, 'user.creval')",
    "change extended attributes through a descriptor": "os.removexattr(handle, 'user.creval')",
    "set the flags": "fcntl.ioctl(handle, 0x40086602, fcntl.ioctl(handle, 0x80086601, bytes(8)))",
    "set the hint for writing": "fcntl.fcntl(handle, 1036, bytes(8))",
    "take a lease": "fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "rename": "os.rename(path, path)",
    "link": "os.link(path, path + '.creval')",
}
_NO_SUCH_ATTRIBUTE = 61
_EVERYWHERE = """
import fcntl
def paths():
    for folder, folders, files in os.walk("/"):
        if folder.count("/") > 3:
            folders.clear()
        if folder != "/tmp":
            yield folder
            yield from (os.path.join(folder, name) for name in (files if folder == "/dev" else files[:2]))
for path in paths():
    if os.path.islink(path):
        continue
    try:
        seen, handle = os.stat(path), os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        continue
    try:
        CALL
        found = True
    except OSError as error:
        found = found or error.errno == NO_SUCH_ATTRIBUTE
    os.close(handle)
"""


def _everywhere(call: str) -> str:
    return attempt(_EVERYWHERE.replace("CALL", call).replace("NO_SUCH_ATTRIBUTE", str(_NO_SUCH_ATTRIBUTE)))


ATTACKS_ON_FILES: Sequence[Attack] = tuple(
    Attack(f"change files and devices of the machine: {name}", _everywhere(call)) for name, call in _CALLS.items()
)
