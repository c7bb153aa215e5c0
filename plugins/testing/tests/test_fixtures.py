"""The fixtures of `creval_testing`, used as an author uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.imports import imported_by
from support.rhymes import write_rhymes

from creval.errors import UsageError
from creval_testing import conformance

JUDGED = """
schema: 1
task: judged_lines
version: 1.0.0
title: Lines, judged
dataset: {source: file, file: lines.jsonl, id: id}
prompt:
  - {role: user, content: "A line on {{ topic }}."}
roles:
  judge:
    prompts:
      quality: [{role: user, content: "Rate from 1 to 5: {{ answer }}"}]
score: {judge: {prompt: quality, scale: [1, 5], name: quality}}
metrics: [{name: quality, failed: exclude}]
"""


@pytest.fixture
def rhymes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("CREVAL_PLUGINS", "rhymes_played,judges")
    return write_rhymes(tmp_path, "rhymes_played")


@pytest.mark.parametrize(
    ("says", "value"),
    [
        ("hat", 0.5),
        ({"cat": "hat", "sun": "run"}, 1.0),
        (lambda fields: [f"b{fields['ending']}"], 1.0),
    ],
    ids=["text", "mapping", "function"],
)
def test_a_scripted_model(rhymes: str, run_task: Any, scripted_model: Any, says: Any, value: float) -> None:
    metric = run_task(rhymes, scripted_model(says)).metrics(rhymes)["rhyme"]
    assert (metric["value"], metric["n"]) == (value, 2)


def test_a_script_that_lacks_a_doc_is_refused(rhymes: str, run_task: Any, scripted_model: Any) -> None:
    with pytest.raises(UsageError, match="nothing for the doc 'sun'"):
        run_task(rhymes, scripted_model({"cat": "hat"}))


def test_a_model_by_name_and_options(rhymes: str, run_task: Any, run_folder: Path) -> None:
    done = run_task(rhymes, "baseline/ceiling", limit=1, output=run_folder)
    assert done.folder == run_folder
    assert done.metrics(rhymes)["rhyme"]["n"] == 1


def test_replay(rhymes: str, run_task: Any, replay: Any) -> None:
    lines = [{"task": rhymes, "doc": doc, "answers": [answer]} for doc, answer in (("cat", "bat"), ("sun", "?"))]
    metric = run_task(rhymes, replay(lines)).metrics(rhymes)["rhyme"]
    assert (metric["value"], metric["n_failed"]) == (0.5, 1)


def test_a_scripted_judge(tmp_path: Path, run_task: Any, scripted_model: Any, scripted_judge: Any) -> None:
    (tmp_path / "judged.yaml").write_text(JUDGED.lstrip())
    (tmp_path / "lines.jsonl").write_text('{"id": "a", "topic": "rain"}\n{"id": "b", "topic": "salt"}\n')
    judge = scripted_judge({"a": "Dull. 1", "b": ["Hm.", "Fine: 4"]})
    done = run_task(str(tmp_path / "judged.yaml"), scripted_model(lambda doc: f"On {doc['topic']}."), judge=judge)
    (metric,) = done.results["tasks"][0]["metrics"][:1]
    assert metric["value"] == 2.5


def test_a_broken_rule_fails_its_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("CREVAL_PLUGINS", "rhymes_failing")
    suite: Any = conformance(write_rhymes(tmp_path, "rhymes_failing", {"metadata": ("License-Expression: MIT\n", "")}))
    (mark,) = suite.test_rule.pytestmark
    for case in mark.args[1]:
        if case.rule == "sources":
            with pytest.raises(pytest.fail.Exception, match="the rule sources is broken"):
                suite().test_rule(case)


def test_pytest_starts_without_the_engine() -> None:
    loaded = imported_by("import creval_testing.fixtures")
    assert not {"numpy", "litellm", "yaml", "creval.engine", "creval.api"} & loaded


def test_creval_starts_without_pytest() -> None:
    loaded = imported_by("import creval_testing.plugin")
    assert not {name for name in loaded if name.partition(".")[0] in {"pytest", "_pytest"}}
    assert "creval_testing.fixtures" not in loaded


def test_an_unknown_name_is_no_name() -> None:
    with pytest.raises(ImportError, match="no_such_name"):
        exec("from creval_testing import no_such_name")
