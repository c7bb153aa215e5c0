"""Juries: several roles that judge, drawn from a pool, combined, and how far they agree."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.chat_server import Answer, ChatServer, Received
from support.parrot import parrot

import creval
from creval.cli.main import invoke
from creval.data.data_options import DataOptions
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring
from creval.errors import TaskError, UsageError
from creval.plugins.loader import load_plugins
from creval.runs.trust import Claims, UntrustedError
from creval_judges.alpha import krippendorff_alpha
from creval_shards.merge_runs import merge_runs
from creval_sweeps.estimate import estimate_run
from creval_sweeps.run_file import read_run_file
from creval_testing.check_tasks import check_all

TASK = """\
schema: 1
task: judged
version: 1.0.0
title: Judged by several
dataset: {{source: file, file: judged.jsonl, id: id}}
prompt: [{{role: user, content: "Say {{{{ word }}}}"}}]
prompts:
  rate: [{{role: user, content: "Rate {prompt}"}}]
score: {{judge: {{prompt: rate, roles: [{roles}], {parameters}}}}}
metrics: [{{name: {name}, failed: exclude}}]
"""
MODEL = "hosted_vllm/parrot"
MARKS = {"a": [1, 1, 5, 2], "b": [2, 1, 4, 2], "c": [5, 1, 5, 3]}


def write(folder: Path, parameters: str = "scale: [1, 5]", roles: str = "a, b, c", **more: str) -> str:
    rows = "".join(json.dumps({"id": f"d{i}", "word": f"w{i}", "rival": f"r{i}"}) + "\n" for i in range(4))
    (folder / "judged.jsonl").write_text(rows)
    words = {"prompt": "{{ answer }}", "name": "judge", **more}
    (folder / "judged.yaml").write_text(TASK.format(parameters=parameters, roles=roles, **words))
    return str(folder / "judged.yaml")


def models(names: str = "abc") -> dict[str, str]:
    return {name: f"hosted_vllm/{name}" for name in names}


def marks(model: str, text: str, seen: int) -> str:
    return str(MARKS[model][int(text[1])])


def says(request: Received) -> Answer:
    """The target and a judge that always says 3."""
    said = parrot(request) if request.prompt.startswith("Say") else "3"
    return said if isinstance(said, Answer) else Answer(said)


@pytest.fixture
def judged(monkeypatch, tmp_path, options):
    """Run a judged task; each model says what `verdict` makes of its name, the question, and how often it was asked."""

    def run(task: str, verdict=marks, roles=None, model: str = MODEL, **given):
        def script(request: Received) -> Answer:
            if request.prompt.startswith("Say"):
                said = parrot(request)
                return said if isinstance(said, Answer) else Answer(said)
            return Answer(verdict(request.body["model"], request.prompt[5:], request.seen))

        with ChatServer(script) as server:
            monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
            result = creval.run([task], model, options(roles=models() if roles is None else roles, **given))
            asked = Counter(r.body["model"] for r in server.requests if not r.prompt.startswith("Say"))
            return result, asked

    return run


def scores(result, name: str = "judge") -> list[float | None]:
    lines = (result.folder / "scores" / "judged.jsonl").read_text().splitlines()
    found = {line["doc_id"]: line["scores"].get(name) for line in map(json.loads, lines)}
    return [found[f"d{i}"] for i in range(4)]


COMBINED = [
    ("mean", [8 / 3, 1, 14 / 3, 7 / 3]),
    ("median", [2, 1, 5, 2]),
    ("majority", [8 / 3, 1, 5, 2]),
    ("each", [None, None, None, None]),
]


@pytest.mark.parametrize(("how", "values"), COMBINED)
def test_what_a_jury_says_together(judged, tmp_path, how, values):
    name = "judge@b" if how == "each" else "judge"
    result, asked = judged(write(tmp_path, f"scale: [1, 5], combine: {how}", name=name))
    assert scores(result) == [None if value is None else pytest.approx(value) for value in values]
    assert {juror: scores(result, f"judge@{juror}") for juror in "abc"} == MARKS
    assert asked == {"a": 4, "b": 4, "c": 4}
    assert result.metrics("judged")[name]["value"] == pytest.approx(2.25 if how == "each" else sum(values) / 4)


def test_agreement_is_reported(judged, tmp_path):
    result, _ = judged(write(tmp_path, "scale: [1, 5], agreement: interval"))
    (task,) = result.results["tasks"]
    expected = krippendorff_alpha([*MARKS.values()], "interval")[0]
    about = {"score": "judge", "roles": ["a", "b", "c"], "level": "interval", "samples": 4, "verdicts": 12}
    no_interval = {"ci_low": None, "ci_high": None}  # of four docs
    assert task["juries"] == [about | no_interval | {"alpha": pytest.approx(expected)}]
    said = f"jury of judge: Krippendorff's alpha (interval) = {expected:.3f} over 12 verdicts on 4 samples"
    assert said in task["notes"]


def test_the_shards_of_a_jury_are_merged_into_the_undivided_run(judged, tmp_path):
    task = write(tmp_path, "scale: [1, 5], agreement: interval")
    whole, _ = judged(task, output=tmp_path / "whole")
    parts = [judged(task, output=tmp_path / f"part{i}", shard=f"{i}/2")[0].folder for i in (1, 2)]
    made = merge_runs(parts, tmp_path / "merged").results
    shown = [{**task, "usage": {}, "usage_by_role": {}} for task in (*whole.results["tasks"], *made["tasks"])]
    assert shown[0] == shown[1] and len(set(shown[1]["notes"])) == len(shown[1]["notes"]) == 1


def test_every_verdict_is_in_the_ledger_and_none_is_paid_twice(judged, tmp_path):
    result, _ = judged(write(tmp_path))
    for juror in "abc":
        lines = [json.loads(line) for line in (result.folder / f"calls/{juror}.jsonl").read_text().splitlines()]
        assert [line["model"] for line in lines] == [f"hosted_vllm/{juror}"] * 4
    again = rescore(result.folder)
    assert again.results["tasks"][0]["metrics"] == result.results["tasks"][0]["metrics"]
    assert {role: used["calls"] for role, used in again.results["tasks"][0]["usage_by_role"].items()} == dict.fromkeys(
        "abc", 4
    )


def test_the_estimate_has_a_row_for_each_juror(tmp_path, options):
    prompt = "how good is {{ answer }}? " + "x" * 400
    rows = {}
    for parameters in ("scale: [1, 5]", "scale: [1, 5], draw: 2"):
        task = write(tmp_path, parameters, prompt=prompt)
        found = estimate_run([task], "hosted_vllm/x", options(roles=models(), base_url="http://localhost:9/v1"))
        rows[parameters] = {row.task: (row.calls.low, row.calls.high) for row in found.tasks}
        assert "draw" in parameters or all(row.input_tokens.low > 100 for row in found.tasks[1:])
    calls = {"judged": (4, 4), **{f"judged: {juror}": (4, 8) for juror in "abc"}}
    assert rows["scale: [1, 5]"] == calls
    assert rows["scale: [1, 5], draw: 2"] == {**calls, **{f"judged: {juror}": (0, 8) for juror in "abc"}}


def test_a_pool_is_drawn_by_doc_and_seed_without_the_target(judged, tmp_path):
    task = write(tmp_path, "scale: [1, 5], draw: 2, except: target", roles="a, b, c, d")
    roles = {**models(), "d": MODEL}
    result, asked = judged(task, roles=roles)
    drawn = {juror: [mark is not None for mark in scores(result, f"judge@{juror}")] for juror in "abcd"}
    assert not any(drawn["d"]) and "parrot" not in asked
    assert [sum(column) for column in zip(*drawn.values(), strict=True)] == [2, 2, 2, 2]
    assert len(set(zip(*drawn.values(), strict=True))) > 1
    again, _ = judged(task, roles=roles, output=tmp_path / "again")
    assert [scores(again, f"judge@{juror}") for juror in "abcd"] == [
        scores(result, f"judge@{juror}") for juror in "abcd"
    ]
    other, _ = judged(task, roles=roles, output=tmp_path / "other", seed=3)
    assert [scores(other, f"judge@{juror}") for juror in "abcd"] != [
        scores(result, f"judge@{juror}") for juror in "abcd"
    ]


def test_another_target_changes_only_the_docs_that_it_would_judge(judged, tmp_path):
    task = write(tmp_path, "scale: [1, 5], draw: 2, except: target", roles="a, b, c, d")
    verdict = lambda model, text, seen: "3"  # noqa: E731
    (one, _), (two, _) = (
        judged(task, verdict, models("abcd"), f"hosted_vllm/{model}", output=tmp_path / model) for model in "ad"
    )
    drawn = [
        [{juror for juror in "abcd" if scores(result, f"judge@{juror}")[doc]} for doc in range(4)]
        for result in (one, two)
    ]
    for by_a, by_d in zip(*drawn, strict=True):
        assert "a" not in by_a and "d" not in by_d
        assert len(by_a & by_d) >= 1
        assert "d" in by_a or "a" in by_d or by_a == by_d


def test_scorers_of_a_panel_share_their_jurors(judged, tmp_path):
    """With the same prompt each juror is asked once for both."""
    task = write(tmp_path, "scale: [1, 5], draw: 1, panel: p", roles="a, b, c")
    text = Path(task).read_text()
    score = text.split("score: ")[1].split("\n")[0]
    other = score.replace("panel: p", "panel: p, name: other")
    Path(task).write_text(text.replace(score, f"[{score}, {other}]"))
    result, asked = judged(task, roles=models())
    assert sum(asked.values()) == 4
    for juror in "abc":
        assert scores(result, f"judge@{juror}") == scores(result, f"other@{juror}")


def test_a_pool_without_enough_others_is_refused_before_the_first_call(judged, tmp_path):
    task = write(tmp_path, "scale: [1, 5], draw: 3, except: target")
    with pytest.raises(UsageError, match="the jury of 'judge' needs 3 models in addition to the target, and has 2"):
        judged(task, roles={**models(), "b": MODEL})
    with pytest.raises((UsageError, TaskError), match="cannot be drawn from 2 roles"):
        judged(write(tmp_path, "scale: [1, 5], draw: 3", roles="a, b"), roles=models("ab"))


BAD_JURIES = [
    ("a, a", "scale: [1, 5]", "the role 'a' occurs twice"),
    ("a, b", "scale: [1, 5], draw: 3", "cannot be drawn from 2 roles"),
    ("a, b", "scale: [1, 5], least: 2", "least needs over: doc"),
]


@pytest.mark.parametrize(("roles", "parameters", "said"), BAD_JURIES)
def test_what_a_jury_may_not_say(tmp_path, roles, parameters, said):
    task = write(tmp_path, parameters, roles)
    (problem,) = check_all([task], load_plugins(), DataOptions(offline=True))
    assert said in problem.message


def test_what_only_a_jury_has_needs_roles(tmp_path):
    task = Path(write(tmp_path, "scale: [1, 5], combine: median"))
    task.write_text(task.read_text().replace("roles: [a, b, c], ", ""))
    (problem,) = check_all([str(task)], load_plugins(), DataOptions(offline=True))
    assert "combine needs a jury" in problem.message


def test_a_role_on_the_command_line(tmp_path, monkeypatch):
    task = write(tmp_path, roles="a")
    with ChatServer(says) as target, ChatServer(says) as own:
        role = f"a={{model: hosted_vllm/a, base_url: {own.url}, temperature: 0}}"
        arguments = ["--tasks", task, "--model", MODEL, "--base-url", target.url, "--role", role, "--output", "made"]
        assert invoke(arguments) == 0
        assert (len(own.requests), {r.body["temperature"] for r in own.requests}) == (4, {0})
        assert invoke(["score", "made", "--role", f"a={{base_url: {own.url}, temperature: 1}}"]) == 0
        assert len(own.requests) == 8


def test_two_jurors_of_one_model_give_two_verdicts(judged, tmp_path):
    same = dict.fromkeys("abc", "hosted_vllm/a")
    result, asked = judged(write(tmp_path), lambda model, text, seen: str(seen + 1), roles=same)
    assert asked == {"a": 12}
    assert [sum(scores(result, f"judge@{juror}")[doc] for juror in "abc") for doc in range(4)] == [6, 6, 6, 6]


def test_an_unreadable_verdict_of_one_juror_makes_the_sample_errored(judged, tmp_path):
    def verdict(model: str, text: str, seen: int) -> str:
        return "no idea" if (model, text) == ("b", "w2") else marks(model, text, seen)

    result, asked = judged(write(tmp_path), verdict)
    assert scores(result)[2] is None and asked == {"a": 4, "b": 5, "c": 4}
    lines = (result.folder / "scores/judged.jsonl").read_text()
    assert "the b's verdict cannot be read, asked 2 times" in lines


PAIR = "against: rival, both_orders: true, combine: majority"


def test_position_swap_in_a_jury(judged, tmp_path):
    def verdict(model: str, text: str, seen: int) -> str:  # a likes the first text, b and c the answer
        return "first" if model == "a" or text.startswith("w") else "second"

    task = write(tmp_path, PAIR, prompt="{{ first }} or {{ second }}")
    result, asked = judged(task, verdict)
    assert scores(result) == [1, 1, 1, 1] and asked == {"a": 8, "b": 8, "c": 8}
    assert scores(result, "judge_agrees") == [pytest.approx(2 / 3)] * 4
    assert scores(result, "judge@a") == [0.5] * 4


def test_the_worth_of_a_swapped_label_is_mirrored(judged, tmp_path):
    labels = "labels: {first: 3, tie: 0, second: -3}"
    task = write(tmp_path, f"against: rival, both_orders: true, {labels}", prompt="{{ first }} or {{ second }}")
    result, _ = judged(task, lambda model, text, seen: "first" if text.startswith("w") else "second")
    assert (scores(result), scores(result, "judge_agrees")) == ([3] * 4, [1] * 4)


# --- what is a role's own ----------------------------------------------------------------------------


def test_a_role_has_its_own_address_key_and_settings(tmp_path, options, monkeypatch):
    task = write(tmp_path, roles="a, b")
    monkeypatch.setenv("KEY_OF_A", "sk-a-123456789")
    with ChatServer(lambda r: Answer("3")) as one, ChatServer(lambda r: Answer("4")) as two, ChatServer(says) as target:
        own = {"model": "hosted_vllm/a", "base_url": one.url, "api_key_env": "KEY_OF_A", "temperature": 0.5}
        roles = {"a": own, "b": {"model": "hosted_vllm/b", "base_url": two.url, "generation": {"max_tokens": 9}}}
        result = creval.run([task], MODEL, options(base_url=target.url, roles=roles))
        assert (scores(result, "judge@a"), scores(result, "judge@b")) == ([3] * 4, [4] * 4)
        assert {r.body["temperature"] for r in one.requests} == {0.5}
        assert {r.headers["Authorization"] for r in one.requests} == {"Bearer sk-a-123456789"}
        assert {r.body["max_tokens"] for r in two.requests} == {9}
        assert all("temperature" not in r.body for r in (*two.requests, *target.requests))
        before = len(one.requests) + len(two.requests)
        assert "sk-a-123456789" not in (result.folder / "run.json").read_text()
        (result.folder / "scores/judged.jsonl").unlink()
        assert resume(result.folder).results["tasks"][0]["metrics"] == result.results["tasks"][0]["metrics"]
        assert len(one.requests) + len(two.requests) == before
        file = read_run_file(result.folder / "run.yaml")
        assert file.options.role_options == {
            "a": {"base_url": one.url, "api_key_env": "KEY_OF_A", "generation": {"temperature": 0.5}},
            "b": {"base_url": two.url, "generation": {"max_tokens": 9}},
        }


def test_the_calls_of_a_role_in_flight(tmp_path, options):
    task = write(tmp_path, "scale: [1, 5], repeat: 3", roles="a")
    for own, most in (({"concurrency": 1}, [1]), ({}, range(5, 13))):
        with ChatServer(says, latency=0.05) as target, ChatServer(says, latency=0.05) as server:
            roles = {"a": {"model": "hosted_vllm/a", "base_url": server.url, **own}}
            creval.run([task], MODEL, options(base_url=target.url, roles=roles, output=tmp_path / f"run{len(own)}"))
        assert server.most_in_flight in most and target.most_in_flight > 1


def test_a_role_at_the_target_s_own_server_has_its_own_limit(tmp_path, options):
    task = write(tmp_path, "scale: [1, 5], repeat: 3", roles="a")
    in_flight = []

    def script(request: Received) -> Answer:
        in_flight.append((request.body["model"], server.in_flight))
        return says(request)

    with ChatServer(script, latency=0.05) as server:
        own = {"model": "hosted_vllm/a", "base_url": server.url, "concurrency": 1}
        creval.run([task], MODEL, options(base_url=server.url, roles={"a": own}))
    assert max(count for model, count in in_flight if model == "a") == 1
    assert max(count for model, count in in_flight if model == "parrot") > 1


BAD = [
    ({"model": "x/y", "temprature": 0}, "temprature"),
    ({"model": "x/y", "concurrency": 0}, "concurrency must be"),
    ({"model": "x/y", "base_url": "https://user:secret99@host/v1"}, "may contain a secret"),
    ({"model": "x/y", "generation": 3}, "generation must be a mapping"),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_what_a_role_cannot_have(given, said):
    with pytest.raises(creval.CrevalError, match=said):
        creval.RunOptions(roles={"judge": given})
    with pytest.raises(creval.CrevalError, match=said):
        Rescoring(roles={"judge": given})


def test_a_metric_names_the_settings_that_are_not_the_task_s(tmp_path, options, monkeypatch):
    task = write(tmp_path, roles="a", name="judge")
    text = Path(task).read_text() + "roles: {a: {model: hosted_vllm/a, generation: {temperature: 0}}}\n"
    Path(task).write_text(text)
    with ChatServer(says) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        result = creval.run([task], MODEL, options(roles={"a": {"temperature": 0}}))
        assert list(result.metrics("judged")) == ["judge"]
        other = rescore(result.folder, Rescoring(roles={"a": {"temperature": 1}}))
        assert other.results["tasks"][0]["metrics"][0]["name"] == "judge[hosted_vllm/a temperature=1]"


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ({"base_url": "https://elsewhere.example/v1"}, "roles.a.base_url: https://elsewhere.example/v1"),
        ({"api_key_env": "AWS_SECRET"}, "roles.a.api_key_env: AWS_SECRET"),
        ({"generation": {"extra": {"api_base": "https://x.example"}}}, "generation.api_base: https://x.example"),
        ({"api_base": "https://x.example"}, "generation.api_base: https://x.example"),
    ],
)
def test_what_a_foreign_run_or_file_says_of_a_role_needs_trust(tmp_path, own, named):
    manifest = {
        "options": {"role_options": {"a": own}},
        "requested": ["drat"],
        "roles": {"target": MODEL, "a": "openai/x"},
    }
    with pytest.raises(UntrustedError, match=named.replace(".", r"\.")):
        Claims.of_run(manifest, tmp_path).check("creval resume x")
    data = {"tasks": ["drat"], "model": MODEL, "roles": {"a": {"model": "openai/x", **own}}}
    with pytest.raises(UntrustedError, match=named.replace(".", r"\.")):
        Claims.of_file(data, tmp_path / "run.yaml").check("creval run run.yaml")


# --- kill -9 ----------------------------------------------------------------------------------------

NURSERY = """
import os, sys
from pathlib import Path
import creval.engine.run, creval_judges.judge, creval.scoring.metric_estimate
import creval.models.providers.chat_provider
from creval.engine.run import resume
from creval.plugins.loader import load_plugins
load_plugins()
output = Path(sys.argv[1])
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        resume(output)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def paid(output: Path) -> list[tuple[str, str]]:
    """The verdicts that are on disk, as (role, question); a torn last line is none."""
    found = []
    for file in (output / "calls").glob("*.jsonl"):
        whole = [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        found += [(file.stem, json.loads(line)["messages"][0]["content"]) for line in whole]
    return found


@pytest.mark.kills
def test_a_jury_killed_at_twenty_moments_pays_no_verdict_twice(tmp_path, options, monkeypatch):
    docs, slots, draw = 60, 4, random.Random(5)
    task = write(
        tmp_path, "against: rival, both_orders: true, draw: 2", "a, b, c, d", prompt="{{ first }} or {{ second }}"
    )
    rows = "".join(json.dumps({"id": f"d{i}", "word": f"w{i}", "rival": f"r{i}"}) + "\n" for i in range(docs))
    (tmp_path / "judged.jsonl").write_text(rows)

    def script(request: Received) -> Answer:
        return (
            says(request) if request.prompt.startswith("Say") else Answer("first" if "w1" in request.prompt else "tie")
        )

    with ChatServer(script, latency=0.002) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        given = options(roles=models("abcd"), concurrency=slots, max_calls=docs)
        output = creval.run([task], MODEL, given).folder  # every sample is made, and none is scored
        manifest = json.loads((output / "run.json").read_text())
        manifest["options"]["max_calls"] = None
        (output / "run.json").write_text(json.dumps(manifest))
        command = [sys.executable, "-c", NURSERY, str(output)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        with subprocess.Popen(command, env=dict(os.environ), **pipes) as nursery:
            assert nursery.stdout.readline() == "ready\n"
            for _ in range(20):
                before, start = set(paid(output)), len(server.requests)
                target = start + draw.randint(1, 8)
                server.hold(target + 6)  # on a busy machine the kill may come late
                nursery.stdin.write("resume\n")
                child = int(nursery.stdout.readline())
                server.wait_for(target)
                os.kill(child, signal.SIGKILL)
                assert int(nursery.stdout.readline()) == -signal.SIGKILL
                asked = {(request.body["model"], request.prompt) for request in server.requests[start:]}
                assert not asked & before, "a verdict was paid twice"
            nursery.stdin.close()
        server.release()
        assert 20 < len(paid(output)) < 4 * docs
        result = resume(output)
        whole = creval.run([task], MODEL, options(roles=models("abcd"), output=tmp_path / "whole"))
    assert len(paid(output)) == len(set(paid(output))) == 4 * docs
    assert result.results["tasks"][0]["metrics"] == whole.results["tasks"][0]["metrics"]
    assert result.results["tasks"][0]["juries"] == whole.results["tasks"][0]["juries"]
