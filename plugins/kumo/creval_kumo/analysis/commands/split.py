"""`creval analyse kumo-split`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, UsageError
from creval.plugin.report import write_text
from creval_kumo.analysis.domain_names import DOMAIN, chosen_domains, texts
from creval_kumo.analysis.graph import components, domain_graph
from creval_kumo.analysis.split import split_domain
from creval_kumo.domains.domain import Domain
from creval_kumo.domains.domain_text import domain_yaml
from creval_kumo.domains.rules import PLAYABLE_RULES, find_faults

__all__ = ["SplitAnalysis"]

_COLUMNS = ("domain", "truths", "actions", "components", "largest component")


class SplitAnalysis:
    """Kind `analysis`: splits a domain by connected components into two domain files, `..._ind` and `..._ood`."""

    example = "--domain domains/MedicalEnv.yaml"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-split`."""
        return (
            replace(DOMAIN, help="The domain to split: a name or a file."),
            FieldSpec("output", "file", None, "Folder for the two domain files."),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Split one domain; runs are not needed. Raises UsageError if it cannot be split."""
        names = texts(options.get("domain"))
        if len(names) != 1 or names == ["all"]:
            raise UsageError("one domain is split at a time", where="--domain", fix="For example: --domain medical")
        domain = chosen_domains(names)[0]
        halves = split_domain(domain)
        files: list[Path] = []
        if options.get("output"):
            folder = Path(str(options["output"]))
            files = [write_text(folder / f"{half.name}.yaml", domain_yaml(half)) for half in halves]
        notes = [f"{half.name}: {fault}" for half in halves for fault in find_faults(half, PLAYABLE_RULES)]
        if not files:
            notes.append("Nothing is written: name a folder with --output.")
        data = {"halves": [_data(half) for half in halves]}
        return AnalysisOutput(
            f"{domain.title}, split",
            _COLUMNS,
            [_row(one) for one in (domain, *halves)],
            notes,
            [str(file) for file in files],
            data,
        )


def _row(domain: Domain) -> tuple[Any, ...]:
    parts = components(domain_graph(domain))
    return domain.name, len(domain.truths), len(domain.actions), len(parts), max(map(len, parts), default=0)


def _data(domain: Domain) -> dict[str, Any]:
    return {
        "domain": domain.name,
        "truths": [truth.name for truth in domain.truths],
        "actions": [action.name for action in domain.actions],
    }
