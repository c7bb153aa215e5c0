"""The same tasks, model and server by lm-eval 0.4.13 and by creval: equal numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.completions_server import CompletionsServer

from creval import RunOptions, open_run, run

lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")

CONTEXT = 40
"""The longest prompt of the model: contexts are cut, and texts are scored in several windows."""

STORIES = [
    {
        "activity": f"Repairing {thing}",
        "ctx": f"{who} looks at the {thing} for a while and {reason}. {who}",
        "endings": [
            f"takes the {thing} apart.",
            "sings",
            f"paints   the {thing} as nobody does, {end}",
            end,
        ],
        "label": str(place % 4),
    }
    for place, (who, thing, reason, end) in enumerate(
        [
            ("He", "clock", "shakes it", "then leaves."),
            ("She", "umbrella", "counts the ribs, one after the other, twice over, until all twelve are there", "naps"),
            ("The boy", "kite", "laughs", "ties a knot, and another one."),
            ("Anna", "boat", "finds a hole below the waterline where the paint has come off in flakes", "swims home"),
            ("They", "gate", "lift it", "Ünder the höuse, naïvely."),
            ("Old Tom", "pump", "waits  ", "kicks it!"),
        ]
    )
]
QUESTIONS = [
    {
        "question": "Which of these floats",
        "choices": {"text": ["a stone", "a cork"], "label": ["A", "B"]},
        "answerKey": "B",
    },
    {
        "question": "What do bees make",
        "choices": {"text": ["wax and honey", "paper", "silk", "wool"], "label": ["1", "2", "3", "4"]},
        "answerKey": "1",
    },
    {
        "question": "Which is the coldest of these four places at noon on a day in the middle of a long, dry summer",
        "choices": {"text": ["the cellar", "the roof", "the yard", "the attic room"], "label": ["A", "B", "C", "D"]},
        "answerKey": "A",
    },
    {"question": "", "choices": {"text": ["yes", "no"], "label": ["A", "B"]}, "answerKey": "A"},
]
TEXTS = [
    {"page": "The lamps along the quay are lit before the last of the boats is tied to its ring. " * 4},
    {"page": "One line, and no more."},
    {"page": "  A heading \n\n and below it, after two line breaks, a text of some length whose end is cut some"},
]
LM_EVAL: dict[str, dict[str, Any]] = {
    "hellaswag": {
        "output_type": "multiple_choice",
        "doc_to_text": "{{activity}}: {{ctx}}",
        "doc_to_choice": "endings",
        "doc_to_target": "{{label}}",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}, {"metric": "acc_bytes"}],
    },
    "arc": {
        "output_type": "multiple_choice",
        "doc_to_text": "Question: {{question}}?\nAnswer: ",
        "doc_to_choice": "{{choices.text}}",
        "doc_to_target": "{{choices.label.index(answerKey)}}",
        "target_delimiter": "",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}, {"metric": "acc_bytes"}],
    },
    "wikitext": {
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "{{page}}",
        "metric_list": [{"metric": "word_perplexity"}, {"metric": "byte_perplexity"}, {"metric": "bits_per_byte"}],
    },
}
ACC = """
score: {likeliest_choice: TARGET}
metrics: [{name: acc, failed: exclude}, {name: acc_norm, failed: exclude}, {name: acc_norm_bytes, failed: exclude}]
"""
CREVAL = {
    "hellaswag": """
dataset: {source: file, file: hellaswag.jsonl, choices: {from: endings, answer: label}}
prompt: [{role: user, content: "{{ activity }}: {{ ctx }}"}]
protocol: {choices: {context_length: 40}}
"""
    + ACC.replace("TARGET", "target"),
    "arc": """
dataset: {source: file, file: arc.jsonl}
prompt: [{role: user, content: "Question: {{ question }}?\\nAnswer: "}]
protocol: {choices: {choices: choices, delimiter: "", context_length: 40}}
"""
    + ACC.replace("TARGET", "answerKey"),
    "wikitext": """
dataset: {source: file, file: wikitext.jsonl}
prompt: [{role: user, content: "{{ page }}"}]
protocol: {choices: {output: loglikelihood_rolling, context_length: 40}}
score: perplexity
metrics:
  - {name: word_perplexity, from: word_nll, weight: words, aggregate: perplexity, failed: exclude}
  - {name: byte_perplexity, from: byte_nll, weight: bytes, aggregate: perplexity, failed: exclude}
  - {name: bits_per_byte, weight: bytes, failed: exclude}
""",
}
DATA = {"hellaswag": STORIES, "arc": QUESTIONS, "wikitext": TEXTS}
NAMES = {"acc_norm_bytes": "acc_bytes"}


@pytest.fixture(scope="module")
def server() -> Iterator[CompletionsServer]:
    with CompletionsServer() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows in DATA.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        head = f"schema: 1\ntask: {name}\nversion: 1.0.0\ntitle: Made-up data in the form of {name}\n"
        (tmp_path / f"{name}.yaml").write_text(head + CREVAL[name], encoding="utf-8")
    return tmp_path


def by_lm_eval(name: str, server: CompletionsServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Return lm-eval's metrics of a task."""
    for variable, value in (("HF_DATASETS_OFFLINE", "1"), ("HF_HUB_OFFLINE", "1"), ("HF_HOME", str(folder / "hf"))):
        monkeypatch.setenv(variable, value)
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "hf")
    model = LocalCompletionsAPI(f"{server.url}/completions", "remote", model="mock", max_length=CONTEXT)
    config = LM_EVAL[name] | {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / f"{name}.jsonl")}},
        "test_split": "test",
    }
    found = simple_evaluate(model, tasks=[config], bootstrap_iters=0)
    assert found is not None
    return {key.removesuffix(",none"): value for key, value in found["results"][name].items() if key.endswith(",none")}


@pytest.mark.parametrize("form", ["echo", "vllm"])
@pytest.mark.parametrize("name", LM_EVAL)
def test_aggregates_equal_those_of_lm_eval(
    name: str, form: str, server: CompletionsServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = by_lm_eval(name, server, folder, monkeypatch)
    monkeypatch.setattr(server, "vllm", form == "vllm")
    model = "hosted_vllm/mock" if form == "vllm" else "chat/mock"
    done = run([str(folder / f"{name}.yaml")], model, RunOptions(base_url=server.url, output=folder / "run"))
    ours = {NAMES.get(each, each): metric["value"] for each, metric in done.metrics(name).items()}
    wanted = [each["metric"] for each in LM_EVAL[name]["metric_list"]]
    assert sorted(ours) == sorted(wanted)
    assert ours == pytest.approx({metric: theirs[metric] for metric in wanted}, abs=1e-6, rel=1e-9)


@pytest.mark.parametrize("context", ["", "Who are you?", "Who  are you? \n", "many words " * 20, "Ange"])
def test_the_likelihoods_of_single_texts_equal_those_of_lm_eval(
    context: str, server: CompletionsServer, folder: Path
) -> None:
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    texts = ["la", " the king of all", "no\n", "  two blanks"]
    model = LocalCompletionsAPI(f"{server.url}/completions", "remote", model="mock", max_length=CONTEXT)
    theirs = model.loglikelihood([Instance("loglikelihood", {}, (context, text), i) for i, text in enumerate(texts)])
    rows = [{"context": context, "choices": texts, "target": 0}]
    (folder / "arc.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    task = folder / "arc.yaml"
    text = task.read_text().replace('"Question: {{ question }}?\\nAnswer: "', '"{{ context }}"')
    task.write_text(text.replace("answerKey", "target"))
    done = run([str(task)], "chat/mock", RunOptions(base_url=server.url, output=folder / "run"))
    (sample,) = open_run(done.folder).samples()
    ours = [(each["logprob"], each["greedy"]) for each in sample.outcome["choices"]]
    assert [one for one, _ in ours] == pytest.approx([one for one, _ in theirs], abs=1e-9)
    assert [greedy for _, greedy in ours] == [greedy for _, greedy in theirs]
