"""The paper's success rates and relative action counts, recomputed from the published runs by our counting.

The rows are those of the five domains that the text of Fig. 3 holds (easy games; 15 open models, of which the runs of
QwQ-32B were not published: its column is None here). What deviates by more than rounding is stated value by value.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import fmean

import pytest

from creval_kumo.games.counting import compat_length, relative_action_count

N_ACTIONS = 6
SUCCESS_MODELS = (
    None,
    "deepseek-v3",
    "deepseek-r1",
    "mistral-large-instruct-2411",
    "qwen2.5-32b-instruct",
    "qwen2.5-72b-instruct",
    "qwen2.5-14b-instruct",
    "llama-3.3-70b-instruct",
    "llama-3.1-70b-instruct",
    "gemma-2-27b-it",
    "qwen2.5-7b-instruct",
    "llama-3.1-8b-instruct",
    "gemma-2-9b-it",
    "qwen2.5-3b-instruct",
    "llama-3.2-3b-instruct",
)
SUCCESS = {
    "FantasyEnv": (0.97, 0.92, 0.97, 0.82, 0.79, 0.57, 0.74, 0.70, 0.68, 0.52, 0.32, 0.41, 0.32, 0.15, 0.15),
    "EducationEnv": (0.94, 0.95, 0.90, 0.88, 0.90, 0.85, 0.83, 0.90, 0.77, 0.62, 0.27, 0.57, 0.46, 0.10, 0.19),
    "MedicalEnv": (0.92, 0.90, 0.94, 0.90, 0.88, 0.90, 0.83, 0.90, 0.82, 0.69, 0.54, 0.52, 0.58, 0.22, 0.27),
    # The text labels this row MusicEnv; its values are those of MusicalEnv, all fourteen.
    "MusicalEnv": (0.90, 0.95, 0.89, 0.88, 0.86, 0.84, 0.80, 0.82, 0.68, 0.28, 0.34, 0.34, 0.12, 0.04, 0.09),
}
COUNT_MODELS = (
    "deepseek-r1",
    None,
    "qwen2.5-14b-instruct",
    "deepseek-v3",
    "mistral-large-instruct-2411",
    "qwen2.5-72b-instruct",
    "llama-3.1-70b-instruct",
    "qwen2.5-32b-instruct",
    "llama-3.3-70b-instruct",
    "gemma-2-27b-it",
    "qwen2.5-7b-instruct",
    "qwen2.5-3b-instruct",
    "llama-3.1-8b-instruct",
    "llama-3.2-3b-instruct",
    "gemma-2-9b-it",
)
COUNTS = {
    "FantasyEnv": (-0.03, 0.04, 0.21, 0.06, 0.13, 0.39, 0.32, 0.24, 0.27, 0.36, 0.68, 0.67, 0.63, 0.71, 0.71),
    "EducationEnv": (0.73, 0.72, 0.70, 0.71, 0.68, 0.62, 0.58, 0.65, 0.63, 0.72, 0.92, 0.94, 0.91, 0.87, 0.88),
    "MedicalEnv": (0.42, 0.51, 0.49, 0.43, 0.39, 0.44, 0.41, 0.55, 0.44, 0.49, 0.57, 0.65, 0.68, 0.69, 0.64),
    "MusicEnv": (0.61, 0.61, 0.62, 0.63, 0.66, 0.60, 0.62, 0.69, 0.67, 0.77, 1.00, 0.84, 0.88, 1.08, 1.02),
}
DEVIATES = {
    ("success", "MedicalEnv", "llama-3.2-3b-instruct"): 0.296,
    ("count", "MedicalEnv", "llama-3.2-3b-instruct"): 0.682,
    ("count", "MusicEnv", "gemma-2-9b-it"): 0.925,
}
"""Published 0.27, 0.69 and 1.02. The last is probably a misread digit."""

Measured = Callable[[str, str], tuple[float, float]]


@pytest.fixture(scope="module")
def measured(reference_data: Path) -> Measured:
    """(domain, model) -> success rate and mean relative action count over all its published easy games and tries."""
    golden: dict[tuple[str, int], int] = {}
    with gzip.open(reference_data / "kumo" / "golden_trajectories.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            if row["difficulty"] == "easy":
                golden[row["domain"], row["seed"]] = row["n_tests"]
    runs = {}
    with gzip.open(reference_data / "kumo" / "model_runs_compact.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            if row["difficulty"] == "easy":
                runs[row["domain"], row["model"]] = row["per_seed"]

    def measure(domain: str, model: str) -> tuple[float, float]:
        tries = [(golden[domain, seed], *one) for seed, played in runs[domain, model] for one in played]
        assert len(tries) in (250, 500)  # of one domain the authors published each play twice
        counts = [
            relative_action_count(compat_length(tests, bool(success), N_ACTIONS), optimal)
            for optimal, tests, _, success, _, _ in tries
        ]
        return fmean(success for _, _, _, success, _, _ in tries), fmean(counts)

    return measure


@pytest.mark.parametrize("domain", SUCCESS)
def test_success_rates_are_the_papers(measured: Measured, domain: str) -> None:
    ours = [measured(domain, model)[0] if model else None for model in SUCCESS_MODELS]
    compare("success", domain, SUCCESS_MODELS, SUCCESS[domain], ours)


@pytest.mark.parametrize("domain", COUNTS)
def test_relative_action_counts_are_the_papers(measured: Measured, domain: str) -> None:
    ours = [measured(domain, model)[1] if model else None for model in COUNT_MODELS]
    compare("count", domain, COUNT_MODELS, COUNTS[domain], ours)


def compare(
    panel: str, domain: str, models: Sequence[str | None], paper: Sequence[float], ours: Sequence[float | None]
) -> None:
    """Every value equals the paper's to rounding, but for those that DEVIATES states, which are exactly these."""
    for model, published, value in zip(models, paper, ours, strict=True):
        if model is None or value is None:
            continue
        stated = DEVIATES.get((panel, domain, model))
        if stated is None:
            assert value == pytest.approx(published, abs=0.005 + 1e-9), (panel, domain, model)
        else:
            assert value == pytest.approx(stated, abs=0.0005), (panel, domain, model)
            assert abs(value - published) > 0.005


def test_the_fantasy_row_has_no_exception() -> None:
    assert not any(domain == "FantasyEnv" for _, domain, _ in DEVIATES)


def test_the_shipped_values_of_the_whole_figure_are_those_of_the_runs(measured: Measured) -> None:
    """100 domains of fourteen models of the figure, and of DeepSeek-V2.5, which is none of its columns."""
    text = files("creval_kumo").joinpath("analysis", "figure_3.csv").read_text("utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    assert len(rows) == 1499 and len({domain for domain, *_ in rows}) == 100
    assert {model for _, model, *_ in rows} == {*filter(None, SUCCESS_MODELS), "deepseek-v2.5"}
    for domain, model, success, count in rows:
        assert (float(success), float(count)) == pytest.approx(measured(domain, model), abs=0.0005 + 1e-9)
