"""Metrics that tasks fetch from the Hub by the package evaluate: creval's replacements, or the missing package."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from creval.plugin import DataError
from creval_lmeval.code_eval import CodeEval
from creval_lmeval.squad import SquadV2

__all__ = ["adapted_metrics", "with_adapters"]

_OWN: Mapping[str, Callable[[], Any]] = {"code_eval": CodeEval, "squad_v2": SquadV2}
_LOCK = threading.RLock()


@contextmanager
def adapted_metrics() -> Iterator[None]:
    """Replace metrics by creval's own during the context, if there are any; others are fetched as usual.

    Raises DataError if a metric cannot be fetched.
    """
    try:
        import evaluate
    except ImportError:  # an extra of lm-eval
        yield
        return

    def load(path: str, *args: Any, **given: Any) -> Any:
        if path in _OWN:
            return _OWN[path]()
        try:
            return fetch(path, *args, **given)
        except Exception as error:  # whatever the network or the metric's own imports raise
            what = f"the metric {path!r}, which comes from the Hub, cannot be fetched: {error}"
            fix = "Run it where the Hub can be reached, install what the metric imports, or leave the task out."
            raise DataError(" ".join(what.split())[:300], where="lmeval", fix=fix) from error

    with _LOCK:
        fetch = evaluate.load
        evaluate.load = load
        try:
            yield
        finally:
            evaluate.load = fetch


def with_adapters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a task's own aggregation wrapped so that it finds the adapters when it fetches its metric."""

    def adapted(items: Any) -> Any:
        with adapted_metrics():
            return function(items)

    return adapted
