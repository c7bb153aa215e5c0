"""Does a version satisfy a requirement such as `>=0.1,<0.2`? The part of PEP 440 that requirements on creval use.

Written here because it runs at every start: importing a whole library for it would double the time of `creval ls`.
"""

from __future__ import annotations

import re

__all__ = ["satisfies"]

_VERSION = (
    r"(?i)v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>a|alpha|b|beta|c|rc|pre|preview)[-_.]?(?P<pre_n>\d*))?"
    r"(?:(?:[-_.]?(?:post|rev|r)[-_.]?(?P<post>\d*))|(?:-(?P<post_bare>\d+)))?"
    r"(?:[-_.]?dev[-_.]?(?P<dev>\d*))?"
    r"(?:\+[a-z0-9.]+)?"
)
_CLAUSE = r"(~=|===|==|!=|<=|>=|<|>)\s*([^\s,]+)"
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_FINAL = 3

Key = tuple[tuple[int, ...], tuple[int, int], int, float]


def satisfies(version: str, requirement: str) -> bool:
    """Whether `version` meets every clause of `requirement` (comma-separated; empty: any version).

    Raises ValueError where either cannot be read.
    """
    clauses = [clause.strip() for clause in requirement.strip().strip("()").split(",") if clause.strip()]
    return all(_meets(version, clause) for clause in clauses)


def _meets(version: str, clause: str) -> bool:
    match = re.fullmatch(_CLAUSE, clause)
    if match is None:
        raise ValueError(f"cannot read the version requirement {clause!r}")
    operator, wanted = match.groups()
    if operator == "===":
        return version == wanted
    if wanted.endswith(".*"):
        if operator not in ("==", "!="):
            raise ValueError(f"{operator} takes no wildcard: {clause!r}")
        return _starts_with(version, wanted[:-2]) is (operator == "==")
    have, want = _key(version), _key(wanted)
    if operator == "~=":
        stem = _release(wanted)[:-1]
        if not stem:
            raise ValueError(f"~= needs at least two numbers: {clause!r}")
        return have >= want and _starts_with(version, ".".join(map(str, stem)))
    if operator == "<":
        # A pre-release of the excluded version is excluded too (PEP 440, exclusive ordered comparison).
        return have < want and not (_is_early(have) and not _is_early(want) and have[0] == want[0])
    if operator == ">":
        return have > want and not (have[0] == want[0] and have[2] >= 0 and want[2] < 0)
    return {"==": have == want, "!=": have != want, "<=": have <= want, ">=": have >= want}[operator]


def _is_early(key: Key) -> bool:
    return key[1][0] < _FINAL or key[3] != float("inf")


def _starts_with(version: str, stem: str) -> bool:
    wanted = _release(stem)
    have = _release(version)
    have += (0,) * (len(wanted) - len(have))
    return have[: len(wanted)] == wanted


def _match(version: str) -> re.Match[str]:
    match = re.fullmatch(_VERSION, version.strip())
    if match is None:
        raise ValueError(f"cannot read the version {version!r}")
    return match


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _match(version)["release"].split("."))


def _key(version: str) -> Key:
    """Order versions: release without trailing zeros, stage (dev before a, b, rc, final), post, dev number."""
    plain = version.replace(".", "0")
    if plain.isascii() and plain.isdigit() and ".." not in f".{version}.":  # nearly all are, and need no pattern
        return _shortened(version), (_FINAL, 0), -1, float("inf")
    match = _match(version)
    post_text = match["post"] if match["post"] is not None else match["post_bare"]
    has_post = post_text is not None
    dev = match["dev"]
    if match["pre"]:
        stage = (_STAGES[match["pre"].lower()], int(match["pre_n"] or 0))
    elif dev is not None and not has_post:
        stage = (-1, 0)
    else:
        stage = (_FINAL, 0)
    return (
        _shortened(match["release"]),
        stage,
        int(post_text or 0) if has_post else -1,
        float("inf") if dev is None else int(dev or 0),
    )


def _shortened(release: str) -> tuple[int, ...]:
    """Return the numbers of a release without trailing zeros."""
    numbers = [int(part) for part in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
