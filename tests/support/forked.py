"""Processes that begin where Python and creval's modules are already loaded: forks of one that has loaded them.

Each is a process of its own (folder, environment, streams, exit code), and runs `python -m creval` to its end; what is
saved is half a second for each of the hundreds that the suite starts. What a start itself shows (which modules it
loads, signals, terminals) is shown by whole starts: `support.commands.start` and `program`.
"""

from __future__ import annotations

import functools
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["finished"]

LOADED = (
    *("creval.cli.main", "creval.cli.runner", "creval.cli.run_summary", "creval.api", "creval.report.result_tables"),
    *("creval.tasks.templates.environment", "jsonschema", "referencing", "numpy", "rich.console", "aiohttp"),
)
"""What nearly every command loads; all else a command loads by itself."""
AT_THE_START = ("PYTHON", "LC_", "LANG", "OMP_", "OPENBLAS_", "MALLOC_", "LD_")
"""Variables of these names are read when Python starts: a command for which they differ gets a whole start."""
ADDED = "PYTHONPATH"
WIDTH = 20
"""Bytes of a number on the socket."""


def finished(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], patience: float
) -> subprocess.CompletedProcess[str]:
    """Run `creval` with these arguments to its end. Raises subprocess.TimeoutExpired after `patience` seconds."""
    command = [sys.executable, "-m", "creval", *arguments]
    nest = _nest()
    if _at_the_start(environment) != nest.started_with:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patience)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        asked = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
        code = nest.hatch(asked, (out.fileno(), error.fileno()), patience)
        if code is None:
            raise subprocess.TimeoutExpired(command, patience, _text(out), _text(error))
        return subprocess.CompletedProcess(command, code, _text(out), _text(error))


def _text(file: Any) -> str:
    file.seek(0)
    return io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8").read()


def _at_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_THE_START) and name != ADDED}


class _Nest:
    """The process that has loaded the modules, from this side. One command at a time."""

    def __init__(self) -> None:
        self._own, its = socket.socketpair()
        self._turn = threading.Lock()
        environment = {name: value for name, value in os.environ.items() if name != ADDED}
        self.started_with = _at_the_start(environment)
        command = [sys.executable, "-P", __file__, str(its.fileno())]
        self._process = subprocess.Popen(command, cwd="/", env=environment, pass_fds=[its.fileno()])
        its.close()

    def hatch(self, asked: Mapping[str, Any], streams: tuple[int, int], patience: float) -> int | None:
        """Return the exit code as `subprocess` gives it; None where the patience was over and the process killed."""
        with self._turn, tempfile.TemporaryFile() as request:
            request.write(json.dumps(asked).encode())
            request.flush()
            socket.send_fds(self._own, [b"+"], [request.fileno(), *streams])
            pid = self._number(None)
            assert pid is not None, "the process that has loaded the modules is gone"
            code = self._number(patience)
            if code is None:
                os.kill(pid, signal.SIGKILL)
                self._number(None)
            return code

    def _number(self, patience: float | None) -> int | None:
        self._own.settimeout(patience)
        try:
            return int(self._own.recv(WIDTH, socket.MSG_WAITALL))
        except TimeoutError:
            return None


@functools.cache
def _nest() -> _Nest:
    """The one of this process; it ends with it, as its socket does."""
    return _Nest()


def _serve(descriptor: int) -> None:
    """Fork for each request and tell how the fork ended; return in each fork, made up as its request says."""
    import gc
    import importlib

    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as nest:
        while True:
            mark, given, *_ = socket.recv_fds(nest, 1, 3)
            if not mark:
                sys.exit()  # the session is over
            pid = os.fork()
            if pid == 0:
                break
            for each in given:
                os.close(each)
            nest.sendall(b"%*d" % (WIDTH, pid))
            nest.sendall(b"%*d" % (WIDTH, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
    request, *streams = given
    with open(request, "rb") as file:  # noqa: PTH123 - a descriptor
        file.seek(0)
        asked = json.load(file)
    for own, stream in zip((0, 1, 2), (os.open(os.devnull, os.O_RDONLY), *streams), strict=True):
        os.dup2(stream, own)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[:0] = [str(Path.cwd()), *filter(None, os.environ.get(ADDED, "").split(os.pathsep))]
    sys.argv[1:] = asked["arguments"]


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
    runpy.run_module("creval", run_name="__main__", alter_sys=True)
