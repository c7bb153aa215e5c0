"""Every attack that a sandbox has to withstand.

`creval sandbox check` runs them on the user's machine; the tests run them in every manner (`Manner`).
"""

from __future__ import annotations

from collections.abc import Sequence

from creval.plugin.programs import ProgramLanguage, StopReason
from creval_sandbox.attack import Attack, attempt
from creval_sandbox.attacks_on_files import ATTACKS_ON_FILES
from creval_sandbox.attacks_on_next_case import ATTACKS_ON_NEXT_CASE

__all__ = ["ATTACKS", "NEIGHBOUR", "SECRET"]

SECRET = "NEIGHBOUR-5117"
"""What the program before each attack writes wherever it can, and keeps in its memory."""

_TIME = (StopReason.CPU, StopReason.WALL)

_EXECUTES = """
#include <cstdio>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main() {
    char python[] = "/python/bin/python", option[] = "-c", text[] = "print('BREACH')";
    char home[] = "PYTHONHOME=/python", path[] = "LD_LIBRARY_PATH=/python/lib";
    char *arguments[] = {python, option, text, nullptr}, *environment[] = {home, path, nullptr};
    int handle = open(python, O_RDONLY);
    dup2(handle, 3);
    syscall(SYS_execveat, 3, "", arguments, environment, 0x1000);
    syscall(SYS_execveat, handle, "", arguments, environment, 0x1000);
    syscall(SYS_execveat, -100, python, arguments, environment, 0);
    execve(python, arguments, environment);
    std::puts("held");
}
"""

_BASIC: Sequence[Attack] = (
    Attack(
        "read the user's files and the tests",
        attempt(
            """
seen = []
for folder, folders, files in os.walk("/"):
    if folder.startswith(("/usr", "/lib", "/python", "/libraries", "/sandbox/inside", "/dev")):
        folders.clear()
        continue
    seen += [os.path.join(folder, name) for name in files]
allowed = {"/etc/ld.so.cache"}
packages = [f for f in os.listdir("/usr/lib") if f.startswith("python") and os.listdir("/usr/lib/" + f)]
for version in os.listdir("/python/lib"):
    hidden = "/python/lib/" + version + "/site-packages"
    packages += os.listdir(hidden) if os.path.isdir(hidden) else []
found = sorted(set(seen) - allowed) or packages or os.path.exists("/home") or os.path.exists("/root")
"""
        ),
        follows=True,
    ),
    Attack(
        "read the environment and the command line of the process that started it",
        attempt(
            """
ours = "HOME PATH LC_ALL PYTHONHOME PYTHONHASHSEED LD_LIBRARY_PATH OMP_NUM_THREADS OPENBLAS_NUM_THREADS PWD"
found = os.path.exists("/proc/1") or bool(set(os.environ) - set(ours.split()))
"""
        ),
    ),
    Attack(
        "read what the program before it left in any writable place",
        attempt(
            """
for folder, folders, files in os.walk("/"):
    if folder.startswith(("/usr", "/lib", "/python", "/libraries", "/sandbox", "/dev")):
        folders.clear()
        continue
    for name in files:
        with open(os.path.join(folder, name), "rb") as file:
            found = found or b"NEIGHBOUR-" + b"5117" in file.read(1 << 20)
found = found or bool(os.listdir("/tmp"))
"""
        ),
        follows=True,
    ),
    Attack(
        "find the program before it in the interpreter's memory",
        attempt(
            """
import gc
gc.unfreeze()
needle = "NEIGHBOUR-" + str(5117)
texts = (thing for held in gc.get_objects() for thing in gc.get_referents(held) if isinstance(thing, str))
found = any(needle in text and text != needle for text in texts)
found = found or hasattr(__import__("math"), "poisoned")
"""
        ),
        follows=True,
    ),
    Attack("write outside its own folder", attempt("open('/dev/shm/x', 'w')\nfound = True")),
    Attack("write into the root", attempt("os.mkdir('/mine')\nfound = True")),
    Attack("write into the interpreter", attempt("open('/python/lib/x', 'w')\nfound = True")),
    Attack(
        "open descriptors of anybody else",
        attempt(
            """
for descriptor in range(3, 1024):
    try:
        os.fstat(descriptor)
        found = True
    except OSError:
        pass
"""
        ),
    ),
    Attack("trace its watcher", attempt("found = libc.ptrace(16, 1, 0, 0) == 0")),
    Attack(
        "read its watcher's memory",
        attempt(
            """
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
here, there = Vector(ctypes.addressof(buffer), 64), Vector(id(libc), 64)
found = libc.process_vm_readv(1, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0
"""
        ),
    ),
    Attack(
        "lower its watcher's limits so that the failure looks like the sandbox's",
        attempt("resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))\nfound = True"),
    ),
    Attack("slow its watcher down", attempt("os.setpriority(os.PRIO_PROCESS, 1, 19)\nfound = True")),
    Attack(
        "kill or stop its watcher",
        "import os, signal\n"
        "for number in range(1, 65):\n"
        "    if number in (signal.SIGCHLD,):\n        continue\n"
        "    try:\n        os.kill(1, number)\n    except (OSError, ValueError):\n        pass\n"
        "print('still here')\n",
        contained=lambda result: result.stdout == b"still here\n" and result.succeeded,
    ),
    Attack(
        "kill every process that it can reach",
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for pid in (0, -1, *range(-64, -1)):\n"
        "    try:\n        os.kill(pid, signal.SIGTERM)\n    except OSError:\n        pass\n"
        "print('still here')\n",
        contained=lambda result: result.stdout == b"still here\n" and result.succeeded,
    ),
    Attack("raise its own limits", attempt("resource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nfound = True")),
    Attack(
        "reach the network",
        attempt("import socket\nsocket.create_connection(('127.0.0.1', 80), 1)\nfound = True"),
    ),
    Attack("open a socket at all", attempt("import socket\nsocket.socket(socket.AF_UNIX)\nfound = True")),
    Attack(
        "make namespaces of its own",
        attempt(
            "number = 272 if os.uname().machine == 'x86_64' else 97\n"
            "found = libc.unshare(0x10000000) == 0 or libc.syscall(number, 0x20000) == 0"
        ),
    ),
    Attack(
        "mount something",
        attempt("found = libc.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None) == 0 or libc.umount2(b'/tmp', 2) == 0"),
    ),
    Attack(
        "hold capabilities",
        attempt(
            """
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert libc.capget(ctypes.byref(header), ctypes.byref(sets)) == 0
found = any(sets) or libc.prctl(39, 0, 0, 0, 0) != 1
"""
        ),
    ),
    Attack("execute another program", attempt("os.posix_spawn('/usr/bin/env', ['env'], {})\nfound = True")),
    Attack("leave a process behind", attempt("found = os.fork() >= 0")),
    Attack(
        "leave shared memory behind",
        attempt("found = libc.shmget(5117, 4096, 0o1666) >= 0 or libc.memfd_create(b'x', 0) >= 0"),
    ),
    Attack(
        "call by an older interface of the processor",
        attempt("found = libc.syscall(0x40000000 + 39) > 0"),
    ),
    Attack(
        "start threads without end",
        "import threading\nthreading.stack_size(1 << 16)\nwait, n = threading.Event(), 0\n"
        "try:\n    while n < 1000:\n        threading.Thread(target=wait.wait, daemon=True).start()\n        n += 1\n"
        "except RuntimeError:\n    pass\nprint('BREACH' if n > 100 else 'held')\n",
    ),
    Attack("use memory without end", "x = []\nwhile True:\n    x.append(bytearray(1 << 24))\n", (StopReason.MEMORY,)),
    Attack(
        "write without end, no line break",
        "import sys\nwhile True:\n    sys.stdout.write('x' * 4096)\n",
        (StopReason.OUTPUT,),
    ),
    Attack(
        "write to standard error without end",
        "import os\nwhile True:\n    os.write(2, b'x' * 4096)\n",
        (StopReason.OUTPUT,),
    ),
    Attack(
        "fill the disk by many files",
        "import itertools\nfor i in itertools.count():\n    open(f'/tmp/{i}', 'wb').write(b'x' * 100000)\n",
        contained=lambda result: not result.succeeded,
    ),
    Attack("compute without end", "while True:\n    pass\n", _TIME),
    Attack(
        "ignore every signal and compute on",
        "import signal\nfor n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass\n",
        _TIME,
    ),
    Attack(
        "sleep, with its output closed",
        "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(3600)\n",
        (StopReason.WALL,),
    ),
    Attack("stop itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n", (StopReason.WALL,)),
    Attack(
        "say that it failed before it began",
        "import os\nos._exit(125)\n",
        contained=lambda result: result.exit_code == 125 and result.stop is None,
    ),
    Attack(
        "crash the interpreter",
        "import ctypes\nctypes.string_at(0)\n",
        contained=lambda result: result.signal == 11,
    ),
    Attack("execute the interpreter from machine code", _EXECUTES, language=ProgramLanguage.CPP),
)
ATTACKS: Sequence[Attack] = (*_BASIC, *ATTACKS_ON_FILES, *ATTACKS_ON_NEXT_CASE)

NEIGHBOUR = f"""
import math
held = "{SECRET}" * 3
math.poisoned = held
for folder in ("/tmp", "/dev/shm", "/", "/sandbox", "/libraries", "/python/lib"):
    try:
        with open(folder + "/left-behind", "w") as file:
            file.write(held)
    except OSError:
        pass
"""
"""Program that runs in the same worker before each attack with `follows`."""
