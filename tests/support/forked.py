"""Processes that begin where Python and creval's modules are already loaded: forks of one that has loaded them.

Each is a process of its own (folder, environment, streams, exit code), and runs `python -m creval`, or `python -c`, to
its end; what is saved is half a second for each of the hundreds that the suite starts, and two where data sets of a hub
are read. What a start itself shows (which modules it loads, signals, terminals) is shown by whole starts:
`support.commands.start` and `program`.
"""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["OF_HOSTED", "OF_PAGES", "Begun", "begun", "finished"]

LOADED = (
    *("creval.cli.main", "creval.cli.runner", "creval.cli.run_summary", "creval.api", "creval.report.result_tables"),
    *("creval.cli.commands.report", "creval.cli.commands.resume", "creval.cli.commands.score"),
    *("creval.cli.commands.tasks", "creval.data.local_sources", "creval.models.local.baseline_provider"),
    "creval.models.providers.chat_provider",
    *("creval.parsing.cues", "creval.parsing.lists", "creval.scoring.matching", "creval.tasks.suites"),
    *("creval.tasks.sections.examples", "creval.plugin.collections", "creval.plugin.completions"),
    *("creval.plugin.comparing", "creval.plugin.models", "creval.plugin.parsing"),
    *("creval.tasks.templates.environment", "jsonschema", "referencing", "numpy", "rich.console", "rich._emoji_codes"),
    *("pycurl", "difflib", "jinja2.meta", "jsonschema_rs"),
)
"""What nearly every command loads; all else a command loads by itself."""
TABLES = (
    *("pandas", "pyarrow.parquet", "pyarrow.dataset", "dill", "fsspec", "httpx", "requests", "tqdm.auto", "yaml"),
    *("trio", "httpx2", "filelock", "multiprocess.pool", "fsspec.compression", "fsspec.implementations.http", "xxhash"),
    *("unittest.mock", "xml.dom.minidom", "scipy.io", "scipy.sparse", "chardet"),
)
"""What the library `datasets` loads, too. It and huggingface_hub look at HF_ENDPOINT when they are loaded."""
OF_PAGES = (
    *("scipy.stats", "statsmodels.regression", "pandas"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
    *("creval_kumo.task.baselines", "creval_kumo.task.datasets", "creval_kumo.task.protocol", "creval_compare.cli"),
    *("creval_kumo.task.scoring", "creval_likelihoods.completions", "creval_lmeval.names"),
)
"""What the commands of README and docs load, too: a hundred of them run in one session."""
OF_HOSTED = ("litellm",)
"""What those load that ask a hosted model; it takes longer to load than all the rest."""
AT_THE_START = ("PYTHON", "LC_", "LANG", "OMP_", "OPENBLAS_", "MALLOC_", "LD_")
"""Variables of these names are read when Python starts: a command for which they differ gets a whole start."""
ADDED = "PYTHONPATH"
WIDTH = 20
"""Bytes of a number on the socket."""


def finished(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    patience: float,
    code: str | None = None,
    more: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """Run `creval`, or this code, with these arguments to its end. `more` modules may be loaded already.

    Raises subprocess.TimeoutExpired after `patience` seconds.
    """
    command = [sys.executable, *(["-m", "creval"] if code is None else ["-c", code]), *arguments]
    nest = _nest(tuple(more) or (TABLES if "HF_ENDPOINT" in environment else ()))
    if _at_the_start(environment) != nest.started_with:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patience)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        asked = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment), "code": code}
        ended = nest.hatch(asked, (out.fileno(), error.fileno()), patience)
        if ended is None:
            raise subprocess.TimeoutExpired(command, patience, _text(out), _text(error))
        return subprocess.CompletedProcess(command, ended, _text(out), _text(error))


def begun(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], more: Sequence[str] = ()) -> Begun:
    """Begin `creval` with these arguments, to be killed; nothing else may be started meanwhile. Its output is lost.

    A fork of the test's own process would not do: the HTTP client cannot be used in the fork of a process that has used
    it.
    """
    asked = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment), "code": None}
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device
        return Begun(_nest(tuple(more)), asked, (nowhere.fileno(), nowhere.fileno()))


class Begun:
    """A command that runs."""

    def __init__(self, nest: _Nest, asked: Mapping[str, Any], streams: tuple[int, int]) -> None:
        self._nest = nest
        self._pid = nest.begin(asked, streams)

    @property
    def ended(self) -> bool:
        """Whether it has come to its end by itself."""
        return bool(select.select([self._nest.own], [], [], 0)[0])

    def kill(self) -> int:
        """Kill it and return its exit code, as `subprocess` gives it."""
        os.kill(self._pid, signal.SIGKILL)
        code = self._nest.number(None)
        assert code is not None
        return code


def _text(file: Any) -> str:
    file.seek(0)
    return io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8").read()


def _at_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_THE_START) and name != ADDED}


class _Nest:
    """The process that has loaded the modules, from this side. One command at a time."""

    def __init__(self, more: Sequence[str]) -> None:
        self.own, its = socket.socketpair()
        self._turn = threading.Lock()
        environment = {name: value for name, value in os.environ.items() if name not in (ADDED, "CREVAL_PLUGINS")}
        self.started_with = _at_the_start(environment)
        environment["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # as creval loads it
        command = [sys.executable, "-P", __file__, str(its.fileno()), *LOADED, *more]
        self._process = subprocess.Popen(command, cwd="/", env=environment, pass_fds=[its.fileno()])
        its.close()

    def hatch(self, asked: Mapping[str, Any], streams: tuple[int, int], patience: float) -> int | None:
        """Return the exit code as `subprocess` gives it; None where the patience was over and the process killed."""
        with self._turn:
            pid = self.begin(asked, streams)
            code = self.number(patience)
            if code is None:
                os.kill(pid, signal.SIGKILL)
                self.number(None)
            return code

    def begin(self, asked: Mapping[str, Any], streams: tuple[int, int]) -> int:
        """Fork once; return the fork's number. Its exit code is the next number."""
        with tempfile.TemporaryFile() as request:
            request.write(json.dumps(asked).encode())
            request.flush()
            socket.send_fds(self.own, [b"+"], [request.fileno(), *streams])
            pid = self.number(None)
        assert pid is not None, "the process that has loaded the modules is gone"
        return pid

    def number(self, patience: float | None) -> int | None:
        """The next number that comes; None where none comes within the patience."""
        self.own.settimeout(patience)
        try:
            return int(self.own.recv(WIDTH, socket.MSG_WAITALL))
        except TimeoutError:
            return None


@functools.cache
def _nest(more: Sequence[str]) -> _Nest:
    """The one of this process that has loaded these, too; it ends with it, as its socket does."""
    return _Nest(more)


def _serve(descriptor: int, modules: Sequence[str]) -> str | None:
    """Fork for each request and tell how the fork ended; return the code in each fork, made up as its request says."""
    import contextlib
    import gc
    import importlib

    for name in modules:
        with contextlib.suppress(ImportError):  # what is not here is not loaded by the command either
            importlib.import_module(name)
    importlib.import_module("creval.plugins.loader").load_plugins()
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
    code: str | None = asked["code"]
    return code


def _end(code: str | None) -> None:
    """Run the code, or creval, and end as Python does, without taking apart what was loaded: a third of a second.

    It would copy each page of memory first.
    """
    status = 0
    try:
        if code is None:
            runpy.run_module("creval", run_name="__main__", alter_sys=True)
        else:
            exec(code, {"__name__": "__main__"})
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(ended.code + "\n")
    except BaseException:
        status = 1
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _end(_serve(int(sys.argv[1]), sys.argv[2:]))
