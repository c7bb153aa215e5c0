"""The YAML reader: right data, right places, and no harm from hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from creval.tasks.yaml import yaml_reader
from creval.tasks.yaml.nodes import Node, format_path, plain, walk
from creval.tasks.yaml.scalars import resolve
from creval.tasks.yaml.yaml_reader import MAX_BYTES, read_yaml, read_yaml_text

FILE = Path("task.yaml")

numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
scalars = st.none() | st.booleans() | numbers | texts
data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def read(text: str) -> Node:
    document = read_yaml_text(text, FILE)
    assert document.problems == ()
    assert document.root is not None
    return document.root


def messages(text: str) -> list[str]:
    return [str(problem) for problem in read_yaml_text(text, FILE).problems]


# --- properties ------------------------------------------------------------------------------------------


@given(data)
def test_json_means_what_it_means_in_json(value: Any) -> None:
    assume("<<" not in json.dumps(value))
    assert plain(read(json.dumps(value, ensure_ascii=False))) == value


@given(st.dictionaries(texts, data, min_size=1, max_size=4), st.integers(1, 4))
def test_every_place_points_at_its_value_and_key(value: dict[str, Any], indent: int) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    assume('"<<"' not in text)
    lines = text.split("\n")
    for _, node in walk(read(text)):
        written = lines[node.place.line - 1][node.place.column - 1 :]
        expected = plain(node)
        start = "{" if node.is_mapping else "[" if node.is_list else json.dumps(expected, ensure_ascii=False)
        assert written.startswith(start)
        if node.key is not None:
            assert lines[node.key.line - 1][node.key.column - 1 :].startswith('"')


class _Writer:
    """Writes data in block style and notes where each value and key begins."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.values: dict[str, tuple[int, int]] = {}
        self.keys: dict[str, tuple[int, int]] = {}

    def write(self, value: Any, indent: int, path: tuple[str | int, ...], lead: str = "") -> None:
        """Write a value whose first line begins with `lead` (a key or a dash)."""
        name = format_path(path)
        pad = " " * indent
        if isinstance(value, dict) and value:
            if lead:
                self.lines.append(lead)
            for number, (key, member) in enumerate(value.items()):
                if number == 0:
                    self.values[name] = (len(self.lines) + 1, indent + 1)
                inner = (*path, key)
                self.keys[format_path(inner)] = (len(self.lines) + 1, indent + 1)
                self.write(member, indent + 2, inner, f"{pad}{json.dumps(key, ensure_ascii=False)}:")
        elif isinstance(value, list) and value:
            if lead:
                self.lines.append(lead)
            for number, member in enumerate(value):
                if number == 0:
                    self.values[name] = (len(self.lines) + 1, indent + 1)
                self.write(member, indent + 2, (*path, number), f"{pad}-")
        else:
            lead = f"{lead} " if lead else pad
            self.values[name] = (len(self.lines) + 1, len(lead) + 1)
            self.lines.append(f"{lead}{json.dumps(value, ensure_ascii=False)}")


names = st.text("abcxyz_", min_size=1, max_size=5)
block_data = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text("abc :#-", max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=25,
)


@given(block_data)
def test_places_in_block_style_are_exactly_where_the_writer_put_them(value: Any) -> None:
    writer = _Writer()
    writer.write(value, 0, ())
    root = read("\n".join(writer.lines) + "\n")
    assert plain(root) == value
    found = {format_path(path): (node.place.line, node.place.column) for path, node in walk(root)}
    keys = {format_path(path): (node.key.line, node.key.column) for path, node in walk(root) if node.key}
    assert found == writer.values
    assert keys == writer.keys


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_no_text_makes_the_reader_raise(text: str) -> None:
    document = read_yaml_text(text, FILE)
    assert document.problems or document.root is not None


@given(block_data)
def test_the_compiled_and_the_python_parser_agree(value: Any) -> None:
    writer = _Writer()
    writer.write(value, 0, ())
    text = "\n".join(writer.lines) + "\n"
    with pytest.MonkeyPatch.context() as patch:
        compiled = list(walk(read(text)))
        patch.setattr(yaml_reader, "_LOADER", yaml.SafeLoader)
        assert list(walk(read(text))) == compiled


# --- scalars ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False),
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("1:30", "1:30"), ("2024-01-01", "2024-01-01"),
        ("12", 12), ("-3", -3), ("+4", 4), ("0o17", 15), ("0x1F", 31), ("017", 17),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e-3", 0.001), ("-2E4", -20000.0),
        ("1_000", "1_000"), ("1.0.0", "1.0.0"), ("arXiv:2605.13450", "arXiv:2605.13450"), ("-", "-"), ("٣", "٣"),
    ],
)  # fmt: skip
def test_plain_scalars_follow_yaml_1_2(text: str, value: Any) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [".nan", "-.inf", "1e999", "9" * 500])
def test_numbers_that_json_cannot_hold_are_refused_with_their_place(text: str) -> None:
    (problem,) = read_yaml_text(f"a: 1\nb: {text}\n", FILE).problems
    assert (problem.line, problem.column, problem.path) == (2, 4, "b")


def test_quoted_and_block_scalars_are_texts() -> None:
    root = read("a: '1'\nb: \"true\"\nc: |\n  12\nd: !!str 5\n")
    assert plain(root) == {"a": "1", "b": "true", "c": "12\n", "d": "5"}


def test_a_block_scalar_knows_its_first_line_of_text() -> None:
    root = read("a: 1\nprompt: |\n  first\n  second\n")
    prompt = root.get("prompt")
    assert prompt is not None and prompt.place.text_line == 3


# --- what is refused -------------------------------------------------------------------------------------


def test_every_duplicate_key_is_reported_with_the_first_line() -> None:
    found = messages("a: 1\nb: {x: 1, x: 2}\na: 3\n")
    assert found == [
        "task.yaml:2:11: [b.x] the key 'x' occurs twice; the first is on line 2. Remove one of the two.",
        "task.yaml:3:1: [a] the key 'a' occurs twice; the first is on line 1. Remove one of the two.",
    ]


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system",
        "!!python/name:os.system",
        "!local",
        "!!binary",
        "!!set",
        "!!timestamp",
        "!!int",
    ],
)
def test_a_tag_is_refused_and_nothing_runs(tag: str, tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    (found,) = messages(f"a: {tag} ['touch {witness}']\n")
    assert found.startswith("task.yaml:1:4: [a] the tag")
    assert tag in found
    assert not witness.exists()


def test_an_alias_is_written_out_with_its_own_key_place() -> None:
    root = read("a: &x {k: 1}\nb: *x\n")
    assert plain(root) == {"a": {"k": 1}, "b": {"k": 1}}
    b = root.get("b")
    assert b is not None and b.key is not None and b.key.line == 2


def test_a_bomb_of_aliases_is_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (found,) = messages("\n".join(lines))
    assert "more than 50,000 values, aliases written out" in found


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a: &x [*x]", "has no finished anchor"),
        ("a: *nope", "has no finished anchor"),
        ("<<: {a: 1}", "merge key"),
        ("a: 1\n---\nb: 2", "second document"),
        ("? {a: 1}\n: 2", "a key must be a text"),
        ("[" * 60 + "]" * 60, "nested deeper than 40"),
        ("[" * 200_000, "nest"),
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("a: 1\nb: 'open\nc: 2", "task.yaml:2:4: not valid YAML"),
        ("a: 'open", "Close the quotes that are opened here"),
        ("a:\n\tb: 1", "Indent with blanks"),
        ("a:\n  - b\n - c", "Check the indentation"),
        ("a: b: c", "Put a text that contains ': ' in quotes"),
        ("a: \x07", "is not allowed in YAML"),
    ],
)
def test_what_no_task_needs_is_refused(text: str, part: str) -> None:
    found = messages(text)
    assert len(found) == 1
    assert part in found[0]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_bytes(b"a: " + b"x" * MAX_BYTES)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"a: 1\nb: caf\xe9\n")
    for file, part in [
        (large, "larger than"),
        (latin, "latin.yaml:2:7: the file is not UTF-8 text. Save it as UTF-8."),
        (tmp_path / "nope.yaml", "there is no such file"),
        (tmp_path, "this is a folder, not a file. Name a file in it."),
    ]:
        document = read_yaml(file)
        assert document.root is None
        assert part in str(document.problems[0])


def test_a_byte_order_mark_is_no_part_of_the_data(tmp_path: Path) -> None:
    file = tmp_path / "mark.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    root = read_yaml(file).root
    assert root is not None and plain(root) == {"a": 1}


def test_a_file_without_end_is_read_up_to_the_bound():
    document = read_yaml(Path("/dev/zero"))
    assert "larger than" in document.problems[0].message
