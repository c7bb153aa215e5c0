"""The rules that every plugin keeps."""

from __future__ import annotations

from creval.testing import conformance

TestConformance = conformance("batches")
