"""`creval pull`: download the runs of a dataset on the Hub as run folders."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from creval.plugin import DataError, UnknownNameError, UsageError, open_run
from creval_hub.access import check_repository, hub_errors, open_hub
from creval_hub.card import layout_of

__all__ = ["pull_runs"]


def pull_runs(
    repository: str, folder: Path, *, runs: Sequence[str] = (), revision: str | None = None
) -> list[tuple[Path, bool]]:
    """Download runs of a dataset repository into `folder`, each as a separate run folder; all if none is named.

    Returns each folder with whether it is new: an existing one is left unchanged. A folder appears only when
    it is complete; the library keeps files loaded before an interruption. Raises UnknownNameError for a run that
    is missing there, DataError if the Hub refuses, UsageError if a name would lead out of `folder`.
    """
    check_repository(repository)
    api = open_hub(need_token=False)
    with hub_errors(repository):
        commit = api.repo_info(repository, repo_type="dataset", revision=revision).sha
        names, _ = layout_of(api.list_repo_files(repository, repo_type="dataset", revision=commit))
    for name in runs:
        if name not in names:
            raise UnknownNameError("run", name, names, where=repository)
    if not names:
        raise DataError("it contains no run", where=repository, fix="Name a repository that creval push has filled.")
    return [_pull(api, repository, commit, name, folder) for name in (runs or names)]


def _pull(api: Any, repository: str, commit: str, name: str, folder: Path) -> tuple[Path, bool]:
    if Path(name).name != name or name.startswith("."):
        raise UsageError(f"the run {name!r} has a name that leads outside the folder", where=repository)
    target = folder / name
    if target.exists():
        return target, False
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".creval-pull-", dir=folder) as part:
        with hub_errors(repository):
            api.snapshot_download(
                repository, repo_type="dataset", revision=commit, allow_patterns=f"runs/{name}/*", local_dir=part
            )
        came = Path(part) / "runs" / name
        open_run(came, as_stored=True)
        shutil.move(came, target)
    return target, True
