"""`variants:`: what a family makes of one file, by which names and paths its tasks are found, and how it goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy_plugins import toy_plugins, write_task

from creval.data.data_options import DataOptions
from creval.errors import Problem, TaskError, UnknownNameError, UsageError
from creval.tasks.index import TaskIndex
from creval.tasks.yaml import headers
from creval.tasks.yaml.headers import scan
from creval.tasks.yaml.nodes import plain
from creval.tasks.yaml.yaml_reader import read_yaml_text
from creval_testing.check_files import check
from creval_testing.check_tasks import check_all

TWO = """
variants:
  hot: {title: Hot, generation: {temperature: 2}}
  cold:
    title: Cold
    version: 2.0.0
    generation: {temperature: 0, top_p: null}
    description: With ice.
    tests:
      - {name: other, answer: '["b"]', status: scored}
"""


def family(folder: Path, variants: str = TWO, name: str = "toy.yaml", **changes: str | None) -> Path:
    sections = {
        "generation": "generation: {temperature: 1, top_p: 0.5}",
        "description": "description: About the base.",
        "tests": "tests:\n  - {name: gold, answer: '[\"a\"]', status: scored}",
        "variants": variants,
    }
    return write_task(folder, name, **(sections | changes))


def index(folder: Path) -> TaskIndex:
    return TaskIndex(toy_plugins([("red", folder)]))


def faults(file: Path) -> list[tuple[int | None, str, str]]:
    return [(p.line, p.path, f"{p.message}. {p.fix or ''}".strip()) for p in check([file], toy_plugins())]


def line_of(file: Path, text: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


# --- what a variant is -------------------------------------------------------------------------------


def test_a_variant_is_a_task_that_merges_over_its_file(tmp_path: Path) -> None:
    file = family(tmp_path)
    base, hot, cold = (index(tmp_path).load(name) for name in ("toy", "toy_hot", "red/toy_cold"))
    assert base.generation == {"temperature": 1, "top_p": 0.5}
    assert hot.generation == {"temperature": 2, "top_p": 0.5}
    assert cold.generation == {"temperature": 0}
    assert [task.name for task in (base, hot, cold)] == ["toy", "toy_hot", "toy_cold"]
    assert [task.version for task in (base, hot, cold)] == ["1.0.0", "1.0.0", "2.0.0"]
    assert len({task.hash for task in (base, hot, cold)}) == 3
    assert all("variants" not in task.resolved for task in (base, hot, cold))
    assert hot.origins["generation.temperature"] == f"{file}:{line_of(file, 'hot:')}"
    assert hot.origins["generation.top_p"] == f"{file}:{line_of(file, 'generation: {temperature: 1')}"


def test_a_variant_has_neither_tests_nor_description_of_the_file(tmp_path: Path) -> None:
    family(tmp_path)
    base, hot, cold = (index(tmp_path).load(name) for name in ("toy", "toy_hot", "toy_cold"))
    assert [(task.description, [example.name for example in task.examples]) for task in (base, hot, cold)] == [
        ("About the base.", ["gold"]),
        ("", []),
        ("With ice.", ["other"]),
    ]


def test_what_the_file_includes_reaches_its_variants_whole(tmp_path: Path) -> None:
    (tmp_path / "_base.yaml").write_text(
        "description: For all.\ntests:\n  - {name: shared, answer: '[\"a\"]', status: scored}\nmeasures: [m]\n"
    )
    family(tmp_path, include="include: _base.yaml")
    hot = index(tmp_path).load("toy_hot")
    assert (hot.description, [example.name for example in hot.examples]) == ("For all.", ["shared"])
    listed = {header.name: header for header in index(tmp_path).headers()}
    assert listed["toy_hot"].measures == ("m",)


def test_a_variant_has_the_hash_of_the_same_task_in_a_file_of_its_own(tmp_path: Path) -> None:
    family(tmp_path / "family")
    write_task(
        tmp_path / "files", "toy_hot.yaml", task="task: toy_hot", generation="generation: {temperature: 2, top_p: 0.5}"
    )
    assert index(tmp_path / "family").load("toy_hot").hash == index(tmp_path / "files").load("toy_hot").hash


def test_an_include_drops_the_variants_but_may_name_one(tmp_path: Path) -> None:
    family(tmp_path)
    for name, include in [("a", "toy.yaml"), ("b", "toy.yaml:cold"), ("c", "toy_hot"), ("d", "red/toy")]:
        (tmp_path / f"{name}.yaml").write_text(f"include: {include}\ntask: {name}\n")
    found = index(tmp_path)
    assert [header.name for header in found.headers()] == ["a", "b", "c", "d", "toy", "toy_cold", "toy_hot"]
    assert [header.title for header in found.headers()][:4] == ["A toy task", "Cold", "Hot", "A toy task"]
    temperatures = [found.load(name).generation["temperature"] for name in "abcd"]
    assert temperatures == [1, 0, 2, 1]
    assert check([tmp_path], toy_plugins([("red", tmp_path)])) == []


def test_a_file_that_is_only_a_base_has_no_task_of_its_name(tmp_path: Path) -> None:
    family(
        tmp_path, name="_shared.yaml", score=None, variants="variants:\n  one: {score: length}\n  two: {score: length}"
    )
    found = index(tmp_path)
    assert [header.name for header in found.headers()] == ["toy_one", "toy_two"]
    assert found.load("toy_one").name == "toy_one"
    with pytest.raises(UnknownNameError, match="It is what these tasks share: toy_one, toy_two"):
        found.load("toy")
    assert [member.name for member in found.members("toy")] == ["toy_one", "toy_two"]
    assert check(["toy"], toy_plugins([("red", tmp_path)])) == []
    assert check([tmp_path], toy_plugins([("red", tmp_path)])) == []


def test_a_base_without_variants_stays_unlisted(tmp_path: Path) -> None:
    family(tmp_path, variants="# variants: none yet", name="_shared.yaml")
    assert index(tmp_path).headers() == []


def test_a_suite_names_variants_and_overrides_them(tmp_path: Path) -> None:
    family(tmp_path)
    (tmp_path / "s.yaml").write_text(
        "schema: 1\nsuite: s\nversion: 1.0.0\ntitle: S\n"
        "tasks:\n  - toy_hot\n  - {task: red/toy_cold, repeats: 3}\n  - ./toy.yaml:hot\n  - toy\n"
    )
    assert [(task.name, task.repeats) for task in index(tmp_path).expand(["s"])] == [
        ("toy_hot", 1),
        ("toy_cold", 3),
        ("toy", 1),
    ]
    assert check([tmp_path], toy_plugins([("red", tmp_path)])) == []
    (tmp_path / "s.yaml").write_text(
        "schema: 1\nsuite: s\nversion: 1.0.0\ntitle: S\ntasks: [toy_hott, ./toy.yaml:kold]\n"
    )
    assert [(p.message, p.fix and p.fix.partition("?")[0]) for p in check(["s"], toy_plugins([("red", tmp_path)]))] == [
        ("unknown task 'toy_hott'", "Did you mean 'toy_hot' or 'red/toy_hot' or 'toy_cold'"),
        ("./toy.yaml:kold: the file has no variant 'kold'", "Did you mean 'cold'"),
    ]


# --- names, paths and patterns -----------------------------------------------------------------------


def test_a_path_names_the_base_or_a_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = TaskIndex(toy_plugins())
    names = [task.qualified for task in found.expand(["./toy.yaml", "toy.yaml:hot", f"{tmp_path}/toy.yaml:cold"])]
    assert names == ["local/toy", "local/toy_hot", "local/toy_cold"]
    assert [task.name for task in found.expand(["./toy.yaml:*"])] == ["toy_hot", "toy_cold"]
    with pytest.raises(TaskError, match=r"no variant 'hott'. Did you mean 'hot'\?"):
        found.load("./toy.yaml:hott")
    with pytest.raises(UsageError, match="no task matches ':x\\*'"):
        found.expand(["./toy.yaml:x*"])
    with pytest.raises(TaskError, match="there is no such file"):
        found.expand(["./none.yaml:*"])


def test_patterns_choose_tasks_and_never_suites(tmp_path: Path) -> None:
    family(tmp_path)
    (tmp_path / "toy_all.yaml").write_text("schema: 1\nsuite: toy_all\nversion: 1.0.0\ntitle: S\ntasks: [toy]\n")
    found = index(tmp_path)
    assert found.choose(["toy_*"]) == ["red/toy_cold", "red/toy_hot"]
    assert found.choose(["toy*", "red/*", "toy"]) == ["red/toy", "red/toy_cold", "red/toy_hot", "toy"]
    assert found.choose(["toy_[ch]o?[dt]*"]) == ["red/toy_cold"]
    assert [task.name for task in found.expand(["toy", "toy*"])] == ["toy", "toy_cold", "toy_hot"]
    with pytest.raises(UsageError, match="no task matches 'toy_a\\*', only suites: toy_all"):
        found.expand(["toy_a*"])
    with pytest.raises(UsageError, match="no task matches 'toi_\\*'\nDid you mean 'toy'"):
        found.expand(["toi_*"])
    with pytest.raises(UsageError, match="All tasks: creval ls --all"):
        found.expand(["TOY*", "zz[["])


def test_a_pattern_over_two_plugins_takes_both(tmp_path: Path) -> None:
    family(tmp_path / "red")
    family(tmp_path / "blue")
    found = TaskIndex(toy_plugins([("red", tmp_path / "red"), ("blue", tmp_path / "blue")]))
    assert [task.name for task in found.expand(["*_hot"])] == ["blue.toy_hot", "red.toy_hot"]
    with pytest.raises(UsageError, match="2 tasks are called 'toy_hot'"):
        found.load("toy_hot")


def test_an_unknown_name_is_answered_with_the_nearest_variant(tmp_path: Path) -> None:
    family(tmp_path)
    with pytest.raises(UnknownNameError, match="Did you mean 'toy_cold'"):
        index(tmp_path).load("toy_colt")


# --- mistakes ----------------------------------------------------------------------------------------


def test_keys_that_a_file_says_once_are_not_offered_to_a_variant(tmp_path: Path) -> None:
    ((_, _, said),) = faults(family(tmp_path, "variants:\n  odd: {zzqq: 1}\n"))
    known = said.partition("Known keys: ")[2].rstrip(".").split(", ")
    assert "prompt" in known and not {"schema", "task", "include", "variants"} & {*known}


def test_a_mistake_in_a_variant_has_its_own_line(tmp_path: Path) -> None:
    file = family(
        tmp_path,
        "variants:\n"
        "  fine: {repeats: 2}\n"
        "  typo: {titel: x}\n"
        "  wrong:\n"
        "    generation: {temperature: hot}\n"
        "    score: lenght\n",
    )
    assert faults(file) == [
        (line_of(file, "typo:"), "variants.typo.titel", "unknown key 'titel'. Did you mean 'title'?"),
        (
            line_of(file, "temperature: hot"),
            "generation.temperature",
            "must be a number, but is the text 'hot'.",
        ),
        (line_of(file, "lenght"), "score", "unknown scorer 'lenght'. Did you mean 'length'?"),
    ]
    found = index(tmp_path)
    assert found.load("toy_fine").repeats == 2  # a sibling's mistake stops nobody
    for name in ("toy_typo", "toy_wrong"):
        with pytest.raises(TaskError):
            found.load(name)


@pytest.mark.parametrize(
    ("variants", "path", "said"),
    [
        ("variants: {}", "variants", "must not be empty."),
        ("variants: [a, b]", "variants", "must be a mapping, but is a list."),
        ("variants: 3", "variants", "must be a mapping, but is 3."),
        ("variants: {hot: {}}", "variants.hot", "must not be empty."),
        ("variants: {hot: null}", "variants.hot", "must be a mapping, but is empty."),
        ("variants: {hot: [1]}", "variants.hot", "must be a mapping, but is a list."),
        ("variants: {hot: text}", "variants.hot", "must be a mapping, but is the text 'text'."),
        ("variants: {Hot: {repeats: 2}}", "variants.Hot", "the key 'Hot' is not the key of a variant"),
        (
            "variants: {hot: {variants: {x: {repeats: 2}}}}",
            "variants.hot.variants",
            "a variant cannot have its own 'variants'",
        ),
        ("variants: {hot: {task: hot}}", "variants.hot.task", "a variant cannot have its own 'task'."),
        ("variants: {hot: {include: x.yaml}}", "variants.hot.include", "a variant cannot have its own 'include'."),
        ("variants: {hot: {schema: 1}}", "variants.hot.schema", "a variant cannot have its own 'schema'."),
        ("variants: {hot: {repeats: 2}, hot: {repeats: 3}}", "variants.hot", "the key 'hot' occurs twice"),
        (f"variants: {{{'x' * 58}: {{repeats: 2}}}}", "task", "must contain at most 60 characters, but contains 62."),
        ("variants: {hot: {score: null}}", "", "the key 'score' is missing."),
    ],
)
def test_a_faulty_section_is_refused(tmp_path: Path, variants: str, path: str, said: str) -> None:
    file = family(tmp_path, variants)
    found = faults(file)
    assert any(at == path and message.startswith(said) for _, at, message in found), found
    assert all(line == line_of(file, "variants:") for line, _, _ in found)


def test_an_empty_section_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    file = family(tmp_path, "variants:")
    assert faults(file) == []
    assert [header.name for header in index(tmp_path).headers()] == ["toy"]


def test_what_a_file_lacks_is_reported_once_for_all_its_tasks(tmp_path: Path) -> None:
    file = family(tmp_path, title=None, variants="variants:\n  a: {repeats: 2}\n  b: {repeats: 3}\n  c: {title: C}")
    missing = "the key 'title' is missing."
    assert sorted(line or 0 for line, _, said in faults(file) if said.startswith(missing)) == [
        1,
        line_of(file, "a: {"),
        line_of(file, "b: {"),
    ]
    file.write_text(file.read_text().replace("  c: {title: C}\n", ""))
    assert [line for line, _, said in faults(file) if said.startswith(missing)] == [1]


def test_names_that_clash_are_refused(tmp_path: Path) -> None:
    family(tmp_path)
    write_task(tmp_path, "other.yaml", task="task: toy_hot")
    with pytest.raises(UsageError, match=r"2 tasks are called 'toy_hot':\n.*other.yaml\n.*toy.yaml:hot\nRename one"):
        index(tmp_path).load("toy_hot")
    (problem,) = check([tmp_path], toy_plugins())
    assert problem.message.startswith("two tasks are called 'toy_hot': ")
    family(tmp_path / "more", "variants: {b_c: {repeats: 2}}", "a.yaml", task="task: a")
    family(tmp_path / "more", "variants: {c: {repeats: 2}}", "ab.yaml", task="task: a_b")
    (problem,) = check([tmp_path / "more"], toy_plugins())
    assert problem.message.startswith("two tasks are called 'a_b_c'")


def test_a_suite_has_no_variants(tmp_path: Path) -> None:
    write_task(tmp_path)
    file = tmp_path / "s.yaml"
    file.write_text("schema: 1\nsuite: s\nversion: 1.0.0\ntitle: S\ntasks: [toy]\nvariants: {a: {title: A}}\n")
    assert [header.name for header in index(tmp_path).headers()] == ["s", "toy"]
    (problem,) = check(["s"], toy_plugins([("red", tmp_path)]))
    assert problem.message == "unknown key 'variants'"


def test_a_family_that_includes_itself_goes_in_a_circle(tmp_path: Path) -> None:
    file = family(tmp_path, include="include: ./toy.yaml:hot")
    assert any(said.startswith("the includes form a circle") for _, _, said in faults(file))


def test_data_and_fields_of_every_variant_are_checked(tmp_path: Path) -> None:
    file = family(
        tmp_path, "variants:\n  odd:\n    prompt:\n      - {role: user, content: 'Say {{ wrod }}'}\n", tests=None
    )
    plugins = toy_plugins([("red", tmp_path)])
    options = DataOptions.from_environment(offline=True)
    (problem,) = check_all([file], plugins, options)
    assert (problem.line, "wrod" in problem.message) == (line_of(file, "wrod"), True)
    assert check_all(["toy"], plugins, options) == []  # by name: the one task
    assert len(check_all(["toy_o*"], plugins, options)) == 1


# --- what it costs -----------------------------------------------------------------------------------


def test_a_thousand_variants_are_listed_from_one_read_and_loaded_from_one_parse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(f"  v{number}: {{title: No {number}, repeats: {number + 1}}}\n" for number in range(1000))
    family(tmp_path, f"variants:\n{lines}")
    read: list[Path] = []
    real = headers._text

    def counted(file: Path) -> str | Problem:
        read.append(file)
        return real(file)

    monkeypatch.setattr(headers, "_text", counted)
    found = index(tmp_path)
    names = [header.name for header in found.headers()]
    assert len(names) == 1001 and len(set(names)) == 1001 and len(read) == 1
    parsed: list[Path] = []
    from creval.tasks.yaml import yaml_reader

    read_yaml = yaml_reader.read_yaml
    monkeypatch.setattr(yaml_reader, "read_yaml", lambda file: parsed.append(file) or read_yaml(file))  # type: ignore[func-returns-value]
    assert [task.repeats for task in found.expand(["toy_v99?"])] == list(range(991, 1001))
    assert len(parsed) == 1


# --- the fast path says what the YAML reader says ----------------------------------------------------

values = st.one_of(
    st.text("ab: #'\"-[]{},.!&*?|>%@01\\", max_size=10),
    st.sampled_from(
        ['"a}"', "'{'", '"x, y"', "'it''s'", '"a \\" b"', "null", "true", "1.0", "[a, b]", "|", ">-", "{a: b"]
    ),
)
keys = st.sampled_from(["title", "version", "measures", "description", "dataset", '"title"', "task"])
block = st.lists(st.tuples(keys, values), max_size=3).map(
    lambda members: "\n".join(f"    {key}: {value}" for key, value in members)
)
flow = st.lists(st.tuples(keys, values), max_size=3).map(
    lambda members: "{" + ", ".join(f"{key}: {value}" for key, value in members) + "}"
)
member = st.one_of(
    flow.map(lambda text: f" {text}"), block.map(lambda text: f"\n{text}"), values.map(lambda v: f" {v}")
)
extra = st.sampled_from(["", "\n  # comment", "\n", "\n      deeper: x", "\n   odd", "\n  more\n", "\n    - item"])


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "k_2", "Up", "'q'"]), member, extra), min_size=1, max_size=4))
def test_the_lines_say_what_the_yaml_reader_says(members: list[tuple[str, str, str]]) -> None:
    body = "".join(f"  {name}:{text}{more}\n" for name, text, more in members)
    text = f"task: toy\nversion: 1.0.0\nvariants:\n{body}title: T\n"
    scanned = scan(text)
    document = read_yaml_text(text, Path("toy.yaml"))
    if scanned is None or document.root is None:
        return  # the YAML reader is asked, or it is no YAML: whatever the list shows, loading reports it
    expected = plain(document.root)
    assert scanned["title"] == expected["title"]
    assert list(scanned["variants"]) == list(expected["variants"])
    for name, own in expected["variants"].items():
        wanted = {key: own[key] for key in ("version", "title", "measures") if key in (own or {})}
        assert scanned["variants"][name] == wanted


def test_plainly_written_variants_need_no_yaml_reader(tmp_path: Path) -> None:
    for body in (
        TWO,
        'variants:\n    k2: {title: "a: b", x: {y: 1}}  # c\n    k3:\n        description: >-\n          it\'s\n',
    ):
        found = scan(f"task: toy\n{body.strip()}\n")
        assert found is not None and len(found["variants"]) == 2
