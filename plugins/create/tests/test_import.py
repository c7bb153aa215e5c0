"""`creval create import` and the lint of queries, on the public sample and on a set with Table 4's counts."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.commands import creval
from support.hub_server import HubServer

from creval.plugin import DataError
from creval.plugin.data import DataOptions
from creval_create.cli.importing import import_published
from creval_create.queries.imported import open_published
from creval_create.queries.lint import lint
from creval_create.queries.own import own_queries
from creval_create.queries.published import COUNT, RELATIONS, published_rows


def full_set() -> list[dict[str, Any]]:
    """A set of the published shape; only the counts are the paper's."""
    rows = []
    for relation, (label, count) in RELATIONS.items():
        for number in range(count):
            start = f"{label} {number}"
            rows.append(
                {
                    "query": f"What are different ways of connecting {start} and someone who lives in {number}?",
                    "entity_a": start,
                    "rel_b": "residence",
                    "entity_b": f"town {number}",
                    "description": f"Q{number}__{relation}",
                }
            )
    return rows


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(import_published, list(arguments))
    return result.exit_code, result.output + (str(result.exception) if result.exception else "")


def test_table_4_adds_up() -> None:
    assert sum(count for _, count in RELATIONS.values()) == COUNT == 931 and len(RELATIONS) == 11


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_a_whole_set_is_kept_with_its_sha256(caches: Path, ending: str) -> None:
    rows, file = full_set(), caches / f"train.{ending}"
    if ending == "csv":
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        file.write_text("\n".join(map(json.dumps, rows)) if ending == "jsonl" else json.dumps(rows))
    code, said = run(str(file))
    assert code == 0, said
    assert "931 queries kept in" in said
    opened = open_published(base=caches, options=DataOptions.from_environment())
    plain = {key: value for key, value in rows[0].items() if key != "description"}
    assert len(opened) == 931 and opened.row(0) == {"id": "0", **plain, "relation": "P166"}
    origin = json.loads((caches / "cache" / "data" / "create" / "published.origin.json").read_text())
    assert origin == {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def test_what_is_not_the_published_set_is_refused_by_its_counts(caches: Path) -> None:
    rows = full_set()
    with pytest.raises(
        DataError, match=r"930 rows instead of 931; 93 queries of P2293 \(genetic association\) instead of 94"
    ):
        published_rows(rows[:-1], "x")
    swapped = [*rows[:-1], {**rows[-1], "description": "Q1__P19"}]
    with pytest.raises(DataError, match="1 queries of P19, which Table 4 lacks"):
        published_rows(swapped, "x")
    with pytest.raises(DataError, match="row 1 lacks rel_b, description"):
        published_rows([{"query": "q", "entity_a": "a", "entity_b": "b"}], "x")


def test_nothing_is_kept_of_a_refused_set(caches: Path) -> None:
    file = caches / "half.jsonl"
    file.write_text("\n".join(map(json.dumps, full_set()[:400])))
    code, said = run(str(file))
    assert code != 0 and "not the published set" in said
    assert not list(caches.rglob("published.jsonl"))


def test_the_set_is_fetched_and_checked_without_an_import(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    with HubServer({}) as hub:
        about = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": ""}
        published = hub.add("wadhma/CREATE", {"train.jsonl": "\n".join(map(json.dumps, full_set())).encode()})
        done = creval(tmp_path, "prefetch", "create_published", CREVAL_CACHE=str(tmp_path / "cache"), **about)
    pinned = f"huggingface wadhma/CREATE@{published.commits[-1].oid[:12]} split train"
    assert f"{COUNT} docs from {pinned}" in done.stdout, done.stdout
    assert f"to pin this commit: dataset: {{revision: {published.commits[-1].oid}}}" in done.stdout
    rows = open_published(base=tmp_path, options=DataOptions(cache=tmp_path / "cache", offline=True))
    assert rows.origin == pinned and rows.row(0)["id"] == "0" and rows.row(0)["relation"] == "P166"  # type: ignore[index]


@pytest.mark.parametrize("fault", ["rows", "relations", "columns"])
def test_a_newest_set_that_is_not_the_published_one_is_refused(fault: str, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    rows = full_set()
    if fault == "rows":
        rows = rows[:-1]
    if fault == "relations":
        rows = [{**row, "description": row["description"].replace("P166", "P39")} for row in rows]
    if fault == "columns":
        rows = [{("question" if name == "query" else name): value for name, value in row.items()} for row in rows]
    said = {
        "rows": "it has 930 rows, the task expects 931",
        "relations": "0 queries of P166 (award received) instead of 99",
        "columns": "it has no column 'query', which the task expects",
    }
    with HubServer({}) as hub:
        about = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": ""}
        hub.add("wadhma/CREATE", {"train.jsonl": "\n".join(map(json.dumps, rows)).encode()})
        done = creval(tmp_path, "prefetch", "create_published", CREVAL_CACHE=str(tmp_path / "cache"), **about)
    assert done.returncode == 1 and said[fault] in done.stdout, done
    assert f"{hub.url}/datasets/wadhma/CREATE/commits/main" in done.stdout
    assert "dataset: {revision: COMMIT}" in done.stdout and "to pin" not in done.stdout
    assert not list((tmp_path / "cache").rglob("newest"))  # the hub is asked again


def test_a_file_or_a_revision_and_a_full_one(caches: Path) -> None:
    assert "either FILE or --revision" in run()[1]
    assert "not a full commit" in run("--revision", "main")[1]


def test_the_public_sample_has_the_faults_that_are_known(reference_data: Path) -> None:
    text = (reference_data / "create" / "queries_sample24.jsonl").read_text(encoding="utf-8")
    found = lint(map(json.loads, text.splitlines()))
    by_query = {finding.query: finding.problem for finding in found}
    assert "names the entity to be found, 'Hagen Liebing'" in by_query["6"]
    assert "turns the relation round: 'Jakub Krzyżanowski' is the father" in by_query["7"]
    assert set(by_query) == {"6", "7"}


def test_our_own_queries_are_clean() -> None:
    assert lint(own_queries()) == []


def test_what_the_lint_sees() -> None:
    row = {"query": "How are A B and C linked?", "entity_a": "A B", "rel_b": "child", "entity_b": "D"}
    assert lint([row]) == []
    assert "does not name the start" in lint([{**row, "entity_a": "Z"}])[0].problem
    assert "earlier query" in lint([row, {**row, "entity_a": "a  b"}])[0].problem
    assert "same entity" in lint([{**row, "entity_b": "a b"}])[0].problem
    turned = {**row, "query": "How are A B and someone who is the child of D linked?"}
    assert "turns the relation round" in lint([turned])[0].problem
    source = {
        "triple1_labels": ["A B", "x", "C"],
        "triple2_labels": ["E", "x", "C"],
        "triple3_labels": ["E", "child", "D"],
    }
    assert lint([{**row, **source}]) == []
    satisfied = {**source, "triple3_labels": ["A B", "child", "D"]}
    assert any("satisfies the target itself" in each.problem for each in lint([{**row, **satisfied}]))
