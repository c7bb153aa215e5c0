"""Requirements on the core's version: the same answers as the library `packaging`, which a start rarely imports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from creval.plugins.distributions import satisfies

numbers = st.integers(0, 3).map(str)
releases = st.lists(numbers, min_size=1, max_size=3).map(".".join)
endings = st.sampled_from(["", "", "", "a1", "b2", "rc1", ".dev1", ".post1", "a1.dev2", "rc1.post2", ".post1.dev3"])
versions = st.builds(str.__add__, releases, endings)
operators = st.sampled_from(["==", "!=", ">=", "<=", ">", "<", "~="])


@st.composite
def clauses(draw: st.DrawFn) -> str:
    operator = draw(operators)
    version = draw(versions)
    if (
        operator == "~="
        and "." not in version.split("a")[0].split("b")[0].split("r")[0].split(".dev")[0].split(".post")[0]
    ):
        version = f"1.{version}"
    if operator in ("==", "!=") and draw(st.booleans()):
        version = f"{draw(releases)}.*"
    return f"{operator}{draw(st.sampled_from(['', ' ']))}{version}"


@given(versions, st.lists(clauses(), max_size=3))
def test_it_agrees_with_packaging(version: str, requirement: list[str]) -> None:
    text = ",".join(requirement)
    expected = SpecifierSet(text).contains(version, prereleases=True)
    assert satisfies(version, text) is expected


@pytest.mark.parametrize("requirement", ["1.0", "=>1", ">=x", "~=1", ">=1.*", "~1.0"])
def test_what_cannot_be_read_is_an_error(requirement: str) -> None:
    with pytest.raises(ValueError):
        satisfies("1.0", requirement)


def test_an_unreadable_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="Invalid version"):
        satisfies("one", ">=1")
