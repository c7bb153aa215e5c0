"""Dataset sources: options and rows, files and downloads, checksums and the cache folder.

Promised: these names follow semantic versioning.
"""

from __future__ import annotations

from creval.data.data_options import DataOptions
from creval.data.download import PinnedFiles, download
from creval.data.mirror import offline_fix, sha256_of
from creval.data.row_types import ListRows, Rows
from creval.data.table_files import open_file
from creval.user_folders import cache_folder

__all__ = [
    "DataOptions",
    "ListRows",
    "PinnedFiles",
    "Rows",
    "cache_folder",
    "download",
    "offline_fix",
    "open_file",
    "sha256_of",
]
