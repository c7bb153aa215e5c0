"""The fixtures of creval-testing, and `conformance`; `creval_testing` imports these names on first use."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from creval_testing.rules.subject import Installed
    from creval_testing.scripted_models import RunTask, Says, Script

__all__ = ["conformance", "replay", "run_folder", "run_task", "scripted_judge", "scripted_model"]


def conformance(
    plugin: str,
    *,
    resources: Mapping[str, str] | None = None,
    roles: Mapping[str, str] | None = None,
    docs: int = 2,
) -> type:
    """Return a test class with one test for each rule of the conformance suite, on each of the plugin's tasks.

    `resources` replace those of the tasks (`{"embedding": "embedded/minilm"}`), `roles` are models for roles such as
    the judge, `docs` is the number of docs played per task. docs/testing.md describes the rules. A rule that cannot be
    examined here (remote data, a role without a model) is skipped with the reason.
    """
    from creval_testing.rules.examine import Case, cases, faults_of
    from creval_testing.rules.subject import NotExaminedError, Subject

    installed = _installed(os.environ.get("CREVAL_PLUGINS"))
    subject = Subject(plugin, dict(resources or {}), dict(roles or {}), docs, installed)

    class TestConformance:
        """Every rule of docs/testing.md."""

        @pytest.fixture(scope="class", autouse=True)
        def _closed(self) -> Iterator[None]:
            yield
            subject.close()

        @pytest.mark.parametrize("case", cases(subject), ids=str)
        def test_rule(self, case: Case) -> None:
            try:
                faults = faults_of(subject, case)
            except NotExaminedError as error:
                pytest.skip(error.what)
            if faults:
                pytest.fail("\n".join([f"the rule {case} is broken:", *faults]), pytrace=False)

    return TestConformance


@functools.cache
def _installed(allowed: str | None) -> Installed:
    """Return all plugins that CREVAL_PLUGINS allows, loaded once for all suites of a repository."""
    from creval_testing.rules.subject import Installed

    return Installed()


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """Return the path of a run folder that does not exist yet."""
    return tmp_path / "run"


@pytest.fixture
def scripted_model() -> Callable[[Says], Script]:
    """Return a function that makes a model with scripted answers, for `run_task`.

    `says` is a text (the answer to every doc), a function of the doc's fields, or a mapping from doc ids; its value for
    a doc is a text, or a list of texts for a sample with several calls.
    """
    from creval_testing.scripted_models import Script

    return lambda says: Script("target", says)


@pytest.fixture
def scripted_judge() -> Callable[[Says], Script]:
    """Return a function that makes a judge with scripted answers; `says` is as in `scripted_model`.

    A single text is the answer to every call. As in every run, the same question is asked once: two docs with the same
    answer share a verdict.
    """
    from creval_testing.scripted_models import Script

    return lambda says: Script("judge", says)


@pytest.fixture
def replay(tmp_path: Path) -> Callable[[Sequence[Mapping[str, Any]]], str]:
    """Return a function that names a model of recorded answers: lines of {"task", "doc", "answers", ...}."""

    def recorded(lines: Sequence[Mapping[str, Any]]) -> str:
        file = tmp_path / f"recorded-{len(list(tmp_path.glob('recorded-*')))}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return f"replay/{file}"

    return recorded


@pytest.fixture
def run_task(tmp_path: Path) -> RunTask:
    """Run a task offline, in a temporary folder: `run_task("rhyme", scripted_model("cat"), limit=2)`.

    The model is a name (`baseline/ceiling`), a script, or an argument of `scripted_model`; further keywords are those
    of `creval.RunOptions`, and `judge=` is short for the role. Returns a `creval.RunResult`.
    """
    from creval_testing.scripted_models import RunTask

    return RunTask(tmp_path)
