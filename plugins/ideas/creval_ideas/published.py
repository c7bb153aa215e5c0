"""Source `liveideabench`: the 1,180 keywords and the prompts of LiveIdeaBench, fetched from a pin, never shipped.

Two files of github.com/x66ccff/liveideabench (MIT) at one commit, each pinned by its sha256:

    csvs/kws.csv         the keywords
    utils/prompts.json   what a model is asked for an idea, what a judge is told, how two ideas are compared
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from creval.plugin import DataError
from creval.plugin.data import DataOptions, ListRows, PinnedFiles, Rows

__all__ = ["ADDRESS", "COMMIT", "FOLDER", "KEYWORDS", "PINS", "PROMPTS", "open_keywords"]

COMMIT = "6fc8285269c7679ed427b20864d1f1b127b1a228"
ADDRESS = f"https://raw.githubusercontent.com/x66ccff/liveideabench/{COMMIT}/"
FOLDER = f"liveideabench-{COMMIT[:12]}"
KEYWORDS, PROMPTS = "csvs/kws.csv", "utils/prompts.json"
PINS = {
    KEYWORDS: "b8c28c4f67b9c0583b102ca4cf66ed78e6ffd084a49bfec236139f02b44d335b",
    PROMPTS: "8aa2d48184953dbcfe340c418e69055d003cb94f86a95ce5bd8baddcbe81e11d",
}


def open_keywords(
    url: str = ADDRESS, pins: Mapping[str, str] | None = None, *, base: Path, options: DataOptions
) -> Rows:
    """Return a doc for each keyword, in the file's order.

    Its fields are `keyword`; `idea`, the question for an idea; `critic`, the judge's prompt; and `pair`, the three
    texts before, between and after two compared ideas. The files are fetched once, checked by their sha256 and kept
    in the cache. `url` may be a mirror of the repository.

    Raises DataError if the files are not available or have another sha256.
    """
    folder = PinnedFiles.of(FOLDER, url, PINS if pins is None else pins, options).fetch()
    try:
        with (folder / KEYWORDS).open(encoding="utf-8", newline="") as file:
            keywords = [row["Keyword"] for row in csv.DictReader(file)]
        prompts = json.loads((folder / PROMPTS).read_text(encoding="utf-8"))
        docs = [_doc(keyword, prompts) for keyword in keywords]
    except (KeyError, ValueError) as error:
        raise DataError(f"the authors' files have another form: {error!r}", where=str(folder)) from error
    return ListRows(docs, f"LiveIdeaBench at {COMMIT[:12]}")


def _doc(keyword: str, prompts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    pair = prompts["fluency_critic_prompt"]["description"].replace("{{keyword}}", keyword)
    before, rest = pair.split("{{A}}")
    between, after = rest.split("{{B}}")
    return {
        "keyword": keyword,
        "idea": prompts["idea_prompt"]["description"].replace("{{keywords}}", keyword),
        "critic": prompts["critic_prompt"]["description"],
        "pair": [before, between, after],
    }
