"""The same tasks, model and server by lm-eval 0.4.13 and by creval: equal numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received
from support.completions_server import CompletionsServer
from support.lmeval_evaluate import evaluate

from creval import RunOptions, open_run, run

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
    write_tasks(tmp_path)
    return tmp_path


def write_tasks(folder: Path) -> None:
    """Write the data, and creval's tasks on them."""
    for name, rows in DATA.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        head = f"schema: 1\ntask: {name}\nversion: 1.0.0\ntitle: Made-up data in the form of {name}\n"
        (folder / f"{name}.yaml").write_text(head + CREVAL[name], encoding="utf-8")


def lm_eval_model(server: CompletionsServer) -> Any:
    """lm-eval's client of the server."""
    pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    return LocalCompletionsAPI(f"{server.url}/completions", "remote", model="mock", max_length=CONTEXT)


@pytest.fixture(scope="module")
def theirs(server: CompletionsServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """lm-eval's metrics of each task, in one evaluation."""
    folder = tmp_path_factory.mktemp("lm_eval")
    write_tasks(folder)
    import huggingface_hub.constants  # noqa: F401 -- it keeps what the environment says at its first import

    with pytest.MonkeyPatch.context() as patch:
        for variable, value in (("HF_DATASETS_OFFLINE", "1"), ("HF_HUB_OFFLINE", "1"), ("HF_HOME", str(folder / "hf"))):
            patch.setenv(variable, value)
        model = lm_eval_model(server)
        from lm_eval.tasks import TaskManager

        patch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "hf")
        configs = [
            config
            | {
                "task": name,
                "dataset_path": "json",
                "dataset_kwargs": {"data_files": {"test": str(folder / f"{name}.jsonl")}},
                "test_split": "test",
            }
            for name, config in LM_EVAL.items()
        ]
        none_of_its_own = TaskManager(include_defaults=False)  # reading all of those takes seconds
        found = evaluate(model, tasks=configs, bootstrap_iters=0, task_manager=none_of_its_own)
    return {
        name: {key.removesuffix(",none"): value for key, value in metrics.items() if key.endswith(",none")}
        for name, metrics in found["results"].items()
    }


@pytest.mark.parametrize("form", ["echo", "vllm"])
@pytest.mark.parametrize("name", LM_EVAL)
def test_aggregates_equal_those_of_lm_eval(
    name: str,
    form: str,
    theirs: dict[str, dict[str, float]],
    server: CompletionsServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "vllm", form == "vllm")
    model = "hosted_vllm/mock" if form == "vllm" else "chat/mock"
    done = run([str(folder / f"{name}.yaml")], model, RunOptions(base_url=server.url, output=folder / "run"))
    ours = {NAMES.get(each, each): metric["value"] for each, metric in done.metrics(name).items()}
    wanted = [each["metric"] for each in LM_EVAL[name]["metric_list"]]
    assert sorted(ours) == sorted(wanted)
    assert ours == pytest.approx({metric: theirs[name][metric] for metric in wanted}, abs=1e-6, rel=1e-9)


@pytest.mark.parametrize("context", ["", "Who are you?", "Who  are you? \n", "many words " * 20, "Ange"])
def test_the_likelihoods_of_single_texts_equal_those_of_lm_eval(
    context: str, server: CompletionsServer, folder: Path
) -> None:
    model = lm_eval_model(server)
    from lm_eval.api.instance import Instance

    texts = ["la", " the king of all", "no\n", "  two blanks"]
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


PROBLEMS = [
    ("A cart holds 12 sacks. How many do 3 carts hold?", "3 * 12 = 36.\n#### 36", "3 * 12 is 36.\n#### 36"),
    ("Of 20 lamps 4 are broken. How many burn?", "20 - 4 = 16.\n#### 16", "So it is 16."),
    ("How many seats have 48 rows of 25?", "48 * 25 = 1,200.\n#### 1,200", "#### 1,200 seats, in 48 rows"),
    ("A rope costs $3 a metre. What do 7 metres cost?", "3 * 7 = 21.\n#### 21", "The price is $21"),
    ("It is 4 degrees and falls by 9. What is it then?", "4 - 9 = -5.\n#### -5", "#### -5"),
    ("How many eggs are 5 dozen?", "5 * 12 = 60.\n#### 60", "#### 61"),
    ("How many days have 2 weeks?", "2 * 7 = 14.\n#### 14", "I cannot say."),
    ("How many legs have 6 hens?", "6 * 2 = 12.\n#### 12", "First #### 10, no: #### 12"),
]
SOLVED = [
    ("What is a third of 9?", "9 / 3 = 3.\n#### 3"),
    ("How many minutes has an hour?", "An hour has 60.\n#### 60"),
]
GSM8K = """
schema: 1
task: gsm8k
version: 1.0.0
title: Made-up data in the form of gsm8k
dataset: {source: file, file: gsm8k.jsonl, fields: {target: {from: answer, pattern: "#### (.+)", as: number}}}
prompt: [{role: user, content: "Question: {{ question }}\\nAnswer:"}]
few_shot: {n: 2, pool: gsm8k_solved.jsonl, as: FORM, answer: " {{ answer }}"}
generation: {temperature: 0, max_tokens: 256, stop: ["Question:"]}
readings:
  strict: [{regex: {pattern: "#### (-?[0-9.,]+)", choose: first}}, {last_number: {refine: true}}]
  flexible: [{regex: {pattern: "-?[$0-9.,]{2,}|-?[0-9]+", choose: last}}, {last_number: {refine: true}}]
score: numeric
metrics:
  - {name: numeric@strict, failed: zero}
  - {name: numeric@flexible, failed: zero}
"""


@pytest.mark.parametrize("form", ["text", "turns"])
def test_generated_answers_are_asked_for_and_read_as_lm_eval_does(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same prompts with solved examples, and both readings of each answer scored alike (gsm8k's filters)."""
    from lm_eval.models.openai_completions import LocalChatCompletion
    from lm_eval.tasks import TaskManager

    for variable, value in (("HF_DATASETS_OFFLINE", "1"), ("HF_HUB_OFFLINE", "1"), ("HF_HOME", str(folder / "hf"))):
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder / "hf")
    for name, rows in (("gsm8k", [each[:2] for each in PROBLEMS]), ("gsm8k_solved", SOLVED)):
        lines = (json.dumps(dict(zip(("question", "answer"), row, strict=True))) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "gsm8k.yaml").write_text(GSM8K.replace("FORM", form))

    def said(request: Received) -> Answer:
        return Answer(next(text for question, _, text in PROBLEMS if question in request.prompt))

    config = {
        "task": "gsm8k",
        "dataset_path": "json",
        "dataset_kwargs": {
            "data_files": {"test": str(folder / "gsm8k.jsonl"), "train": str(folder / "gsm8k_solved.jsonl")}
        },
        "test_split": "test",
        "fewshot_split": "train",
        "fewshot_config": {"sampler": "first_n"},
        "num_fewshot": 2,
        "output_type": "generate_until",
        "doc_to_text": "Question: {{question}}\nAnswer:",
        "doc_to_target": "{{answer}}",
        "metric_list": [{"metric": "exact_match", "regexes_to_ignore": [",", "\\$", "(?s).*#### ", "\\.$"]}],
        "generation_kwargs": {"until": ["Question:"], "do_sample": False, "temperature": 0.0},
        "filter_list": [
            {
                "name": "strict-match",
                "filter": [
                    {"function": "regex", "regex_pattern": "#### (\\-?[0-9\\.\\,]+)"},
                    {"function": "take_first"},
                ],
            },
            {
                "name": "flexible-extract",
                "filter": [
                    {"function": "regex", "group_select": -1, "regex_pattern": "(-?[$0-9.,]{2,})|(-?[0-9]+)"},
                    {"function": "take_first"},
                ],
            },
        ],
    }
    with ChatServer(script=said) as server:
        model = LocalChatCompletion(f"{server.url}/chat/completions", model="mock", max_gen_toks=256)
        found = evaluate(
            model,
            tasks=[config],
            bootstrap_iters=0,
            apply_chat_template=True,
            fewshot_as_multiturn=form == "turns",
            task_manager=TaskManager(include_defaults=False),
        )
        asked = len(server.requests)
        done = run([str(folder / "gsm8k.yaml")], "chat/mock", RunOptions(base_url=server.url, output=folder / "run"))
        theirs, ours = (
            {str(request.body["messages"]): (request.body["messages"], request.body["stop"]) for request in part}
            for part in (server.requests[:asked], server.requests[asked:])
        )
    assert len(theirs) == len(PROBLEMS)
    assert ours == theirs
    for reading, filtered in (("strict", "strict-match"), ("flexible", "flexible-extract")):
        value = done.metrics("gsm8k")[f"numeric@{reading}"]["value"]
        assert value == pytest.approx(found["results"]["gsm8k"][f"exact_match,{filtered}"], abs=1e-9)
    assert [metric["value"] for metric in done.metrics("gsm8k").values()] != [1.0, 1.0]
