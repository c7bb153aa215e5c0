"""Find the weights of a Hugging Face model: in a user's folder, the cache, or the hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, MissingPartError, ResourceOptions, UsageError
from creval.plugin.data import sha256_of
from creval.plugin.encoders import hub_address, hub_answers

__all__ = ["ModelSource", "find_model", "is_local_only", "library_absent", "not_loaded"]

_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.onnx")
_ABSENT = "in the cached files"
"""Phrases in the library's error for a model that is not cached and cannot, or may not, be fetched."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """`place` is the name for the library, `title` the name in results, `local` whether `place` is a folder.

    `revision` is the hub's revision (commit, tag or branch) to request, None for the newest.
    """

    place: str
    title: str
    local: bool
    revision: str | None = None

    def revision_of(self, config: Any) -> str:
        """Return what pins the weights: the hub's revision, or `sha256:` of the weights in a folder."""
        if self.local:
            for name in _WEIGHTS:
                path = Path(self.place) / name
                if path.is_file():
                    return f"sha256:{sha256_of(path)[:12]}"
        revision = getattr(config, "_commit_hash", None)
        return str(revision)[:12] if revision else "unknown"


def find_model(model: str, options: ResourceOptions) -> ModelSource:
    """Find a model: a path (`/...`, `./...`, `~/...`), else `<cache>/models/<model>`, else the hub's name.

    A folder in the cache has the hub's name, so results made with it show the task's own resource. A name on
    the hub may end in `@REVISION`.
    """
    if model.startswith(("/", "./", "../", "~")):
        folder = Path(model).expanduser().resolve()
        if not folder.is_dir():
            raise MissingPartError(
                f"there is no model folder {folder}", where=model, fix="Correct the path, or name a hub model."
            )
        return ModelSource(str(folder), folder.name, True)
    folder = options.folder / "models" / model
    if folder.is_dir():
        return ModelSource(str(folder), model, True)
    name, _, revision = model.partition("@")
    return ModelSource(name, name, False, revision or None)


def library_absent(model: str, packages: str, error: ImportError) -> MissingPartError:
    """Build the error for a model whose library is not installed."""
    return MissingPartError(
        f"the model {model!r} needs the package {(error.name or packages).partition('.')[0]}, which is not installed",
        fix=f"Install it: pip install {packages}",
    )


def is_local_only(source: ModelSource, options: ResourceOptions) -> bool:
    """Return whether to search for the model only on this machine; so also if the Hub does not respond."""
    return options.offline or source.local or not hub_answers()


def not_loaded(kind: str, source: ModelSource, options: ResourceOptions, error: Exception) -> CrevalError:
    """Build the error for a model with code that was not allowed, or whose weights cannot be loaded."""
    if "trust_remote_code" in str(error) and not options.trust_remote_code:
        return UsageError(
            f"the {kind} comes with its own program code, which would run on this machine",
            where=source.title,
            fix="If you trust its authors, add: --trust-remote-code",
        )
    folder = options.folder / "models" / source.title
    other = " Or name another resource: --resource NAME=R."
    if _ABSENT in str(error) and not options.offline and not source.local and not hub_answers():
        fix = f"Check the network and HF_ENDPOINT, or put the model's folder at {folder}.{other}"
        what = f"the {kind} is not in the cache, and the Hugging Face Hub cannot be reached ({hub_address()})"
        return MissingPartError(what, where=source.title, fix=fix)
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
    fix = (
        f"Run once without --offline, or put the model's folder at {folder}.{other}"
        if options.offline
        else f"Check the name and the connection, or put the model's folder at {folder}.{other}"
    )
    what = f"the {kind} cannot be loaded: {reason}"
    if _ABSENT in str(error) and options.offline:
        what = f"the {kind} is not in the cache, and --offline forbids the network"
    return MissingPartError(what, where=source.title, fix=fix, fetched=options.offline and not source.local)
