"""Figures of runs for papers. Each function returns a matplotlib figure; `save` writes it as PDF, SVG or PNG.

The names below are the whole public Python API; everything is imported on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from creval_plot.curve_plot import curve
    from creval_plot.distribution_plot import distribution
    from creval_plot.figure_format import save
    from creval_plot.forest_plot import forest
    from creval_plot.heatmap_plot import heatmap
    from creval_plot.judges_plot import judges
    from creval_plot.pareto_plot import pareto

__all__ = ["curve", "distribution", "forest", "heatmap", "judges", "pareto", "save"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used (PEP 562)."""
        import importlib

        if name not in __all__:
            raise AttributeError(f"module 'creval_plot' has no attribute {name!r}")
        home = "figure_format" if name == "save" else f"{name}_plot"
        return getattr(importlib.import_module(f"creval_plot.{home}"), name)

    def __dir__() -> list[str]:
        """List the public names, imported or not."""
        return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "annotations"})
