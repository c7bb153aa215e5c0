"""The rules that every plugin of creval keeps."""

from creval.testing import conformance

TestConformance = conformance("wordchain")
