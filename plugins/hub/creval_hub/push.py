"""`creval push`: add runs to a dataset on the Hub, in one commit or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from creval.plugin import Run, UsageError
from creval_hub.access import check_repository, hub_errors, open_hub
from creval_hub.bundle import Bundle, make_bundle
from creval_hub.card import card

__all__ = ["Plan", "Pushed", "plan_push", "push_runs"]

_CARD = "README.md"


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of a push: the names of the runs there, each path with its bytes, and the card."""

    names: Sequence[str]
    sizes: Mapping[str, int]
    card: str


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of a push: the names of the runs there, the address of the commit, the changed paths (none: nothing).

    `private`: whether only the dataset's owner sees it.
    """

    names: Sequence[str]
    url: str
    changed: tuple[str, ...]
    private: bool


def plan_push(runs: Sequence[Run], repository: str, *, texts: bool = True) -> Plan:
    """Return the content of a push to an empty repository. The network is not touched; raises as `push_runs` does."""
    check_repository(repository)
    with TemporaryDirectory(prefix="creval-push-") as folder:
        bundle = _joined(runs, Path(folder), texts)
        sizes = {path: file.stat().st_size for path, file in sorted(bundle.files.items())}
    return Plan([*bundle.made], sizes, card(None, repository, sizes, bundle.made))


def push_runs(runs: Sequence[Run], repository: str, *, public: bool = False, texts: bool = True) -> Pushed:
    """Send runs to a dataset repository by one commit. It is created if needed, private unless `public`.

    The visibility of an existing repository is not changed. A second push of the same runs changes nothing. Files
    arrive before the commit names them, so that a killed push leaves the repository unchanged, and the next one
    sends only what is missing. Without `texts` only results and scores are sent.

    Raises UsageError (also for a public repository without `public`), RunError, MissingPartError, DataError.
    """
    check_repository(repository)
    with TemporaryDirectory(prefix="creval-push-") as folder:
        bundle = _joined(runs, Path(folder), texts)
        api = open_hub()
        with hub_errors(repository):
            api.create_repo(repository, repo_type="dataset", private=not public, exist_ok=True)
            info = api.repo_info(repository, repo_type="dataset")
            if not info.private and not public:
                raise UsageError(
                    "the dataset is public, so that everybody would see the runs",
                    where=repository,
                    fix="Nothing was sent. Add --public, or name another dataset: it is made private.",
                )
            return _send(api, repository, info, bundle)


@dataclass(frozen=True, slots=True)
class _Bundles:
    """Several prepared runs: the local file of each path, and how each run was made, by run name."""

    files: Mapping[str, Path]
    made: Mapping[str, str]


def _joined(runs: Sequence[Run], folder: Path, texts: bool) -> _Bundles:
    bundles: dict[str, Bundle] = {}
    for number, run in enumerate(runs):
        bundle = make_bundle(run, folder / str(number), texts=texts)
        if bundle.name in bundles:
            raise UsageError("the run is given twice", where=str(run.folder), fix="Name each run once.")
        bundles[bundle.name] = bundle
    files = {path: file for bundle in bundles.values() for path, file in bundle.files.items()}
    return _Bundles(files, {name: bundle.made for name, bundle in bundles.items()})


def _send(api: Any, repository: str, info: Any, bundle: _Bundles) -> Pushed:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    head, names = info.sha, [*bundle.made]
    there = {
        entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
        for entry in api.list_repo_tree(repository, recursive=True, repo_type="dataset", revision=head)
        if hasattr(entry, "blob_id")
    }
    stale = sorted(path for path in there if path not in bundle.files and any(_is_of(path, name) for name in names))
    contents: dict[str, Path | bytes] = dict(bundle.files)
    former = _former_card(api, repository, head) if _CARD in there else None
    contents[_CARD] = card(former, repository, {*there, *bundle.files} - set(stale), bundle.made).encode()
    changed = {path: content for path, content in sorted(contents.items()) if there.get(path) not in _digests(content)}
    if not changed and not stale:
        return Pushed(names, f"{api.endpoint}/datasets/{repository}", (), bool(info.private))
    commit = api.create_commit(
        repository,
        [
            *(CommitOperationAdd(path, content) for path, content in changed.items()),
            *(CommitOperationDelete(path) for path in stale),
        ],
        commit_message=f"creval: {names[0] if len(names) == 1 else f'{len(names)} runs'}",
        repo_type="dataset",
        parent_commit=head,
    )
    return Pushed(names, str(commit.commit_url), (*changed, *stale), bool(info.private))


def _is_of(path: str, run: str) -> bool:
    return path.startswith(f"runs/{run}/") or path.endswith(f"/{run}.parquet")


def _digests(content: Path | bytes) -> tuple[str, str]:
    """Return the digests by which the Hub knows a file: git's for a small one, sha256 for a large one."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    return blob.hexdigest(), hashlib.sha256(data).hexdigest()


def _former_card(api: Any, repository: str, commit: str) -> str:
    with TemporaryDirectory(prefix="creval-card-") as folder:
        file = api.hf_hub_download(repository, _CARD, repo_type="dataset", revision=commit, local_dir=folder)
        try:
            return Path(file).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UsageError("the card is not UTF-8 text", where=repository, fix="Correct README.md there.") from error
