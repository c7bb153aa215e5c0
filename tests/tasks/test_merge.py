"""The merge rule: its algebra, and that every value keeps the place it was written at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from creval.tasks.yaml.includes import merge
from creval.tasks.yaml.nodes import Node, plain, walk
from creval.tasks.yaml.yaml_reader import read_yaml_text

names = st.sampled_from("abcde")
values = st.integers(0, 9) | st.text("xyz", max_size=3) | st.lists(st.integers(0, 9), max_size=3)


def mappings(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    inner = st.recursive(leaves, lambda deeper: st.dictionaries(names, deeper, max_size=4), max_leaves=12)
    return st.dictionaries(names, inner, max_size=5)


without_nulls = mappings(values)
of_one_shape = st.recursive(  # a key that holds a mapping once holds one always
    st.dictionaries(names, values, max_size=3),
    lambda inner: st.builds(
        dict.__or__, st.dictionaries(names, values, max_size=3), st.dictionaries(st.sampled_from("XYZ"), inner)
    ),
    max_leaves=8,
)
with_nulls = mappings(values | st.none())


def merge_plain(base: Any, over: Any) -> Any:
    """The rule, for plain data."""
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    merged = dict(base)
    for key, upper in over.items():
        if key not in merged:
            merged[key] = upper
        elif upper is None:
            del merged[key]
        else:
            merged[key] = merge_plain(merged[key], upper)
    return merged


def node(value: Any, file: str) -> Node:
    root = read_yaml_text(json.dumps(value), Path(file)).root
    assert root is not None
    return root


@given(with_nulls)
def test_laying_over_nothing_changes_nothing(value: dict[str, Any]) -> None:
    assert merge_plain({}, value) == value
    assert merge_plain(value, {}) == value


@given(without_nulls, without_nulls)
def test_the_upper_one_wins_and_laying_it_over_again_changes_nothing(
    base: dict[str, Any], over: dict[str, Any]
) -> None:
    once = merge_plain(base, over)
    assert merge_plain(once, over) == once
    for key, value in over.items():
        if not isinstance(value, dict) or not isinstance(base.get(key), dict):
            assert once[key] == value
    for key in base.keys() - over.keys():
        assert once[key] == base[key]
    assert once.keys() == base.keys() | over.keys()


@given(of_one_shape, of_one_shape, of_one_shape)
def test_for_files_of_one_shape_it_does_not_matter_which_two_are_merged_first(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    assert merge_plain(merge_plain(one, two), three) == merge_plain(one, merge_plain(two, three))


@given(with_nulls, with_nulls)
def test_a_null_takes_away_exactly_what_the_base_has(base: dict[str, Any], over: dict[str, Any]) -> None:
    merged = merge_plain(base, over)
    for key, value in over.items():
        if value is None:
            assert (key in merged) == (key not in base)


@given(with_nulls, with_nulls)
def test_nodes_merge_as_plain_data_do_and_keep_their_places(base: dict[str, Any], over: dict[str, Any]) -> None:
    lower, upper = node(base, "base.yaml"), node(over, "over.yaml")
    merged = merge(lower, upper)
    assert plain(merged) == merge_plain(base, over)
    below = {path: member.place for path, member in walk(lower)}
    above = {path: member.place for path, member in walk(upper)}
    for path, member in walk(merged):
        source = above if member.place.file.name == "over.yaml" else below
        assert source[path] == member.place


def test_the_written_rule_by_example() -> None:
    base = {"generation": {"temperature": 1, "max_tokens": 5}, "parse": ["a", "b"], "floor": {"width": 3}}
    over = {"generation": {"temperature": 0, "top_p": 0.5}, "parse": ["c"], "floor": None, "new": {"x": None}}
    assert merge_plain(base, over) == {
        "generation": {"temperature": 0, "max_tokens": 5, "top_p": 0.5},
        "parse": ["c"],
        "new": {"x": None},
    }
