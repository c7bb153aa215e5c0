"""Folders of the user's own, groups with weights, repeats with filters, programs in the sandbox, conversion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.lmeval_parity import differences, group_differences, run_both
from support.lmeval_server import GeneratingServer

from creval import RunOptions, open_run, run
from creval.cli.root import cli
from creval_lmeval.library import load_task
from creval_lmeval.roots import known

lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")

NAILS = """
dataset_path: openai/gsm8k
dataset_name: main
output_type: generate_until
test_split: test
fewshot_split: train
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: "{{answer.split('#### ')[1]}}"
generation_kwargs: {until: ["Q:"]}
"""
OWN = {
    "tries.yaml": f"""
task: own_tries
{NAILS}
repeats: 4
filter_list:
  - name: maj@4
    filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: majority_vote}}, {{function: take_first}}]
  - name: first
    filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: take_first}}]
  - name: all
    filter: [{{function: take_first_k, k: 4}}]
process_results: !function utils.process
metric_list: [{{metric: pass@1}}, {{metric: pass@2}}, {{metric: length}}]
metadata: {{version: 2.5}}
""".replace("{metric: pass@1}", "{metric: pass@1, aggregation: mean, higher_is_better: true}")
    .replace("{metric: pass@2}", "{metric: pass@2, aggregation: mean, higher_is_better: true}")
    .replace("{metric: length}", "{metric: length, aggregation: median, higher_is_better: false}"),
    "utils.py": """
from math import comb


def process(doc, results):
    answers = results[0] if isinstance(results[0], list) else [results[0]]
    right = sum(str(each).endswith(doc["answer"].split("#### ")[1]) for each in answers)
    n = len(answers)
    passes = {f"pass@{k}": 1 - comb(n - right, min(k, n)) / comb(n, min(k, n)) for k in (1, 2)}
    return {**passes, "length": len(str(answers[0]))}
""",
    "group.yaml": """
group: own_group
task:
  - mmlu_anatomy
  - task: arc_easy
    num_fewshot: 2
  - task: sciq
aggregate_metric_list:
  - {metric: acc, weight_by_size: false}
metadata: {version: 1.0}
""",
    "outer.yaml": """
group: own_outer
task: [wmdp, piqa]
aggregate_metric_list:
  - {metric: acc, weight_by_size: true}
metadata: {version: 1.0}
""",
}


@pytest.fixture(scope="module")
def own(home: Path) -> Path:
    folder = home / "own"
    folder.mkdir()
    for name, text in OWN.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def invoked(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli, ["lmeval", *words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def test_a_folder_is_used_by_consent_and_until_it_changes(own: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert "own_tries" not in known()
    refused = CliRunner().invoke(cli, ["lmeval", "include", str(own)], input="n\n")
    assert refused.exit_code != 0
    assert "own_tries" not in known()
    run_of_it = ["--tasks", "lmeval/own_none", "--model", "baseline/floor", "--include_path", str(own)]
    refused = CliRunner().invoke(cli, run_of_it)
    assert "own_tries" not in known() and f"creval lmeval include {own} --yes" in str(refused.exception)
    asked = CliRunner().invoke(cli, run_of_it, input="y\n")
    assert "own_tries" in known() and "own_none" in str(asked.exception)
    asked = CliRunner().invoke(cli, run_of_it)  # allowed once, it is not asked about again
    assert "Allow them?" not in asked.output and "own_none" in str(asked.exception)
    assert "withdrawn" in invoked("withdraw", str(own))
    assert "lmeval/own_tries" in invoked("include", str(own), "--yes")
    assert load_task("own_tries", known.__wrapped__() and _digest(own)).repeats == 4
    (own / "utils.py").write_text(OWN["utils.py"] + "\n# changed\n", encoding="utf-8")
    known.cache_clear()
    assert "own_tries" not in known()
    assert "has changed since you allowed it" in caplog.text
    (own / "utils.py").write_text(OWN["utils.py"], encoding="utf-8")
    known.cache_clear()
    assert "own_tries" in known()
    assert "withdrawn" in invoked("withdraw", str(own))
    assert "own_tries" not in known()


def _digest(folder: Path) -> str:
    from creval_lmeval.names import digest_of

    return digest_of(folder)


def test_repeats_and_groups_of_a_folder_equal_lm_evals(own: Path, server: GeneratingServer, home: Path) -> None:
    invoked("include", str(own), "--yes")
    both = run_both(["own_tries", "own_group", "own_outer"], server, home / "own_run")
    aggregates, documents, compared = differences(both, "own_tries")
    assert (aggregates <= 1e-9, documents <= 1e-9, compared > 40) == (True, True, True)
    result = open_run(both.folder)
    assert result.result("own_tries")["version"].startswith("2.5.0+lm-eval.")
    assert {
        "own_tries",
        "own_group.arc_easy",
        "mmlu_anatomy",
        "piqa",
        "sciq",
        "wmdp_bio",
        "wmdp_chem",
        "wmdp_cyber",
    } == set(result.tasks)
    assert {row["group"]: row["weighted"] for row in json.loads(invoked("groups", str(both.folder), "--json"))} == {
        "own_group": False,
        "wmdp": True,  # in own_outer
        "own_outer": True,
    }
    sizes = [len(both.theirs["samples"][f"wmdp_{part}"]) for part in ("bio", "chem", "cyber")]
    assert sizes == [6, 9, 6]
    for group in ("own_group", "wmdp", "own_outer"):
        assert group_differences(both, group) <= 1e-9
    assert "own_group" in invoked("groups", str(both.folder))


def test_settings_are_conditions(server: GeneratingServer, home: Path) -> None:
    """In a chat, with examples as turns or as one message, with a system message: lm-eval's prompts, word for word."""
    for number, settings in enumerate(
        ({"num_fewshot": 2, "system_instruction": "Be brief."}, {"num_fewshot": 1, "fewshot_as_multiturn": False})
    ):
        server.requests.clear()
        both = run_both(["anagrams1", "gsm8k"], server, home / f"chat{number}", chat=True, **settings)
        asked = [body["messages"] for path, body in server.requests if path == "/v1/chat/completions"]
        assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
        assert max(differences(both, "gsm8k")[:2]) <= 1e-9


PROGRAMS = [
    {
        "task_id": f"made/{number}",
        "prompt": f"def add{number}(a):\n",
        "test": f"def check(f):\n    assert f(2) == {2 + number}\n",
        "entry_point": f"add{number}",
        "canonical_solution": f"    return a + {number}\n",
    }
    for number in range(4)
]


def test_programs_run_in_the_sandbox_by_consent(home: Path, server: GeneratingServer) -> None:
    pytest.importorskip("creval_sandbox")
    folder = home / "openai" / "openai_humaneval"
    folder.mkdir(parents=True)
    (folder / "test.jsonl").write_text("".join(json.dumps(each) + "\n" for each in PROGRAMS), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        loaded = load_task("humaneval")
        answers = [each["canonical_solution"] for each in PROGRAMS[:3]] + ["    raise SystemExit('no')\n"]
        patch.setattr("support.lmeval_server.said", lambda prompt, turn: answers[int(prompt.split("def add")[-1][0])])
        server.restart()
        options: dict[str, Any] = {"base_url": server.url}
        with pytest.raises(Exception, match=r"allow.code.execution"):
            run(["lmeval/humaneval"], "chat/mock", RunOptions(**options, output=home / "no"))
        done = run(
            ["lmeval/humaneval"], "chat/mock", RunOptions(**options, output=home / "code", allow_code_execution=True)
        )
    assert loaded.task.UNSAFE_CODE
    assert done.metrics("humaneval")["pass@1,create_test"]["value"] == 0.75


@pytest.mark.parametrize(
    ("task", "data"),
    [
        ("piqa", "baber/piqa/default/validation"),
        ("arc_easy", "allenai/ai2_arc/ARC-Easy/test"),
        ("mrpc", "nyu-mll/glue/mrpc/validation"),
        ("pile_10k", "NeelNanda/pile-10k/default/train"),
        ("anagrams1", "EleutherAI/unscramble/mid_word_1_anagrams/validation"),
    ],
)
def test_a_converted_task_gives_the_same_numbers(task: str, data: str, home: Path, server: GeneratingServer) -> None:
    file = home / f"{task}.yaml"
    done = CliRunner().invoke(cli, ["lmeval", "convert", task, "-o", str(file)], catch_exceptions=False)
    if task == "mrpc":  # F1 over all documents is no aggregation of creval
        assert done.exit_code == 1
        assert "the metric f1" in done.output
        return
    assert done.exit_code == 0, done.output
    server.restart()
    theirs = run([f"lmeval/{task}"], "chat/mock", RunOptions(base_url=server.url, output=home / f"{task}_lmeval"))
    server.restart()
    options = RunOptions(base_url=server.url, output=home / f"{task}_own", data={task: home / f"{data}.jsonl"})
    ours = run([str(file)], "chat/mock", options)
    wanted = {
        name.partition(",")[0]: each["value"] for name, each in theirs.metrics(task).items() if "stderr" not in name
    }
    found = {name.partition("@")[0]: each["value"] for name, each in ours.metrics(task).items()}
    assert found == pytest.approx(wanted, abs=1e-9)


def test_what_cannot_be_converted_is_said() -> None:
    done = CliRunner().invoke(cli, ["lmeval", "convert", "hellaswag"])
    assert done.exit_code == 1
    assert "process_docs is a function in Python" in done.output
