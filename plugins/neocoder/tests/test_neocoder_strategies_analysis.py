"""The analysis of strategies: Table 5's arithmetic, paired runs, and what is no pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.engine.run_options import RunOptions
from creval.plugin import UsageError, open_run
from creval_compare.paired import paired_means
from creval_neocoder.analysis.strategies import StrategiesAnalysis, pairs_of, values_of
from creval_neocoder.analysis.table5 import TABLE_5
from creval_neocoder.own.own_problems import gold_answers, read_own

N = (198, 198, 197, 193, 175, 97)


def test_table_5_to_a_hundredth() -> None:
    """All printed pairs; the text of Section 5.3 quotes two differences and says what rises where."""
    pairs = [
        (strategy, metric, state, pair)
        for strategy, metrics in TABLE_5.items()
        for metric, of_metric in metrics.items()
        for state, pair in enumerate(of_metric)
    ]
    assert len(pairs) == 72
    for _, _, _, pair in pairs:
        assert pair.difference == pytest.approx(paired_means({"p": pair.old}, {"p": pair.new}).value, abs=0.005)
    changed = {(s, m, t): round(pair.difference, 2) for s, m, t, pair in pairs if pair.difference}
    assert len(changed) == 47 - 1  # of the 47 pairs that are not both 0, one is unchanged
    assert (changed["planning", "divergent", 0], changed["planning", "divergent", 3]) == (-1.16, -1.24)
    assert all(pair.difference > 0 for pair in TABLE_5["mcts"]["divergent"])
    assert all(pair.difference == 0 for pair in TABLE_5["mcts"]["neogauge"][3:])
    assert all(TABLE_5[name]["convergent"][0].difference > 0 for name in ("mcts", "self_correction", "planning"))
    assert TABLE_5["sampling"]["convergent"][0].difference == pytest.approx(-0.5, abs=0.01)


def test_convergent_creativity_in_table_5_is_a_whole_number_of_problems() -> None:
    """A check from another side: each value is k / n within its rounding, with the n of the state."""
    for metrics in TABLE_5.values():
        for n, pair in zip(N, metrics["convergent"], strict=True):
            for percent in pair:
                assert abs(percent - 100 * round(percent * n / 100) / n) <= 0.0101
            problems = round(pair.new * n / 100) - round(pair.old * n / 100)
            assert pair.difference == pytest.approx(100 * problems / n, abs=0.0151)


class Server:
    """A coder whose five answers hold the gold program last, and a reviewer."""

    def __init__(self) -> None:
        self.gold = {problem.statement.partition("\n")[0]: gold_answers()[problem.name] for problem in read_own()}

    def __call__(self, request: Received) -> Answer:
        system, user = (message["content"] for message in request.body["messages"][:2])
        if system.startswith("You are a code reviewer"):
            return Answer("- recursion" if "def answers" in user or "lambda" in user else "- for loop")
        wrong = "def solve():\n    print(1)"
        count = int(request.body.get("n", 1))
        texts = [wrong] * (count - 1) + [self.gold[user.partition("\n")[0]] if count > 1 else wrong]
        choices = [
            {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for index, text in enumerate(texts)
        ]
        return Answer("", extra={"choices": choices})


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A plain run on four of our own problems in two states, and one with sampling on five of them in one."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "own.yaml").write_text(
        "schema: 1\ntask: neocoder_sampling_own_state1\nversion: 1.0.0\ntitle: mine\n"
        "include: neocoder/neocoder_sampling_state1\ndataset: {source: neocoder_own}\n"
    )
    with ChatServer(Server()) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        plain: dict[str, Any] = {"roles": {"augmenter": "hosted_vllm/r"}, "allow_code_execution": True}
        tasks = ["neocoder_own_state0", "neocoder_own_state1"]
        creval.run(tasks, "hosted_vllm/m", RunOptions(output=folder / "plain", limit="first:4", **plain))
        strategy = RunOptions(output=folder / "sampling", limit="first:5", **plain)
        creval.run([str(folder / "own.yaml")], "hosted_vllm/m", strategy)
        creval.run(tasks[:1], "hosted_vllm/other", RunOptions(output=folder / "other", limit="first:1", **plain))
    return folder / "plain", folder / "sampling"


def test_a_strategy_next_to_the_plain_run(pair: tuple[Path, Path], tmp_path: Path) -> None:
    output = StrategiesAnalysis().run([str(path) for path in pair], output=str(tmp_path), no_plots=False)
    by_metric = {row[3]: row for row in output.rows}
    assert list(by_metric) == ["convergent", "divergent", "neogauge"]
    assert by_metric["convergent"][:8] == ("hosted_vllm/m", "sampling", 1, "convergent", 4, 0.0, 100.0, 100.0)
    low, high = by_metric["convergent"][8:10]
    assert -100 < low < 100 == high  # four problems say little
    assert by_metric["convergent"][10:] == (0.51, 0.0, -0.51)
    assert by_metric["neogauge"][7] > 0
    assert {Path(file).name for file in output.files} == {"strategies.csv", "strategies.png", "strategies.svg"}


def test_what_is_no_pair(pair: tuple[Path, Path]) -> None:
    plain, sampling = (str(path) for path in pair)
    for runs, said in (
        ([plain], "are compared"),
        ([sampling, plain], "has a strategy"),
        ([plain, str(pair[0].parent / "other")], "the plain run is of hosted_vllm/m"),
    ):
        with pytest.raises(UsageError, match=said):
            StrategiesAnalysis().run(runs)
    with pytest.raises(UsageError, match="no strategy"):
        list(pairs_of(open_run(plain), open_run(plain)))


def test_values_of_a_run_by_doc(pair: tuple[Path, Path]) -> None:
    run = open_run(pair[1])
    found = values_of(run, "neocoder_sampling_own_state1", "convergent")
    assert found == dict.fromkeys((f"own0{number}" for number in range(1, 6)), 1.0)
    assert values_of(run, "neocoder_sampling_own_state1", "nothing") == {}
