"""Resources are opened by `<component>/<rest>`, and what is missing comes with a fix."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from creval.errors import MissingPartError, PluginError, UnknownNameError, UsageError
from creval.plugins.builtin import register
from creval.plugins.registry import Registry
from creval.resources.open_resource import open_resource, resolve
from creval.resources.resource_options import ResourceOptions
from creval.user_folders import cache_folder


class Flat:
    dimension = 2

    def __init__(self, model: str, options: ResourceOptions) -> None:
        self.name = f"flat/{model}@1"

    def has(self, text: str) -> bool:
        return True

    def embed(self, texts: Any) -> np.ndarray:
        return np.ones((len(texts), 2), dtype=np.float32)


def no_embedding(model: str, options: ResourceOptions) -> object:
    return object()


class Uneven:
    def __init__(self, model: str, options: ResourceOptions) -> None: ...

    def predict(self, pairs: Any) -> np.ndarray:
        return np.full((len(pairs), 3), 0.9)


@pytest.fixture
def registry() -> Registry:
    registry = Registry().scoped("core")
    register(registry)
    registry.add("embedding", "flat", f"{__name__}:Flat")
    registry.add("embedding", "hollow", f"{__name__}:no_embedding")
    registry.add("entailment", "uneven", f"{__name__}:Uneven")
    registry.add("wordlist", "flat", f"{__name__}:no_embedding")
    return registry


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or __import__("types").ModuleType(__name__))
    for thing in (Flat, no_embedding, Uneven):
        monkeypatch.setattr(sys.modules[__name__], thing.__name__, thing, raising=False)


def test_an_embedding_is_opened_by_kind_and_wrapped(registry: Registry, tmp_path: Path) -> None:
    embedding = open_resource("embedding", "flat/a/b", registry, ResourceOptions(cache=tmp_path))
    assert embedding.name == "flat/a/b@1"
    assert embedding.embed(["x"]).shape == (1, 2)


def test_a_name_of_the_tasks_own_needs_one_kind(registry: Registry) -> None:
    component, rest = resolve("nouns", "file/list.txt", registry)
    assert (component.kind, rest) == ("wordlist", "list.txt")
    with pytest.raises(UsageError, match="embedding and wordlist"):
        resolve("second", "flat/x", registry)


def test_unknown_components_name_the_nearest(registry: Registry) -> None:
    with pytest.raises(UnknownNameError, match="hollow"):
        resolve("embedding", "holow/x", registry)


def test_what_is_no_resource_is_refused(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="without name, dimension, has, embed"):
        open_resource("embedding", "hollow/x", registry, ResourceOptions(cache=tmp_path))


def test_entailment_must_be_a_distribution(registry: Registry) -> None:
    from creval.errors import ScoringError

    entailment = open_resource("entailment", "uneven/x", registry, ResourceOptions())
    assert entailment.name == "uneven/x"
    assert entailment.predict([]).shape == (0, 3)
    with pytest.raises(ScoringError, match="no distribution"):
        entailment.predict([("a", "b")])


def test_word_files(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "words.txt.gz"
    path.write_bytes(gzip.compress(b"# mine\ncat\n\n dog \ncat\n"))
    words = open_resource("wordlist", f"file/{path}", registry, ResourceOptions())
    assert words.words == ("cat", "dog") and "dog" in words and "cow" not in words
    assert words.name.startswith("file/words.txt.gz@sha256:")
    with pytest.raises(MissingPartError, match="cannot be read"):
        open_resource("wordlist", "file/none.txt", registry, ResourceOptions())


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "own"))
    assert ResourceOptions().folder == cache_folder() == tmp_path / "own"
    monkeypatch.delenv("CREVAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "creval"


def test_a_sandbox_whose_distribution_is_absent(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("creval.plugins.distributions.installed_version", lambda name: None)
    with pytest.raises(MissingPartError) as caught:
        resolve("sandbox", "bubblewrap/plain", registry)
    assert caught.value.what == "the sandbox 'bubblewrap' is part of creval-sandbox, which is not installed"
    assert caught.value.fix == "pip install creval-sandbox"
    monkeypatch.setattr("creval.plugins.distributions.installed_version", lambda name: "0.1.0")
    with pytest.raises(UnknownNameError):  # installed, and not loaded
        resolve("sandbox", "bubblewrap/plain", registry)
