"""Opening the dataset of a task: sources, replacements, mirrors, the network forbidden."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from support.toy_plugins import toy_plugins, toy_registry, write_task

from creval.data.data_options import DataOptions, cache_folder
from creval.data.dataset import Dataset
from creval.data.open_dataset import open_dataset
from creval.errors import DataError, TaskError
from creval.plugins.registry import Registry
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
from creval_testing.check_tasks import check_all, check_data


def load(
    folder: Path, dataset: str, plugin: str | None = None, registry: Registry | None = None, **changes: str
) -> Task:
    file = write_task(folder, dataset=f"dataset: {dataset}", **changes)
    folders = [(plugin, folder)] if plugin else []
    return TaskIndex(toy_plugins(folders, registry)).load(file)


def opened(task: Task, **options: Any) -> Dataset:
    return open_dataset(task.dataset, toy_registry(), DataOptions(**options))


def test_a_file_is_taken_from_the_folder_of_the_yaml_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    dataset = opened(load(tmp_path, "{source: file, file: docs.jsonl}"))
    assert [doc.fields["word"] for doc in dataset] == ["a", "b"]
    assert dataset.origin == str(tmp_path / "docs.jsonl")
    assert not dataset.replaced
    (tmp_path / "data.txt").write_text('[{"word": "json"}]')
    assert opened(load(tmp_path, "{source: file, file: data.txt, format: json}"))[0].fields == {"word": "json"}
    absolute = opened(load(tmp_path, f"{{source: file, file: {tmp_path / 'docs.jsonl'}}}"))
    assert len(absolute) == 2


def test_a_package_file_is_next_to_the_task_or_in_the_package(tmp_path: Path) -> None:
    tasks = tmp_path / "package" / "tasks"
    task = load(tasks, "{source: package, file: docs.jsonl}", "red")
    assert opened(task).origin == str(tasks / "docs.jsonl")
    (tmp_path / "package" / "data").mkdir()
    (tmp_path / "package" / "data" / "more.jsonl").write_text('{"word": "m"}\n')
    task = load(tasks, "{source: package, file: data/more.jsonl}", "red")
    assert opened(task)[0].fields == {"word": "m"}
    with pytest.raises(DataError, match="there is no data file"):
        opened(load(tasks, "{source: package, file: none.jsonl}", "red"))
    (tmp_path / "secret.jsonl").write_text('{"word": "s"}\n')
    for outside in ("../secret.jsonl", str(tmp_path / "secret.jsonl")):
        with pytest.raises(DataError, match="outside of the task's folder"):
            opened(load(tasks, f"{{source: package, file: {outside}}}", "red"))
    (tasks / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    task = load(tasks, "{source: package, file: link.jsonl}", "red")
    with pytest.raises(DataError, match="outside of the task's folder"):
        opened(task)


def test_the_folder_of_tasks_may_be_a_link_itself(tmp_path: Path) -> None:
    real = tmp_path / "repository" / "red"
    write_task(real, dataset="dataset: {source: package, file: docs.jsonl}")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "tasks").symlink_to(real, target_is_directory=True)
    task = load(tmp_path / "package" / "tasks", "{source: package, file: docs.jsonl}", "red")
    assert len(opened(task)) == 2


def test_a_generator_makes_its_docs_from_its_parameters(tmp_path: Path) -> None:
    dataset = opened(load(tmp_path, "{source: generator, generator: {letters: {count: 2, letter: q}}}"))
    assert [(doc.id, doc.fields) for doc in dataset] == [("q0", {"word": "q"}), ("q1", {"word": "qq"})]
    again = opened(load(tmp_path, "{source: generator, generator: {name: letters, count: 2, letter: q}}"))
    more = opened(load(tmp_path, "{source: generator, generator: {letters: {count: 3, letter: q}}}"))
    assert dataset.fingerprint == again.fingerprint != more.fingerprint


def test_a_source_of_a_plugin_may_return_a_list_and_its_bugs_are_named(tmp_path: Path) -> None:
    assert [d.fields for d in opened(load(tmp_path, "{source: listed, words: [x, y]}"))] == [
        {"word": "x"},
        {"word": "y"},
    ]
    with pytest.raises(DataError, match="the source 'failing' failed: ZeroDivisionError: division by zero"):
        opened(load(tmp_path, "{source: failing}"))
    registry = toy_registry()
    registry.scoped("odd").add("source", "odd", "builtins:dict")
    task = load(tmp_path, "{source: odd}", registry=registry)
    with pytest.raises(DataError, match="gave dict, neither rows nor a list"):
        open_dataset(task.dataset, registry, DataOptions())


def test_a_replacement_takes_the_place_of_any_source(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("word,id\nown,7\n")
    for source in ("{source: generator, generator: letters, id: id}", "{source: file, file: gone.jsonl, id: id}"):
        dataset = opened(load(tmp_path, source), replacement=other)
        assert dataset.replaced
        assert [(doc.id, doc.fields["word"]) for doc in dataset] == [("7", "own")]
    with pytest.raises(DataError, match="there is no such data file"):
        opened(load(tmp_path, "{source: generator, generator: letters}"), replacement=tmp_path / "none.csv")


# --- pinned sources --------------------------------------------------------------------------------------


HUB_WHERE = "{source: huggingface, dataset: a/b, split: [test, dev], revision: newest, where: %s}"


@pytest.mark.parametrize(
    ("dataset", "path", "part"),
    [
        ("{source: huggingface, dataset: a/b, split: test}", "dataset", "the key 'revision' is missing"),
        (
            "{source: huggingface, dataset: a/b, split: test, revision: main}",
            "dataset.revision",
            "is not a full commit hash of 40 digits",
        ),
        (
            "{source: huggingface, dataset: ../b, split: test, revision: %s}" % ("a" * 40),
            "dataset.dataset",
            "owner/name",
        ),
        (HUB_WHERE % "{n: {mn: 3}}", "dataset.where.n.mn", "unknown key 'mn'"),
        (HUB_WHERE % "{n: {min: true}}", "dataset.where.n.min", "must be a text or a number, but is true"),
        (HUB_WHERE % "{n: {in: []}}", "dataset.where.n.in", "must not be empty"),
        (HUB_WHERE % "{}", "dataset.where", "must not be empty"),
        ("{source: url, url: 'https://example.org/x.jsonl'}", "dataset", "the key 'sha256' is missing"),
        ("{source: url, url: 'https://example.org/x.jsonl', sha256: abc}", "dataset.sha256", "64 hexadecimal digits"),
        (
            "{source: url, url: 'file:///etc/passwd', sha256: %s}" % ("a" * 64),
            "dataset.url",
            "an http or https address",
        ),
        (
            "{source: url, url: 'https://me:pw@example.org/', sha256: %s}" % ("a" * 64),
            "dataset.url",
            "without a user name",
        ),
    ],
)
def test_remote_data_must_be_pinned(tmp_path: Path, dataset: str, path: str, part: str) -> None:
    with pytest.raises(TaskError) as caught:
        load(tmp_path, dataset)
    (problem,) = caught.value.problems
    assert problem.path == path
    assert part in problem.message


URL = "{source: url, url: 'https://data.example.org/sets/words.jsonl?x=1', sha256: %s}"
HUB = "{source: huggingface, dataset: owner/words, split: test, revision: %s}"


def test_offline_says_how_to_provide_the_data(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="the package datasets is not installed")
    for dataset in (URL % ("a" * 64), HUB % ("a" * 40)):
        with pytest.raises(DataError) as caught:
            opened(load(tmp_path, dataset), offline=True, cache=tmp_path / "cache")
        message = str(caught.value)
        assert "--offline forbids the network" in message
        assert "--data toy=FILE" in message and "toy.jsonl" in message and "CREVAL_DATA" in message


@pytest.mark.parametrize("name", ["toy.csv", "words.jsonl", "owner/words.json", "words.tsv"])
def test_a_mirror_replaces_remote_data(tmp_path: Path, name: str) -> None:
    content = {"csv": "word\nm\n", "jsonl": '{"word": "m"}\n', "json": '[{"word": "m"}]', "tsv": "word\nm\n"}
    file = tmp_path / "mirror" / name
    file.parent.mkdir(parents=True)
    file.write_text(content[file.suffix[1:]])
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    sources = [HUB % ("a" * 40)] if "/" in name else [HUB % ("a" * 40), URL % sha256]
    for dataset in sources:
        found = opened(load(tmp_path, dataset), mirror=tmp_path / "mirror", offline=True)
        assert found.replaced and [doc.fields for doc in found] == [{"word": "m"}]


def test_a_mirrored_file_must_be_the_pinned_one(tmp_path: Path) -> None:
    (tmp_path / "words.jsonl").write_text('{"word": "other"}\n')
    with pytest.raises(DataError, match="not the one that the task pins"):
        opened(load(tmp_path / "t", URL % ("a" * 64)), mirror=tmp_path, offline=True)


def test_a_mirror_never_hides_local_data(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "toy.jsonl").write_text('{"word": "mirror"}\n')
    dataset = opened(load(tmp_path, "{source: file, file: docs.jsonl}"), mirror=tmp_path / "mirror")
    assert dataset[0].fields == {"word": "a"} and not dataset.replaced
    with pytest.raises(DataError, match="folder of local data does not exist"):
        opened(load(tmp_path, URL % ("a" * 64)), mirror=tmp_path / "none")


def test_options_come_from_the_environment() -> None:
    options = DataOptions.from_environment({"CREVAL_DATA": "/mirror", "CREVAL_CACHE": "/cache"}, offline=True)
    assert (options.mirror, options.cache, options.offline) == (Path("/mirror"), Path("/cache"), True)
    assert DataOptions.from_environment({}).mirror is None
    assert cache_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/creval")
    assert cache_folder({}) == Path("~/.cache/creval").expanduser()


# --- checking a task against its data --------------------------------------------------------------------


def test_checking_finds_what_the_yaml_cannot_tell(tmp_path: Path) -> None:
    registry = toy_registry()
    sound = load(tmp_path, "{source: file, file: docs.jsonl}")
    assert check_data(sound, registry, DataOptions()) == []
    tests = """
    tests:
      - {name: gold, doc: '7', status: scored, answer: x}
      - {name: own, doc: {word: z}, status: scored, answer: x}
    """
    unknown = load(tmp_path, "{source: file, file: docs.jsonl}", tests=tests)
    (problem,) = check_data(unknown, registry, DataOptions())
    assert (problem.path, problem.message, problem.line) == ("tests[0].doc", "there is no doc with the id '7'", 13)
    broken = load(tmp_path, "{source: file, file: broken.jsonl}")
    (tmp_path / "broken.jsonl").write_text("{\n")
    (problem,) = check_data(broken, registry, DataOptions())
    assert (problem.path, problem.line) == ("dataset", 5)
    assert "broken.jsonl:1: not valid JSON" in problem.message


def test_names_that_the_protocol_provides_are_no_fault(tmp_path: Path) -> None:
    prompt = "prompt:\n  - {role: user, content: '{{ word }} {{ story }}'}"
    chain = load(tmp_path, "{source: file, file: docs.jsonl}", prompt=prompt, protocol="protocol: chain")
    assert check_data(chain, toy_registry(), DataOptions()) == []
    chat = load(tmp_path, "{source: file, file: docs.jsonl}", prompt=prompt)
    (problem,) = check_data(chat, toy_registry(), DataOptions())
    assert problem.message == "no doc has the field 'story'"


def test_files_folders_and_names_are_checked_with_their_data(tmp_path: Path) -> None:
    sound = write_task(tmp_path / "red", "sound.yaml", task="task: sound")
    faulty = write_task(tmp_path / "red", "faulty.yaml", task="task: faulty", repeats="repeats: x")
    lacking = write_task(
        tmp_path / "red", "lacking.yaml", task="task: lacking", dataset="dataset: {source: file, file: d.jsonl}"
    )
    (tmp_path / "red" / "d.jsonl").write_text('{"wodr": "x"}\n')
    remote = write_task(tmp_path / "red", "remote.yaml", task="task: remote", dataset=f"dataset: {URL % ('a' * 64)}")
    suite = tmp_path / "red" / "suites" / "all.yaml"
    suite.parent.mkdir()
    suite.write_text("schema: 1\nversion: 1.0.0\ntitle: x\nsuite: all\ntasks: [sound, lacking]\n")
    plugins = toy_plugins([("red", tmp_path / "red")])
    options = DataOptions(offline=True, cache=tmp_path / "cache")
    found = check_all([tmp_path / "red"], plugins, options)
    assert [(problem.file, problem.path) for problem in found] == [(faulty, "repeats"), (lacking, "prompt")]
    assert check_all(["sound", str(remote), sound], plugins, options) == []
    assert [problem.path for problem in check_all(["all"], plugins, options)] == ["prompt"]
    assert [problem.message for problem in check_all(["none"], plugins, options)] == ["unknown task 'none'"]
    (offline,) = check_all([remote], plugins, DataOptions(cache=tmp_path / "cache", mirror=tmp_path / "nowhere"))
    assert "folder of local data does not exist" in offline.message
