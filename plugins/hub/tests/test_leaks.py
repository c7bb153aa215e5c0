"""Nothing that is pushed contains a key, a folder of this machine, or who its user is."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import pyarrow.parquet
import pytest
from support.hub_runs import make_run
from support.hub_server import HubServer

import creval
from creval.errors import UsageError
from creval_hub.exports.cleaning import cleaned
from creval_hub.leaks import find_leaks
from creval_hub.pull import pull_runs
from creval_hub.push import plan_push, push_runs

KEY = "pk9" + "Zq7Xw3Rt5Yu8Io1Pa"


def plant(run: Path, text: str) -> None:
    path = run / "samples" / "toy.jsonl"
    first, *rest = path.read_text().splitlines()
    row = json.loads(first)
    row["answers"] = [text]
    path.write_text("\n".join([json.dumps(row, ensure_ascii=False), *rest]) + "\n")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (KEY, "the environment variable MY_SERVICE_KEY"),
        (base64.b64encode(f"user:{KEY}".encode()).decode(), "the environment variable MY_SERVICE_KEY"),
        ("use sk-" + "abcdef9081726354abcdef", "looks like a key"),
        ("see /home/ada/notes.txt", "a user's home folder"),
        ("see C:\\Users\\ada\\notes.txt", "a user's home folder"),
        ("Traceback: {home}/project/x.py", "a folder of this machine"),
    ],
)
def test_a_planted_leak_is_refused_by_its_place_and_never_repeated(
    hub: HubServer, run_folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, what: str
) -> None:
    monkeypatch.setenv("MY_SERVICE_KEY", KEY)
    text = text.replace("{home}", str(Path.home()))
    plant(run_folder, text)
    with pytest.raises(UsageError) as raised:
        push_runs([creval.open_run(run_folder)], "ada/runs")
    message = str(raised.value)
    assert what in message and "samples/toy.jsonl:1" in message
    assert KEY not in message and text not in message
    assert not hub.repositories, "nothing may have been sent"


def test_what_every_answer_may_say_is_no_leak(run_folder: Path) -> None:
    plant(run_folder, "run /usr/bin/python3, see /home/user/x and https://example.org/home/page, key takeaways: none")
    assert plan_push([creval.open_run(run_folder)], "ada/runs").sizes


def test_run_and_results_name_no_folder(tmp_path: Path, hub: HubServer) -> None:
    run = make_run(tmp_path / "deep" / "er", {"a": "yes"})
    assert str(tmp_path) in (run / "run.json").read_text()  # it does here
    pushed = push_runs([creval.open_run(run)], "ada/runs")
    files = hub.dataset("ada/runs").files
    for name, content in files.items():
        assert str(tmp_path).encode() not in content, name
    manifest = json.loads(files[f"runs/{pushed.names[0]}/run.json"])
    assert manifest["options"]["output"] == "run" and manifest["roles"]["target"] == "replay/answers.jsonl"


def test_paths_are_cut_and_the_rest_is_kept() -> None:
    assert cleaned("creval -t /a/b/toy.yaml --base-url http://127.0.0.1:80/v1 -m openrouter/openai/gpt-5-mini") == (
        "creval -t toy.yaml --base-url http://127.0.0.1:80/v1 -m openrouter/openai/gpt-5-mini"
    )
    assert cleaned({"cache_folder": "/x/y", "n": 1, "data": ["~/d/e.csv"]}) == {
        "cache_folder": None,
        "n": 1,
        "data": ["e.csv"],
    }


def test_a_root_is_named_whole(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"a": "/srv/workbench/x"}\n{"a": "/srv/work/x"}\n')
    assert [leak.line for leak in find_leaks({"x": file}, ["/srv/work"], {})] == [2]


def test_texts_of_docs_by_reference_are_refused_and_scores_go_alone(tmp_path: Path, hub: HubServer) -> None:
    """Also where the data are present, so that the run could be read with its texts."""
    run = make_run(
        tmp_path / "made",
        {"licensed-text": "yes, licensed-text? it is", "b": "no-such-answer"},
        extra="store: reference\n",
    )
    results = json.loads((run / "results.json").read_text())
    error = {"doc": "b", "condition": "default", "repeat": 0, "reason": "invalid prompt: licensed-text?"}
    results["tasks"][0]["first_errors"] = [error]
    (run / "results.json").write_text(json.dumps(results))
    opened = creval.open_run(run)
    assert [sample.doc["question"] for sample in opened.samples()] == ["licensed-text?", "b?"]
    with pytest.raises(UsageError, match="may quote them"):
        push_runs([opened], "ada/runs")
    assert not hub.asked("POST", "")
    pushed = push_runs([opened], "ada/runs", texts=False)
    files = hub.dataset("ada/runs").files
    assert not any("/samples/" in name and name.endswith(".jsonl") for name in files)
    for name, content in files.items():
        assert b"licensed-text?" not in content and b"no-such-answer" not in content, name
    table = pyarrow.parquet.read_table(io.BytesIO(files[_table(hub)])).to_pylist()
    assert len(table) == 2 and "licensed-text?" not in json.dumps(table)
    assert [(row["answers"], row["doc"], row["messages"], row["value"]) for row in table] == [
        ([], None, None, None)
    ] * 2
    ((folder, _),) = pull_runs("ada/runs", tmp_path / "pulled")
    assert folder.name == pushed.names[0]
    pulled = creval.open_run(folder)
    assert [score.scores for score in pulled.scores()] == [score.scores for score in opened.scores()]
    assert [row["value"] for row in pulled.metric_rows()] == [row["value"] for row in opened.metric_rows()]


def _table(hub: HubServer) -> str:
    return next(name for name in hub.dataset("ada/runs").files if name.startswith("samples/"))
