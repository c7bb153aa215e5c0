"""`creval view --live`: runs on their way, read as they grow, served to this machine alone, shown in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.browser import screen, until

from creval import RunOptions, run
from creval.cli.main import invoke
from creval.runs.lock import RunLock
from creval_page.live_runs import LiveRuns
from creval_page.live_server import LiveServer

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    return run(["rat"], "baseline/ceiling", RunOptions(output=folder / "done", limit=6, offline=True)).folder


class Growing:
    """A copy of a finished run, put back to where it had made some samples."""

    def __init__(self, finished: Path, folder: Path, made: int, **manifest: Any) -> None:
        shutil.copytree(finished, folder)
        self.folder, self._finished = folder, finished
        self.samples = folder / "samples" / "rat.jsonl"
        self.lines = self.samples.read_bytes().splitlines(keepends=True)
        self.scores = (folder / "scores" / "rat.jsonl").read_bytes()
        (folder / "scores" / "rat.jsonl").unlink()
        (folder / "results.json").unlink()
        self.samples.write_bytes(b"".join(self.lines[:made]))
        self.rewrite(status="running", finished=None, **manifest)

    def rewrite(self, **manifest: Any) -> None:
        file = self.folder / "run.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **manifest}))

    def add(self, *lines: bytes) -> None:
        with self.samples.open("ab") as file:
            file.writelines(lines)

    def finish(self) -> None:
        whole = self.samples.with_name(".whole")
        whole.write_bytes(b"".join(self.lines))
        whole.rename(self.samples)  # as creval does where it rewrites a file
        (self.folder / "scores" / "rat.jsonl").write_bytes(self.scores)
        shutil.copy(self._finished / "results.json", self.folder)
        self.rewrite(status="done")


def errored(line: bytes, reason: str) -> bytes:
    return json.dumps({**json.loads(line), "status": "errored", "answers": [], "reason": reason}).encode() + b"\n"


def test_a_run_is_followed_to_its_end(finished: Path, tmp_path: Path) -> None:
    growing = Growing(finished, tmp_path / "run", 2)
    live = LiveRuns([growing.folder])
    with RunLock(growing.folder):
        state = live.state()
        (one,) = state["runs"]
        assert (one["status"], one["planned"], one["made"], one["counts"]) == ("running", 6, 2, {"scored": 2})
        assert state["samples"][0]["target"] == state["samples"][0]["output"] and not state["ended"]
        growing.add(growing.lines[2], errored(growing.lines[3], "the server is down"), growing.lines[4][:40])
        state = live.state()
        (one,) = state["runs"]
        assert (one["made"], one["counts"]) == (4, {"scored": 3, "errored": 1}) and one["rate"] > 0 and one["left"] > 0
        assert [row["reason"] for row in state["errors"]] == ["the server is down"]
    assert live.state()["runs"][0]["status"] == "interrupted"  # no process holds it any more
    assert live.state()["runs"][0]["resume"].startswith("creval resume ")
    growing.finish()  # another file stands there now: it is counted anew
    live.state()
    state = live.state()
    (one,) = state["runs"]
    assert (one["status"], one["made"], one["scored"], one["fault"]) == ("done", 6, 6, None) and state["ended"]
    assert {row["answer"] for row in state["samples"]} == {row["target"] for row in state["samples"]}


def test_spend_roles_and_batches_are_summed(finished: Path, tmp_path: Path) -> None:
    growing = Growing(finished, tmp_path / "run", 0)
    growing.rewrite(status="detached")
    records = [json.loads(line) for line in growing.lines[:3]]
    for record, cost in zip(records, (0.25, 0.5, None), strict=True):
        record["calls"][0]["reply"]["cost"] = cost
    growing.add(*(json.dumps(record).encode() + b"\n" for record in records))
    (growing.folder / "calls").mkdir()
    (growing.folder / "calls" / "judge.jsonl").write_text(json.dumps({"role": "judge", "reply": {"cost": 1.5}}) + "\n")
    notes = [
        {"batch": "a", "requests": ["k-0", "k-1"]},
        {"batch": "b", "requests": ["l-0"]},
        {"batch": "a", "ended": "x"},
    ]
    (growing.folder / "batches.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    (one,) = LiveRuns([growing.folder]).state()["runs"]
    assert (one["cost"], one["unpriced"], one["roles"], one["batches"]) == (2.25, 1, {"judge": [1, 1.5]}, [1, 1])
    assert one["status"] == "detached" and one["resume"]


def test_a_sweep_ends_with_its_last_run_and_shards_are_distinguished(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text("models: [baseline/ceiling, {model: openai/gpt-5, as: last}]\ntasks: [rat]\n")
    shutil.copytree(finished, tmp_path / "baseline_ceiling")
    state = LiveRuns([tmp_path]).state()
    assert state["waiting"] == ["openai/gpt-5"] and not state["ended"]
    shutil.copytree(finished, tmp_path / "last")
    assert LiveRuns([tmp_path]).state()["ended"] and LiveRuns(sorted(tmp_path.iterdir())).state()["ended"]
    manifest = json.loads((finished / "run.json").read_text())
    for number in (1, 2):
        Growing(finished, tmp_path / f"part{number}", number, options={**manifest["options"], "shard": f"{number}/2"})
    state = LiveRuns([tmp_path / "part1", tmp_path / "part2"]).state()
    assert [(one["shard"], one["made"]) for one in state["runs"]] == [("1/2", 1), ("2/2", 2)]
    assert len({one["short"] for one in state["runs"]}) == 2


def test_right_answers_of_a_person_at_play_stay_here(finished: Path, tmp_path: Path) -> None:
    growing = Growing(finished, tmp_path / "run", 1, roles={"target": "person/p01"})
    assert LiveRuns([growing.folder]).state()["samples"][0]["target"] is None


@pytest.mark.parametrize("what", ["link", "linked folder", "fifo", "damaged", "no mapping", "numbers"])
def test_a_hostile_folder_has_its_fault_reported(what: str, finished: Path, tmp_path: Path) -> None:
    growing = Growing(finished, tmp_path / "run", 1)
    shutil.copytree(finished, tmp_path / "sound")
    (tmp_path / "secret").mkdir()
    secret = {**json.loads(growing.lines[0]), "answers": ["a secret of this machine"]}
    (tmp_path / "secret" / "rat.jsonl").write_text(json.dumps(secret) + "\n")
    growing.samples.unlink()
    if what == "link":
        growing.samples.symlink_to(tmp_path / "secret" / "rat.jsonl")
    elif what == "linked folder":
        growing.samples.parent.rmdir()
        growing.samples.parent.symlink_to(tmp_path / "secret")
    elif what == "fifo":
        os.mkfifo(growing.samples)
    elif what == "damaged":
        growing.samples.write_bytes(b"{}\n[1]\n\xff\n" + growing.lines[1])
    elif what == "no mapping":
        growing.samples.write_bytes(json.dumps({**secret, "answers": 5, "calls": [3], "doc": []}).encode() + b"\n")
    else:
        odd = {**secret, "seconds": 1e308, "calls": [{**secret["calls"][0], "reply": {"cost": 1e308 * 10}}]}
        growing.samples.write_bytes(json.dumps(odd).encode() + b"\n")
    state = LiveRuns([tmp_path]).state()
    text = json.dumps(state, allow_nan=False)
    hostile, sound = sorted(state["runs"], key=lambda one: str(one["folder"]))
    assert hostile["fault"] and "a secret of this machine" not in text
    assert sound["made"] == 6 and hostile["made"] == (what == "damaged")


@contextmanager
def served(*places: Path) -> Iterator[LiveServer]:
    with LiveServer(places) as server:
        yield server


def ask(server: LiveServer, path: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def test_only_this_machine_is_answered_and_no_path_is_opened(finished: Path) -> None:
    with served(finished) as server:
        root = server.url.removeprefix(f"http://127.0.0.1:{server.port}")
        status, page, headers = ask(server, root)
        assert (
            status == 200 and "creval report" in page and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        )
        assert not [name for name in headers if name.lower().startswith("access-control")]
        assert (
            ask(server, f"{root}state")[0] == 200
            and ask(server, f"{root}state", Host=f"localhost:{server.port}")[0] == 200
        )
        for other in ("example.org", f"example.org:{server.port}", "127.0.0.1", ""):
            assert ask(server, root, Host=other)[0] == 403
        for origin in ("https://example.org", "null", f"http://127.0.0.1:{server.port + 1}"):
            assert ask(server, f"{root}state", Origin=origin)[0] == 403
        for path in (
            "run.json",
            "../run.json",
            "%2e%2e/run.json",
            "state/../run.json",
            "/etc/passwd",
            f"{finished}/run.json",
        ):
            assert ask(server, f"{root}{path}")[0] == 404
        for path in ("/", "/state", "/x/state", root[:-2] + "/state", "*", "//"):
            assert ask(server, path)[0] == 404
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            assert ask(server, f"{root}state", method)[0] == 501
        assert ask(server, root, "HEAD")[:2] == (200, "")


def test_the_command_serves_until_it_is_interrupted(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Path] = []

    class Noting(LiveServer):
        def __init__(self, places: Sequence[Path], *more: Any) -> None:
            seen.extend(places)
            super().__init__(places, *more)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("creval_page.cli.wait_for_interrupt", interrupted)
    monkeypatch.setattr("creval_page.live_server.LiveServer", Noting)
    assert invoke(["view", str(finished.parent), "--live", "--no-open"]) == 0 and seen == [finished.parent]
    assert invoke(["view", "--live", "--no-open", str(finished)]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")
    with served(finished) as server:
        assert invoke(["view", "--live", "--no-open", "--port", str(server.port), str(finished)]) == 2
    assert invoke(["view", "--port", "1", str(finished)]) == 2
    assert invoke(["view", "--live", "--html", str(tmp_path / "x.html"), str(finished)]) == 2
    assert invoke(["view", "--live", str(tmp_path / "none")]) != 0
    said = capsys.readouterr().err
    assert "--without" not in said and "cannot be served" in said and "there is no folder" in said
    assert "--output: a live page is not written" in said


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_page_updates_and_becomes_that_of_the_results(
    chromium: Any, finished: Path, tmp_path: Path, width: int
) -> None:
    growing = Growing(finished, tmp_path / "run", 1, roles={"target": f"vllm/{HOSTILE}/{'a_long_name_' * 12}"})
    chromium.get_log("browser")
    with screen(chromium, width), served(growing.folder) as server, RunLock(growing.folder):
        chromium.get(server.url)
        until(chromium, "document.getElementById('title').textContent === '1 of 6 samples'")
        chromium.execute_script("document.querySelector('.live-run .name').focus()")
        growing.add(growing.lines[1], errored(growing.lines[2], HOSTILE + "an_error_without_any_space" * 20))
        until(chromium, "document.getElementById('title').textContent === '3 of 6 samples'")
        assert chromium.execute_script("return document.querySelector('#errors').textContent").count(HOSTILE) == 1
        assert chromium.execute_script("return document.images.length") == 0
        said = chromium.execute_script("return document.getElementById('told').innerText")
        assert said.startswith(f"vllm/{HOSTILE}/") and "a_long_name_, run" in said  # also after it was drawn anew
        assert chromium.execute_script("return document.activeElement.dataset.told") in said
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        bar = "document.querySelector('[role=progressbar]').getAttribute('aria-valuenow')"
        assert chromium.execute_script(f"return {bar}") == "3"
        assert len(chromium.find_elements("css selector", ".live-sample")) == 3
        growing.finish()
        until(chromium, "document.querySelector('.eyebrow')?.textContent === 'creval report'")
        until(chromium, "document.querySelectorAll('.item').length")
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        chromium.get("about:blank")
    assert not [line for line in chromium.get_log("browser") if line["level"] == "SEVERE"]
