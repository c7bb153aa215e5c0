"""The ledger: what a judge was paid for is on disk at once, and no question is paid twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
from support.chat_server import Answer, ChatServer, Hang, HttpError, Received
from support.judged import HOOKS, PARTS, write_judged
from support.parrot import parrot

import creval
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring
from creval.errors import BudgetError, MissingPartError, RunError, TaskError
from creval.runs.jsonl import read_lines

ROOT = Path(creval.__file__).resolve().parents[1]
MODEL = "hosted_vllm/parrot"
JUDGE = {"judge": "hosted_vllm/judge"}


def say(request: Received) -> str:
    """The target repeats a word; a judge's verdict is a number that depends on the question alone."""
    return parrot(request) if request.prompt.startswith("Say") else str(len(request.prompt))


def judged(request: Received) -> bool:
    return not request.prompt.startswith("Say")


def questions(server: ChatServer) -> list[str]:
    return [request.prompt for request in server.requests if judged(request)]


def lines(folder: Path, role: str = "judge") -> list[dict]:
    return list(read_lines(folder / "calls" / f"{role}.jsonl"))


@pytest.fixture(autouse=True)
def plugin(install, monkeypatch, tmp_path):
    install("judged", HOOKS, PARTS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path / "site")]))


@pytest.fixture
def serve(monkeypatch):
    """Start a server that is the target's and the judge's; replies by script first."""

    def start(script=(), **given) -> ChatServer:
        return ChatServer(script, answer=say, **given)

    return start


def reach(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)


def test_every_call_is_in_the_ledger_with_what_was_asked_and_what_it_took(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        result = creval.run([write_judged(tmp_path, docs=3)], MODEL, options(base_url=server.url, roles=JUDGE))
    found = lines(result.folder)
    schema = json.loads((ROOT / "creval" / "schemas" / "call.schema.json").read_text())
    for line in found:
        jsonschema.Draft202012Validator(schema).validate(line)
    assert sorted(line["messages"][0]["content"] for line in found) == sorted(questions(server))
    assert {json.dumps(line["settings"], sort_keys=True) for line in found} == {'{"max_tokens": 8, "temperature": 0}'}
    assert {line["asked"]["doc_id"] for line in found} == {"d0", "d1", "d2"}
    task = result.results["tasks"][0]
    assert task["usage_by_role"]["judge"]["calls"] == 6
    assert task["usage"]["calls"] == 9
    attempt = json.loads((result.folder / "run.json").read_text())["attempts"][0]
    assert attempt["models"]["judge"]["calls"] == 6


def test_the_same_question_is_paid_once_also_while_it_is_on_its_way(serve, monkeypatch, tmp_path, options):
    """Four repeats of a doc give one answer and thus the same questions, asked at the same time."""
    with serve(latency=0.05) as server:
        reach(server, monkeypatch)
        task = write_judged(tmp_path, docs=2, repeats=4)
        result = creval.run([task], MODEL, options(base_url=server.url, roles=JUDGE))
    assert sorted(Counter(questions(server)).values()) == [1, 1, 1, 1]
    assert result.results["tasks"][0]["counts"]["scored"] == 8


def test_rescoring_with_changed_weights_makes_no_call(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        task = write_judged(tmp_path)
        first = creval.run([task], MODEL, options(base_url=server.url, roles=JUDGE))
        asked = len(server.requests)
        write_judged(tmp_path, weight=2.0)
        again = rescore(first.folder)
        assert len(server.requests) == asked
    before = first.metrics("judged")["rated"]["value"]
    after = next(m for m in again.results["tasks"][0]["metrics"] if m["name"] == "rated")["value"]
    assert after == 2 * before
    manifest = json.loads((first.folder / "run.json").read_text())
    assert manifest["rescored"][0]["models"]["judge"]["reused"] == 16
    assert manifest["rescored"][0]["models"]["judge"]["calls"] == 0


def test_another_judge_leaves_the_first_one_s_verdicts_in_place(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        task = write_judged(tmp_path, model="hosted_vllm/judge")
        first = creval.run([task], MODEL, options(base_url=server.url))
        kept = (first.folder / "calls" / "judge.jsonl").read_bytes()
        other = rescore(first.folder, Rescoring(roles={"judge": "hosted_vllm/second"}))
        assert (first.folder / "calls" / "judge.jsonl").read_bytes().startswith(kept)
        assert Counter(line["model"] for line in lines(first.folder)) == {
            "hosted_vllm/judge": 16,
            "hosted_vllm/second": 16,
        }
        names = [metric["name"] for metric in other.results["tasks"][0]["metrics"]]
        assert names == ["rated[hosted_vllm/second]", "kind[hosted_vllm/second]", "size"]
        asked = len(server.requests)
        back = rescore(first.folder)
        assert len(server.requests) == asked
    assert [metric["name"] for metric in back.results["tasks"][0]["metrics"]] == ["rated", "kind", "size"]
    assert back.results["tasks"][0]["metrics"] == first.results["tasks"][0]["metrics"]


def test_a_second_run_takes_the_verdicts_of_the_first_for_nothing(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        task = write_judged(tmp_path)
        first = creval.run([task], MODEL, options(base_url=server.url, roles=JUDGE, output=tmp_path / "first"))
        asked = len(questions(server))
        given = options(base_url=server.url, roles=JUDGE, output=tmp_path / "second", reuse=(first.folder,))
        second = creval.run([task], MODEL, given)
        assert len(questions(server)) == asked
        usage = second.results["tasks"][0]["usage_by_role"]["judge"]
        assert (usage["calls"], usage["reused"], usage["cost"]) == (0, 16, 0.0)
        manifest = json.loads((second.folder / "run.json").read_text())
        assert [Path(entry["run"]) for entry in manifest["reused"]] == [first.folder]
        assert manifest["reused"][0]["started"] == json.loads((first.folder / "run.json").read_text())["started"]
        assert {line["from"]["run"] for line in lines(second.folder)} == {"first"}
        (first.folder / "calls" / "judge.jsonl").unlink()
        rescore(second.folder)  # it stands alone by now
        assert len(questions(server)) == asked
    with pytest.raises(RunError, match="there is no run"):
        creval.run([task], MODEL, options(output=tmp_path / "third", roles=JUDGE, reuse=(tmp_path / "nowhere",)))
    assert not (tmp_path / "third").exists()


def test_an_unreadable_verdict_draws_anew_and_only_the_readable_one_is_given_again(
    serve, monkeypatch, tmp_path, options
):
    def script(request: Received) -> Answer | None:
        return Answer("Well, a five") if request.prompt.startswith("Rate word1") and not request.seen else None

    with serve(script) as server:
        reach(server, monkeypatch)
        result = creval.run([write_judged(tmp_path, docs=3)], MODEL, options(base_url=server.url, roles=JUDGE))
        assert result.results["tasks"][0]["counts"]["scored"] == 3
        assert Counter(questions(server))["Rate word1 for word1"] == 2
        found = [line for line in lines(result.folder) if line.get("unreadable")]
        assert [(line["attempt"], line["unreadable"]) for line in found] == [(0, "no number")]
        asked = len(server.requests)
        assert rescore(result.folder).results["tasks"][0]["metrics"] == result.results["tasks"][0]["metrics"]
        assert len(server.requests) == asked


@pytest.mark.parametrize("bad", [Answer("12", finish_reason="length"), Answer("", refusal="I will not judge.")])
def test_a_verdict_that_was_cut_or_refused_is_not_given_again(serve, monkeypatch, tmp_path, options, bad):
    failing = {"Rate word1 for word1"}

    def script(request: Received) -> Answer | None:
        return bad if request.prompt in failing else None

    with serve(script) as server:
        reach(server, monkeypatch)
        result = creval.run([write_judged(tmp_path, docs=3)], MODEL, options(base_url=server.url, roles=JUDGE))
        failing.clear()
        asked = len(server.requests)
        rescore(result.folder)
        assert [request.prompt for request in server.requests[asked:]] == ["Rate word1 for word1"]


def test_a_failing_question_takes_only_its_scorer_s_scores_of_its_sample(serve, monkeypatch, tmp_path, options):
    down = {"Rate word1 for word1"}

    def script(request: Received) -> HttpError | None:
        return HttpError(500) if request.prompt in down else None

    with serve(script) as server:
        reach(server, monkeypatch)
        given = options(base_url=server.url, roles=JUDGE, max_retries=0)
        first = creval.run([write_judged(tmp_path)], MODEL, given)
        metrics = first.metrics("judged")
        assert (metrics["size"]["n"], metrics["rated"]["n"]) == (8, 7)
        assert metrics["size"]["counts"]["errored"] == 0
        assert metrics["rated"]["counts"]["errored"] == 1
        assert first.results["tasks"][0]["counts"]["errored"] == 1
        line = next(r for r in read_lines(first.folder / "scores/judged.jsonl") if r["doc_id"] == "d1")
        assert line["scores"] == {"size": 5.0}
        assert set(line["missing"]) == {"rated", "kind"}
        assert Counter(questions(server)).most_common()[-1][1] == 1
        assert max(count for prompt, count in Counter(questions(server)).items() if prompt not in down) == 1
        down.clear()
        asked = len(server.requests)
        assert resume(first.folder).results["tasks"][0]["counts"]["scored"] == 8
        assert [request.prompt for request in server.requests[asked:]] == ["Rate word1 for word1"]


def test_several_judged_samples_are_on_their_way_at_once(serve, monkeypatch, tmp_path, options):
    with serve(latency=0.05) as server:
        reach(server, monkeypatch)
        creval.run([write_judged(tmp_path, docs=24)], MODEL, options(base_url=server.url, roles=JUDGE, concurrency=8))
        assert server.most_in_flight == 8


def test_a_judge_without_a_key_shows_before_the_target_is_asked(serve, tmp_path, options):
    with serve() as server, pytest.raises(MissingPartError, match="OPENAI_API_KEY"):
        creval.run([write_judged(tmp_path)], MODEL, options(base_url=server.url, roles={"judge": "openai/x"}))
    assert server.requests == []


def test_a_judge_that_is_the_target_itself_is_flagged(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        same = creval.run([write_judged(tmp_path, docs=2)], "hosted_vllm/judge", options(roles=JUDGE))
        other = creval.run([write_judged(tmp_path, docs=2)], MODEL, options(roles=JUDGE, output=tmp_path / "other"))
    assert "is the target itself" in same.results["tasks"][0]["notes"][0]
    assert other.results["tasks"][0]["notes"] == []


def test_the_limit_of_a_scoring_keeps_the_old_scores_and_what_was_paid(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        first = creval.run([write_judged(tmp_path)], MODEL, options(base_url=server.url, roles=JUDGE))
        scores = (first.folder / "scores" / "judged.jsonl").read_bytes()
        second = {"judge": "hosted_vllm/second"}
        with pytest.raises(BudgetError, match="The old scores and the paid answers are kept"):
            rescore(first.folder, Rescoring(roles=second, max_calls=5))
        assert (first.folder / "scores" / "judged.jsonl").read_bytes() == scores
        assert len(questions(server)) == 16 + 5
        rescore(first.folder, Rescoring(roles=second))
        assert len(questions(server)) == 32


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_judge_that_no_call_reaches_is_not_asked_on_and_the_old_scores_stand(
    serve, monkeypatch, tmp_path, options, status
):
    with serve() as server:
        reach(server, monkeypatch)
        first = creval.run([write_judged(tmp_path, docs=30)], MODEL, options(base_url=server.url, roles=JUDGE))
    scores = (first.folder / "scores" / "judged.jsonl").read_bytes()
    refusing = HttpError(status, {"message": "insufficient credits" if status == 402 else "no"})
    with serve(lambda request: refusing if judged(request) else None) as server:
        reach(server, monkeypatch)
        with pytest.raises(RunError, match=rf"(?s)the judge answered no question: .*{status}.*The old scores are kept"):
            rescore(first.folder, Rescoring(roles={"judge": "hosted_vllm/second"}))
        assert (first.folder / "scores" / "judged.jsonl").read_bytes() == scores
        assert [file.name for file in (first.folder / "scores").iterdir()] == ["judged.jsonl"]
        asked = len(server.requests)
        given = options(base_url=server.url, roles=JUDGE, concurrency=4, output=tmp_path / "second")
        second = creval.run([str(tmp_path / "judged.yaml")], MODEL, given)
        assert second.metrics("judged")["size"]["n"] == 30
        assert second.metrics("judged")["rated"]["counts"]["errored"] == 30
        assert len(server.requests) - asked <= 30 + 2 * 4


@pytest.mark.parametrize(
    "line",
    [b"[]", b'{"key": 5}', b'{"key": "zz", "attempt": 0}', b'{"key": "00", "attempt": "x"}', b'{"a": {', b"\xff"],
)
def test_a_line_of_the_ledger_that_is_no_call_is_named(serve, monkeypatch, tmp_path, options, line):
    with serve() as server:
        reach(server, monkeypatch)
        run = creval.run([write_judged(tmp_path, docs=2)], MODEL, options(base_url=server.url, roles=JUDGE)).folder
        file = run / "calls" / "judge.jsonl"
        file.write_bytes(file.read_bytes() + line + b"\n" + file.read_bytes())
        with pytest.raises(RunError, match=rf"judge\.jsonl:5: .*\n?.*creval resume {run}"):
            resume(run)
        file.unlink()
        file.mkdir()
        with pytest.raises(RunError, match="is a folder"):
            resume(run)


def test_the_budget_of_a_run_counts_its_judge_over_all_attempts(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        given = options(base_url=server.url, roles=JUDGE, max_calls=13)
        first = creval.run([write_judged(tmp_path)], MODEL, given)
        assert first.status == "budget"
        assert len(server.requests) == 13
        assert resume(first.folder, max_calls=14).budget is not None
        assert len(server.requests) == 14
        assert resume(first.folder, max_calls=24).budget is None
        assert len(server.requests) == 24


def test_a_call_that_is_in_flight_when_the_budget_ends_is_waited_for_and_kept(monkeypatch, tmp_path, options):
    """The other question of the same sample meets the limit at once; what is paid for the first one is not lost."""

    def slow(request: Received) -> Answer | Hang:
        return Hang(0.3) if request.prompt.startswith("Rate") else Answer("4")

    with ChatServer(slow, answer="4") as server:
        reach(server, monkeypatch)
        given = options(base_url=server.url, roles=JUDGE, max_calls=2)
        first = creval.run([write_judged(tmp_path, docs=1)], MODEL, given)
        assert first.status == "budget"
        assert ["reply" in line for line in lines(first.folder)] == [True]
        assert resume(first.folder, max_calls=3).budget is None
        assert len(server.requests) == 3


def test_in_generation_each_sample_asks_for_itself_and_asking_again_draws_anew(serve, monkeypatch, tmp_path, options):
    with serve() as server:
        reach(server, monkeypatch)
        task = Path(write_judged(tmp_path, docs=1, repeats=3))
        task.write_text(task.read_text().replace("score: [", "protocol: helped\nscore: [").replace("{{ word }}]", "]"))
        result = creval.run([str(task)], MODEL, options(base_url=server.url, roles=JUDGE))
        made = [line for line in lines(result.folder) if line["asked"]["step"] == "generation"]
        assert sorted((line["asked"]["repeat"], line["draw"]) for line in made) == [
            (r, d) for r in range(3) for d in (0, 1)
        ]
        assert Counter(questions(server))["Rate x for word0"] == 6
        for path in ("scores", "samples"):
            file = result.folder / path / "judged.jsonl"
            file.write_bytes(b"")
        asked = len(server.requests)
        resume(result.folder)
        assert len(server.requests) == asked


def test_prompts_of_roles_are_checked_like_those_of_the_task(tmp_path, options):
    task = Path(write_judged(tmp_path))
    text = task.read_text()
    for change, match in (
        (('{{ word }}"}]', '{{ wrod }}"}]'), "no doc has the field 'wrod'"),
        (("kind: [", "kidn: ["), "needs the prompt 'kind'"),
        (("Kind of {{ answer }}", "Kind of {{ answer"), "the template is faulty"),
        (("kind: [", "prompt: ["), "the prompt 'prompt' occurs twice"),
        (("max_tokens: 8", "max_tokens: -8"), "max_tokens"),
        (("generation:", "generaton:"), "generaton"),
    ):
        task.write_text(text.replace(*change))
        with pytest.raises(TaskError, match=match):
            creval.run([str(task)], "baseline/floor", options(roles=JUDGE))


# --- kill -9 ----------------------------------------------------------------------------------------

NURSERY = """
import os, sys
from pathlib import Path
import creval.engine.run, creval.models.providers.chat_provider, creval.scoring.metric_estimate
from creval.engine.run import resume
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


def answered(folder: Path) -> set[str]:
    """The questions whose answers are on disk; a torn last line is none."""
    return {line["messages"][0]["content"] for line in lines(folder) if "reply" in line}


@pytest.mark.kills
def test_killed_at_twenty_moments_of_scoring_no_answered_question_is_paid_again(serve, monkeypatch, tmp_path, options):
    """kill -9 after some number of verdicts, drawn at random: only what was in flight is asked again."""
    draw = random.Random(11)
    slots, docs = 4, 150
    task = write_judged(tmp_path, docs=docs)
    with serve(latency=0.002) as server:
        reach(server, monkeypatch)
        given = options(base_url=server.url, roles=JUDGE, concurrency=slots, max_calls=docs)
        output = creval.run([task], MODEL, given).folder  # every sample is made, and none is scored
        manifest = json.loads((output / "run.json").read_text())
        manifest["options"]["max_calls"] = None
        (output / "run.json").write_text(json.dumps(manifest))
        assert not questions(server)
        command = [sys.executable, "-c", NURSERY, str(output)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        with subprocess.Popen(command, env=dict(os.environ), **pipes) as nursery:
            assert nursery.stdout.readline() == "ready\n"
            for _ in range(20):
                paid, start = answered(output), len(server.requests)
                target = start + draw.randint(1, 12)
                server.hold(target + 6)  # on a busy machine the kill may come late
                nursery.stdin.write("resume\n")
                child = int(nursery.stdout.readline())
                server.wait_for(target)
                os.kill(child, signal.SIGKILL)
                assert int(nursery.stdout.readline()) == -signal.SIGKILL
                asked = {request.prompt for request in server.requests[start:]}
                assert not asked & paid, "a question that was answered was paid again"
            nursery.stdin.close()
        server.release()
        paid, start = answered(output), len(server.requests)
        assert 20 < len(paid) < 2 * docs
        result = resume(output)
        assert not {request.prompt for request in server.requests[start:]} & paid
        whole = creval.run([task], MODEL, options(base_url=server.url, roles=JUDGE, output=tmp_path / "whole"))
    keys = [line["key"] for line in lines(output) if "reply" in line]
    assert len(keys) == len(set(keys)) == 2 * docs
    assert result.results["tasks"][0]["metrics"] == whole.results["tasks"][0]["metrics"]
