"""Connect to a cluster: a new one on this machine that ends with the command, or a running one."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from creval.plugin import UsageError

__all__ = ["capacity_for", "connect", "disconnect"]

_LOCAL_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no statistics are sent
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray then listens only on 127.0.0.1
}
_STORE = 100 * 1024 * 1024  # bytes; samples do not go through the object store


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep Ray's messages out of the command's output, and preserve this process's signal handlers."""
    main = threading.current_thread() is threading.main_thread()
    kept = {which: signal.getsignal(which) for which in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        for which, handler in kept.items():
            signal.signal(which, handler)


def connect(address: str | None) -> Any:
    """Connect to a cluster (HOST:PORT), or start one on this machine, and return the module `ray`.

    Raises UsageError if the cluster cannot be reached, or this process is already connected to one.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address is None:
        os.environ.update(_LOCAL_ENVIRONMENT)
    import ray

    if ray.is_initialized():
        fix = "Call ray.shutdown() first."
        raise UsageError("this process is connected to a Ray cluster already", where="--executor ray", fix=fix)
    common: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    try:
        with _quietly():
            if address is None:
                ray.init(address="local", include_dashboard=False, object_store_memory=_STORE, **common)
            else:
                ray.init(address=address, **common)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"the cluster cannot be reached: {str(error).strip().splitlines()[0]}",
            where=f"--executor ray://{address}" if address else "--executor ray",
            fix="Give the address that `ray start --head` printed, on a machine of the cluster; see docs/scale.md.",
        ) from error
    return ray


def disconnect(ray: Any) -> None:
    """Disconnect from the cluster; end it if it was started here."""
    with _quietly():
        ray.shutdown()


def capacity_for(ray: Any, needs: Mapping[str, float]) -> int:
    """Return how many workers with these needs the cluster's machines could hold if they ran nothing else."""
    count = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            count += min(int(has.get(name, 0) // number) for name, number in needs.items())
    return count
