"""Run files: what a run is made of, in one YAML file that a person writes and that every run leaves behind."""

from __future__ import annotations
