"""The MacGyver problems: which they are, and what becomes of a workbook that is another one."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from macgyver_support import DATA_TEXT, DRIVER_TEXT, HELPERS_TEXT, LOCAL_TEXTS, write_wording, write_workbook

from creval.data.data_options import DataOptions
from creval.engine.run_options import RunOptions
from creval.errors import DataError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.templates.rendering import render
from creval_datasets.prefetch import prefetch
from creval_openended.published import macgyver, wording
from creval_openended.published.macgyver import (
    COLUMNS,
    COMMIT,
    ROWS_SHA256,
    fetched,
    open_macgyver,
    paper_ids,
    read_workbook,
    rows_digest,
)
from creval_testing.task_examples import run_examples


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/pairs.xlsx"
    server.shutdown()
    server.server_close()


def test_the_pin_is_that_of_the_published_rows(pairs: list[dict[str, Any]]) -> None:
    assert rows_digest(pairs) == ROWS_SHA256
    assert Counter(row["Solvable?"] for row in pairs) == {"Yes": 1306, "No": 377}
    assert Counter(type(row["ID"]).__name__ for row in pairs) == {"str": 1306, "int": 377}


def test_the_three_hundred(pairs: list[dict[str, Any]]) -> None:
    ids = paper_ids()
    assert len(set(ids)) == 300 and ids[:5] == ["1900", "2103", "2164", "333", "380"]
    assert ids[-3:] == ["708", "494", "1566"]
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    assert digest == "de660a70767a1004fb6b519d38371ba64d4c5427031cb45c3f6502abd4c7f794"
    kinds = {str(row["ID"]): row for row in pairs}
    assert all(kinds[name]["Solvable?"] == "Yes" for name in ids)
    assert sum(kinds[name]["Unconventional?"] == "unconventional" for name in ids) == 215


def test_a_fetched_workbook_gives_the_problems(
    pairs: list[dict[str, Any]], workbook: Path, tmp_path: Path, address: str
) -> None:
    assert [{name: row[name] for name in COLUMNS} for row in read_workbook(workbook)] == [
        {name: row[name] for name in COLUMNS} for row in pairs
    ]
    shutil.copy(workbook, tmp_path)
    options = DataOptions(cache=tmp_path / "cache")
    rows = open_macgyver("paper", address, base=tmp_path, options=options)
    assert len(rows) == 300 and rows.row(0)["id"] == "1900"  # type: ignore[index]
    (tmp_path / "pairs.xlsx").unlink()
    offline = DataOptions(cache=tmp_path / "cache", offline=True)
    assert len(open_macgyver("solvable", address, base=tmp_path, options=offline)) == 1306


def test_another_workbook_is_refused_and_not_kept(pairs: list[dict[str, Any]], tmp_path: Path, address: str) -> None:
    write_workbook(tmp_path / "pairs.xlsx", [{**pairs[0], "Problem": "Another one."}, *pairs[1:]])
    options = DataOptions(cache=tmp_path / "cache")
    with pytest.raises(DataError, match="not the MacGyver problems"):
        open_macgyver("paper", address, base=tmp_path, options=options)
    assert not list((tmp_path / "cache").rglob("*.xlsx"))
    (tmp_path / "pairs.xlsx").write_bytes(b"PK no workbook")
    with pytest.raises(DataError, match="cannot be read"):
        open_macgyver("paper", address, base=tmp_path, options=options)


def test_without_a_network_the_fix_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--offline forbids the network"):
        open_macgyver(base=tmp_path, options=DataOptions(cache=tmp_path, offline=True))


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    "name",
    [
        *("macgyver", "macgyver_jury", "macgyver_released", "macgyver_jury_released"),
        *("macgyver_released_llama", "macgyver_jury_released_vicuna", "macgyver_released_mixtral"),
        *("macgyver_labelled_feasibility", "macgyver_labelled_effectiveness"),
    ],
)
def test_the_examples_of_the_tasks_on_a_copy(
    name: str,
    workbook: Path,
    reference_data: Path,
    tmp_path: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    shutil.copy(workbook, tmp_path)
    open_macgyver("paper", address, base=tmp_path, options=DataOptions(cache=tmp_path / "cache"))
    results = (reference_data / "macgyver" / "benchmark_results.json").read_bytes()
    (tmp_path / "cache" / "data" / f"macgyver-results-{COMMIT[:12]}.json").write_bytes(results)
    monkeypatch.setattr(wording, "PINS", write_wording(tmp_path / "cache" / "data" / wording.FOLDER))
    plugins = load_plugins()
    task = TaskIndex(plugins).load(name)
    offline = {"embedding": "embedded/minilm", "entailment": "cosine/0.85"}
    options = RunOptions(resources={kind: offline[kind] for kind in task.resources}, offline=True)
    outcomes = asyncio.run(run_examples(task, options, plugins))
    assert len(outcomes) >= 4 and [fault for each in outcomes for fault in each.faults] == []


def asked(task: str, said: dict[str, Any], steps: list[str], **about: Any) -> list[tuple[str, str]]:
    """Return the messages of a step, or of the full answer where there is no `number`."""
    loaded = TaskIndex(load_plugins()).load(task)
    fields = {"problem": "A {door} is stuck.", "wording": said, "steps": steps, "limit": 4, **about}
    messages = render(loaded.prompts["step" if about else "full"], fields, loaded.file)
    return [(message.role, message.content) for message in messages]


@pytest.mark.parametrize("task", ["macgyver_released", "macgyver_jury_released"])
def test_solutions_are_asked_for_in_the_words_of_the_authors(task: str, tmp_path: Path, address: str) -> None:
    pins = write_wording(tmp_path)
    options = DataOptions(cache=tmp_path / "cache")
    said = wording.released_wording(options, address.removesuffix("pairs.xlsx"), pins)
    assert asked(task, said, []) == [
        ("system", '\n  Made up: solve it.\n    "Step 1: <step 1>"\n    "Step 2: <step 2>"\n  At most 10 steps.\n  '),
        ("user", "Problem:\nA {door} is stuck.\n\n## Steps there are:\n<|end|>\n ## You: "),
    ]
    system = "Made up: write step {} by step twelve, {{not}} step {}.\n    If done, STOP.\n    Step {}: <here>\n\n    "
    assert asked(task, said, [], number=1, last=False) == [
        ("system", system.format(1, 2, 1)),
        ("user", "A {door} is stuck.\n Steps there are:\n ## You: "),
    ]
    made = "A {door} is stuck.\nSteps there are:\n Step 1 was:  Push.\nStep 2 was:  Pull Step 1: hard.\n"
    steps = ["Step 1: Push.", "Step 2: Pull Step 1: hard."]
    assert asked(task, said, steps, number=3, last=False) == [
        ("system", system.format(3, 4, 3)),
        ("user", f"{made}\n## You: "),
    ]
    assert asked(task, said, steps, number=9, last=True) == [
        ("system", system.format(9, 10, 9)),
        ("user", f"{made}\n This is the last. \n## You: "),
    ]
    (tmp_path / wording.DRIVER).unlink()
    offline = DataOptions(cache=tmp_path / "cache", offline=True)
    assert wording.released_wording(offline, address, pins) == said


LOCAL = ("llama", "vicuna", "mixtral")
FULL = '\n  Made up: solve it{}.\n    "Step 1: <step 1>"\n    "Step 2: <step 2>"\n  At most 10 steps.\n  '
ASKED = "Problem:\nA {door} is stuck.\n\n## Steps there are:\n<|end|>\n ## You: "
STEP = (
    "Made up: write step {} by step twelve, {{not}} step {}.\n    Where it is done, STOP.\n    Step {}: <here>\n\n    "
)
MADE = "A {door} is stuck.\nSteps there are:\n Step 1 was:  Push.\nStep 2 was:  Pull.\n"
TEXTS = {  # the first step, a later one, the last
    "llama": (
        "A {door} is stuck.\n Steps there are:\n <|eot_id|>\n## You: ",
        MADE + "<|eot_id|>\n## You: ",
        MADE + "<|eot_id|>\n This is the last. \n## You: ",
    ),
    "vicuna": (
        "A {door} is stuck.\n Steps there are:\n </s>## You: ",
        MADE + "</s>\n## You: ",
        MADE + "\n This is the last. </s>\n## You: ",
    ),
    "mixtral": (
        "A {door} is stuck.</s>\n## You: ",
        MADE + "</s>\n## You: ",
        MADE + "\n This is the last. </s>\n## You: ",
    ),
}


@pytest.mark.parametrize("kind", ["macgyver_released", "macgyver_jury_released"])
@pytest.mark.parametrize("name", LOCAL)
def test_local_models_are_asked_as_their_driver_asks(kind: str, name: Any, tmp_path: Path, address: str) -> None:
    pins = write_wording(tmp_path)
    said = wording.released_wording(DataOptions(cache=tmp_path), address.removesuffix("pairs.xlsx"), pins, name)

    def sent(system: str, user: str) -> list[tuple[str, str]]:
        if name == "mixtral":
            return [("system", system), ("user", user)]
        return [("user", f"{system}\n## Now: \n{user}")]

    task, (first, further, last) = f"{kind}_{name}", TEXTS[name]
    assert asked(task, said, []) == sent(FULL.format(", in few words" if name == "llama" else ""), ASKED)
    assert asked(task, said, [], number=1, last=False) == sent(STEP.format(1, 2, 1), first)
    steps = ["Step 1: Push.", "Step 2: Pull."]
    assert asked(task, said, steps, number=3, last=False) == sent(STEP.format(3, 4, 3), further)
    assert asked(task, said, steps, number=9, last=True) == sent(STEP.format(9, 10, 9), last)


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("llama", {"llama": LOCAL_TEXTS["llama"].replace("string += EOS_TOKEN", "string += X")}, "otherwise"),
        ("vicuna", {"vicuna": LOCAL_TEXTS["vicuna"].replace("+ EOS_TOKEN +", "+ token +")}, "otherwise"),
        ("mixtral", {"mixtral": LOCAL_TEXTS["mixtral"].replace("prompt =", "said =")}, "nothing is assigned to prompt"),
        ("llama", {"helpers": HELPERS_TEXT.replace("## Now: ", "' + shown + '")}, "put together otherwise"),
        ("vicuna", {"helpers": HELPERS_TEXT.replace("gen_chat_object", "gen_chat")}, "put together otherwise"),
        ("vicuna", {"helpers": "def f("}, "cannot be read"),
    ],
)  # fmt: skip
def test_a_local_wording_of_another_form_is_refused(
    name: Any, changed: dict[str, str], reason: str, tmp_path: Path, address: str
) -> None:
    pins = write_wording(tmp_path, **changed)
    with pytest.raises(DataError, match=reason):
        wording.released_wording(DataOptions(cache=tmp_path), address.removesuffix("pairs.xlsx"), pins, name)


def test_a_driver_for_local_models_with_another_digest_is_refused(tmp_path: Path, address: str) -> None:
    write_wording(tmp_path)
    for name in LOCAL:
        with pytest.raises(DataError, match="not the one that the task pins"):
            wording.released_wording(
                DataOptions(cache=tmp_path / "cache"),
                address.removesuffix("pairs.xlsx"),
                name=name,  # type: ignore[arg-type]
            )
    assert set(wording.DRIVERS.values()) | {wording.DATA, wording.HELPERS} == set(wording.PINS)


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    "task",
    [
        *("macgyver_released", "macgyver_jury_released", "macgyver_released_llama"),
        *("macgyver_released_vicuna", "macgyver_jury_released_mixtral"),
    ],
)
def test_prefetch_fetches_the_wording_with_the_problems(
    task: str, workbook: Path, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(workbook, tmp_path)
    root, pins = address.removesuffix("pairs.xlsx"), write_wording(tmp_path)
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    monkeypatch.setattr(macgyver, "fetched", lambda _, *rest: fetched(address, *rest))
    monkeypatch.setattr(
        macgyver, "released_wording", lambda options, name: wording.released_wording(options, root, pins, name)
    )
    data = next(iter(prefetch([task], load_plugins())))  # the rest are resources
    assert (data.what, data.state) == ("data", "fetched") and data.about.startswith("300 docs"), data
    kept = tmp_path / "cache" / "data" / wording.FOLDER
    wanted = {wording.DRIVER: DRIVER_TEXT, wording.DATA: DATA_TEXT}
    if name := next((each for each in LOCAL_TEXTS if task.endswith(each)), None):
        wanted = {wording.DRIVERS[name]: LOCAL_TEXTS[name], wording.DATA: DATA_TEXT}  # type: ignore[index]
        wanted |= {} if name == "mixtral" else {wording.HELPERS: HELPERS_TEXT}
    found = {path.relative_to(kept).as_posix(): path.read_text("utf-8") for path in kept.rglob("*.py")}
    assert found == wanted  # and nothing else
    for file in ("pairs.xlsx", *pins):
        (tmp_path / file).unlink()
    assert next(iter(prefetch([task], load_plugins()))).state == "here already"
    (kept / wording.DATA).unlink()
    assert next(iter(prefetch([task], load_plugins()))).state == "failed"


def test_a_wording_that_is_not_there_or_another_one(tmp_path: Path, address: str) -> None:
    options = DataOptions(cache=tmp_path / "cache", offline=True, task="macgyver_released")
    with pytest.raises(DataError, match="2 of 2 published files are missing") as found:
        wording.released_wording(options)
    assert "--data macgyver_released=FILE" in str(found.value)
    root, options = address.removesuffix("pairs.xlsx"), DataOptions(cache=tmp_path / "cache")
    write_wording(tmp_path)
    with pytest.raises(DataError, match="not the one that the task pins"):
        wording.released_wording(options, root)
    assert not list((tmp_path / "cache").rglob("*.py"))


@pytest.mark.parametrize(
    ("driver", "data", "reason"),
    [
        (DRIVER_TEXT.replace("prompt =", "text ="), DATA_TEXT, "nothing is assigned to prompt"),
        (DRIVER_TEXT.replace("{step_num + 1}", "{other}"), DATA_TEXT, "has the field other"),
        (DRIVER_TEXT.replace(" was: ", "{x}"), DATA_TEXT, "is put otherwise"),
        (DRIVER_TEXT.replace('problemstring += "', 'problem += "'), DATA_TEXT, "put together otherwise"),
        (DRIVER_TEXT, DATA_TEXT.replace("Problem:", "Riddle:"), "laid out otherwise"),
        (DRIVER_TEXT, DATA_TEXT.replace('"twelve"', "12"), "max_steps is not a text"),
        ("if (!x){", DATA_TEXT, "cannot be read"),
    ],
)
def test_a_wording_of_another_form_is_refused(
    driver: str, data: str, reason: str, tmp_path: Path, address: str
) -> None:
    pins = write_wording(tmp_path, driver, data)
    with pytest.raises(DataError, match=reason):
        wording.released_wording(DataOptions(cache=tmp_path / "cache"), address.removesuffix("pairs.xlsx"), pins)
