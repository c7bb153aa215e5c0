"""The parts of an aggregate file that identify the evaluator and the model."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from creval.plugin import Run, UsageError
from creval_hub.exports.cleaning import cleaned

__all__ = ["DEPLOYMENTS", "RELATIONSHIPS", "SCHEMA", "WEIGHTS", "About", "as_texts", "model_info", "seconds_of"]

SCHEMA = "0.3.0"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
DEPLOYMENTS = ("self_deployed", "externally_managed", "unknown")
WEIGHTS = ("open_weights", "closed_weights", "unknown")
_WITHOUT_SERVER = ("baseline", "replay", "human", "embedded")


@dataclass(frozen=True, slots=True)
class About:
    """Facts that only the user knows: who ran it, their relation to the model's maker, how the model was deployed.

    `deployment` None: inferred from the run (own server or provider). `weights` says whether they are open.
    """

    organization: str
    relationship: str = "third_party"
    deployment: str | None = None
    weights: str = "unknown"

    def __post_init__(self) -> None:
        if not self.organization.strip():
            raise UsageError("the organization that ran the evaluation has no name", fix="Name it: --organization NAME")


def model_info(run: Run, role: str, about: About) -> dict[str, Any]:
    """Return a model as the schema requires it: name, id, developer, platform, and both axes of deployment."""
    said = run.manifest.get("models", {}).get(role, {})
    spec = str(cleaned(said.get("spec") or run.manifest["roles"][role]))
    provider, _, rest = spec.partition("/")
    developer, _, name = rest.rpartition("/")
    target = role == "target"
    deployment = about.deployment if target else None
    return {
        "name": name or rest or spec,
        "id": f"{developer or provider}/{name or rest or spec}",
        "developer": developer.rpartition("/")[2] or provider,
        "inference_platform": provider,
        "additional_details": {
            "deployment_type": deployment or _deployment(provider, said.get("base_url")),
            "model_availability": about.weights if target else "unknown",
            "creval_model": spec,
        },
    }


def _deployment(provider: str, base_url: str | None) -> str:
    if provider in _WITHOUT_SERVER:
        return "self_deployed"
    if not base_url:
        return "externally_managed"
    host = urlsplit(base_url).hostname or ""
    try:
        own = ipaddress.ip_address(host).is_private
    except ValueError:
        own = host == "localhost" or "." not in host
    return "self_deployed" if own else "unknown"


def seconds_of(time: object) -> str:
    """Return an ISO 8601 time as whole seconds since 1970, as text."""
    return str(int(datetime.fromisoformat(str(time)).timestamp()))


def as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return a mapping of texts to texts: other values become JSON, None is left out."""
    return {
        str(key): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        for key, value in values.items()
        if value is not None
    }
