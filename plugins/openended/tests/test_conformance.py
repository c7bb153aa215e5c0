"""The rules that every plugin keeps."""

from __future__ import annotations

from creval_testing import conformance

TestConformance = conformance("openended", resources={"embedding": "embedded/minilm", "entailment": "cosine/0.85"})
