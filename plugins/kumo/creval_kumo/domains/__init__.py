"""The domains that ship with the plugin."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from creval.plugin import UnknownNameError, UsageError
from creval_kumo.domains.domain import Domain
from creval_kumo.domains.domain_file import load_domain_file
from creval_kumo.domains.rules import FILE_RULES

__all__ = ["PAPER_DOMAINS", "domain_names", "listed", "load_domain"]

PAPER_DOMAINS = ("medical", "chemical", "music", "education", "fantasy")
"""The subjects of the paper's five domains; the configurations are our own."""

_FOLDER = Path(__file__).parent / "shipped"


def domain_names() -> list[str]:
    """Return the names of the shipped domains, sorted."""
    return sorted(file.stem for file in _FOLDER.glob("*.yaml"))


def listed(names: Sequence[str] | str, every: Sequence[str], where: str) -> list[str]:
    """Return the domain names in a parameter: one, several, or `all` for those of `every`.

    Raises UsageError if no domain is named, or one is named twice.
    """
    chosen = list(every) if names == "all" else [names] if isinstance(names, str) else list(names)
    if not chosen:
        raise UsageError("no domain is named", where=where, fix="Name some, or write: all")
    double = next((name for name in chosen if chosen.count(name) > 1), None)
    if double is not None:
        raise UsageError(f"the domain {double} occurs twice", where=where)
    return chosen


@functools.lru_cache(maxsize=32)
def load_domain(name: str) -> Domain:
    """Return a shipped domain, or the domain in a file (a name that ends in .yaml).

    Raises UnknownNameError, or DomainError with every fault of the file.
    """
    if name.endswith((".yaml", ".yml")):
        return load_domain_file(Path(name), FILE_RULES)
    if name not in domain_names():
        hint = "A file of your own is named by a path that ends in .yaml."
        if name.endswith("Env"):
            hint += f" The authors' domains become files by: creval kumo import-domains --domain {name} -o FOLDER"
        raise UnknownNameError("KUMO domain", name, domain_names(), hint=hint)
    return load_domain_file(_FOLDER / f"{name}.yaml")
