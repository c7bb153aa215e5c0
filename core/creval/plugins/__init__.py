"""Plugins: hook specifications, the isolated loader and the component registry."""

from __future__ import annotations

from creval.plugins.hookspecs import hookimpl, hookspec

__all__ = ["hookimpl", "hookspec"]
