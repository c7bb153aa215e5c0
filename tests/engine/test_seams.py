"""Where components meet tasks and data: what does not fit is refused before the first call, or errs with its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import creval
from creval.errors import PluginError, TaskError

MODEL = "hosted_vllm/parrot"
PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        add, at = registry.add, "creval_seam_parts:"
        add("scorer", "wild", at + "Wild", produces=("declared",))
        add("scorer", "leaver", at + "Leaver", produces=("declared",))
        add("scorer", "gone", "creval_seam_parts:Nothing", produces=("declared",))
        add("scorer", "nowhere", "creval_seam_nowhere:Nothing", produces=("declared",))
        add("protocol", "gone", "creval_seam_parts:Nothing", prompts=("prompt",))
        add("aggregation", "gone", "creval_seam_parts:Nothing")
        add("scorer", "exits", "creval_seam_exit:Scorer", produces=("declared",))
"""
PARTS = """
    from creval.types.components import Score

    class Wild:
        def score(self, items, context):
            return [Score({"declared": 1.0, "another": 2.0}) for item in items]

    class Leaver:
        def __init__(self):
            raise SystemExit("out")
"""


@pytest.fixture
def seam(install, make_task, tmp_path):
    install("seam", PLUGIN, PARTS)
    (tmp_path / "site" / "creval_seam_exit.py").write_text("raise SystemExit('at import')\n")

    def make(old, new):
        task = make_task(docs=4)
        path = tmp_path / "parrot.yaml"
        path.write_text(path.read_text().replace(old, new))
        return task

    return make


def refuse(task, server, options, error, match, **changes):
    given = options(base_url=server.url, **changes)
    with pytest.raises(error, match=match):
        creval.run([task], MODEL, given)
    assert server.requests == []
    assert not given.output.exists()


@pytest.mark.parametrize(
    "change",
    [
        ("score: exact_match", "score: gone", "no attribute 'Nothing', named by the scorer 'gone'"),
        ("score: exact_match", "score: nowhere", "no module 'creval_seam_nowhere'"),
        ("score: exact_match", "protocol: gone\nscore: exact_match", "named by the protocol 'gone'"),
        ("aggregate: mean", "aggregate: gone", "named by the aggregation 'gone'"),
        ("score: exact_match", "score: exits", "cannot be imported: SystemExit: at import"),
        ("score: exact_match", "score: leaver", "cannot be made: SystemExit: out"),
    ],
)
def test_a_component_that_is_not_available(seam, server, options, change):
    old, new, match = change
    task = seam(old, new)
    if "score: exact_match" not in new and "aggregate" not in new:
        Path(task).write_text(Path(task).read_text().replace("from: exact_match", "from: declared"))
    refuse(task, server, options, (PluginError, TaskError), match)


def test_a_score_of_another_name_than_declared_errs(seam, server, options, tmp_path):
    task = seam("score: exact_match", "score: wild")
    path = tmp_path / "parrot.yaml"
    path.write_text(path.read_text().replace("from: exact_match", "from: declared"))
    result = creval.run([task], MODEL, options(base_url=server.url))
    (errors,) = {error["reason"] for error in result.results["tasks"][0]["first_errors"]}
    assert "'wild' returned the score 'another', which it does not declare" in errors
    assert result.results["tasks"][0]["counts"]["errored"] == 4


@pytest.mark.parametrize(
    "use", ["{{ word[0] }}", "{% for one in word %}{{ one }}{% endfor %}", "{{ word | join(' ') }}"]
)
def test_a_text_in_place_of_a_list_is_not_asked_as_letters(make_task, server, options, tmp_path, use):
    """A line of a CSV, say, `cottage,swiss,cake`; the doc and the line of the prompt are named."""
    task = make_task(docs=3)
    path = tmp_path / "parrot.yaml"
    path.write_text(path.read_text().replace("{{ word }}", use))
    rows = [{"id": "a", "word": ["x", "y"], "target": "x"}, {"id": "b", "word": "cottage,swiss", "target": "x"}]
    (tmp_path / "parrot.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refuse(task, server, options, TaskError, "takes 'word' as a list, but in the doc 'b' .* it is the text")
    creval.run([task], MODEL, options(base_url=server.url, limit="first:1"))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("target", "right"), [("12", True), (3.5, True), ([1, "2"], True), ("a dozen", False), (None, False)]
)
def test_targets_of_numeric_are_numbers(make_task, server, options, tmp_path, target, right):
    task = make_task(docs=1)
    path = tmp_path / "parrot.yaml"
    path.write_text(path.read_text().replace("exact_match", "numeric"))
    (tmp_path / "parrot.jsonl").write_text(json.dumps({"id": "a", "word": "x", "target": target}) + "\n")
    if right:
        creval.run([task], MODEL, options(base_url=server.url))
    else:
        refuse(task, server, options, TaskError, "cannot be scored by 'numeric': its 'target' is")


def test_a_doc_without_the_field_that_is_compared(make_task, server, options, tmp_path):
    task = make_task(docs=1)
    (tmp_path / "parrot.jsonl").write_text('{"id": "a", "word": "x"}\n')
    refuse(task, server, options, TaskError, "has no field 'target'")
