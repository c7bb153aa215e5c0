"""Commands under `creval kumo`."""

from __future__ import annotations
