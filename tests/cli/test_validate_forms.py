"""`creval validate` for machines: JSON and SARIF say what the lines say, with the same exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.toy_plugins import sound_task

from creval_testing.validate import validate

FAULTY = sound_task(
    title="titel: x", score="score: exakt_match", metrics="metrics: [{name: exact_match, failed: zero}]"
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text('{"word": "a", "target": "a"}\n')
    (tmp_path / "toy.yaml").write_text(FAULTY)
    return tmp_path / "toy.yaml"


def given(*arguments: str) -> tuple[int, Any]:
    done = CliRunner().invoke(validate, list(arguments))
    return done.exit_code, json.loads(done.stdout)


def test_json_names_place_key_and_fix(file: Path) -> None:
    code, said = given("./toy.yaml", "--json")
    assert code == 2
    (unknown,) = [each for each in said["problems"] if each["path"] == "titel"]
    assert Path(unknown["file"]).name == "toy.yaml"
    assert unknown["line"] == FAULTY.splitlines().index("titel: x") + 1
    assert unknown["column"] == 1
    assert "Did you mean 'title'" in unknown["fix"]
    assert {each["level"] for each in said["problems"]} == {"error"}


def test_sarif_has_the_same_places(file: Path) -> None:
    code, said = given("./toy.yaml", "--sarif")
    assert (code, said["version"]) == (2, "2.1.0")
    (run,) = said["runs"]
    assert run["tool"]["driver"]["name"] == "creval"
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {"toy.yaml"}
    assert {result["ruleId"] for result in run["results"]} == {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    _, plain = given("./toy.yaml", "--json")
    assert [place["region"]["startLine"] for place in places] == [each["line"] for each in plain["problems"]]


def test_a_sound_file_has_an_empty_list_and_its_warnings(file: Path) -> None:
    pattern = sound_task(
        parse="parse: {regex: '(a+)+$'}",
        score="score: exact_match",
        metrics="metrics: [{name: exact_match, failed: zero}]",
    )
    file.write_text(pattern)
    code, said = given("./toy.yaml", "--json")
    assert code == 0
    assert [each["level"] for each in said["problems"]] == ["warning"]
    code, log = given("./toy.yaml", "--sarif")
    assert [result["level"] for result in log["runs"][0]["results"]] == ["warning"]


def test_failed_tests_are_problems_of_the_file(file: Path) -> None:
    tests = "tests: [{name: gold, answer: b, status: scored, scores: {exact_match: 1}}]"
    metrics = "metrics: [{name: exact_match, failed: zero}]"
    file.write_text(sound_task(parse=None, score="score: exact_match", metrics=metrics, tests=tests))
    code, said = given("./toy.yaml", "--tests", "--json")
    assert code == 2
    assert "gold: exact_match is 0" in said["problems"][0]["message"]
    assert Path(said["problems"][0]["file"]).name == "toy.yaml"


def test_one_form_at_a_time(file: Path) -> None:
    assert CliRunner().invoke(validate, ["./toy.yaml", "--json", "--sarif"]).exit_code == 2
