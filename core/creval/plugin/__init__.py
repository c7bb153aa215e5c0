"""What the author of a benchmark imports from creval. Its names are listed in `creval.plugin.promised`.

The names follow semantic versioning: a minor version may add one, only a major version removes one or changes its
meaning. What fewer plugins need is in the modules of this package (`creval.plugin.data`, `.report`, ...); the docstring
of each says whether its names are promised or private to the distributions of this repository. Any other module of
creval may change at any time. docs/plugins.md is the guide, docs/reference-plugin.md the reference.

`hookimpl` and `params`, which the entry module of every plugin needs at each start, are imported at once. All other
names are imported together when the first of them is used (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import params as params
from creval.plugins.hookspecs import hookimpl as hookimpl

if TYPE_CHECKING:
    from creval.plugin.promised import *  # noqa: F403  (the one list of names)
else:

    def __getattr__(name: str) -> object:
        """Return a promised name, or their list `__all__`."""
        import importlib

        promised = importlib.import_module("creval.plugin.promised")
        if name == "__all__":
            return promised.__all__
        if name not in promised.__all__:
            raise AttributeError(f"module 'creval.plugin' has no attribute {name!r}")
        return getattr(promised, name)

    def __dir__() -> list[str]:
        """List the promised names, imported or not."""
        return sorted({*globals(), *__getattr__("__all__")})
