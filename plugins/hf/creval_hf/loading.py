"""Load a model and its tokenizer with transformers, and explain in plain words why it fails."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, MissingPartError, UsageError
from creval_hf.model_name import ModelName
from creval_hf.weights import Found

__all__ = ["Loaded", "check_config", "check_device", "chosen_device", "load", "versions"]

_LONGEST = ("n_positions", "max_position_embeddings", "n_ctx")
_DEFAULT_LENGTH = 2048
_NO_LENGTH = 10**9  # tokenizers without a limit state a thirty-digit number


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded model, its tokenizer, and its longest text in tokens."""

    model: Any
    tokenizer: Any
    length: int

    @property
    def device(self) -> Any:
        """Return the device for inputs."""
        return self.model.device

    @property
    def begin(self) -> int:
        """Return the token before a text: the tokenizer's first, else its last special token."""
        tokenizer = self.tokenizer
        token = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if token is None:
            what = "the tokenizer has no token that begins or ends a text, so a text without a context has no start"
            raise UsageError(what, where="log-likelihoods", fix="State a prefix: protocol: {choices: {prefix: ...}}")
        return int(token)

    @property
    def padding(self) -> int:
        """Return a token for masked positions."""
        tokens = (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id, 0)
        return int(next(token for token in tokens if token is not None))

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a plain text, with the tokenizer's special tokens, but never two first ones."""
        first = self.tokenizer.bos_token or self.tokenizer.eos_token
        twice = bool(first) and text.startswith(first)
        return list(self.tokenizer.encode(text, add_special_tokens=not twice))

    def encode_exactly(self, text: str) -> list[int]:
        """Return the tokens of a text, without added ones."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))


def versions() -> str:
    """Return the versions of the computing libraries: answers may depend on them."""
    from importlib.metadata import version

    return f"transformers {version('transformers')}, torch {version('torch')}"


def check_device(name: ModelName) -> None:
    """Raise UsageError if the named device is missing; imports torch if the name states one."""
    if name.device in (None, "cpu"):
        return
    import torch

    kind, _, number = str(name.device).partition(":")
    where, fix = f"model hf/{name.title}", "Leave device out, or use device=cpu."
    if kind == "mps" and not torch.backends.mps.is_available():
        raise UsageError("there is no GPU of Apple (mps) on this machine", where=where, fix=fix)
    if kind == "cuda" and not torch.cuda.is_available():
        what = f"torch {torch.__version__} finds no GPU (CUDA) on this machine"
        raise UsageError(what, where=where, fix=f"{fix} For CUDA install torch from https://pytorch.org.")
    if number and int(number) >= torch.cuda.device_count():
        raise UsageError(f"there are {torch.cuda.device_count()} GPUs, counted from 0", where=where, fix=fix)


def chosen_device(name: ModelName) -> str:
    """Return the device to use."""
    import torch

    if name.device_map:
        return f"device_map={name.device_map}"
    return name.device or ("cuda" if torch.cuda.is_available() else "cpu")


def check_config(name: ModelName, found: Found, trusted: bool, offline: bool) -> str:
    """Read the model's configuration, and return the data type of its computation.

    Raises UsageError if it is not a generative model, or has code that was not allowed.
    """
    import transformers

    where = f"model hf/{name.title}"
    try:
        config = transformers.AutoConfig.from_pretrained(found.place, **_how(found, trusted, offline))
    except Exception as error:  # a configuration or its code may raise any error
        raise _explained(error, name, trusted) from None
    known = type(config) in transformers.AutoModelForCausalLM._model_mapping
    own_code = "AutoModelForCausalLM" in (getattr(config, "auto_map", None) or {})
    if not known and not own_code:
        what = f"a model of type {config.model_type!r} answers no questions with text"
        raise UsageError(what, where=where, fix="Name a causal language model.")
    if not known and not trusted:
        raise _untrusted(where)
    stated = getattr(config, "dtype", None)
    return str(stated or "float32").removeprefix("torch.") if name.dtype == "auto" else name.dtype


def load(name: ModelName, found: Found, adapter: Found | None, trusted: bool, offline: bool) -> Loaded:
    """Load weights and tokenizer. Raises UsageError, MissingPartError."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    how = _how(found, trusted, offline)
    weights: dict[str, Any] = {**how, "dtype": name.dtype}
    if name.attention:
        weights["attn_implementation"] = name.attention
    if name.device_map:
        weights["device_map"] = name.device_map
    if name.load_in:
        weights["quantization_config"] = transformers.BitsAndBytesConfig(**{f"load_in_{name.load_in}": True})
        weights.setdefault("device_map", {"": chosen_device(name)})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tokenizer = transformers.AutoTokenizer.from_pretrained(found.place, **how)
            model = transformers.AutoModelForCausalLM.from_pretrained(found.place, **weights)
            if adapter is not None:
                model = _adapted(model, adapter, offline)
        if "device_map" not in weights:
            model = model.to(torch.device(chosen_device(name)))
    except CrevalError:
        raise
    except Exception as error:  # transformers, torch, safetensors and the model's code may raise any error
        raise _explained(error, name, trusted) from None
    model.eval()
    return Loaded(model, tokenizer, name.context or _length(model.config, tokenizer))


def _adapted(model: Any, adapter: Found, offline: bool) -> Any:
    import peft

    adapted = peft.PeftModel.from_pretrained(
        model, adapter.place, revision=adapter.commit, local_files_only=offline or adapter.commit is None
    )
    return adapted.merge_and_unload() if _can_merge(model) else adapted


def _can_merge(model: Any) -> bool:
    """Return whether to merge an adapter into the weights: 4- or 8-bit weights would be rounded again."""
    return getattr(model, "quantization_method", None) is None


def _how(found: Found, trusted: bool, offline: bool) -> Mapping[str, Any]:
    how: dict[str, Any] = {"trust_remote_code": trusted, "local_files_only": offline or found.commit is None}
    return how | ({"revision": found.commit} if found.commit else {})


def _length(config: Any, tokenizer: Any) -> int:
    """Return the longest text of a model, as lm-eval determines it."""
    inner = getattr(config, "text_config", None) or config
    stated = [getattr(inner, name, None) for name in _LONGEST]
    length = next((int(each) for each in stated if each is not None), None)
    if length is not None:
        return length
    own = getattr(tokenizer, "model_max_length", None)
    return int(own) if own is not None and own < _NO_LENGTH else _DEFAULT_LENGTH


def _untrusted(where: str) -> UsageError:
    what = "the model comes with its own program code, which would run on this machine"
    return UsageError(what, where=where, fix="If you trust its authors, add: --trust-remote-code")


def _explained(error: Exception, name: ModelName, trusted: bool) -> CrevalError:
    """Return the explanation of a library's error."""
    where, said = f"model hf/{name.title}", str(error).strip()
    if "trust_remote_code" in said and not trusted:
        return _untrusted(where)
    reason = (said.splitlines() or [""])[0][:300] or type(error).__name__
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0]
        fix = f"Install it: pip install {package}" if package else "Install the package that it names."
        return MissingPartError(f"it cannot be loaded: {reason}", where=where, fix=fix)
    if _is_out_of_memory(error):
        fix = "Use a smaller model, dtype=bfloat16, load_in=4bit, or device_map=auto."
        return UsageError("the weights do not fit into memory", where=where, fix=fix)
    if "type" in said and "Transformers does not recognize" in said:
        fix = "Install a newer transformers: pip install -U transformers"
        return UsageError(f"it cannot be loaded: {reason}", where=where, fix=fix)
    what = f"it cannot be loaded: {type(error).__name__}: {reason}"
    fix = f"Check the files of {Path(name.place)}." if name.local else "Check the name, and what the message says."
    return UsageError(what, where=where, fix=fix)


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    said = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in said or "can't allocate memory" in said)
