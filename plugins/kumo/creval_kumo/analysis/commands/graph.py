"""`creval analyse kumo-graph`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, UnknownNameError
from creval.plugin.report import write_csv, write_json
from creval_kumo.analysis.domain_names import DOMAIN, chosen_domains
from creval_kumo.analysis.graph import JOINS, DomainGraph, Join, communities, components, domain_graph, modularity
from creval_kumo.analysis.output import FILES
from creval_kumo.domains.domain import Domain

__all__ = ["GraphAnalysis"]

_COLUMNS = ("domain", "truths", "edges", "components", "communities", "modularity", "largest")
_MOST_SEEDS = 2**32 - 1  # the largest seed of the generator that lays out the graphs


@dataclass(frozen=True, slots=True)
class _Found:
    domain: Domain
    graph: DomainGraph
    parts: list[tuple[str, ...]]
    modularity: float | None


class GraphAnalysis:
    """Kind `analysis`: domain graphs with their Louvain communities and modularity (Fig. 6d, Eq. 5)."""

    example = "--json"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse kumo-graph`."""
        return (
            DOMAIN,
            FieldSpec("join", "string", "action", "What joins two truths: one action, or one state of an action."),
            FieldSpec("seed", "integer", 0, "Seed of the communities and the drawing.", minimum=0, maximum=_MOST_SEEDS),
            *FILES,
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Analyse the domains; runs are not needed."""
        seed, join = int(options.get("seed") or 0), options.get("join") or "action"
        if join not in JOINS:
            raise UnknownNameError("way to join truths", join, JOINS, where="--join")
        found = [_find(domain, seed, join) for domain in chosen_domains(options.get("domain"))]
        files: list[Path] = []
        if options.get("output"):
            files = _write(found, Path(str(options["output"])), seed, not options.get("no_plots"))
        notes = [f"Truths are joined if one {join} rules out both. Modularity: Eq. 5, unweighted."]
        if runs:
            notes.append("Domain graphs come from the domains alone: the runs were not used.")
        return AnalysisOutput(
            title="Domain graphs", columns=_COLUMNS, rows=[_row(one) for one in found], notes=notes,
            files=[str(file) for file in files],
            data={"seed": seed, "join": join, "domains": [_data(one) for one in found]},
        )  # fmt: skip


def _find(domain: Domain, seed: int, join: Join) -> _Found:
    graph = domain_graph(domain, join)
    parts = communities(graph, seed)
    return _Found(domain, graph, parts, modularity(graph, parts))


def _row(one: _Found) -> tuple[Any, ...]:
    graph = one.graph
    return (
        one.domain.name,
        len(graph.truths),
        len(graph.edges),
        len(components(graph)),
        len(one.parts),
        one.modularity,
        len(one.parts[0]) if one.parts else 0,
    )


def _data(one: _Found) -> dict[str, Any]:
    return {
        "domain": one.domain.name,
        "truths": list(one.graph.truths),
        "edges": [list(edge) for edge in sorted(one.graph.edges)],
        "components": [list(part) for part in components(one.graph)],
        "communities": [list(part) for part in one.parts],
        "modularity": one.modularity,
    }


def _write(found: Sequence[_Found], folder: Path, seed: int, plots: bool) -> list[Path]:
    members = [
        (one.domain.name, number, truth) for one in found for number, part in enumerate(one.parts) for truth in part
    ]
    files = [
        write_csv(folder / "graphs.csv", _COLUMNS, [_row(one) for one in found]),
        write_csv(folder / "communities.csv", ("domain", "community", "truth"), members),
        write_json(folder / "graphs.json", {"seed": seed, "domains": [_data(one) for one in found]}),
    ]
    if plots:
        from creval_kumo.analysis.graph_plot import Picture, plot_graph, plot_overview

        drawn = [Picture(one.domain.title, one.graph, one.parts, one.modularity) for one in found]
        for one, each in zip(found, drawn, strict=True):
            files += plot_graph(each, folder / f"graph_{one.domain.name}", seed)
        if len(drawn) > 1:
            files += plot_overview(drawn, folder / "graphs", seed)
    return files
