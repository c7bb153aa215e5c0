"""What a model's name says, and what is said once, before the first call, where something is missing. Without torch."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from creval.errors import MissingPartError, UnknownNameError, UsageError
from creval.models.model_options import ProviderOptions
from creval_hf import weights
from creval_hf.model_name import ModelName
from creval_hf.provider import HfProvider

OFFLINE = ProviderOptions(offline=True)


def test_a_name_with_all_that_it_may_state(tmp_path: Path) -> None:
    name = ModelName.parse(
        "Qwen/Qwen3-0.6B@v1.0?dtype=bfloat16&device=cuda:1&batch_size=8&attention=eager&load_in=4bit"
    )
    assert (name.place, name.revision, name.dtype, name.device) == ("Qwen/Qwen3-0.6B", "v1.0", "bfloat16", "cuda:1")
    assert (name.rows, name.attention, name.load_in, name.title) == (8, "eager", "4bit", "Qwen/Qwen3-0.6B")
    assert ModelName.parse("gpt2").place == "gpt2"
    odd = tmp_path / "a?dtype=x@y"
    odd.mkdir()
    assert ModelName.parse(str(odd)).place == str(odd)
    assert ModelName.parse(f"{tmp_path}?device_map=auto").device_map == "auto"
    assert ModelName.parse("a/b?adapter=c/d@main&context_length=99").adapter == "c/d@main"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a/b/c", "not the name of a model on the Hub"),
        ("a/b@", "not the name of a model on the Hub"),
        ("a b", "not the name of a model on the Hub"),
        ("a/b?dtype=int3", "float32 or bfloat16"),
        ("a/b?device=gpu", "cpu, cuda, cuda:N or mps"),
        ("a/b?batch_size=0", "a whole number from 1"),
        ("a/b?batch_size=" + "9" * 5000, "a whole number from 1"),
        ("a/b?dtype=float32&dtype=float16", "stated twice"),
        ("a/b?device=cpu&device_map=auto", "exclude each other"),
        ("a/b?adapter=", "a name"),
        ("a/b?dtpe=auto", "Did you mean 'dtype'"),
    ],
)
def test_a_wrong_name_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(UsageError, match="hf/") as caught:
        ModelName.parse(text)
    assert words in str(caught.value) and len(str(caught.value).splitlines()) <= 3


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    for gone, query, command in (
        ("torch", "", "pip install 'creval-hf[torch]'"),
        ("transformers", "", "pip install 'creval-hf[transformers]'"),
        ("peft", "?adapter=a/c", "pip install 'creval-hf[peft]'"),
        ("accelerate", "?device_map=auto", "pip install 'creval-hf[accelerate]'"),
        ("bitsandbytes", "?load_in=8bit", "pip install 'creval-hf[bitsandbytes]'"),
    ):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, gone=gone: None if name == gone else find(name))
        with pytest.raises(MissingPartError, match=f"the package {gone} is not installed") as caught:
            HfProvider(f"a/b{query}", OFFLINE)
        assert command in str(caught.value)


def test_a_model_that_is_not_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(MissingPartError, match="--offline forbids the network") as caught:
        HfProvider("some/model", OFFLINE)
    assert "hf download some/model" in str(caught.value)


def cached(cache: Path, files: dict[str, str]) -> None:
    """Lay out a model as the Hub's library does."""
    folder = cache / "models--some--model"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0123456789abcdef0123456789abcdef01234567")
    snapshot = folder / "snapshots" / "0123456789abcdef0123456789abcdef01234567"
    snapshot.mkdir(parents=True)
    for name, text in files.items():
        (snapshot / name).write_text(text)


def test_the_commit_in_the_cache_pins_the_run_and_half_a_model_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    index = json.dumps({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})
    cached(tmp_path, {"config.json": "{}", "model.safetensors.index.json": index, "model-1.safetensors": "x"})
    with pytest.raises(MissingPartError, match="not in the cache"):
        HfProvider("some/model", OFFLINE)
    snapshot = next((tmp_path / "models--some--model" / "snapshots").iterdir())
    (snapshot / "model-2.safetensors").write_text("y")
    assert HfProvider("some/model", OFFLINE).traits.identity["revision"] == "0123456789ab"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (None, "there is no folder"),
        ({}, "the folder has no config.json"),
        ({"adapter_config.json": "{}"}, "?adapter=FOLDER"),
        ({"config.json": "{}"}, "the folder has no weights"),
        ({"config.json": "{}", "model.safetensors.index.json": '{"weight_map": {"a": "gone"}}'}, "lacks gone"),
        ({"config.json": "{}", "model.safetensors.index.json": "["}, "index of the weights cannot be read"),
    ],
)
def test_a_folder_that_holds_no_model(tmp_path: Path, files: dict[str, str] | None, words: str) -> None:
    folder = tmp_path / "model"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    with pytest.raises(MissingPartError) as caught:
        HfProvider(str(folder), OFFLINE)
    assert words in str(caught.value)


def test_the_weights_and_the_template_are_part_of_the_identity(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text("weights")
    first = HfProvider(str(folder), OFFLINE).traits.identity["revision"]
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert first.startswith("sha256:") and HfProvider(str(folder), OFFLINE).traits.identity["revision"] != first


def error_of(kind: str, status: int = 403) -> Exception:
    """Return an error of the Hub's library."""
    import httpx
    from huggingface_hub import errors

    response = httpx.Response(status, request=httpx.Request("GET", "https://huggingface.co/some/model"))
    found: Exception = getattr(errors, kind)("said", response=response)
    return found


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("GatedRepoError", "the model is gated"),
        ("RepositoryNotFoundError", "the Hub has no such model"),
        ("RevisionNotFoundError", "the model has no revision 'v9'"),
        ("RemoteEntryNotFoundError", "it has no config.json"),
        ("HfHubHTTPError", "it cannot be fetched: said"),
    ],
)
def test_what_the_hub_says_is_one_message_before_the_first_call(
    kind: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> str:
        raise error_of(kind)

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(weights, "hub_answers", lambda: True)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", refused)
    provider = HfProvider("some/model@v9", ProviderOptions())
    with pytest.raises(UsageError) as caught:
        provider.prepare()
    assert words in str(caught.value) and len(str(caught.value).splitlines()) <= 3


def test_nobody_answers_at_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(weights, "hub_answers", lambda: False)
    with pytest.raises(MissingPartError, match="the Hugging Face Hub cannot be reached"):
        HfProvider("some/model", ProviderOptions()).prepare()


def test_unknown_options_are_unknown_names() -> None:
    with pytest.raises(UnknownNameError):
        ModelName.parse("a/b?speed=fast")
