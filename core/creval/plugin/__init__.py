"""What the author of a benchmark imports from creval. Its names are listed in `creval.plugin.promised`.

The names follow semantic versioning: a minor version may add one, only a major version removes one or changes its
meaning. Names for fewer plugins are in the modules of this package (`creval.plugin.data`, `.report`, ...), whose
docstrings say whether the names are promised or private to the distributions of this repository. Any other module of
creval may change at any time. docs/plugins.md is the guide, docs/reference-plugin.md the reference.

`hookimpl` and `params`, which the entry module of every plugin needs at each start, are imported at once. Each other
name is imported when it is first used (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import params as params
from creval.plugins.hookspecs import hookimpl as hookimpl

if TYPE_CHECKING:
    from creval.plugin.promised import *  # noqa: F403  (the one list of names)
else:
    from functools import cache as _cache

    @_cache
    def _module_names() -> dict[str, str]:
        """Return the module of each promised name, from the source of their list; importing it would import all."""
        import ast
        from pathlib import Path

        source = Path(__file__).with_name("promised.py").read_text(encoding="utf-8")
        imports = [each for each in ast.parse(source).body if isinstance(each, ast.ImportFrom)]
        return {alias.name: each.module for each in imports if each.module != "__future__" for alias in each.names}

    def __getattr__(name: str) -> object:
        """Import a promised name on first use; `__all__` is the list of all."""
        import importlib

        if name == "__all__":
            return sorted(_module_names())
        if name not in _module_names():
            raise AttributeError(f"module 'creval.plugin' has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(_module_names()[name]), name)
        return found

    def __dir__() -> list[str]:
        """List the promised names, imported or not."""
        return sorted({*globals(), *_module_names(), "__all__"})
