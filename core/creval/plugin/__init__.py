"""What a plugin imports of creval: these names and no others.

The names below follow semantic versioning: one is added in a minor version, and removed or changed in meaning only in
a major one. Every other module of creval may change at any time. Each name is imported when it is first asked for
(PEP 562), so that a plugin's entry module, which imports `hookimpl` from here at every start, costs nothing.
docs/plugins.md is the guide, docs/reference-plugin.md the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from creval.cli.shared_options import command_options, open_workbench, part_options
    from creval.comparison.paired import Difference, paired_means
    from creval.data.checksum import sha256_of
    from creval.data.data_options import DataOptions
    from creval.data.download import download
    from creval.data.huggingface import open_huggingface
    from creval.data.mirror import offline_cure
    from creval.data.row_types import ListRows, Rows
    from creval.data.tables.open_table import open_file
    from creval.engine.workbench import Workbench
    from creval.errors import (
        BudgetError,
        ContextLengthError,
        CrevalError,
        DataError,
        FatalModelError,
        MissingPartError,
        ModelError,
        PluginError,
        RetryableModelError,
        RunError,
        ScoringError,
        UnknownNameError,
        UsageError,
        nearest,
    )
    from creval.models.answers.reply_json import reply_from_json
    from creval.models.model import Model
    from creval.models.model_options import ProviderOptions
    from creval.models.provider_traits import ProviderTraits
    from creval.parsing.json.scan import holds_json
    from creval.parsing.json.values import JsonArray, JsonObject
    from creval.parsing.lists import (
        has_mark,
        is_no_item,
        one_item_a_line,
        plain_separators,
        straighten,
        strip_edges,
        strip_marks,
        strip_quotes,
    )
    from creval.parsing.refusal import (
        REFUSAL_ROUTE,
        is_refusal,
        is_small_talk,
        refused,
        speaks_of_the_last,
        without_opening,
        without_talk,
    )
    from creval.parsing.unseen import without_unseen
    from creval.plugins.hookspecs import hookimpl
    from creval.plugins.parameters import component, either, flag, integer, list_of, number, one_of, params, text
    from creval.plugins.registry import Registry
    from creval.report.figures import COLOURS, Figures
    from creval.report.output_files import csv_text, plain_data, write_csv, write_json, write_lines, write_text
    from creval.report.terminal_tables import print_table
    from creval.report.tracker_values import run_numbers, run_settings
    from creval.resources.encoders.forward import NumpyEncoder
    from creval.resources.local_models import file_digest
    from creval.resources.options import ResourceOptions
    from creval.resources.vector_build import build_store
    from creval.resources.vector_store import list_stores, store_folder
    from creval.resources.wordlists import WordList
    from creval.runs.reader import Run, open_run, open_runs
    from creval.scoring.agreement import agreement
    from creval.types.components import (
        Aggregation,
        Analysis,
        AnalysisOutput,
        Baseline,
        Context,
        Embedding,
        Entailment,
        Expected,
        FieldSpec,
        Generator,
        Parsed,
        Parser,
        Provider,
        Score,
        Scorer,
        ScorerInput,
        Session,
        TaskProtocol,
        Turn,
    )
    from creval.types.kinds import Kind
    from creval.types.messages import Completion, GenerateRequest, Message, Origin, Reply, TokenLogprob, Usage
    from creval.types.sample import CallRecord, Condition, Doc, MissingScore, Sample, SampleKey, ScoreRecord, Status
    from creval.user_folders import cache_folder

__all__ = [
    "COLOURS",
    "REFUSAL_ROUTE",
    "Aggregation",
    "Analysis",
    "AnalysisOutput",
    "Baseline",
    "BudgetError",
    "CallRecord",
    "Completion",
    "Condition",
    "Context",
    "ContextLengthError",
    "CrevalError",
    "DataError",
    "DataOptions",
    "Difference",
    "Doc",
    "Embedding",
    "Entailment",
    "Expected",
    "FatalModelError",
    "FieldSpec",
    "Figures",
    "GenerateRequest",
    "Generator",
    "JsonArray",
    "JsonObject",
    "Kind",
    "ListRows",
    "Message",
    "MissingPartError",
    "MissingScore",
    "Model",
    "ModelError",
    "NumpyEncoder",
    "Origin",
    "Parsed",
    "Parser",
    "PluginError",
    "Provider",
    "ProviderOptions",
    "ProviderTraits",
    "Registry",
    "Reply",
    "ResourceOptions",
    "RetryableModelError",
    "Rows",
    "Run",
    "RunError",
    "Sample",
    "SampleKey",
    "Score",
    "ScoreRecord",
    "Scorer",
    "ScorerInput",
    "ScoringError",
    "Session",
    "Status",
    "TaskProtocol",
    "TokenLogprob",
    "Turn",
    "UnknownNameError",
    "Usage",
    "UsageError",
    "WordList",
    "Workbench",
    "agreement",
    "build_store",
    "cache_folder",
    "command_options",
    "component",
    "csv_text",
    "download",
    "either",
    "file_digest",
    "flag",
    "has_mark",
    "holds_json",
    "hookimpl",
    "integer",
    "is_no_item",
    "is_refusal",
    "is_small_talk",
    "list_of",
    "list_stores",
    "nearest",
    "number",
    "offline_cure",
    "one_item_a_line",
    "one_of",
    "open_file",
    "open_huggingface",
    "open_run",
    "open_runs",
    "open_workbench",
    "paired_means",
    "params",
    "part_options",
    "plain_data",
    "plain_separators",
    "print_table",
    "refused",
    "reply_from_json",
    "run_numbers",
    "run_settings",
    "sha256_of",
    "speaks_of_the_last",
    "store_folder",
    "straighten",
    "strip_edges",
    "strip_marks",
    "strip_quotes",
    "text",
    "without_opening",
    "without_talk",
    "without_unseen",
    "write_csv",
    "write_json",
    "write_lines",
    "write_text",
]

_HOMES = {
    "creval.user_folders": ("cache_folder",),
    "creval.cli.shared_options": ("command_options", "open_workbench", "part_options"),
    "creval.comparison.paired": ("Difference", "paired_means"),
    "creval.data.checksum": ("sha256_of",),
    "creval.data.download": ("download",),
    "creval.data.tables.open_table": ("open_file",),
    "creval.data.huggingface": ("open_huggingface",),
    "creval.data.mirror": ("offline_cure",),
    "creval.data.data_options": ("DataOptions",),
    "creval.data.row_types": ("ListRows", "Rows"),
    "creval.engine.workbench": ("Workbench",),
    "creval.errors": (
        "BudgetError",
        "ContextLengthError",
        "CrevalError",
        "DataError",
        "FatalModelError",
        "MissingPartError",
        "ModelError",
        "PluginError",
        "RetryableModelError",
        "RunError",
        "ScoringError",
        "UnknownNameError",
        "UsageError",
        "nearest",
    ),
    "creval.models.model": ("Model",),
    "creval.models.model_options": ("ProviderOptions",),
    "creval.models.answers.reply_json": ("reply_from_json",),
    "creval.models.provider_traits": ("ProviderTraits",),
    "creval.parsing.json.scan": ("holds_json",),
    "creval.parsing.json.values": ("JsonArray", "JsonObject"),
    "creval.parsing.lists": (
        "has_mark",
        "is_no_item",
        "one_item_a_line",
        "plain_separators",
        "straighten",
        "strip_edges",
        "strip_marks",
        "strip_quotes",
    ),
    "creval.parsing.refusal": (
        "REFUSAL_ROUTE",
        "is_refusal",
        "is_small_talk",
        "refused",
        "speaks_of_the_last",
        "without_opening",
        "without_talk",
    ),
    "creval.parsing.unseen": ("without_unseen",),
    "creval.plugins.hookspecs": ("hookimpl",),
    "creval.plugins.parameters": (
        "component",
        "either",
        "flag",
        "integer",
        "list_of",
        "number",
        "one_of",
        "params",
        "text",
    ),
    "creval.plugins.registry": ("Registry",),
    "creval.report.figures": ("COLOURS", "Figures"),
    "creval.report.output_files": ("csv_text", "plain_data", "write_csv", "write_json", "write_lines", "write_text"),
    "creval.report.terminal_tables": ("print_table",),
    "creval.report.tracker_values": ("run_numbers", "run_settings"),
    "creval.resources.encoders.forward": ("NumpyEncoder",),
    "creval.resources.local_models": ("file_digest",),
    "creval.resources.options": ("ResourceOptions",),
    "creval.resources.vector_build": ("build_store",),
    "creval.resources.vector_store": ("list_stores", "store_folder"),
    "creval.resources.wordlists": ("WordList",),
    "creval.runs.reader": ("Run", "open_run", "open_runs"),
    "creval.scoring.agreement": ("agreement",),
    "creval.types.components": (
        "Aggregation",
        "Analysis",
        "AnalysisOutput",
        "Baseline",
        "Context",
        "Embedding",
        "Entailment",
        "Expected",
        "FieldSpec",
        "Generator",
        "Parsed",
        "Parser",
        "Provider",
        "ScorerInput",
        "Score",
        "Scorer",
        "Session",
        "TaskProtocol",
        "Turn",
    ),
    "creval.types.kinds": ("Kind",),
    "creval.types.messages": ("Completion", "GenerateRequest", "Message", "Origin", "Reply", "TokenLogprob", "Usage"),
    "creval.types.sample": (
        "CallRecord",
        "Condition",
        "Doc",
        "MissingScore",
        "Sample",
        "SampleKey",
        "ScoreRecord",
        "Status",
    ),
}

if not TYPE_CHECKING:
    _MODULES = {name: module for module, names in _HOMES.items() for name in names}

    def __getattr__(name: str) -> object:
        """Import a name when it is first asked for."""
        import importlib

        if name not in _MODULES:
            raise AttributeError(f"module 'creval.plugin' has no attribute {name!r}")
        globals()[name] = value = getattr(importlib.import_module(_MODULES[name]), name)
        return value

    def __dir__() -> list[str]:
        """List the names of the face, imported or not."""
        return sorted({*globals(), *__all__})
