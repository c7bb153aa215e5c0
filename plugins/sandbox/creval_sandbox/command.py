"""The command line of bubblewrap, passed by descriptor so that it cannot be read from inside."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from creval.plugin import MissingPartError
from creval.plugin.programs import SandboxError
from creval_sandbox.mounts import Mount

__all__ = [
    "DEVICES",
    "ENVIRONMENT",
    "PYTHON_FLAGS",
    "Identity",
    "Started",
    "bubblewrap_path",
    "bubblewrap_version",
    "identities",
    "isolation",
    "start",
]

PYTHON_FLAGS = ("-P", "-s", "-S", "-B", "-X", "utf8")
_NOBODY = 65534
ENVIRONMENT = {
    "HOME": "/tmp",
    "PATH": "/usr/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONHOME": "/python",
    "PYTHONHASHSEED": "0",
    "LD_LIBRARY_PATH": "/python/lib",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
DEVICES = ("/dev/null", "/dev/urandom")
_ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv")


@dataclass(frozen=True, slots=True)
class Identity:
    """The user as whom bubblewrap runs. `user` None: the user who started creval."""

    user: int | None = None

    def __str__(self) -> str:
        return "as the user who runs creval" if self.user is None else f"as the user {self.user}"


def identities() -> Sequence[Identity]:
    """Return the identities to try, best first: root becomes nobody, to whom the kernel's limits apply."""
    return (Identity(_NOBODY), Identity()) if os.geteuid() == 0 else (Identity(),)


@dataclass(slots=True)
class Started:
    """A bubblewrap process, and the file with its error messages."""

    process: subprocess.Popen[bytes]
    complaints: int

    def words(self) -> str:
        """Return its error messages."""
        return os.pread(self.complaints, 4000, 0).decode("utf-8", "replace").strip()

    def end(self, patience: float = 0.0) -> None:
        """Kill it with everything inside, unless it exits within `patience` seconds."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.complaints)


@cache
def bubblewrap_path() -> str:
    """Return the path of bwrap. Raises MissingPartError."""
    found = shutil.which("bwrap")
    if found is None:
        raise MissingPartError(
            "model-written code runs in bubblewrap, and the program bwrap is not on the PATH",
            where="sandbox bubblewrap",
            fix="It needs Linux. Install it: apt-get install bubblewrap, or dnf install bubblewrap.",
        )
    return found


@cache
def bubblewrap_version() -> str:
    """Return its version (`0.8.0`)."""
    done = subprocess.run([bubblewrap_path(), "--version"], capture_output=True, text=True, check=False)
    return done.stdout.split()[-1] if done.stdout.split() else "unknown"


def isolation(mounts: Sequence[Mount], devices: Sequence[str] = DEVICES) -> list[str]:
    """Return the arguments shared by every mode: namespaces, environment, mounts, devices.

    Bubblewrap cannot bind a device read-only, so the launcher does that before any program starts.
    """
    arguments = [*_ISOLATION, "--uid", str(_NOBODY), "--gid", str(_NOBODY), "--hostname", "sandbox"]
    for name, value in ENVIRONMENT.items():
        arguments += ["--setenv", name, value]
    for mount in mounts:
        arguments += _mount(mount)
    for device in devices:
        arguments += ["--dev-bind", device, device]
    return arguments


def start(mounts: Sequence[Mount], control: int, identity: Identity, *, capable: bool, scratch_bytes: int) -> Started:
    """Start bubblewrap with the launcher as process 1 of the sandbox; `control` is the descriptor that it listens on.

    `capable` keeps the one capability that allows mounts and further namespaces; without it there are no devices, and
    `/tmp` is a tmpfs of `scratch_bytes` from the beginning. Raises SandboxError if it cannot switch to the user.
    """
    arguments = [*isolation(mounts, DEVICES if capable else ()), "--setenv", "LD_BIND_NOW", "1", "--cap-drop", "ALL"]
    if capable:
        arguments += ["--cap-add", "CAP_SYS_ADMIN", "--perms", "1777", "--dir", "/tmp"]
    else:
        arguments += ["--perms", "1777", "--size", str(scratch_bytes), "--tmpfs", "/tmp"]
    return _spawn([*arguments, "--remount-ro", "/", "--chdir", "/"], control, identity)


def _launcher(control: int) -> Sequence[str]:
    begin = "import sys; sys.path.insert(0, '/sandbox'); from inside.launcher import main; main(int(sys.argv[1]))"
    return ("/python/bin/python", *PYTHON_FLAGS, "-c", begin, str(control))


def _mount(mount: Mount) -> Sequence[str]:
    if mount.link is not None:
        return ("--symlink", mount.link, mount.target)
    if mount.source is None:
        return ("--size", "4096", "--tmpfs", mount.target, "--remount-ro", mount.target)
    return ("--ro-bind", str(mount.source), mount.target)


def _spawn(arguments: Sequence[str], control: int, identity: Identity) -> Started:
    listed, complaints = os.memfd_create("arguments"), os.memfd_create("complaints")
    try:
        os.write(listed, b"".join(argument.encode() + b"\0" for argument in arguments))
        os.lseek(listed, 0, os.SEEK_SET)
        process = subprocess.Popen(
            [bubblewrap_path(), "--args", str(listed), "--", *_launcher(control)],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            pass_fds=[listed, control],
            start_new_session=True,
            user=identity.user,
            group=identity.user,
            extra_groups=None if identity.user is None else [],
        )
    except OSError as error:  # the user namespace of a rootless container may map no other user
        os.close(complaints)
        raise SandboxError.before(f"cannot run bubblewrap {identity}: {error.strerror}") from None
    except BaseException:
        os.close(complaints)
        raise
    finally:
        os.close(listed)
    return Started(process, complaints)
