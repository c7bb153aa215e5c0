"""Prices of models, from the table that litellm ships: read as a file, without importing litellm."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from creval.plugin.clients import Price

__all__ = ["BATCH_SHARE", "PriceTable"]

BATCH_SHARE: Mapping[str, float] = {"openai": 0.5, "azure": 0.5, "vertex_ai": 0.5}
"""The price of a batched call as a share of a single call's, by provider, as their price pages state for all models.
It applies if litellm's table has no batch price (`input_cost_per_token_batches`) for a model; other providers promise
no discount."""

_TABLE = "model_prices_and_context_window_backup.json"
_SUPPORT = "provider_endpoints_support_backup.json"
_SUPPORTS = {"image": "supports_vision", "audio": "supports_audio_input", "file": "supports_pdf_input"}
_TIER = re.compile(r"(?:input|output)_cost_per_token_above_(\d+)k_tokens\Z")


class PriceTable:
    """Looks up single models in the table's text, so that its several megabytes are never fully parsed.

    `folder` is litellm's folder (None: the installed one). Without litellm no price is known.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def find(self, provider: str, model: str, batch: bool = False) -> Price | None:
        """Return the price of `provider/model`, or None.

        With `batch` it is the price of calls in batches: the table's, else BATCH_SHARE of the single price.

        A router's model (`openrouter`, `openai/gpt-5-mini`) missing from the table has its maker's price; variants
        marked `:free` cost nothing.
        """
        base, _, variant = model.partition(":") if provider == "openrouter" else (model, "", "")
        if variant == "free":
            return Price(model, 0.0, 0.0)
        entry = self._entry(f"{provider}/{base}") or self._entry(base, provider)
        maker, slash, rest = base.partition("/")
        if entry is None and provider == "openrouter" and slash:
            entry = self._entry(base) or self._entry(rest, maker)
        return _price(*entry, BATCH_SHARE.get(provider, 1.0) if batch else None) if entry else None

    def providers(self) -> frozenset[str]:
        """Return the names of litellm's providers."""
        names = set(re.findall(r'"litellm_provider"\s*:\s*"([a-z0-9_.\-]+)"', self._text))
        path = self._path(_SUPPORT)
        if path is not None:
            try:
                listed = json.loads(path.read_text("utf-8")).get("providers", {})
            except (OSError, ValueError, AttributeError):
                listed = {}
            names.update(name for name in listed if isinstance(name, str))
        return frozenset(names)

    def _entry(self, name: str, provider: str | None = None) -> tuple[str, Mapping[str, Any]] | None:
        """Return the table's object of this name if it belongs to `provider` (None: any)."""
        text, key = self._text, f"{json.dumps(name)}: {{"
        start = text.find(key)
        while start > 0 and text[start - 1] not in " \n\t{,":  # it is inside a text
            start = text.find(key, start + 1)
        if start <= 0:
            return None
        try:
            entry, _ = json.JSONDecoder().raw_decode(text, start + len(key) - 1)
        except (ValueError, RecursionError):
            return None
        if provider is not None and entry.get("litellm_provider") not in (provider, f"{provider}_chat"):
            return None
        return name, entry

    @cached_property
    def _text(self) -> str:
        path = self._path(_TABLE)
        if path is None:
            return ""
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _path(self, name: str) -> Path | None:
        folder = self._folder or _litellm_folder()
        path = folder / name if folder else None
        return path if path is not None and path.is_file() else None


def _litellm_folder() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("litellm")
    return Path(spec.origin).parent if spec and spec.origin else None


def _price(name: str, entry: Mapping[str, Any], share: float | None = None) -> Price | None:
    """Read an entry. `share` is the share for batched calls if the entry has no batch price; None: single calls."""

    def cost(key: str) -> float | None:
        single = _number(entry.get(key))
        if share is None:
            return single
        batch = _number(entry.get(f"{key}_batches"))
        return single * share if batch is None and single is not None else batch

    into, out = cost("input_cost_per_token"), cost("output_cost_per_token")
    if into is None or out is None:
        return None
    tiers = []
    for thousands in sorted({int(m.group(1)) for key in entry if (m := _TIER.match(key))}):
        above = [cost(f"{side}_cost_per_token_above_{thousands}k_tokens") for side in ("input", "output")]
        tiers.append((thousands * 1000, into if above[0] is None else above[0], out if above[1] is None else above[1]))
    return Price(
        name,
        into,
        out,
        cached_input=cost("cache_read_input_token_cost"),
        reasoning=cost("output_cost_per_reasoning_token"),
        tiers=tuple(tiers),
        image=cost("input_cost_per_image"),
        image_token=cost("input_cost_per_image_token"),
        reads=frozenset(kind for kind, key in _SUPPORTS.items() if entry.get(key) is True),
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
