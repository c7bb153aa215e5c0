"""Wait inside the sandbox with a running interpreter, and give each program separate namespaces.

The launcher gets only descriptors: no program, input or result is ever in its memory. If nested namespaces are
refused (`nested` false) it serves a single program itself; if it has no capability (`capable` false), one case.
"""

from __future__ import annotations

import _socket
import gc
import importlib
import json
import os
import signal
import site
import sys
from typing import TYPE_CHECKING, Any

from . import kernel
from .case import PLACES, make_ready
from .messages import Gone, receive, send
from .watcher import watch

if TYPE_CHECKING:
    from _socket import socket

__all__ = ["main"]

_OUTSIDE = PLACES[-1] + 1
"""The descriptor of the channel to the outside, above all descriptors of a case."""


def main(descriptor: int) -> None:
    """Serve the outside at the other end of `descriptor` until it hangs up."""
    if descriptor == _OUTSIDE:
        os.set_inheritable(descriptor, False)
    else:
        os.dup2(descriptor, _OUTSIDE, inheritable=False)
    os.closerange(PLACES[0], _OUTSIDE)
    os.closerange(_OUTSIDE + 1, 1 << 16)
    outside = _opened(_OUTSIDE)
    packet, _ = receive(outside)
    setup = json.loads(packet)
    filters = {name: kernel.Filter(bytes.fromhex(text)) for name, text in setup["filters"].items()}
    _close_in(setup)
    _warm(setup)
    if setup["nested"]:
        _serve(outside, filters)
    else:
        watch(outside, filters, setup["capable"])


def _opened(descriptor: int) -> socket:
    return _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, descriptor)


def _close_in(setup: dict[str, Any]) -> None:
    """Set up what every program inherits, and check the environment. Raises OSError."""
    kernel.hide_memory()
    kernel.forbid_new_privileges()
    kernel.Filter(bytes.fromhex(setup["common"])).install()
    for device in setup["devices"]:
        kernel.make_read_only(device)
    for place in ("/", *setup["places"], *setup["devices"]):
        if not os.statvfs(place).f_flag & os.ST_RDONLY:
            raise PermissionError(f"{place} is writable")
    if os.path.exists("/proc/1"):  # noqa: PTH110 - pathlib is not imported in here
        raise PermissionError("processes can be seen")


def _warm(setup: dict[str, Any]) -> None:
    """Do once what every program needs: imports, the compiler's types, and the builtins from `site` (`exit`)."""
    for name in setup["modules"]:
        importlib.import_module(name)
    site.setquit()
    site.setcopyright()
    site.sethelper()
    compile("", "warm", "exec")
    for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.environ.pop("LD_BIND_NOW", None)  # only for this process: forks need not resolve functions again
    sys.path.remove("/sandbox")
    make_ready(setup["libraries"])
    gc.collect()
    gc.freeze()


def _serve(outside: socket, filters: dict[str, kernel.Filter]) -> None:
    while True:
        try:
            _, (descriptor,) = receive(outside)
        except Gone:
            _reap(0)
            return
        _hand_over(outside, descriptor, filters)
        os.close(descriptor)
        _reap(os.WNOHANG)


def _hand_over(outside: socket, descriptor: int, filters: dict[str, kernel.Filter]) -> None:
    """Start a watcher for a program in separate namespaces, with the program's channel instead of the launcher's."""
    try:
        pid = kernel.clone_into_namespaces()
    except OSError as error:
        send(_opened(os.dup(descriptor)), f"{type(error).__name__}: {error}".encode())
        return
    if pid == 0:
        try:
            os.dup2(descriptor, _OUTSIDE, inheritable=False)
            os.close(descriptor)
            watch(outside, filters, capable=True)
        finally:
            os._exit(0)


def _reap(options: int) -> None:
    """Collect the watchers that ended, or wait for all of them."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass
