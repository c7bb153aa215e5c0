"""Model names: what is one model under many names, and what is another model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import DataError
from creval_validity.tables.aliases import Aliases, normalise, shipped_aliases


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("openrouter/openai/gpt-4.1-mini", "gpt-4-1-mini"),
        ("openai/gpt-5-mini", "gpt-5-mini"),
        ("gpt-4.1-2025-04-14", "gpt-4-1"),
        ("openrouter/meta-llama/llama-3.1-8b-instruct:free", "llama-3-1-8b-instruct"),
        ("hosted_vllm/Qwen/Qwen2.5-72B-Instruct", "qwen-2-5-72b-instruct"),
        ("anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet_thinking"),
        ("anthropic/claude-3.7-sonnet", "claude-3-7-sonnet"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-chat-v3-0324"),
        ("CohereLabs/c4ai-command-r-plus-08-2024", "command-r-plus-08-2024"),
        ("replay/answers/gpt-5.jsonl", "gpt-5"),
        ("Claude Sonnet 4.5", "claude-sonnet-4-5"),
    ],
)
def test_one_model(written: str, canonical: str) -> None:
    assert shipped_aliases().canonical(written) == canonical
    assert shipped_aliases().knows(written)


@pytest.mark.parametrize(
    "written",
    ["gpt-4o-2024-05-13", "claude-3-5-sonnet-20240620", "deepseek-r1-0528", "qwq-32b-preview", "gpt-5:nitro", "gpt-6"],
)
def test_another_model(written: str) -> None:
    assert not shipped_aliases().knows(written)
    assert shipped_aliases().canonical(written) == normalise(written)


def test_suggestions() -> None:
    assert "gpt-4-1-mini" in shipped_aliases().suggestions("openai/gpt-4.1-minni")


def test_a_user_extends_the_table(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    file.write_text("gpt-4o: [gpt-4o-2024-05-13, my deployment]\nnew-model: [nm]\n", encoding="utf-8")
    names = shipped_aliases().extended(file)
    assert names.canonical("azure/my_deployment") == "gpt-4o"
    assert names.canonical("openai/gpt-4o-2024-05-13") == "gpt-4o"
    assert names.canonical("NM") == "new-model"
    assert names.canonical("gpt-5") == "gpt-5"
    assert not shipped_aliases().knows("nm")


def test_a_user_may_name_a_model_by_any_of_its_names(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    file.write_text("Meta-Llama-3.1-8B-Instruct: [llama-small]\n", encoding="utf-8")
    assert shipped_aliases().extended(file).canonical("llama-small") == "llama-3-1-8b-instruct"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n", "must map"),
        ("a: b\n", "needs a list"),
        ("a: [1]\n", "not a text"),
        ("1: [a]\n", "needs a list"),
        ("a: [b\n", "is not YAML"),
        ("a: [x]\nb: [x]\n", "stands for both 'a' and 'b'"),
        ("a: !!python/object/apply:os.system ['true']\n", "is not YAML"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "names.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        shipped_aliases().extended(file)
    assert words in str(caught.value)
    assert "names.yaml" in str(caught.value)


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        shipped_aliases().extended(tmp_path / "none.yaml")


@given(st.text(max_size=40))
def test_normalising_twice_is_once(name: str) -> None:
    once = normalise(name)
    assert normalise(once) == once
    assert Aliases.build({}, "x").canonical(name) == once
