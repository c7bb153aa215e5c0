"""The authors' published configurations and games: what is sound is read, what is faulty refused by name."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from creval.errors import DataError
from creval_kumo.domains.faults import DomainError, FaultKind
from creval_kumo.published.published_domains import PublishedDomain, read_domains, read_instances

NOT_SINGLED_OUT = {
    "CurrencyEnv": 10, "SpiceEnv": 7, "ChessEnv": 6, "FishEnv": 6, "SorcererEnv": 4, "QuantumEnv": 3,
    "StarConstellationEnv": 3, "MythicalCreatureEnv": 2, "FungalEnv": 1, "LanguageEnv": 1,
}  # fmt: skip
"""Games whose outcomes do not leave exactly the valid truth, as counted in the data's own README."""


@pytest.fixture(scope="module")
def folder(reference_data: Path) -> Path:
    return reference_data / "kumo"


@pytest.fixture(scope="module")
def published(folder: Path) -> dict[str, PublishedDomain]:
    return read_domains(folder / "seed_configs.jsonl.gz")


def test_known_faults_of_the_configurations_are_named(published: dict[str, PublishedDomain]) -> None:
    assert len(published) == 102
    faults = {name: {fault.kind for fault in domain.faults} for name, domain in published.items() if domain.faults}
    for name, kind in {
        "SorcererEnv": FaultKind.OVERLAPPING_RANGES, "CloudEnv": FaultKind.ALWAYS_EXCLUDED,
        "StarConstellationEnv": FaultKind.ALWAYS_EXCLUDED, "BirdNestEnv": FaultKind.NEVER_EXCLUDED,
        "FishEnv": FaultKind.WRONG_TYPE, "SpiceEnv": FaultKind.WRONG_TYPE, "ChessEnv": FaultKind.WRONG_TYPE,
        "HistoricalEnv": FaultKind.OUTCOMES_MISMATCH, "LanguageEnv": FaultKind.BAD_RANGE,
        "CelestialEnv": FaultKind.DUPLICATE_NAME,
    }.items():  # fmt: skip
        assert kind in faults[name], name
        with pytest.raises(DomainError, match=kind.value):
            published[name].sound()
    for name in ("MedicalEnv", "ChemicalEnv", "MusicEnv", "EducationEnv", "FantasyEnv"):
        assert name not in faults
        assert published[name].sound().truths


def test_every_sound_game_of_the_sound_domains_is_read(folder: Path, published: dict[str, PublishedDomain]) -> None:
    read = 0
    for name, domain in published.items():
        file = folder / "instances" / f"{name}.easy.jsonl.gz"
        if file.is_file() and not domain.faults:
            for game in read_instances(file, domain):
                assert game.book
                read += 1
    assert read % 50 == 0
    assert read >= 75 * 50


def test_games_that_do_not_single_out_the_valid_truth_are_refused(
    folder: Path, published: dict[str, PublishedDomain]
) -> None:
    refused: Counter[str] = Counter()
    for name, expected in NOT_SINGLED_OUT.items():
        path = folder / "instances" / f"{name}.easy.jsonl.gz"
        with pytest.raises(DomainError):
            next(read_instances(path, published[name]))
        kept = {game.seed for game in read_instances(path, published[name], "skip")}
        assert len(kept) <= 50 - expected
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        refused[name] = sum(left_by_the_observations(row, published[name]) != {row["valid_truth"]} for row in rows)
        assert not any(
            row["seed"] in kept
            for row in rows
            if left_by_the_observations(row, published[name]) != {row["valid_truth"]}
        )
    assert refused == NOT_SINGLED_OUT


def left_by_the_observations(row: dict[str, Any], published: PublishedDomain) -> set[str]:
    """Counted here anew, from the raw rows."""
    left = set(row["truths"])
    for name, shown in row["observations"].items():
        for outcome in published.domain.action_by_name[name].outcomes:
            state = outcome.state
            if state == shown or (
                not isinstance(state, str) and not isinstance(shown, str) and state.lo <= shown <= state.hi
            ):
                left -= outcome.rules_out
    return left


def write(file: Path, *rows: Any) -> Path:
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


CONFIGURATION: dict[str, Any] = {
    "domain": "Small", "truths": ["A", "B", "C"], "actions": ["x", "y"],
    "outcomes": [
        {"action": "x", "type": "str", "states": [
            {"state": "on", "rules_out": ["A"]}, {"state": "off", "rules_out": ["B"]}]},
        {"action": "y", "type": "float", "states": [
            {"state": [0, 1], "rules_out": ["C"]}, {"state": [1, 2], "rules_out": []}]},
    ],
}  # fmt: skip
GAME: dict[str, Any] = {
    "truths": ["A", "B", "C"], "actions": ["x", "y"], "observations": {"x": "on", "y": 0.5},
    "seed": 3, "valid_truth": "B", "knowledge_book": "All that is known.",
}  # fmt: skip


@pytest.fixture
def small(tmp_path: Path) -> PublishedDomain:
    return read_domains(write(tmp_path / "config.jsonl", CONFIGURATION))["Small"]


def test_plain_json_lines_are_read_too(tmp_path: Path, small: PublishedDomain) -> None:
    (game,) = read_instances(write(tmp_path / "games.jsonl", GAME), small)
    assert (game.domain, game.seed, game.valid_truths, game.book) == ("Small", 3, ("B",), "All that is known.")
    assert game.left(()) == ("A", "B", "C")
    assert game.left(("x",)) == ("B", "C")
    assert game.left(("x", "y")) == ("B",)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"observations": {"x": "on", "y": 7.0}}, FaultKind.NO_MATCHING_OUTCOME),
        ({"observations": {"x": "On", "y": 0.5}}, FaultKind.NO_MATCHING_OUTCOME),
        ({"observations": {"x": "on", "y": 1.0}}, FaultKind.OVERLAPPING_RANGES),
        ({"observations": {"x": "on", "y": [0.5]}}, FaultKind.WRONG_TYPE),
        ({"observations": {"x": "on"}}, FaultKind.OUTCOMES_MISMATCH),
        ({"actions": ["x", "z"], "observations": {"x": "on", "z": "on"}}, FaultKind.OUTCOMES_MISMATCH),
        ({"truths": ["A", "B", "D"]}, FaultKind.UNKNOWN_TRUTH),
        ({"valid_truth": "E"}, FaultKind.UNKNOWN_TRUTH),
        ({"valid_truth": "A"}, FaultKind.NOT_SINGLED_OUT),
        ({"observations": {"x": "on", "y": 1.5}}, FaultKind.NOT_SINGLED_OUT),
        ({"truths": ["A", "B", "B", "C"]}, FaultKind.DUPLICATE_NAME),
    ],
)
def test_a_faulty_game_is_refused_by_name_or_skipped(
    change: dict[str, Any], kind: FaultKind, tmp_path: Path, small: PublishedDomain
) -> None:
    file = write(tmp_path / "games.jsonl", GAME | change)
    with pytest.raises(DomainError, match=kind.value):
        list(read_instances(file, small))
    assert list(read_instances(file, small, "skip")) == []


def test_several_valid_truths(tmp_path: Path, small: PublishedDomain) -> None:
    row = GAME | {"observations": {"x": "on", "y": 1.5}, "valid_truth": ["B", "C"]}
    (game,) = read_instances(write(tmp_path / "games.jsonl", row), small)
    assert game.valid_truths == ("B", "C")


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"domain": "x"}', '{"domain": "x", "truths": 5, "actions": [], "outcomes": []}']
)
def test_a_malformed_file_is_a_data_error(text: str, tmp_path: Path, small: PublishedDomain) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        read_domains(file)
    with pytest.raises(DataError):
        list(read_instances(file, small))
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"domain": 1}\n' * 1000)[:40])
    with pytest.raises(DataError):
        read_domains(cut)
