"""The names of `creval.plugin`: each is imported and listed here, and nowhere else."""

from __future__ import annotations

from creval.errors import (
    BudgetError,
    CrevalError,
    DataError,
    MissingPartError,
    ModelError,
    PluginError,
    RunError,
    ScoringError,
    UnknownNameError,
    UsageError,
    nearest,
)
from creval.format import counted
from creval.plugin import params
from creval.plugins.hookspecs import hookimpl
from creval.plugins.registry import Registry
from creval.resources.resource_options import ResourceOptions
from creval.resources.wordlists import WordList
from creval.runs.reader import Run, open_run, open_runs
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
    JudgedPart,
    Parsed,
    Parser,
    Score,
    Scorer,
    ScorerInput,
    Session,
    TaskProtocol,
    Turn,
)
from creval.types.content import Media, MediaPart, Part, TextPart
from creval.types.kinds import Kind
from creval.types.likelihoods import Loglikelihood, LoglikelihoodRequest
from creval.types.messages import Completion, Message, Reply, TokenLogprob, Usage
from creval.types.sample import CallRecord, Condition, Doc, MissingScore, Sample, SampleKey, ScoreRecord, Status
from creval.types.tools import Tool, ToolCall

__all__ = [
    "Aggregation",
    "Analysis",
    "AnalysisOutput",
    "Baseline",
    "BudgetError",
    "CallRecord",
    "Completion",
    "Condition",
    "Context",
    "CrevalError",
    "DataError",
    "Doc",
    "Embedding",
    "Entailment",
    "Expected",
    "FieldSpec",
    "Generator",
    "JudgedPart",
    "Kind",
    "Loglikelihood",
    "LoglikelihoodRequest",
    "Media",
    "MediaPart",
    "Message",
    "MissingPartError",
    "MissingScore",
    "ModelError",
    "Parsed",
    "Parser",
    "Part",
    "PluginError",
    "Registry",
    "Reply",
    "ResourceOptions",
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
    "TextPart",
    "TokenLogprob",
    "Tool",
    "ToolCall",
    "Turn",
    "UnknownNameError",
    "Usage",
    "UsageError",
    "WordList",
    "counted",
    "hookimpl",
    "nearest",
    "open_run",
    "open_runs",
    "params",
]
