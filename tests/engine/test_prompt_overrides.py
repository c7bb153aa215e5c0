"""`--few-shot`, `--system`, `--limit 10%` and `10-20`: asked, recorded, resumed, and refused where they cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.chat_server import ChatServer

from creval import RunOptions, open_run, run
from creval.cli.root import cli
from creval.engine.manifest import options_data, read_options
from creval.engine.planning.plan import plan_task
from creval.engine.run import resume
from creval.errors import DataError, TaskError, UsageError
from creval_sweeps.estimate import estimate_run

TASK = """
schema: 1
task: sums
version: 1.0.0
title: Sums
dataset: {source: file, file: sums.jsonl, id: id}
prompt: PROMPT
parse: last_number
score: numeric
metrics: [{name: numeric, failed: zero}]
"""
PLAIN = '[{role: user, content: "{{ sum }}?"}]'
OWN_SYSTEM = '[{role: system, content: Count.}, {role: user, content: "{{ sum }}?"}]'
FEW = 'few_shot: {n: 1, as: text, answer: " it is {{ target }}"}\n'
CEILING = 'baselines: {floor: {fixed: "0"}, ceiling: {target: {form: "= {{ answer }}"}}}\n'


def written(folder: Path, prompt: str = PLAIN, more: str = "", docs: int = 20) -> str:
    rows = [{"id": f"d{n}", "sum": f"{n} + 1", "target": n + 1} for n in range(docs)]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "sums.yaml").write_text(TASK.replace("PROMPT", prompt) + more)
    return str(folder / "sums.yaml")


def asked(task: str, server: ChatServer, folder: Path, **options: Any) -> list[dict[str, Any]]:
    given = {"limit": "3-3", "output": folder / "run", **options}
    run([task], "chat/mock", RunOptions(base_url=server.url, **given))
    messages: list[dict[str, Any]] = server.requests[-1].body["messages"]
    return messages


def test_examples_are_added_to_a_task_that_states_none(tmp_path: Path) -> None:
    with ChatServer(answer="3") as server:
        messages = asked(written(tmp_path, more=CEILING), server, tmp_path, few_shot=2)
    said = [(each["role"], each["content"]) for each in messages]
    examples = [("user", "0 + 1?"), ("assistant", "= 1"), ("user", "1 + 1?"), ("assistant", "= 2")]
    assert said == [*examples, ("user", "2 + 1?")]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "2 + 1?"), (None, "0 + 1? it is 1\n\n2 + 1?"), (2, "0 + 1? it is 1\n\n1 + 1? it is 2\n\n2 + 1?")],
)
def test_a_task_keeps_all_but_the_number_of_its_examples(number: int | None, text: str, tmp_path: Path) -> None:
    with ChatServer(answer="3") as server:
        (message,) = asked(written(tmp_path, more=FEW), server, tmp_path, few_shot=number)
    assert message["content"] == text
    (result,) = open_run(tmp_path / "run").results["tasks"]
    assert result.get("prompt_overrides") == (None if number is None else {"few_shot": number})


@pytest.mark.parametrize(("prompt", "content"), [(PLAIN, "Be brief."), (OWN_SYSTEM, "Be brief.\n\nCount.")])
def test_a_system_message_comes_before_every_prompt(prompt: str, content: str, tmp_path: Path) -> None:
    with ChatServer(answer="3") as server:
        messages = asked(written(tmp_path, prompt), server, tmp_path, system="Be brief.")
    assert [(each["role"], each["content"]) for each in messages] == [("system", content), ("user", "2 + 1?")]
    (sample,) = open_run(tmp_path / "run").samples()
    assert sample.calls[0].messages[0]["content"] == content


def test_a_resumed_run_asks_as_it_began_and_its_report_says_so(tmp_path: Path) -> None:
    task = written(tmp_path, more=FEW)
    asks = {"few_shot": 2, "system": "Be brief.", "limit": "10-13"}
    with ChatServer(answer="3") as server:
        begun = RunOptions(base_url=server.url, max_calls=2, concurrency=1, output=tmp_path / "run", **asks)
        assert run([task], "chat/mock", begun).status == "budget"
        done = resume(tmp_path / "run", max_calls=100)
        bodies = [each.body["messages"] for each in server.requests]
    assert len(bodies) == 4
    assert {body[0]["content"] for body in bodies} == {"Be brief."}
    assert all(body[1]["content"].count("it is") == 2 for body in bodies)
    (result,) = done.results["tasks"]
    assert result["prompt_overrides"] == {"few_shot": 2, "system": "Be brief."}
    said = CliRunner().invoke(cli, ["report", str(tmp_path / "run")]).output
    assert "--few-shot 2" in said and "--system Be brief." in said
    stored = json.loads((tmp_path / "run" / "run.json").read_text())["options"]
    assert (stored["few_shot"], stored["system"], stored["limit"]) == (2, "Be brief.", "10-13")


def test_what_was_asked_otherwise_is_another_identity(tmp_path: Path) -> None:
    task = written(tmp_path, more=FEW + "baselines: {floor: {fixed: '0'}}\n")
    identities = set()
    for number, options in enumerate(({}, {"few_shot": 3}, {"few_shot": 0}, {"system": "a"}, {"system": "b"})):
        done = run([task], "baseline/floor", RunOptions(output=tmp_path / str(number), limit=1, **options))
        identities.add(done.results["tasks"][0]["identity"])
    assert len(identities) == 5


def test_the_estimate_counts_the_system_message(tmp_path: Path) -> None:
    task = written(tmp_path)
    short, long = (
        estimate_run([task], "chat/m", RunOptions(base_url="http://127.0.0.1:1", **more))
        for more in ({}, {"system": "word " * 500})
    )
    assert (long.tasks[0].input_tokens.low or 0) > 10 * (short.tasks[0].input_tokens.low or 0)


def test_options_go_through_the_manifest() -> None:
    options = RunOptions(few_shot=0, system="Be brief.", limit="10%")
    again = read_options(options_data(options))
    assert (again.few_shot, again.system, again.limit) == (0, "Be brief.", "10%")


REFUSED = [
    (PLAIN, "baselines: {ceiling: {fixed: '1'}}\n", {"few_shot": 1}, "does not define the answer of an example"),
    (PLAIN, "", {"few_shot": 1}, None),
    ("kumo_easy", "", {"few_shot": 1}, "takes no examples: its protocol 'kumo.game' has its own prompts"),
    (PLAIN, "protocol: choices\n", {"few_shot": 1}, "does not define the answer of an example"),
    (PLAIN, "protocol: choices\n", {"system": "a"}, "a text has no system message"),
    (PLAIN, FEW, {"few_shot": 20}, "asks for 20 examples"),
]


@pytest.mark.parametrize(("prompt", "more", "options", "message"), REFUSED)
def test_what_a_task_cannot_take_is_refused_before_the_first_call(
    prompt: str, more: str, options: Any, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREVAL_PLUGINS", "likelihoods,kumo")
    task = prompt if prompt == "kumo_easy" else written(tmp_path, prompt, more)
    given = RunOptions(base_url="http://127.0.0.1:1", output=tmp_path / "run", **options)
    if message is None:
        (tmp_path / "sums.jsonl").write_text('{"id": "a", "sum": "1"}\n{"id": "b", "sum": "2"}\n')
        with pytest.raises((TaskError, DataError), match="target"):
            run([task], "chat/m", given)
        return
    with pytest.raises((UsageError, DataError), match=message) as caught:
        run([task], "chat/m", given)
    assert len(str(caught.value).splitlines()) <= 3


def test_examples_of_choices_are_their_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A base model is shown the right choice in words, as lm-eval does it, and not its letter."""
    monkeypatch.setenv("CREVAL_PLUGINS", "likelihoods")
    more = "protocol: choices\nbaselines: {floor: any_choice}\n"
    task = Path(written(tmp_path, more=more))
    text = task.read_text().replace("score: numeric", "score: likeliest_choice").replace("name: numeric", "name: acc")
    text = text.replace("id: id}", "id: id, choices: {from: ways, answer: right}}").replace("parse: last_number\n", "")
    task.write_text(text)
    rows = [{"id": f"d{n}", "sum": f"{n} + 1", "ways": [f"{n}", f"{n + 1} it is"], "right": 1} for n in range(3)]
    task.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run([str(task)], "baseline/floor", RunOptions(few_shot=1, limit="3-3", output=tmp_path / "run"))
    (sample,) = open_run(tmp_path / "run").samples()
    assert sample.calls[0].messages[0]["content"] == "0 + 1? 1 it is\n\n2 + 1?"


def test_a_person_gets_no_system_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="people see no system message"):
        run([written(tmp_path)], "human/p01", RunOptions(system="a", output=tmp_path / "run"))


@pytest.mark.parametrize(
    ("limit", "places"),
    [
        ("10-12", [9, 10, 11]),
        ("1-20", list(range(20))),
        ("19-40", [18, 19]),
        ("first:10%", [0, 1]),
        ("first:12.5%", [0, 1, 2]),
        ("100%", list(range(20))),
    ],
)
def test_places_and_first_shares_are_those_docs(limit: str, places: list[int], tmp_path: Path) -> None:
    assert chosen(tmp_path, limit) == places


def test_a_share_is_drawn_like_a_number(tmp_path: Path) -> None:
    assert chosen(tmp_path, "15%") == chosen(tmp_path, "3") != [0, 1, 2]
    assert len(chosen(tmp_path, "0.1%")) == 1, "at least one doc"


def chosen(folder: Path, limit: str) -> list[int]:
    from creval.data.data_options import DataOptions
    from creval.data.open_dataset import open_dataset
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    plugins = load_plugins()
    task = TaskIndex(plugins).load(written(folder))
    with open_dataset(task.dataset, plugins.registry, DataOptions(offline=True)) as dataset:
        return list(plan_task(task, dataset, RunOptions(limit=limit), plugins.registry).chosen)


def test_places_after_the_last_doc_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="begins after the last of the 20 docs of 'sums'"):
        chosen(tmp_path, "21-30")


@pytest.mark.parametrize(
    "limit", ["0", "0%", "101%", "-5", "5-", "20-10", "0-5", "first:2-5", "ten", "1e3", "10 %", "%", ""]
)
def test_other_limits_are_refused_with_all_forms(limit: str) -> None:
    with pytest.raises(UsageError, match=r"is not a limit\n.*10%.*10-20.*first:10"):
        RunOptions(limit=limit)


@pytest.mark.parametrize("number", [-1, 1001])
def test_other_numbers_of_examples_are_refused(number: int) -> None:
    with pytest.raises(UsageError, match="is not a number of examples"):
        RunOptions(few_shot=number)


def test_an_empty_system_message_is_refused() -> None:
    with pytest.raises(UsageError, match="the system message is empty"):
        RunOptions(system=" ")


@pytest.mark.parametrize("words", [["run"], ["--debug", "run"], []])
@pytest.mark.parametrize("tasks", [["--tasks", "T"], ["--tasks=T"], ["-t", "T"], ["-tT"]])
def test_run_with_tasks_is_the_command_without_it(words: list[str], tasks: list[str], tmp_path: Path) -> None:
    task = written(tmp_path, more=CEILING)
    given = [each.replace("T", task) for each in tasks]
    output = str(tmp_path / "run")
    done = CliRunner().invoke(
        cli, [*words, "--model", "baseline/ceiling", *given, "--limit", "10%", "--few-shot", "1", "--output", output]
    )
    assert done.exit_code == 0, done.output
    assert open_run(Path(output)).results["tasks"][0]["docs"] == 2


def test_run_with_tasks_and_a_file_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["run", "--tasks", "rat", "mine.yaml", "--model", "baseline/floor"])
    assert isinstance(done.exception, UsageError)
    assert "--tasks cannot be combined with the run file 'mine.yaml'" in str(done.exception)


def test_a_run_file_states_them_too(tmp_path: Path) -> None:
    written(tmp_path, more=CEILING)
    file = tmp_path / "run.yaml"
    file.write_text(
        "tasks: ./sums.yaml\nmodel: baseline/ceiling\nfew_shot: 1\nsystem: Be brief.\nlimit: 10-11\noutput: here\n"
    )
    done = CliRunner().invoke(cli, ["run", str(file)])
    assert done.exit_code == 0, done.output
    (result,) = open_run(tmp_path / "here").results["tasks"]
    assert (result["docs"], result["prompt_overrides"]) == (2, {"few_shot": 1, "system": "Be brief."})


def test_the_help_shows_them() -> None:
    said = CliRunner().invoke(cli, ["--help"]).output
    for word in ("--few-shot N", "--system TEXT", "10%", "10-20", "creval run --tasks"):
        assert word in said
