"""Source `kumo_published`: the games of the paper, with their knowledge books and the authors' wording, as docs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from creval.plugin.data import DataOptions, ListRows, Rows, offline_fix
from creval_kumo.domains.faults import DomainError
from creval_kumo.published.authors_files import AuthorsFiles
from creval_kumo.published.published_domains import to_domain, to_instance
from creval_kumo.published.published_files import ADDRESS, COMMIT, SIZES, PublishedFiles
from creval_kumo.task.datasets import game_doc

__all__ = ["cache_of", "open_published", "published_docs"]

Difficulty = Literal["easy", "hard"]


def cache_of(options: DataOptions) -> Path:
    """Return the folder that keeps the authors' files."""
    return options.cache / "data" / f"kumo-{COMMIT[:12]}"


def open_published(
    domains: Sequence[str] | str,
    difficulty: Difficulty = "easy",
    faulty: Literal["refuse", "skip"] = "refuse",
    url: str = ADDRESS,
    *,
    base: Path,
    options: DataOptions,
) -> Rows:
    """Return the published games of some domains (`all`: every domain), 50 each, domain by domain.

    The files are fetched once, checked by their sha256 and kept in the cache. `url` is the address of the repository's
    files, to use your own mirror. `faulty="skip"` leaves out games that cannot be played as published; these are
    always the same, since the files are pinned.

    Raises DataError (see `PublishedFiles.fetch`), UnknownNameError, and DomainError at a faulty game or domain.
    """
    files = PublishedFiles(cache_of(options), url, options.offline, offline_fix(options))
    names = files.names(domains, difficulty)
    authors = files.fetch(names, difficulty)
    skipped: list[str] | None = [] if faulty == "skip" else None
    docs = [doc for name in names for doc in published_docs(authors, name, difficulty, skipped)]
    return ListRows(docs, f"published {difficulty} games of KUMO")


def published_docs(
    files: AuthorsFiles, name: str, difficulty: str, skipped: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the games of a domain as the fields of docs; `wording` contains the authors' texts of a game.

    Faulty games raise DomainError, or are left out and listed in `skipped` if it is given.
    """
    published = to_domain(files.configuration(name), name)
    if skipped is None and published.faults:
        raise DomainError(published.faults, where=name, fix="Keep its sound games only: --skip-faulty (faulty: skip)")
    wording = files.wording(name)
    for row in files.instances(name, *SIZES[difficulty]):
        instance, faults = to_instance(row, published, f"{name}, seed {row['seed']}")
        if not faults:
            yield game_doc(instance, published.domain) | {"wording": wording.of(instance.truths, instance.action_names)}
        elif skipped is None:
            fix = "Leave such games out: --skip-faulty (faulty: skip)"
            raise DomainError(faults, where=f"{name}, seed {row['seed']}", fix=fix)
        else:
            skipped.append(f"{name}, seed {row['seed']}: {'; '.join(str(fault) for fault in faults)}")
