"""What the tests of this plugin share: the encoder, the authors' judged answers, the paper's text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def minilm() -> Any:
    """all-MiniLM-L6-v2 as the plugin `embedded` brings it; the test is skipped where it is absent."""
    pytest.importorskip("creval_embedded")
    from creval.plugin import MissingPartError, ResourceOptions
    from creval.plugin.data import cache_folder
    from creval_embedded.embeddings import open_embedding

    try:
        return open_embedding("minilm", ResourceOptions(cache=cache_folder()))
    except MissingPartError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def judged(reference_data: Path) -> list[dict[str, Any]]:
    """The authors' twenty judged answers of one model."""
    file = reference_data / "create" / "judged_gemini-3.1-pro.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def expected(reference_data: Path) -> dict[str, Any]:
    """What those answers are worth, computed from the stored judgements apart from this plugin."""
    file = reference_data / "create" / "expected_gemini-3.1-pro.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def paper(reference_data: Path) -> str:
    """The text of arXiv:2603.09970."""
    papers = list((reference_data.parent / "papers").glob("000_*.txt"))
    if not papers:
        pytest.skip("the text of arXiv:2603.09970 is not there")
    return papers[0].read_text(encoding="utf-8")
