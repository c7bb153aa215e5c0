"""Find the weights of a model and the revision that pins them, without torch."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

from creval.plugin import MissingPartError, UsageError
from creval.plugin.data import sha256_of
from creval.plugin.encoders import hub_address, hub_answers
from creval_hf.model_name import ModelName

__all__ = ["CONFIG", "Found", "check_packages", "find_cached", "find_on_hub"]

CONFIG = "config.json"
_ADAPTER = "adapter_config.json"
_WHOLE = ("model.safetensors", "pytorch_model.bin")
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_OTHER_FILES = ("generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
"""Files other than the weights that affect the answers."""
_PACKAGES = {"torch": "creval-hf[torch]", "transformers": "creval-hf[transformers]"}


@dataclass(frozen=True, slots=True)
class Found:
    """`place` is the name for transformers; `revision` pins the weights: a Hub commit, or `sha256:` of files."""

    place: str
    revision: str
    commit: str | None = None


def check_packages(name: ModelName) -> None:
    """Raise MissingPartError if a package that this model needs is not installed."""
    needed = dict(_PACKAGES)
    if name.device_map or name.load_in:
        needed["accelerate"] = "creval-hf[accelerate]"
    if name.load_in:
        needed["bitsandbytes"] = "creval-hf[bitsandbytes]"
    if name.adapter:
        needed["peft"] = "creval-hf[peft]"
    for package, requirement in needed.items():
        if importlib.util.find_spec(package) is None:
            raise MissingPartError(
                f"the package {package} is not installed",
                where=f"model hf/{name.title}",
                fix=f"Install it: pip install '{requirement}'",
            )


def find_cached(place: str, local: bool, revision: str | None, config: str = CONFIG) -> Found | None:
    """Return a folder, or the model in the Hub's cache; None if the model or some of its weights are missing.

    Raises MissingPartError if a folder is missing or has no model.
    """
    if local:
        folder = Path(place)
        _check_folder(folder, config)
        names = [config, *_weights(folder, config), *(name for name in _OTHER_FILES if (folder / name).is_file())]
        files = [folder / name for name in names]
        return Found(place, f"sha256:{_digest(files)}")
    import huggingface_hub

    path = huggingface_hub.try_to_load_from_cache(place, config, revision=revision)
    if not isinstance(path, str):
        return None
    folder = Path(path).parent
    names = _weights(folder, config)
    if not names or not all((folder / name).is_file() for name in names):
        return None
    return Found(place, folder.name[:12], folder.name)


def find_on_hub(place: str, revision: str | None, config: str = CONFIG) -> Found:
    """Ask the Hub for a model's commit, and fetch its configuration. Raises UsageError, MissingPartError."""
    import huggingface_hub
    from huggingface_hub import errors

    where = f"model hf/{place}"
    if not hub_answers():
        raise MissingPartError(
            f"it is not in the cache, and the Hugging Face Hub cannot be reached ({hub_address()})",
            where=where,
            fix="Check the network and HF_ENDPOINT, or name a folder: hf/./folder",
        )
    try:
        path = huggingface_hub.hf_hub_download(place, config, revision=revision)
    except errors.GatedRepoError:
        fix = f"Accept its terms at {hub_address()}/{place}, then set HF_TOKEN to a token of your account."
        raise UsageError("the model is gated, and this account may not read it", where=where, fix=fix) from None
    except errors.RevisionNotFoundError:
        what = f"the model has no revision {revision!r}"
        raise UsageError(what, where=where, fix=f"Look for it at {hub_address()}/{place}/commits/main") from None
    except errors.RepositoryNotFoundError:
        fix = "Correct the name. A private model needs HF_TOKEN."
        raise UsageError(
            "the Hub has no such model, or does not show it to this account", where=where, fix=fix
        ) from None
    except errors.EntryNotFoundError as error:
        if isinstance(error, errors.LocalEntryNotFoundError):
            fix = "Check the network and HF_HUB_OFFLINE, or name a folder: hf/./folder"
            what = "it is not in the cache, and cannot be fetched"
            raise MissingPartError(what, where=where, fix=fix) from None
        fix = "Name a model of transformers: GGUF files run as embedded/FILE.gguf, adapters as ?adapter=NAME."
        raise UsageError(f"it has no {config}", where=where, fix=fix) from None
    except (OSError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        fix = "Check the network and the name, or name a folder: hf/./folder"
        raise MissingPartError(f"it cannot be fetched: {reason}", where=where, fix=fix) from None
    commit = Path(path).parent.name
    return Found(place, commit[:12], commit)


def _check_folder(folder: Path, config: str) -> None:
    where = f"model hf/{folder.name}"
    if not folder.is_dir():
        raise MissingPartError(f"there is no folder {folder}", where=where, fix="Correct the path.")
    if not (folder / config).is_file():
        fix = "Name a folder that save_pretrained wrote."
        if config == CONFIG and (folder / _ADAPTER).is_file():
            fix = "It is an adapter: name its base model, and ?adapter=FOLDER after it."
        raise MissingPartError(f"the folder has no {config}", where=str(folder), fix=fix)
    names = _weights(folder, config)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing or not names:
        what = f"the folder lacks {missing[0]}" if missing else f"the folder has no weights ({_WHOLE[0]})"
        raise MissingPartError(what, where=str(folder), fix="Copy all files of the model into it.")


def _weights(folder: Path, config: str) -> list[str]:
    """Return the names of the files with weights; an index may name several."""
    if config == _ADAPTER:
        return [name for name in ("adapter_model.safetensors", "adapter_model.bin") if (folder / name).is_file()][:1]
    for whole, index in zip(_WHOLE, _INDEXES, strict=True):
        if (folder / whole).is_file():
            return [whole]
        if (folder / index).is_file():
            try:
                listed = json.loads((folder / index).read_text(encoding="utf-8"))["weight_map"].values()
            except (ValueError, KeyError, AttributeError):
                raise MissingPartError("the index of the weights cannot be read", where=str(folder / index)) from None
            return sorted({str(name) for name in listed})
    return []


def _digest(files: list[Path]) -> str:
    joined = "".join(f"{path.name} {sha256_of(path)}\n" for path in files)
    return hashlib.sha256(joined.encode()).hexdigest()[:12]
