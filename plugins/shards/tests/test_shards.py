"""Shards of a run: which docs they hold, what they say of themselves, and the one run that is made of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, HttpError, Received
from support.commands import creval as typed
from support.judged import HOOKS, PARTS, write_judged
from support.parrot import parrot

import creval
from creval.engine.planning.shards import Shard, parse_shard
from creval.engine.run import rescore, resume
from creval.engine.run_options import RunOptions
from creval.errors import RunError, UsageError
from creval.report.result_tables import own_settings
from creval.runs.jsonl import read_lines
from creval_release.gate import decide
from creval_release.leaderboard import leaderboard
from creval_release.policy import Policy
from creval_shards.merge_runs import merge_runs

DOCS = Path(__file__).resolve().parents[3] / "docs" / "shards.md"
MODEL = "baseline/ceiling"
TIMES = {"started", "seconds"}


@pytest.fixture
def make_task(make_task: Callable[..., str]) -> Callable[..., str]:
    """Write a task as the other tests' fixture does; its ceiling answers with the target."""
    return lambda *given, extra="", **more: make_task(*given, extra=f"{extra}baselines: {{ceiling: target}}\n", **more)


def options(folder: Path, **changes: Any) -> RunOptions:
    return RunOptions(**{"output": folder, "seed": 1, "concurrency": 1, **changes})


def divided(tasks: Sequence[str], model: str, of: int, place: Path, **changes: Any) -> list[Path]:
    """Make all shards of a run, and return their folders."""
    folders = [place / f"shard-{number}" for number in range(1, of + 1)]
    for number, folder in enumerate(folders, 1):
        creval.run(tasks, model, options(folder, shard=f"{number}/{of}", **changes))
    return folders


def results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text("utf-8")) | {"run": ""}


def rows(folder: Path, kind: str, task: str = "parrot") -> list[dict[str, Any]]:
    """The rows of a file in their order, without times."""
    found = []
    for row in read_lines(folder / kind / f"{task}.jsonl"):
        for call in row.get("calls", ()):
            (call.get("reply") or {}).pop("latency", None)
        found.append({name: value for name, value in row.items() if name not in TIMES})
    return found


def test_a_shard_is_recognised_by_the_digest_of_the_id():
    digest = int.from_bytes(hashlib.sha256(b"d7").digest()[:8], "big")
    assert [Shard(n, 5).holds("d7") for n in range(1, 6)] == [digest % 5 == n - 1 for n in range(1, 6)]
    assert Shard(5, 7).holds("a") and Shard(3, 7).holds("ü")  # these never change
    assert sum(Shard(n, 3).holds("\ud800") for n in (1, 2, 3)) == 1


NO_SHARDS = ["0/16", "17/16", "x/y", "3", "3/", "/16", "1/0", "-1/4", "1.0/4", "1/1000000", "١/٤", ""]


@pytest.mark.parametrize("text", NO_SHARDS)
def test_what_is_no_shard_is_one_message(text, tmp_path):
    with pytest.raises(UsageError) as error:
        RunOptions(shard=text)
    assert error.value.where == "--shard" and error.value.fix
    assert parse_shard("16/16") == (16, 16)


def test_a_bad_shard_on_the_command_line_makes_no_run(make_task, tmp_path):
    done = typed(tmp_path, "--tasks", make_task(), "--model", MODEL, "--shard", "17/16", "--output", "run")
    assert done.returncode == 2 and "17/16 is not a shard" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("chosen", [{}, {"limit": 13}, {"limit": "first:9"}, {"docs": ("d1", "d5", "d8")}], ids=str)
def test_the_shards_together_are_the_undivided_run(make_task, tmp_path, chosen):
    task = make_task(docs=20)
    creval.run([task], MODEL, options(tmp_path / "whole", **chosen))
    whole = [row["doc_id"] for row in rows(tmp_path / "whole", "samples")]
    parts = divided([task], MODEL, 3, tmp_path, **chosen)
    docs = [row["doc_id"] for part in parts if (part / "samples").exists() for row in rows(part, "samples")]
    assert sorted(docs) == sorted(whole)
    made = merge_runs(parts, tmp_path / "merged")
    assert made.results is not None
    assert rows(tmp_path / "merged", "samples") == rows(tmp_path / "whole", "samples")
    assert rows(tmp_path / "merged", "scores") == rows(tmp_path / "whole", "scores")
    assert results(tmp_path / "merged") == results(tmp_path / "whole")


def test_a_shard_without_docs_ends_well(make_task, tmp_path):
    task = make_task(docs=2)
    parts = divided([task], MODEL, 9, tmp_path)
    counts = [results(part)["tasks"][0]["planned"] for part in parts]
    assert sorted(counts)[:7] == [0] * 7 and sum(counts) == 2
    empty = parts[counts.index(0)]
    assert json.loads((empty / "run.json").read_text())["status"] == "done"
    assert results(empty)["tasks"][0]["metrics"][0]["value"] is None
    done = typed(tmp_path, "resume", str(empty))
    assert done.returncode == 0, done.stderr
    assert merge_runs(parts, tmp_path / "merged").results is not None


def test_a_shard_says_that_it_is_a_part(make_task, tmp_path):
    task = make_task(docs=20)
    whole = creval.run([task], MODEL, options(tmp_path / "whole"))
    part = creval.run([task], MODEL, options(tmp_path / "part", shard="1/2"))
    assert own_settings(part) == ["shard 1/2: a part of the docs"]
    assert part.results["tasks"][0]["shard"] == "1/2" and "shard" not in whole.results["tasks"][0]
    assert part.results["tasks"][0]["identity"] != whole.results["tasks"][0]["identity"]
    ranked = leaderboard([creval.open_run(folder) for folder in (whole.folder, part.folder)])
    assert len({one.group for one in ranked}) == 2 and {one.settings for one in ranked} == {"", "shard 1/2"}
    with pytest.raises(UsageError, match="is shard 1/2, a part of a whole"):
        decide(creval.open_run(part.folder), Policy(tmp_path / "policy.yaml", []), None)
    said = typed(tmp_path, "report", "part", "--baselines", ".")
    assert "shard 1/2: a part of the docs" in said.stdout and "ceiling" in said.stdout.splitlines()[0]
    expected = typed(tmp_path, "--tasks", task, "--model", MODEL, "--shard", "1/2", "--dry-run")
    assert "(shard 1/2)" in expected.stdout and str(part.results["tasks"][0]["planned"]) in expected.stdout


def test_a_run_file_may_name_a_shard_and_continues_with_no_other(make_task, tmp_path):
    make_task(docs=20)
    (tmp_path / "run.yaml").write_text("tasks: ./parrot.yaml\nmodel: baseline/ceiling\nshard: 2/4\noutput: out\n")
    assert typed(tmp_path, "run", "run.yaml").returncode == 0
    kept = (tmp_path / "out" / "run.yaml").read_text()
    assert "shard: 2/4" in kept
    assert typed(tmp_path, "run", "run.yaml").returncode == 0
    other = typed(tmp_path, "run", "run.yaml", "--shard", "3/4")
    assert other.returncode == 2 and "differs in shard" in other.stderr
    bad = typed(tmp_path, "run", "run.yaml", "--shard", "5/4", "--output", "new")
    assert bad.returncode == 2 and "5/4 is not a shard" in bad.stderr


DYING = """
import os, signal, sys
from pathlib import Path
from creval.engine.observer import Quiet
from creval.engine.run_options import RunOptions
from creval.engine.run import run_new

task, model, shard, folder, at = sys.argv[1:]

class Dying(Quiet):
    made = 0
    def on_sample(self, sample, stats):
        self.made += 1
        if at == "samples" and self.made == 5:
            os.kill(os.getpid(), signal.SIGKILL)
    def on_scored(self, count):
        if at == "scores" and count:
            os.kill(os.getpid(), signal.SIGKILL)

run_new([task], model, RunOptions(output=Path(folder), seed=1, shard=shard, concurrency=4), Dying())
"""


@pytest.mark.kills
def test_sixteen_shards_two_of_them_killed_are_the_undivided_run(make_task, server, tmp_path):
    """The answers of a recorded run, replayed in 16 parts, with conditions and repeats."""
    task = make_task(docs=160, repeats=2, conditions="conditions: {temperature: [0, 1]}")
    creval.run([task], "hosted_vllm/parrot", options(tmp_path / "recorded", base_url=server.url, concurrency=16))
    model = f"replay/{tmp_path / 'recorded'}"
    creval.run([task], model, options(tmp_path / "whole"))
    (tmp_path / "dying.py").write_text(DYING)
    parts = [tmp_path / "shards" / f"{number}" for number in range(1, 17)]
    killed = {5: "samples", 11: "scores"}
    for number, part in enumerate(parts, 1):
        if number in killed:
            words = [task, model, f"{number}/16", str(part), killed[number]]
            done = subprocess.run([sys.executable, str(tmp_path / "dying.py"), *words], timeout=100)
            assert done.returncode == -9
        else:
            creval.run([task], model, options(part, shard=f"{number}/16", concurrency=8))
    assert len(rows(parts[4], "samples")) == 5
    unfinished = merge_runs(parts, tmp_path / "unfinished")
    assert unfinished.results is None and not unfinished.missing and unfinished.samples < unfinished.planned == 640
    assert json.loads((tmp_path / "unfinished" / "run.json").read_text())["status"] == "interrupted"
    resume(tmp_path / "unfinished")
    for number in killed:
        resume(parts[number - 1])
    made = merge_runs(parts[::-1], tmp_path / "merged")
    assert made.results is not None
    for kind in ("samples", "scores"):
        assert rows(tmp_path / "merged", kind) == rows(tmp_path / "whole", kind)
        assert sorted(map(str, rows(tmp_path / "unfinished", kind))) == sorted(map(str, rows(tmp_path / "whole", kind)))
    merged, whole = ((tmp_path / name / "results.json").read_bytes() for name in ("merged", "whole"))
    assert merged.replace(b'"run": "merged"', b'"run": "whole"') == whole
    assert (tmp_path / "unfinished" / "results.json").read_bytes().replace(b'"unfinished"', b'"whole"') == whole
    about = json.loads((tmp_path / "merged" / "run.json").read_text())
    assert [run["shard"] for run in about["merged"]["runs"]] == [f"{n}/16" for n in range(1, 17)]
    assert len(about["attempts"]) == 18 and about["options"]["shard"] is None and about["tasks"][0]["indices"] is None
    again = rescore(tmp_path / "merged")  # the merged run is a run like any other
    assert json.loads(json.dumps(again.results)) | {"run": ""} == results(tmp_path / "whole")


def test_missing_shards_are_named_and_made_by_resume(make_task, tmp_path):
    task = make_task(docs=20)
    creval.run([task], MODEL, options(tmp_path / "whole"))
    parts = divided([task], MODEL, 4, tmp_path)
    done = typed(tmp_path, "merge", *map(str, [parts[0], parts[2]]), "--output", "merged")
    assert done.returncode == 1
    assert "missing shards: 2/4, 4/4" in done.stderr and "creval resume merged" in done.stderr
    joined = merge_runs([tmp_path / "merged", parts[1], parts[3]], tmp_path / "joined")
    assert joined.results is None and joined.samples == joined.scores == joined.planned  # numbers come with resume
    resume(tmp_path / "joined")
    assert results(tmp_path / "joined") == results(tmp_path / "whole")
    assert typed(tmp_path, "resume", "merged").returncode == 0
    assert results(tmp_path / "merged") == results(tmp_path / "whole")


@pytest.fixture
def halves(make_task, tmp_path) -> tuple[str, list[Path]]:
    task = make_task(docs=12)
    return task, divided([task], MODEL, 2, tmp_path)


def refused(parts: Sequence[Path], words: str, output: str = "merged") -> RunError | UsageError:
    """Merge, which must be refused with these words and leave nothing behind."""
    target = parts[0].parent / output
    before = {path: path.read_bytes() for part in parts for path in part.rglob("*") if path.is_file()}
    with pytest.raises((RunError, UsageError), match=words) as error:
        merge_runs(parts, target)
    assert error.value.fix
    assert {path.name for path in target.parent.glob(f".{output}*")} == set()
    assert not (target / "run.json").exists() or target in parts
    after = {path: path.read_bytes() for part in parts for path in part.rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if path.name != ".lock"} == {
        path: data for path, data in before.items() if path.name != ".lock"
    }
    return error.value


OTHERS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "model": (lambda run: run["roles"].update(target="baseline/floor"), "differ in the model$"),
    "seed": (lambda run: run["options"].update(seed=2), "differ in the seed"),
    "limit": (lambda run: run["options"].update(limit=3), "differ in the option limit"),
    "generation": (lambda run: run["options"].update(generation={"top_p": 1}), "differ in the option generation"),
    "resources": (lambda run: run["options"].update(resources={"a": "b"}), "differ in the option resources"),
    "task": (lambda run: run["tasks"][0].update(hash="0"), "differ in the task 'parrot' itself"),
    "tasks": (lambda run: run["tasks"][0].update(task="other"), "differ in the tasks"),
    "data": (lambda run: run["tasks"][0]["dataset"].update(fingerprint="0"), "differ in the data of 'parrot'"),
    "repeats": (lambda run: run["tasks"][0].update(repeats=2), "conditions or repeats of 'parrot'"),
    "plugin": (lambda run: run["tasks"][0].update(plugin_version="9"), "version of the plugin of 'parrot'"),
    "reading": (lambda run: run.update(reading=1), "version of the rules by which answers are read"),
    "division": (lambda run: run["options"].update(shard="2/3"), "divided into 2 parts .* and 3 parts"),
    "role": (lambda run: run["roles"].update(judge="a/b"), "differ in the model of the judge"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_runs_of_something_else_are_refused(halves, what):
    _, parts = halves
    change, words = OTHERS[what]
    run = json.loads((parts[1] / "run.json").read_text())
    change(run)
    (parts[1] / "run.json").write_text(json.dumps(run))
    error = refused(parts, words.removesuffix("$"))
    assert str(parts[1]) in str(error)


def test_options_on_which_no_answer_depends_may_differ(make_task, tmp_path):
    task = make_task(docs=12)
    creval.run([task], MODEL, options(tmp_path / "a", shard="1/2", timeout=5.0, max_calls=90, max_cost=1.5))
    creval.run([task], MODEL, options(tmp_path / "b", shard="2/2", concurrency=9, max_calls=10))
    assert merge_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "merged").results is not None
    kept = json.loads((tmp_path / "merged" / "run.json").read_text())["options"]
    assert (kept["max_calls"], kept["max_cost"]) == (100, None)


def test_what_cannot_be_merged_is_reported(halves, tmp_path):
    _, parts = halves
    with pytest.raises(UsageError, match="no run is named"):
        merge_runs([], tmp_path / "merged")
    refused([parts[0], tmp_path / "." / parts[0].name], "named twice")
    refused([parts[0], tmp_path], "there is no run")
    refused(parts, "one of those that are merged", output=parts[1].name)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    refused(parts, "something is there already", output="full")
    (tmp_path / "file").write_text("x")
    refused(parts, "something is there already", output="file")
    assert (tmp_path / "full" / "mine.txt").read_text() == "x"
    (tmp_path / "parrot.jsonl").write_text('{"id": "d0", "word": "w", "target": "w"}\n')
    refused(parts, "data of 'parrot' differ from those on this machine")
    changed = (tmp_path / "parrot.yaml").read_text().replace("max_tokens: 16", "max_tokens: 17")
    (tmp_path / "parrot.yaml").write_text(changed)
    refused(parts, "its tasks changed since")


def test_a_locked_run_is_refused(halves):
    _, parts = halves
    held = f"import fcntl, time; f = open({str(parts[1] / '.lock')!r}, 'a'); fcntl.flock(f, 2); print(1, flush=True)"
    holder = subprocess.Popen([sys.executable, "-c", f"{held}; time.sleep(99)"], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline()
        refused(parts, "in use by another process")
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def edit(file: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    lines = list(read_lines(file))
    change(lines)
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


@pytest.mark.parametrize("kind", ["samples", "scores"])
def test_rows_that_do_not_belong_are_refused_by_file_and_line(halves, kind):
    _, parts = halves
    file = parts[0] / kind / "parrot.jsonl"
    whole, foreign = file.read_bytes(), (parts[1] / kind / "parrot.jsonl").read_bytes().splitlines(keepends=True)
    count = whole.count(b"\n")
    file.write_bytes(whole + foreign[0])
    error = refused(parts, "is not of this run")
    assert str(error.where) == f"{file}:{count + 1}"
    file.write_bytes(whole + whole.splitlines(keepends=True)[1])
    assert str(refused(parts, "occurs twice").where) == f"{file}:{count + 1}"
    lines = whole.splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1][:-9] + b"!\n" + b"".join(lines[2:]))
    assert str(refused(parts, "a damaged line").where) == f"{file}:2"
    file.write_bytes(lines[0] + lines[1][:-9] + b'!"}\n' + b"".join(lines[2:]))  # its beginning and end are sound
    assert str(refused(parts, "a damaged line").where) == f"{file}:2"
    for change in ({"doc_id": "d99"}, {"condition": "hot"}, {"repeat": 1}, {"task": "other"}):
        file.write_bytes(whole)
        edit(file, lambda rows, change=change: rows[0].update(change))
        refused(parts, "is not of this run")


def test_a_sample_that_two_runs_have(halves, tmp_path):
    task, parts = halves
    creval.run([task], MODEL, options(tmp_path / "again", shard="1/2"))
    both = [*parts, tmp_path / "again"]
    merge_runs(parts, tmp_path / "plain")
    merge_runs(both, tmp_path / "merged")  # equal but for times
    assert rows(tmp_path / "merged", "samples") == rows(tmp_path / "plain", "samples")
    assert results(tmp_path / "merged") == results(tmp_path / "plain")
    shutil.rmtree(tmp_path / "merged")
    edit(parts[0] / "samples" / "parrot.jsonl", lambda rows: rows[1].update(status="errored", answers=[], reason="x"))
    merge_runs(both, tmp_path / "merged")  # the one that did not fail
    assert rows(tmp_path / "merged", "samples") == rows(tmp_path / "plain", "samples")
    shutil.rmtree(tmp_path / "merged")
    edit(tmp_path / "again" / "samples" / "parrot.jsonl", lambda rows: rows[2].update(answers=["another"]))
    error = refused(both, "has a different answer from that at")
    assert str(error.where).endswith("again/samples/parrot.jsonl:3") and "shard-1/samples/parrot.jsonl:3" in str(error)


def test_a_torn_last_line_is_made_again(halves, tmp_path):
    _, parts = halves
    file = parts[0] / "samples" / "parrot.jsonl"
    file.write_bytes(file.read_bytes()[:-7])
    made = merge_runs(parts, tmp_path / "merged")
    assert made.results is None and made.samples == made.planned - 1 == made.scores
    assert resume(tmp_path / "merged").results["tasks"][0]["counts"]["scored"] == 12


def test_shards_stopped_by_a_budget_or_with_errors(make_task, tmp_path):
    failing = {"word1", "word5"}

    def script(request: Received) -> HttpError | None:
        return HttpError(500) if parrot(request) in failing else None

    task = make_task(docs=12)
    with ChatServer(script, answer=parrot) as server:
        parts = divided([task], "hosted_vllm/parrot", 2, tmp_path, base_url=server.url, max_retries=0)
        made = merge_runs(parts, tmp_path / "merged")
        assert made.results is not None and made.results["tasks"][0]["counts"]["errored"] == 2
        failing.clear()
        asked = len(server.requests)
        assert resume(tmp_path / "merged").results["tasks"][0]["counts"]["scored"] == 12
        assert len(server.requests) == asked + 2
        creval.run([task], "hosted_vllm/parrot", options(tmp_path / "b", shard="2/2", base_url=server.url, max_calls=1))
        cut = merge_runs([parts[0], tmp_path / "b"], tmp_path / "cut")
        assert cut.results is None and cut.planned - cut.samples > 0
        assert resume(tmp_path / "cut").results["tasks"][0]["counts"]["scored"] == 12


def test_a_merge_that_is_killed_or_finds_the_disk_full_leaves_nothing(halves, tmp_path, monkeypatch):
    _, parts = halves
    stop = (
        "import os,sys;from pathlib import Path;import creval_shards.merge_runs as m;"
        "m.keep_files=lambda *a,**k:os.kill(os.getpid(),9);m.merge_runs([Path(p) for p in sys.argv[1:]],Path('merged'))"
    )
    done = subprocess.run([sys.executable, "-c", stop, *map(str, parts)], timeout=100, cwd=tmp_path)
    assert done.returncode == -9
    assert not (tmp_path / "merged").exists() and (tmp_path / ".merged.merging" / "samples").exists()
    (tmp_path / ".merged.merging" / "calls").mkdir()
    (tmp_path / ".merged.merging" / "calls" / "old.jsonl").write_text("{}\n")
    assert merge_runs(parts, tmp_path / "merged").results is not None
    assert not (tmp_path / ".merged.merging").exists() and not (tmp_path / "merged" / "calls").exists()
    full = typed(tmp_path, "merge", *map(str, parts), "--output", "/dev/full/run")
    assert full.returncode == 2 and "Traceback" not in full.stderr

    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("creval_shards.merge_samples.os.fsync", fsync)
    error = refused(parts, "the disk is full", output="other")
    assert "Free some space" in str(error)


def judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[[Received], str], docs: int = 12
) -> tuple[list[Path], int]:
    """Make a judged run whole and in four shards; returns the shards and the calls to the judge of the whole run."""
    task = write_judged(tmp_path, docs=docs)
    given = {"roles": {"judge": "hosted_vllm/judge"}, "concurrency": 1}
    with ChatServer(answer=answer) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        creval.run([task], "hosted_vllm/m", options(tmp_path / "whole", **given))
        calls = len(list(read_lines(tmp_path / "whole" / "calls" / "judge.jsonl")))
        return divided([task], "hosted_vllm/m", 4, tmp_path, **given), calls


def test_a_judged_run_in_shards(install, tmp_path, monkeypatch):
    """The judge is asked about each doc, and one question about all: equal verdicts, each paid in its shard."""
    install("judged", HOOKS, PARTS)

    def answer(request: Received) -> str:
        return "fine" if request.prompt.startswith("Say") else str(len(request.prompt))

    parts, calls = judged(tmp_path, monkeypatch, answer)
    made = merge_runs(parts, tmp_path / "merged")
    assert made.results is not None and made.differing == 0
    for kind in ("samples", "scores"):
        assert rows(tmp_path / "merged", kind, "judged") == rows(tmp_path / "whole", kind, "judged")
    merged, whole = results(tmp_path / "merged"), results(tmp_path / "whole")
    assert merged["tasks"][0]["metrics"] == whole["tasks"][0]["metrics"]
    lines = list(read_lines(tmp_path / "merged" / "calls" / "judge.jsonl"))
    assert len(lines) == calls + 3  # "Kind of fine" was asked by each of the four
    assert len({(line["key"], line["attempt"]) for line in lines}) == len(lines)
    assert not any("instead" in line for line in lines)
    assert rescore(tmp_path / "merged").results["tasks"][0]["metrics"] == whole["tasks"][0]["metrics"]


def test_verdicts_that_differ_are_both_kept_and_the_one_used_is_named(install, tmp_path, monkeypatch):
    install("judged", HOOKS, PARTS)
    kinds = iter(range(1, 99))

    def answer(request: Received) -> str:
        if request.prompt.startswith("Say"):
            return "fine"
        return str(next(kinds)) if request.prompt.startswith("Kind") else "4"

    parts, _ = judged(tmp_path, monkeypatch, answer)
    plugin = {"CREVAL_PLUGINS": "judged", "PYTHONPATH": str(tmp_path / "site")}
    done = typed(tmp_path, "merge", *map(str, parts), "--output", "merged", **plugin)
    assert done.returncode == 1 and "1 question to other roles had verdicts that differ" in done.stderr
    calls = read_lines(tmp_path / "merged" / "calls" / "judge.jsonl")
    lines = [line for line in calls if "Kind" in str(line["messages"])]
    assert [line["attempt"] for line in lines] == [0, 1, 2, 3]
    assert [line.get("instead") for line in lines] == [3, 3, 3, None]
    first = rows(tmp_path / "merged", "samples", "judged")[0]["doc_id"]
    assert lines[3]["asked"]["doc_id"] == first == "d0"
    verdict = float(lines[3]["reply"]["completions"][0]["text"])
    with ChatServer() as nobody:
        finished = resume(tmp_path / "merged", base_url=None)
        assert not nobody.requests
    kind = next(metric for metric in finished.results["tasks"][0]["metrics"] if metric["name"] == "kind")
    assert (kind["value"], kind["n"]) == (verdict, 12)
    assert finished.results["tasks"][0]["usage_by_role"]["judge"]["calls"] == 12 + 4


def test_verdicts_that_could_not_be_read_stay_in_their_order(install, tmp_path, monkeypatch):
    install("judged", HOOKS, PARTS)
    seen: set[str] = set()

    def answer(request: Received) -> str:
        if request.prompt.startswith("Say"):
            return "fine"
        fresh = request.prompt not in seen and request.prompt.startswith("Rate")
        seen.add(request.prompt)
        return "no idea" if fresh else "5"

    parts, _ = judged(tmp_path, monkeypatch, answer)
    seen.clear()
    made = merge_runs(parts, tmp_path / "merged")
    assert made.results is not None
    lines = list(read_lines(tmp_path / "merged" / "calls" / "judge.jsonl"))
    for line in lines:
        if "unreadable" in line:
            before = [other for other in lines[: lines.index(line)] if other["key"] == line["key"]]
            assert [other["attempt"] for other in before] == [line["attempt"]]
    again = rescore(tmp_path / "merged")
    assert again.results["tasks"][0]["metrics"] == made.results["tasks"][0]["metrics"]
    assert len(list(read_lines(tmp_path / "merged" / "calls" / "judge.jsonl"))) == len(lines)  # nobody was asked


def test_docs_by_reference_and_several_tasks(make_task, server, tmp_path):
    tasks = [make_task("a", docs=9), make_task("parrot", docs=14, extra="store: reference\n")]
    secret = "word13"
    model, given = "hosted_vllm/parrot", {"base_url": server.url}
    creval.run(tasks, model, options(tmp_path / "whole", **given))
    parts = divided(tasks, model, 3, tmp_path, **given)
    made = merge_runs(parts, tmp_path / "merged")
    assert made.results is not None and results(tmp_path / "merged") == results(tmp_path / "whole")
    for task in ("a", "parrot"):
        assert rows(tmp_path / "merged", "samples", task) == rows(tmp_path / "whole", "samples", task)
    assert f"Say {secret}" not in (tmp_path / "merged" / "samples" / "parrot.jsonl").read_text()


GROUPED = """
schema: 1
task: parrot
version: 1.0.0
title: Say a word, alike
dataset: {source: file, file: parrot.jsonl, id: id}
cluster: CLUSTER
repeats: 3
prompt: [{role: user, content: "Say {{ word }}"}]
generation: {max_tokens: 16}
score: [exact_match, distinct]
metrics:
  - {name: right, from: exact_match, aggregate: mean, primary: true, failed: zero}
  - {name: all, from: exact_match, aggregate: all, failed: zero, group: word}
  - {name: alike, from: exact_match, aggregate: {consistency: {at_least: 0.5}}, failed: zero, group: word}
  - {name: weighted, from: exact_match, aggregate: mean, failed: exclude, weight: distinct}
  - {name: distinct, aggregate: mean, failed: exclude}
"""


@pytest.mark.parametrize("cluster", ["doc", "trial"])
def test_scorers_and_metrics_that_look_at_several_samples(make_task, tmp_path, cluster, monkeypatch):
    monkeypatch.setenv("CREVAL_PLUGINS", "diversity")
    task = make_task(docs=15)
    Path(task).write_text(GROUPED.replace("CLUSTER", cluster))
    rows_ = [{"id": f"d{i}", "word": f"group{i % 4}", "target": f"group{i % 3}"} for i in range(15)]
    (tmp_path / "parrot.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_))
    with ChatServer(answer=parrot) as server:
        creval.run([task], "hosted_vllm/p", options(tmp_path / "whole", base_url=server.url))
        parts = divided([task], "hosted_vllm/p", 4, tmp_path, base_url=server.url)
    made = merge_runs(parts, tmp_path / "merged")
    assert made.results is not None and results(tmp_path / "merged") == results(tmp_path / "whole")


def test_other_instruments_are_refused(halves):
    _, parts = halves
    data = json.loads((parts[1] / "results.json").read_text())
    data["tasks"][0]["instruments"] = {"embedding": "another"}
    (parts[1] / "results.json").write_text(json.dumps(data))
    refused(parts, "made with another task or other resources")
    (parts[1] / "results.json").write_text("{")
    refused(parts, "cannot be read")


def test_the_script_for_slurm_runs_here(make_task, tmp_path):
    """The page's own script and run file, with what Slurm sets in a loop, twice (a requeued job), then the merge."""
    page = DOCS.read_text("utf-8")
    script = re.search(r"^```bash\n(.*?)^```", page, re.M | re.S)
    file = re.search(r"^```yaml\n(.*?)^```", page, re.M | re.S)
    assert script and file
    (tmp_path / "array.sh").write_text(script[1])
    make_task(docs=10)
    (tmp_path / "rat.yaml").write_text(file[1].replace("[rat]", "./parrot.yaml"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "creval").write_text(f'#!/bin/sh\nexec {sys.executable} -m creval "$@"\n')
    (tmp_path / "bin" / "creval").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_COUNT": "2"}
    for number in (1, 2, 2):
        own = {**environment, "SLURM_ARRAY_TASK_ID": str(number)}
        done = subprocess.run(["bash", "array.sh"], cwd=tmp_path, env=own, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
    merge = re.search(r"^creval (merge .*)$", page, re.M)
    assert merge
    words = ["bash", "-c", f"creval {merge[1]}"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "runs" / "rat-whole")["tasks"][0]["planned"] == 10
