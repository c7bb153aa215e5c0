"""Waits within the sandbox, interpreter warm, and gives each program namespaces of its own.

It is handed descriptors only: no program, input or result ever stands in its memory. Where nested namespaces are
refused (`nested` false) it serves a single program itself.
"""

from __future__ import annotations

import gc
import importlib
import os
import site
import socket
import sys

from . import kernel
from .messages import receive, send
from .supervisor import supervise

__all__ = ["main"]


def _warm(modules: list[str]) -> None:
    """Do once what every program needs: imports, the compiler's types, what `site` adds to the builtins (`exit`)."""
    for name in modules:
        importlib.import_module(name)
    site.setquit()
    site.setcopyright()
    site.sethelper()
    compile("", "warm", "exec")
    gc.freeze()


def main(descriptor: int) -> None:
    """Serve the outside at the other end of `descriptor` until it hangs up."""
    os.dup2(descriptor, 3, inheritable=False)
    os.closerange(4, 1 << 16)
    control = socket.socket(fileno=3)
    setup, _ = receive(control)
    assert setup is not None
    filters = {name: bytes.fromhex(text) for name, text in setup["filters"].items()}
    kernel.hide_memory()
    _warm(setup["modules"])
    sys.path.remove("/sandbox")
    if not setup["nested"]:
        supervise(control, filters, mount=False)
        return
    while True:
        request, descriptors = receive(control)
        if request is None:
            _reap(0)
            return
        _hand_over(control, descriptors[0], filters)


def _hand_over(control: socket.socket, descriptor: int, filters: dict[str, bytes]) -> None:
    with socket.socket(fileno=descriptor) as channel:
        try:
            pid = kernel.clone_into_namespaces()
        except OSError as error:
            send(channel, {"failed": f"{type(error).__name__}: {error}"})
            return
        if pid == 0:
            try:
                control.close()
                supervise(channel, filters, mount=True)
            finally:
                os._exit(0)
    _reap(os.WNOHANG)


def _reap(options: int) -> None:
    """Collect the supervisors that ended, or wait for all of them."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass
