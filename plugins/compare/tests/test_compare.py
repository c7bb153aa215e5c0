"""`creval compare` on real runs: numbers, formats, what it refuses and what it says."""

from __future__ import annotations

import csv
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from support.spellers import RIGHT

import creval
from creval.api import load_result
from creval.errors import UsageError


def compared(said: Any, *words: str) -> dict[str, Any]:
    code, out, err = said("compare", *words, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def changed(run: Path, name: str, **changes: Any) -> str:
    """A copy of a run whose results of the task say something else."""
    copy = run.parent / name
    shutil.copytree(run, copy)
    data = json.loads((copy / "results.json").read_text())
    data["tasks"][0].update(changes)
    (copy / "results.json").write_text(json.dumps(data))
    return name


def test_two_runs_doc_by_doc(runs: Path, said: Any) -> None:
    found = compared(said, "weak", "strong")
    assert [each["model"] for each in found["runs"]] == ["hosted_vllm/weak", "hosted_vllm/strong"]
    accuracy, errors = found["comparisons"]
    (contrast,) = accuracy["contrasts"]
    gained, lost = RIGHT["strong"] - RIGHT["weak"], RIGHT["weak"] - RIGHT["strong"]
    assert contrast["gained"] == [f"dw{i:02}" for i in sorted(gained)]
    assert contrast["lost"] == [f"dw{i:02}" for i in sorted(lost)]
    assert contrast["p_value"] == pytest.approx(stats.binomtest(len(lost), len(gained) + len(lost)).pvalue)
    assert (contrast["one"], contrast["other"], contrast["value"]) == (0.4, 0.9, pytest.approx(0.5))
    assert (contrast["verdict"], accuracy["docs"], accuracy["left_out"]) == ("better", 20, 0)
    assert errors["contrasts"][0]["verdict"] == "worse", "less is better there"
    assert compared(said, "strong", "weak")["comparisons"][0]["contrasts"][0]["verdict"] == "worse"


def test_metrics_asked_for_together_are_adjusted_by_holm(runs: Path, said: Any) -> None:
    one = compared(said, "alike", "strong", "--metric", "accuracy")
    (alone,) = one["comparisons"][0]["contrasts"]
    assert alone["p_value"] == alone["p_value_unadjusted"] and not any("Holm" in note for note in one["notes"])
    both = compared(said, "weak", "strong", "--metric", "accuracy", "--metric", "errors")
    found = [each["contrasts"][0] for each in both["comparisons"]]
    least, most = sorted(each["p_value_unadjusted"] for each in found)
    assert [each["p_value"] for each in sorted(found, key=lambda each: each["p_value_unadjusted"])] == pytest.approx(
        [2 * least, max(2 * least, most)]
    )
    assert [each["tests"] for each in both["comparisons"]] == [2, 2]
    (note,) = (note for note in both["notes"] if "Holm" in note)
    assert note == "p and verdict of the 2 metrics asked for are adjusted by Holm for 2 tests; intervals are not"


def test_the_primary_metrics_of_all_tasks_are_one_family(runs: Path, said: Any) -> None:
    found = compared(said, "trials_weak", "trials_strong")
    primary = [each for each in found["comparisons"] if each["primary"]]
    others = [each for each in found["comparisons"] if not each["primary"]]
    assert len(primary) > 1 and others
    assert {each["tests"] for each in primary} == {len(primary)} and {each["tests"] for each in others} == {1}
    raw = sorted(each["contrasts"][0]["p_value_unadjusted"] for each in primary)
    steps = [p * (len(raw) - place) for place, p in enumerate(raw)]
    wanted = [min(1.0, max(steps[: place + 1])) for place in range(len(raw))]
    assert sorted(each["contrasts"][0]["p_value"] for each in primary) == pytest.approx(wanted)
    assert any(f"{len(primary)} primary metrics" in note for note in found["notes"])
    alone = compared(said, "trials_weak", "trials_strong", "--primary")
    assert [each["metric"] for each in alone["comparisons"]] == [each["metric"] for each in primary]


def test_tables_show_the_primary_metrics_unless_others_are_asked_for(runs: Path, said: Any) -> None:
    short, every = (said("compare", "weak", "strong", *more)[1] for more in ((), ("--all",)))
    assert "accuracy *" in short and "errors" not in short and "errors" in every
    assert "1 more metric: add --all to creval compare" in short and "add --all" not in every
    assert "errors" in said("compare", "weak", "strong", "--metric", "errors")[1]
    found = creval.compare(["weak", "strong"])
    plain = replace(found, comparisons=[replace(found.comparisons[0], condition=name) for name in (None, "t=0", "t=1")])
    kept, lines = plain.shortened()
    assert [one.condition for one in kept.comparisons] == [None]
    assert lines == ["1 more metric and the values under each condition: add --all to creval compare"]


def test_the_table_says_what_it_shows(runs: Path, said: Any) -> None:
    code, out, err = said("compare", "weak", "strong", "--metric", "accuracy", "--flips", "3")
    assert (code, err) == (0, "")
    assert "first: hosted_vllm/weak; second: hosted_vllm/strong" in out
    assert "accuracy *" in out and "better" in out and "difference: second minus first" in out
    assert "detectable: minimum detectable difference (80 % power)" in out
    assert "solved only by the second (12): dw08, dw09, dw10 and 9 more" in out
    assert "solved only by the first (2): dw00, dw01" in out
    assert "errors" not in out
    assert "alone" not in said("compare", "weak", "strong", "--flips", "0")[1]


def test_a_margin_makes_equivalent_what_lies_within(runs: Path, said: Any) -> None:
    def verdicts(*words: str) -> list[str]:
        return [each["contrasts"][0]["verdict"] for each in compared(said, "strong", "alike", *words)["comparisons"]]

    assert verdicts() == ["cannot tell", "cannot tell"]
    assert verdicts("--margin", "0.3") == ["equivalent", "equivalent"]
    assert verdicts("--margin", "accuracy=0.3") == ["equivalent", "cannot tell"]
    assert verdicts("--margin", "0.01") == ["cannot tell", "cannot tell"]


def test_several_runs_are_ranked_in_groups(runs: Path, said: Any) -> None:
    found = compared(said, "weak", "alike", "strong", "--metric", "accuracy")
    (accuracy,) = found["comparisons"]
    assert [(row["run"], row["groups"]) for row in accuracy["ranking"]] == [(2, "a"), (1, "ab"), (0, "b")]
    raw = [each["p_value_unadjusted"] for each in accuracy["contrasts"]]
    order = sorted(raw)
    expected = {p: min(1.0, max((3 - i) * q for i, q in enumerate(order[: order.index(p) + 1]))) for p in order}
    assert [each["p_value"] for each in accuracy["contrasts"]] == pytest.approx([expected[p] for p in raw])
    _, out, _ = said("compare", "weak", "alike", "strong", "--metric", "accuracy")
    assert "3 runs, best first" in out and "adjusted by Holm" in out and "condition" not in out
    ranked = list(csv.DictReader(io.StringIO(said("compare", "weak", "alike", "strong", "--csv")[1])))
    assert [row["run"] for row in ranked[:3]] == [f"hosted_vllm/{name}" for name in ("strong", "alike", "weak")]
    assert [row["next"] for row in ranked[:3]] == ["cannot tell", "cannot tell", ""], (
        "12 to 3 would be better, had it been the only pair"
    )
    assert [float(row["value"]) for row in ranked[3:]] == [0.4, 0.85, 0.9], "less is better there"


@pytest.mark.parametrize("names", [("weak", "strong"), ("weak", "strong", "alike")])
def test_every_format_is_read_by_its_own_reader(runs: Path, said: Any, names: tuple[str, ...]) -> None:
    import pandas
    from markdown_it import MarkdownIt
    from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker

    printed = {form: said("compare", *names, "--all", f"--{form}")[1] for form in ("csv", "markdown", "latex")}
    frame = pandas.read_csv(io.StringIO(printed["csv"]))
    assert len(frame) == (2 if len(names) == 2 else 6) and set(frame["metric"]) == {"accuracy", "errors"}
    tokens = MarkdownIt().enable("table").parse(printed["markdown"])
    assert [token.type for token in tokens].count("tr_open") == len(frame) + 1
    cells = [token.content for token in tokens if token.type == "inline"]
    pair = "task metric docs first second difference", "95 % interval", "p detectable verdict"
    columns = (
        [*pair[0].split(), pair[1], *pair[2].split()] if len(names) == 2 else list(frame.columns.drop("condition"))
    )
    assert cells[: len(columns)] == columns, "as on the screen"
    (table,) = [
        node for node in LatexWalker(printed["latex"]).get_latex_nodes()[0] if isinstance(node, LatexEnvironmentNode)
    ]
    assert table.environmentname == "tabular"
    assert printed["latex"].count(r"\\") == len(frame) + 1
    assert all(line.count(" & ") == len(columns) - 1 for line in printed["latex"].splitlines() if "\\\\" in line)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hash": "0" * 64}, "the task itself"),
        ({"dataset": "1" * 64}, "data"),
        ({"instruments": {"judge": "openai/gpt-5"}}, "instruments"),
    ],
)
def test_what_does_not_compare_is_refused_unless_forced(
    runs: Path, said: Any, changes: dict[str, Any], words: str
) -> None:
    other = changed(runs / "strong", f"other-{next(iter(changes))}", **changes)
    code, out, err = said("compare", "weak", other)
    assert (code, out) == (2, "")
    assert f"differ in {words}, so their numbers cannot be compared" in err and "--force" in err
    if "instruments" in changes:
        assert "judge openai/gpt-5" in err
    assert compared(said, "weak", other, "--force")["comparisons"][0]["contrasts"][0]["verdict"] == "better"


def test_only_shared_docs_count(runs: Path, said: Any) -> None:
    found = compared(said, "weak", "part", "--metric", "accuracy")
    (accuracy,) = found["comparisons"]
    assert (accuracy["docs"], accuracy["left_out"]) == (12, 8)
    assert any("differ in the docs that were chosen" in note for note in found["notes"])
    assert "8 docs with a value in some runs only" in said("compare", "weak", "part")[1]


def test_runs_without_a_common_doc_are_refused(runs: Path, said: Any) -> None:
    scores = runs / changed(runs / "strong", "apart") / "scores" / "spelling.jsonl"
    scores.write_text(
        scores.read_text().replace('"doc_id":"dw', '"doc_id":"xw').replace('"doc_id": "dw', '"doc_id": "xw')
    )
    for words in ((), ("--json",)):
        code, out, err = said("compare", "weak", "apart", *words)
        assert (code, out) == (2, "")
        assert "spelling: the runs have no doc in common with a value in each: use the same --seed and --limit" in err


def test_errored_samples_are_named_and_left_out(runs: Path, said: Any) -> None:
    code, out, err = said("compare", "weak", "faulty")
    assert code == 0
    assert "1 doc with a value in some runs only" in out
    assert "1 of 20 samples of one run errored or were skipped" in err


def test_trials_are_not_paired_and_conditions_are_compared_each(runs: Path, said: Any) -> None:
    found = compared(said, "trials_weak", "trials_strong")
    trials = next(each for each in found["comparisons"] if each["task"] == "trials")
    assert (trials["unit"], trials["docs"], trials["contrasts"][0]["test"]) == ("trial", 40, "permutation")
    assert trials["contrasts"][0]["verdict"] == "better"
    hot = [each for each in found["comparisons"] if each["task"] == "hot" and each["metric"] == "accuracy"]
    assert [each["condition"] for each in hot] == [None, "temperature=0", "temperature=1"]
    assert [each["contrasts"][0]["test"] for each in hot] == ["swap", "swap", "swap"]
    _, out, _ = said("compare", "trials_weak", "trials_strong", "--task", "trials")
    assert "runs are not paired" in out and "hot" not in out


def test_groups_of_docs_are_paired_as_docs_are(runs: Path, said: Any) -> None:
    (whole,) = compared(said, "groups_weak", "groups_strong")["comparisons"]
    (contrast,) = whole["contrasts"]
    assert (whole["unit"], whole["docs"], contrast["test"]) == ("group", 10, "mcnemar")
    assert (contrast["one"], contrast["other"]) == (0.4, 0.9)
    assert contrast["gained"] == [f"p{i}" for i in range(4, 10)] and contrast["lost"] == ["p0"]
    assert contrast["p_value"] == pytest.approx(stats.binomtest(1, 7).pvalue)
    (part,) = compared(said, "groups_weak", "groups_part")["comparisons"]
    assert (part["docs"], part["left_out"]) == (4, 6), "of the fifth pair one run has a single word"


@pytest.mark.parametrize("definition", [None, {}, {"score": "correct"}])
def test_results_that_do_not_say_what_they_are_made_of_can_be_written_anew(
    runs: Path, said: Any, definition: dict[str, str] | None
) -> None:
    data = json.loads((runs / "weak" / "results.json").read_text())
    for metric in data["tasks"][0]["metrics"]:
        del metric["definition"]
        if definition is not None:
            metric["definition"] = definition
    shutil.rmtree(runs / "former", ignore_errors=True)
    shutil.copytree(runs / "weak", runs / "former")
    (runs / "former" / "results.json").write_text(json.dumps(data))
    code, _, err = said("compare", "former", "strong")
    assert code == 2 and "former version" in err and "creval score" in err
    assert said("score", "former")[0] == 0
    assert compared(said, "former", "strong")["comparisons"] == compared(said, "weak", "strong")["comparisons"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("weak",), "Name two runs or more"),
        (("weak", "weak"), "named twice"),
        (("weak", "nowhere"), "there is no run"),
        (("weak", "trials_weak"), "no task in common"),
        (("weak", "strong", "--metric", "acuracy"), "Did you mean 'accuracy'?"),
        (("weak", "strong", "--margin", "acuracy=1"), "Did you mean 'accuracy'?"),
        (("weak", "strong", "--task", "speling"), "Did you mean 'spelling'?"),
        (("weak", "strong", "--margin", "-1"), "takes a positive number"),
        (("weak", "strong", "--margin", "nan"), "takes a positive number"),
        (("weak", "strong", "--margin", "1", "--margin", "2"), "given twice"),
    ],
)
def test_every_mistake_has_one_message(runs: Path, said: Any, words: tuple[str, ...], complaint: str) -> None:
    code, out, err = said("compare", *words)
    assert (code, out) == (2, "") and complaint in err


def test_the_same_bytes_every_time(runs: Path, said: Any) -> None:
    assert said("compare", "weak", "strong", "--json") == said("compare", "weak", "strong", "--json")


def test_from_python_as_from_the_command_line(runs: Path, said: Any) -> None:
    found = creval.compare(["weak", creval.open_run("strong")], metrics="accuracy")
    assert found.to_data() == compared(said, "weak", "strong", "--metric", "accuracy")
    assert found.verdicts() == {"accuracy": "better"} and found.names == ["hosted_vllm/weak", "hosted_vllm/strong"]
    assert repr(found) == "Compared(hosted_vllm/weak, hosted_vllm/strong; accuracy: better)"
    (row,) = found.to_rows()
    assert (row["first"], row["second"], row["verdict"]) == (0.4, 0.9, "better")
    assert found.to_pandas().to_dict("records") == [row]
    several = creval.compare([load_result("weak"), Path("alike"), "strong"])
    assert [row["groups"] for row in several.to_rows() if row["metric"] == "accuracy"] == ["a", "ab", "b"]
    assert repr(several).endswith("; 2 metrics)") and "3 runs, best first" in several._repr_html_()
    with pytest.raises(UsageError, match="3 runs have no single verdict"):
        several.verdicts()


def test_margins_from_python(runs: Path) -> None:
    pair = ["strong", "alike"]
    assert set(creval.compare(pair, margin=0.3).verdicts().values()) == {"equivalent"}
    assert creval.compare(pair, margin={"accuracy": 0.3}).verdicts() == {
        "accuracy": "equivalent",
        "errors": "cannot tell",
    }
    for wrong in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="not a valid margin"):
            creval.compare(pair, margin=wrong)
    with pytest.raises(UsageError, match="a single run cannot be compared"):
        creval.compare(["weak"])
    tasks = creval.compare(["trials_weak", "trials_strong"]).verdicts()
    assert {"trials.accuracy", "hot.accuracy [temperature=0]"} <= set(tasks)


def test_what_only_the_player_of_a_baseline_uses_sets_no_runs_apart(tmp_path: Path) -> None:
    """RAT's floor draws from a word list, which no answer of another model is scored with."""
    made = [
        creval.run(["rat"], f"baseline/{which}", creval.RunOptions(limit=20, output=tmp_path / which))
        for which in ("floor", "ceiling")
    ]
    assert [result.results["tasks"][0]["instruments"] for result in made] == [{}, {}]
    assert made[0].results["tasks"][0]["played_with"]["wordlist"].startswith("nouns/oewn-2024+")
    assert made[1].results["tasks"][0]["played_with"] == {}
    assert creval.compare(made).verdicts()["rat"] == "better"
