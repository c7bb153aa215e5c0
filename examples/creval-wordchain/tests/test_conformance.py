"""The rules that every plugin of creval keeps."""

from creval_testing import conformance

TestConformance = conformance("wordchain")
