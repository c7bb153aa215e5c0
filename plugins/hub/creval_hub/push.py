"""`creval push`: a run becomes part of a dataset on the Hub, by one commit or by none."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from creval.plugin import Run, UsageError
from creval_hub.access import check_repository, hub_errors, open_hub
from creval_hub.bundle import Bundle, make_bundle
from creval_hub.card import card

__all__ = ["Plan", "Pushed", "plan_push", "push_run"]

_CARD = "README.md"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a push would send: the run's name there, each path with its bytes, and the card."""

    name: str
    sizes: Mapping[str, int]
    card: str


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did: the run's name there, the address of the commit, and the paths that changed (none: nothing)."""

    name: str
    url: str
    changed: tuple[str, ...]


def plan_push(run: Run, repository: str, *, texts: bool = True) -> Plan:
    """Return what would be sent to an empty repository. The network is not touched; raises as `push_run` does."""
    check_repository(repository)
    with TemporaryDirectory(prefix="creval-push-") as folder:
        bundle = make_bundle(run, Path(folder), texts=texts)
        sizes = {path: file.stat().st_size for path, file in sorted(bundle.files.items())}
    return Plan(bundle.name, sizes, card(None, repository, sizes))


def push_run(run: Run, repository: str, *, private: bool = False, texts: bool = True) -> Pushed:
    """Send a run to a dataset repository, which is made where there is none.

    A second push of the same run changes nothing; of a changed one it makes one commit. Files arrive before the commit
    names them, so that a push that was killed leaves the repository as it was, and the next one sends only what is
    missing. Without `texts` results and scores are sent alone.

    Raises UsageError, RunError, MissingPartError, DataError.
    """
    check_repository(repository)
    with TemporaryDirectory(prefix="creval-push-") as folder:
        bundle = make_bundle(run, Path(folder), texts=texts)
        api = open_hub()
        with hub_errors(repository):
            api.create_repo(repository, repo_type="dataset", private=private or None, exist_ok=True)
            return _send(api, repository, bundle)


def _send(api: Any, repository: str, bundle: Bundle) -> Pushed:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    head = api.repo_info(repository, repo_type="dataset").sha
    there = {
        entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
        for entry in api.list_repo_tree(repository, recursive=True, repo_type="dataset", revision=head)
        if hasattr(entry, "blob_id")
    }
    stale = sorted(path for path in there if _is_of(path, bundle.name) and path not in bundle.files)
    contents: dict[str, Path | bytes] = dict(bundle.files)
    contents[_CARD] = _card(api, repository, head, {*there, *bundle.files} - set(stale), _CARD in there).encode()
    changed = {path: content for path, content in sorted(contents.items()) if there.get(path) not in _digests(content)}
    if not changed and not stale:
        return Pushed(bundle.name, f"{api.endpoint}/datasets/{repository}", ())
    commit = api.create_commit(
        repository,
        [
            *(CommitOperationAdd(path, content) for path, content in changed.items()),
            *(CommitOperationDelete(path) for path in stale),
        ],
        commit_message=f"creval: {bundle.name}",
        repo_type="dataset",
        parent_commit=head,
    )
    return Pushed(bundle.name, str(commit.commit_url), (*changed, *stale))


def _is_of(path: str, run: str) -> bool:
    return path.startswith(f"runs/{run}/") or path.endswith(f"/{run}.parquet")


def _digests(content: Path | bytes) -> tuple[str, str]:
    """Return the digests by which the Hub knows a file: git's of a small one, sha256 of a large one."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    return blob.hexdigest(), hashlib.sha256(data).hexdigest()


def _card(api: Any, repository: str, commit: str, paths: Collection[str], there: bool) -> str:
    if not there:
        return card(None, repository, paths)
    with TemporaryDirectory(prefix="creval-card-") as folder:
        file = api.hf_hub_download(repository, _CARD, repo_type="dataset", revision=commit, local_dir=folder)
        try:
            return card(Path(file).read_text(encoding="utf-8"), repository, paths)
        except UnicodeDecodeError as error:
            raise UsageError("the card is no text in UTF-8", where=repository, cure="Mend README.md there.") from error
