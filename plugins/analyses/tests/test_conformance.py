"""The rules that every plugin keeps."""

from __future__ import annotations

from creval_testing import conformance

TestConformance = conformance("analyses")
