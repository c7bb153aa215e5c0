"""The domains chosen for an analysis."""

from __future__ import annotations

from pathlib import Path

from creval.plugin import FieldSpec
from creval_kumo.domains import PAPER_DOMAINS, domain_names, load_domain
from creval_kumo.domains.domain import Domain
from creval_kumo.domains.domain_file import load_domain_file
from creval_kumo.domains.rules import PLAYABLE_RULES

__all__ = ["DOMAIN", "PAPER_PUBLISHED", "chosen_domains", "texts"]

DOMAIN = FieldSpec(
    "domain",
    "string",
    (),
    "A domain's name or file; may be repeated or hold several, with commas; all: every one. Default: the five of the "
    "paper.",
    True,
)
PAPER_PUBLISHED = ("MedicalEnv", "ChemicalEnv", "MusicEnv", "EducationEnv", "FantasyEnv")
"""The five domains of the paper's Figs. 4 and 6, by the authors' names."""


def texts(value: object) -> list[str]:
    """Return the values of an option that may be repeated; each may list several, separated by commas."""
    many = [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else []
    return [part.strip() for item in many for part in str(item).split(",") if part.strip()]


def chosen_domains(value: object) -> list[Domain]:
    """Return the named domains, shipped or read from files.

    Raises UnknownNameError, or DomainError for a domain with faults.
    """
    names = list(dict.fromkeys(texts(value)))
    if names == ["all"]:
        names = domain_names()
    return [_domain(name) for name in names or PAPER_DOMAINS]


def _domain(name: str) -> Domain:
    if name.endswith((".yaml", ".yml")):
        return load_domain_file(Path(name), PLAYABLE_RULES)  # analyses accept small domains
    return load_domain(name)
