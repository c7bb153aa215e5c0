"""People: answers from a spreadsheet and back, wording of their own with word boxes, and several at once by a link."""

from __future__ import annotations

import csv
import errno
import json
import os
import random
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import start

from creval.cli.main import invoke
from creval.errors import TaskError
from creval.plugin import DataError
from creval.plugins.loader import load_plugins
from creval.runs import jsonl
from creval.runs.reader import open_run
from creval.tasks.index import TaskIndex
from creval_people.answer_table import read_answers

SOLUTIONS = {"cottage-swiss-cake": "cheese", "cream-skate-water": "ice", "show-life-row": "boat"}
NOUNS = ("cat", "dog", "tree", "house", "river", "stone", "music", "anger", "gold", "planet", "spoon", "law", "cloud")
PEOPLE = [f"p{number:02}" for number in range(1, 21)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scores(folder: Path) -> list[list[str]]:
    text = (folder / "scores.csv").read_text(encoding="utf-8-sig")
    return list(csv.reader(text.splitlines(), delimiter=";" if ";" in text.splitlines()[0] else ","))


def test_twenty_people_answer_rat_in_excels_own_csv(tmp_path: Path) -> None:
    chance = random.Random(5)
    right: dict[str, int] = {}
    rows = ["Participant;Alter;Doc;Answer"]
    for person in PEOPLE:
        for doc, solution in SOLUTIONS.items():
            said = chance.choice([solution, solution.upper(), "milk", "Käse", ""])
            right[person] = right.get(person, 0) + (said.lower() == solution)
            rows.append(f"{person};31;{doc};{said}")
    (tmp_path / "rat.csv").write_bytes("\r\n".join(rows).encode("cp1252"))
    assert invoke(["score-file", "rat", "rat.csv", "-o", "study", "--offline"]) == 0
    heads, *lines = scores(tmp_path / "study")
    assert heads[:3] == ["participant", "answers", "scored"] and [line[0] for line in lines] == PEOPLE
    at = heads.index("rat")
    assert [float(line[at].replace(",", ".")) for line in lines] == [right[person] / 3 for person in PEOPLE]
    assert any("," in line[at] for line in lines)  # Excel that writes semicolons reads 0,5 as a number
    results = json.loads((tmp_path / "study" / "p03" / "results.json").read_text())
    assert results["model"] == "human/p03" and results["tasks"][0]["metrics"][0]["value"] == right["p03"] / 3


@pytest.mark.usefixtures("minilm")
def test_twenty_people_answer_dat_with_a_word_a_cell(tmp_path: Path) -> None:
    chance = random.Random(7)
    reported = {person: chance.sample(NOUNS, 6 if person == "p20" else 10) for person in PEOPLE}
    with (tmp_path / "dat.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(["participant", *(f"Word {number}" for number in range(1, 11))])
        writer.writerows([person, *words] for person, words in reported.items())
    command = ["score-file", "dat", "dat.csv", "-o", "study", "--resource", "embedding=embedded/minilm", "--offline"]
    assert invoke(command) == 0
    heads, *lines = scores(tmp_path / "study")
    name = "dat[embedded/minilm]"
    values = {line[0]: line[heads.index(name)] for line in lines}
    assert len(values) == 20 and values["p20"] == ""  # fewer than seven words: no score, as in the paper
    for person in ("p01", "p13"):
        (score,) = (tmp_path / "study" / person / "scores" / "dat.jsonl").read_text().splitlines()
        assert float(values[person]) == json.loads(score)["scores"]["dat"]
        (sample,) = (tmp_path / "study" / person / "samples" / "dat.jsonl").read_text().splitlines()
        assert json.loads(json.loads(sample)["answers"][0]) == reported[person]  # once, not at each temperature
    assert invoke(["report", "study/p01", "study/p20"]) == 0


@pytest.fixture
def minilm() -> None:
    pytest.importorskip("creval_embedded")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("person,doc,answer\np1,a,b\n", "needs the column participant"),
        ("participant,answer\np1,b\n", "needs the column doc"),
        ("participant,doc\np1,a\n", "needs the column answer"),
        ("participant,doc,answer,word1\np1,a,b,c\n", "not both"),
        ("participant,doc,answer\np 1,a,b\n", "row 2: 'p 1' is not a name"),
        ("participant,doc,answer\np1,a,b\np1,a,c\n", "row 3: p1 has two answers to 'a'"),
        ('participant,doc,answer\np1,a,"b\nc"\n\np1,a,c\n', "row 4: p1 has two answers to 'a'"),
        ("participant,doc,answer\np1,a,b\np2,a," + 140_000 * "x" + "\n", "row 3: cannot be read: field larger"),
        ("participant,doc,doc,answer\np1,a,a,b\n", "two columns are called 'doc'"),
        ("participant,doc,answer\n\n,,\n", "has no answers"),
        ("participant,doc,answer\np1,a,b,c\n", "row 2: the row has 4 cells, and the table has 3 columns"),
        ("", "needs the column participant"),
    ],
)
def test_what_is_wrong_in_a_table_is_reported_with_its_row(tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(table)
    with pytest.raises(DataError, match=re.escape(said)):
        read_answers(tmp_path / "t.csv")


def test_a_doc_that_the_task_has_not_and_a_workbook_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("participant,doc,answer\np1,cottage-swis-cake,cheese\n")
    assert invoke(["score-file", "rat", "a.csv"]) == 2
    said = capsys.readouterr().err
    assert "Did you mean 'cottage-swiss-cake'?" in said and "a.csv: row 2" in said
    (tmp_path / "b.csv").write_bytes(b"PK\x03\x04rest of a workbook")
    assert invoke(["score-file", "rat", "b.csv"]) == 2
    assert "is a workbook" in capsys.readouterr().err
    assert invoke(["score-file", "kumo_easy", "a.csv"]) == 2
    assert "creval play kumo_easy" in capsys.readouterr().err


def test_a_full_disk_says_to_score_the_table_again_and_not_to_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if "samples" in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    (tmp_path / "a.csv").write_text("participant,doc,answer\np1,cottage-swiss-cake,cheese\n")
    monkeypatch.setattr(jsonl.os, "write", write)
    assert invoke(["score-file", "rat", "a.csv"]) == 2
    said = capsys.readouterr().err
    assert "the disk is full" in said and "score the table again, into another folder (--output)" in said
    assert "play" not in said


@given(
    cells=st.lists(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12), min_size=1, max_size=5),
    separator=st.sampled_from(",;\t"),
    coding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_answers_that_a_spreadsheet_writes_are_read_as_written(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], separator: str, coding: str
) -> None:
    file = tmp_path_factory.mktemp("table") / "t.csv"
    with file.open("w", newline="", encoding=coding) as stream:
        writer = csv.writer(stream, delimiter=separator)
        writer.writerow(["participant", "doc", "answer"])
        writer.writerows(["p1", f"d{number}", cell] for number, cell in enumerate(cells))
    found = read_answers(file).answers["p1"]
    assert list(found.values()) == [cell.strip() for cell in cells]


def test_the_wording_for_people_is_checked_and_changes_no_hash(tmp_path: Path) -> None:
    index = TaskIndex(load_plugins())
    task = index.load("rat")
    text = f"schema: 1\ninclude: association/rat\ntask: mine\nversion: {task.version}\n"
    (tmp_path / "mine.yaml").write_text(text)
    plain = index.load("./mine.yaml")
    (tmp_path / "mine.yaml").write_text(text + 'human: {prompt: "Which word goes with {{ stems[0] }}?", words: 1}\n')
    worded = TaskIndex(load_plugins()).load("./mine.yaml")
    assert worded.human is not None and worded.human.words == 1 and worded.hash == plain.hash
    (tmp_path / "mine.yaml").write_text(text + 'human: {prompt: "Which {{ ", words: 0}\n')
    with pytest.raises(TaskError) as caught:
        TaskIndex(load_plugins()).load("./mine.yaml")
    assert "[human.words]" in str(caught.value)


def call(address: str, path: str, reported: dict[str, Any] | None = None) -> Any:
    data = None if reported is None else json.dumps(reported).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"} if data else {})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())


def take_part(address: str, word: str) -> dict[str, Any]:
    """Answer every question with the words, and return the last page."""
    version, asked = 0, {}
    while True:
        state = call(address, f"state?after={version}")
        version = state["version"]
        if state["phase"] == "closing":
            call(address, "seen", {})
            return dict(state, asked=asked)
        if state["phase"] == "ask":
            asked = state
            call(address, "answer", {"view": state["view"], "value": word})


def test_three_people_take_part_at_once_each_by_the_own_link(tmp_path: Path) -> None:
    arguments = ("play", "rat", "--participants", "3", "--limit", "2", "--seed", "3", "-o", "study")
    process = start(tmp_path, *arguments)
    try:
        links = dict(process.stdout.readline().split() for _ in range(3))
        assert list(links) == ["p01", "p02", "p03"] and len(set(links.values())) == 3
        assert all(f"/{person}-" in link for person, link in links.items())
        with ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(take_part, [links["p03"], links["p01"]], ["milk", "ice"]))
        for end in ends:
            assert end["rows"] == [] and end["lines"] == ["Your answers are saved."]  # neither scores nor money
            assert end["asked"]["boxes"] == 1 and "JSON" not in json.dumps(end["asked"])
        wait_for((tmp_path / "study" / "p01" / "results.json").exists)
        process.send_signal(2)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
    finally:
        process.kill()
    stopped = json.loads((tmp_path / "study" / "p02" / "run.json").read_text())
    assert stopped["status"] == "interrupted"  # the run of who had not come was ended in order, too
    models = [json.loads((tmp_path / "study" / p / "results.json").read_text())["model"] for p in ("p01", "p03")]
    assert models == ["human/p01", "human/p03"]
    again = start(tmp_path, *arguments)  # the same command goes on with who is missing
    try:
        lines = [again.stdout.readline().split(maxsplit=1) for _ in range(3)]
        assert [line[1].strip() for line in lines[:1] + lines[1:2]] == ["is done already"] * 2
        take_part(lines[2][1].strip(), "boat")
        out, err = again.communicate(timeout=60)
        assert again.returncode == 0 and "3 of 3 are done" in out, err
    finally:
        again.kill()


def test_several_people_play_the_judge_on_the_same_answers(tmp_path: Path) -> None:
    arguments = ("play", "jury_people", "--as", "judge", "--model", "given/solution", "--limit", "first:1")
    process = start(tmp_path, *arguments, "--participants", "ada,bob", "-o", "study")
    try:
        links = dict(process.stdout.readline().split() for _ in range(2))
        with ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(take_part, [links["ada"], links["bob"]], ["1", "0"]))
        assert all("Tie one end of the shoelace" in json.dumps(end["asked"]) for end in ends), "the judge's screen"
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and "2 of 2 are done" in out, err
    finally:
        process.kill()
    for person, label in (("ada", 1), ("bob", 0)):
        run = open_run(tmp_path / "study" / person)
        assert run.manifest["roles"] == {"target": "given/solution", "judge": f"human/{person}"}
        (score,) = run.scores()
        assert [score.scores[name] for name in ("feasibility", "safety", "effectiveness")] == [label] * 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--as", "judge"], "Name both: --as judge --model replay/RUN, or neither."),
        (["--model", "given/solution"], "Name both: --as judge --model replay/RUN, or neither."),
        (["--name", "ada"], "leave --name out"),
    ],
)
def test_participants_are_refused_what_does_not_fit(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert invoke(["play", "jury_people", "--participants", "2", "-o", "study", *more]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "study").exists()


def wait_for(true: Any) -> Any:
    end = time.monotonic() + 60
    while not (found := true()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_ten_boxes_are_filled_in_a_browser(chromium: Any, tmp_path: Path) -> None:
    arguments = ["dat", "--participants", "eve", "--resource", "embedding=embedded/minilm", "-o", "study"]
    process = start(tmp_path, "play", *arguments)
    try:
        chromium.get(process.stdout.readline().split()[1])
        boxes = wait_for(lambda: chromium.find_elements("css selector", "input[name=word]"))
        assert len(boxes) == 10 and chromium.switch_to.active_element == boxes[0]
        for word in NOUNS[:8]:
            chromium.switch_to.active_element.send_keys(f"{word}\n")  # Enter goes on to the next box
        chromium.find_element("id", "send").click()
        wait_for(lambda: "2 boxes are still empty" in chromium.find_element("id", "message").text)
        chromium.find_element("id", "send").click()
        wait_for(lambda: chromium.find_element("id", "closing-title").text == "All done. Thank you.")
        shown = chromium.find_element("tag name", "body").text
        assert "dat" not in shown.casefold().split() and "earn" not in shown.casefold()
        assert process.wait(60) == 0
    finally:
        chromium.get("about:blank")
        process.kill()
    (sample,) = (tmp_path / "study" / "eve" / "samples" / "dat.jsonl").read_text().splitlines()
    assert json.loads(json.loads(sample)["answers"][0]) == list(NOUNS[:8])
