"""Fixtures that every test of the core and of the plugins may use."""

from __future__ import annotations

import functools
import ipaddress
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from support.browser import headless_chromium
from support.cost import CostSummary, CostWatch
from support.figure_watch import watched_figures
from support.garbage import FrozenHeap
from support.kinds import mark_kinds
from support.order import longest_first
from support.parity import Parity
from support.skips import SkipWatch
from support.small_models import share_loaded_models

# No test asserts a time: a busy machine must not fail a property.
settings.register_profile("creval", deadline=None)
settings.load_profile("creval")

pytest_plugins = ["creval_testing"]  # as its entry point does where creval was installed since it has one
ROOT = Path(__file__).resolve().parent
os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background (make test &)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `make test`."""
    parser.addoption("--only-listed-skips", action="store_true", help="List the skips; fail on any that is unknown.")
    parser.addoption("--costs", action="store_true", help="Print the processor seconds of each folder of tests.")
    parser.addoption("--save-costs", action="store_true", help="Note those of each file, for the order of the next.")


def pytest_configure(config: pytest.Config) -> None:
    """Watch skips and costs where the session is told to; the workers of xdist report to the one session that sums."""
    if "CREVAL_WHEELS" not in os.environ:  # one set of wheels for all tests and all workers
        os.environ["CREVAL_WHEELS"] = tempfile.mkdtemp(prefix="creval-wheels-")
        config.add_cleanup(functools.partial(shutil.rmtree, os.environ["CREVAL_WHEELS"], ignore_errors=True))
    config.pluginmanager.register(FrozenHeap(), "creval-frozen-heap")
    costs = config.getoption("--costs") or config.getoption("--save-costs")
    if costs:
        config.pluginmanager.register(CostWatch(), "creval-cost-watch")
    if hasattr(config, "workerinput"):
        return
    # the user's own state is no test's, nor of a process that one starts
    os.environ["CREVAL_STATE"] = tempfile.mkdtemp(prefix="creval-state-")
    config.add_cleanup(functools.partial(shutil.rmtree, os.environ["CREVAL_STATE"], ignore_errors=True))
    if costs:
        config.pluginmanager.register(CostSummary(save=config.getoption("--save-costs")), "creval-costs")
    if config.getoption("--only-listed-skips"):
        config.pluginmanager.register(SkipWatch(), "creval-skips")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the kinds of slow tests; a worker of xdist gets the longest files first."""
    mark_kinds(items)
    if hasattr(config, "workerinput"):
        longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the files to the workers in that order."""
    from support.scheduler import LongestFirst

    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium, one for all tests of a worker."""
    yield from headless_chromium(tmp_path_factory)


@pytest.fixture
def small_model(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a small language model; its weights are loaded once for all tests of a worker."""
    pytest.importorskip("creval_embedded")
    share_loaded_models(monkeypatch)
    return "embedded/smollm2"


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of reference data (papers' and authors' own numbers); the test is skipped where it is absent."""
    for candidate in (os.environ.get("CREVAL_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    pytest.skip("reference data not found: set CREVAL_DATA to its folder")


@pytest.fixture(scope="session")
def parity() -> Parity:
    """Takes the comparisons with the originals, for `tools/fill_parity.py`."""
    return Parity(os.environ.get("CREVAL_PARITY"))


@pytest.fixture(scope="session", autouse=True)
def _loopback_only() -> Iterator[None]:
    """Refuse every connection of a test that leaves this machine."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded(own: socket.socket, address: Any, real: Any = connect) -> Any:
        if own.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host != "localhost" and not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
                raise AssertionError(f"a test tried to reach {host}; tests stay on the loopback address")
        return real(own, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    socket.socket.connect_ex = lambda own, address: guarded(own, address, connect_ex)  # type: ignore[method-assign]
    yield
    socket.socket.connect, socket.socket.connect_ex = connect, connect_ex  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def _watched_figures() -> Iterator[None]:
    """Hold every figure that a test draws to the same rules."""
    with watched_figures():
        yield
