"""A small classifier of the kind of the paper's entailment model, made here, saved, loaded, and used for classes."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.chat_server import ChatServer, Received

import creval
from creval.cli.main import invoke
from creval.errors import CrevalError, DataError, UsageError
from creval.plugin import open_run
from creval_analyses.workbench import Workbench
from creval_openended.cli.entailment_check import entailment_check
from creval_openended.entropy.checking import checked, read_pairs
from creval_openended.entropy.judging import judge_by
from creval_openended.entropy.partition import partition_all
from creval_openended.stepwise.candidates import without_label
from creval_openended.stepwise.outcome import measured_steps

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] fold the coins count in your pocket wait until sun has set draw a plan room of on paper . "
)


def make(folder: Path, labels: tuple[str, ...], seed: int = 3) -> Path:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = WORDS.split()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=len(labels),
        initializer_range=1.0,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("models") / "nli", ("contradiction", "entailment", "neutral"))


def texts(seed: int, count: int = 10) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.sample(WORDS.split()[4:], 6)) for _ in range(count)]


def test_the_partition_is_that_of_all_pairs_taken_literally(nli: Path) -> None:
    with Workbench(creval.RunOptions(offline=True)) as bench:
        entailment = bench.resource("entailment", f"transformers/{nli}")
        steps = [texts(seed) for seed in range(6)]
        found = asyncio.run(partition_all(steps, judge_by(entailment, "strict")))
        for step, labels in zip(steps, found, strict=True):
            pairs = [(one, other) for one in step for other in step]
            holds = {pair: row.argmax() == 0 for pair, row in zip(pairs, entailment.predict(pairs), strict=True)}
            founders: list[str] = []
            expected = []
            for text in step:
                fitting = [n for n, each in enumerate(founders) if holds[text, each] and holds[each, text]]
                if not fitting:
                    founders.append(text)
                expected.append(fitting[0] if fitting else len(founders) - 1)
            assert labels == expected
        assert any(len(set(labels)) < len(labels) for labels in found)  # the model does join some


def test_a_run_is_measured_with_it_and_says_so(nli: Path, tmp_path: Path) -> None:
    result = creval.run(
        tasks=["macgyver_own"],
        model="baseline/ceiling",
        options=creval.RunOptions(
            output=tmp_path / "run",
            offline=True,
            limit=1,
            resources={"entailment": f"transformers/{nli}", "embedding": "embedded/minilm"},
        ),
    )
    rows = {row["metric"]: row for row in result.to_rows()}
    name = next(name for name in rows if name.startswith("semantic_entropy["))
    assert "transformers/" in name and rows[name]["value"] <= 2.3026
    (task,) = json.loads((tmp_path / "run" / "results.json").read_text())["tasks"]
    assert "@sha256:" in task["instruments"]["entailment"]


# --- whole runs from the command line --------------------------------------------------------------

TWO = """\
schema: 1
include: openended/macgyver_own
task: two
version: 1.0.0
score:
  - openended.divergence: {rule: non_defeating}
  - openended.surface
tests: null
"""


def run_with(folder: Path, model: Path, task: str = "macgyver_own", limit: str = "2") -> int:
    """Return the exit code of the command line."""
    resources = ("--resource", f"entailment=transformers/{model}", "--resource", "embedding=embedded/minilm")
    played = ("--tasks", task, "--model", "baseline/ceiling", "--limit", limit, "--output", str(folder / "run"))
    return invoke([*played, "--offline", *resources])


def test_a_model_of_two_classes_measures_a_whole_run(tmp_path: Path) -> None:
    two = make(tmp_path / "two", ("entailment", "not_entailment"), seed=8)
    assert run_with(tmp_path, two) == 0
    run = open_run(tmp_path / "run")
    with Workbench(creval.RunOptions(offline=True)) as bench:
        judge = judge_by(bench.resource("entailment", f"transformers/{two}"), "strict")
        for sample, score in zip(run.samples(), run.scores(), strict=True):
            steps = [[without_label(each.text) for each in step] for step in measured_steps(sample.outcome)]
            labels = asyncio.run(partition_all(steps, judge))
            assert [each["labels"] for each in score.details["entropy_steps"]] == labels
            assert score.scores["classes"] == sum(len(set(each)) for each in labels) / len(labels) < 10
            assert score.scores["semantic_entropy"] < score.scores["naive_entropy"]


@pytest.mark.parametrize(
    ("labels", "task", "reason"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), "macgyver_own", "do not name entailment"),
        (("LABEL_0", "LABEL_1"), "macgyver_own", "do not name entailment"),
        (("entailment", "not_entailment"), "two.yaml", "this model has two classes"),
    ],
)
def test_a_model_that_cannot_serve_is_reported_once_for_all_samples(
    labels: tuple[str, ...], task: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.yaml").write_text(TWO, "utf-8")
    named = str(tmp_path / task) if task.endswith(".yaml") else task
    assert run_with(tmp_path, make(tmp_path / "model", labels), named, limit="10") == 2
    out, err = capsys.readouterr()
    assert (out + err).count(reason) == 1 and "Traceback" not in err
    assert "LABEL_0" in err or "two" in err


# --- entailment-check -------------------------------------------------------------------------------


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


LABELLED: list[dict[str, Any]] = [
    {"premise": "Tie the rope.", "hypothesis": "Tie the rope.", "label": "yes"},
    {"premise": "Wait until dark.", "hypothesis": "Wait until it is dark.", "label": 1},
    {"premise": "Tie the rope.", "hypothesis": "Fill a bottle with water.", "label": "no"},
    {"premise": "Count the coins.", "hypothesis": "Draw a plan of the room.", "label": "neutral"},
    {"premise": "Count the coins.", "hypothesis": "Whistle a tune.", "label": False},
]


def test_a_model_is_measured_next_to_constants(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    pairs = write(tmp_path / "pairs.jsonl", LABELLED)
    arguments = [str(pairs), "--resource", "entailment=cosine/0.85", "--output", str(out)]
    done = CliRunner().invoke(entailment_check, arguments, catch_exceptions=False)
    assert done.exit_code == 0 and "cosine/0.85" in done.output
    lines = out.read_text().splitlines()
    assert lines[1].startswith("model,5,2,1.0,1.0,1.0") and lines[2].startswith('"model, both ways",5,2,1.0')
    assert lines[3] == "always yes,5,5,0.4,0.5,0.0" and lines[4] == "always no,5,0,0.6,0.5,0.0"


def test_a_language_model_in_a_role_is_measured_too(tmp_path: Path) -> None:
    """Of which nothing is wrong here but that it holds every text to entail itself alone."""
    pairs = write(tmp_path / "pairs.jsonl", LABELLED)

    def say(request: Received) -> str:
        first, second = request.prompt.split("First text:\n")[1].split("\n\nSecond text:\n")
        return "entailment" if first == second.split("\n\nAnswer with")[0] else "neutral"

    arguments = [str(pairs), "--role", "judge=hosted_vllm/judge"]
    refused = CliRunner().invoke(entailment_check, arguments)
    assert isinstance(refused.exception, UsageError)
    assert "Add: --resource entailment=role/judge" in str(refused.exception)
    with ChatServer(answer=say) as server:
        arguments += ["--resource", "entailment=role/judge"]
        done = CliRunner().invoke(
            entailment_check, arguments, env={"HOSTED_VLLM_API_BASE": server.url}, catch_exceptions=False
        )
        assert done.exit_code == 0 and "role/judge@sha256" in done.output
        assert len(server.requests) == 9  # five pairs in two directions, one of them the same
    (row,) = [line for line in done.output.splitlines() if line.strip().startswith("model  ")]
    assert row.split()[1:4] == ["5", "1", "0.800"]


def test_one_way_entailment_counts_one_way_alone(tmp_path: Path) -> None:
    class Shorter:
        name = "shorter"

        def predict(self, pairs: Any) -> Any:
            import numpy as np

            return np.array([[1.0, 0, 0] if len(a) > len(b) else [0, 1.0, 0] for a, b in pairs])

    pairs = read_pairs(write(tmp_path / "p.jsonl", [{"premise": "long text", "hypothesis": "text", "label": "yes"}]))
    rows = {row[0]: row for row in asyncio.run(checked(pairs, Shorter(), "strict"))}
    assert rows["model"][2:4] == (1, 1.0) and rows["model, both ways"][2:4] == (0, 0.0)


@pytest.mark.parametrize(
    "row", [{"premise": "a", "hypothesis": "b", "label": "perhaps"}, {"premise": "a", "label": "yes"}]
)
def test_a_pair_that_cannot_be_read_is_named(tmp_path: Path, row: dict[str, Any]) -> None:
    with pytest.raises(DataError) as found:
        read_pairs(write(tmp_path / "pairs.jsonl", [LABELLED[0], row]))
    assert "pairs.jsonl" in str(found.value) and "2" in str(found.value)


def test_kappa_of_two_raters() -> None:
    from creval_agreement.two_raters import agreement

    found = agreement([1, 1, 0, 0, 1, 0, 1, 1], [1, 0, 0, 0, 1, 1, 1, 1])
    assert found.kappa == pytest.approx(0.466667, abs=1e-6)


def test_the_paper_s_model_is_the_default_and_its_absence_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(entailment_check, [str(write(tmp_path / "pairs.jsonl", LABELLED)), "--offline"])
    assert isinstance(done.exception, CrevalError) and "tasksource/deberta-base-long-nli" in str(done.exception)
