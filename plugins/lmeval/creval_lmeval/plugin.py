"""The components of this plugin, as names only: neither lm-eval nor anything else heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_task_collection"]

_TASK = params.text(1, about="the task's name in lm-eval")
_SOURCES = params.text(1, about="a digest of the task's own folder, where it is none of lm-eval's")
_CHAT = params.flag(condition=True, about="ask in a chat, as lm-eval's --apply_chat_template does")


@hookimpl
def creval_task_collection() -> str:
    """Return the collection of tasks, as a name."""
    return "creval_lmeval.collection:LmEvalTasks"


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the commands under `creval lmeval`."""
    return {name: f"creval_lmeval.cli:{name}" for name in ("convert", "groups", "include", "withdraw")}


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the components of the written task files."""
    registry.add(
        "source",
        "lmeval",
        "creval_lmeval.source:open_lmeval",
        "the documents of a task of lm-eval",
        parameters=params.schema(
            task=_TASK,
            lm_eval=params.text(1, about="the version of lm-eval that the task file was written with"),
            sources=_SOURCES,
            required=("task", "lm_eval"),
        ),
    )
    registry.add(
        "protocol",
        "lmeval",
        "creval_lmeval.protocol:LmEvalRequests",
        "the requests that lm-eval makes of a document",
        parameters=params.schema(
            task=_TASK,
            output=params.one_of("generate_until", "loglikelihood", about="whether log-likelihoods are asked for"),
            num_fewshot=params.integer(0, condition=True, about="examples before the question (the task's own)"),
            apply_chat_template=_CHAT,
            fewshot_as_multiturn=params.flag(condition=True, about="examples as turns of the chat (true)"),
            system_instruction=params.text(condition=True, about="a system message, or a text before all else"),
            tokenizer=params.text(1, about="a folder or hub name whose chat template makes text for log-likelihoods"),
            sources=_SOURCES,
            seed=params.integer(0, about="draws the examples (1234, as lm-eval)"),
            required=("task", "output"),
        ),
        loglikelihood=_asks_likelihoods,
    )
    _register_scorers(registry)
    _register_aggregations(registry)
    registry.add("baseline", "lmeval_target", "creval_lmeval.baselines:Target", "what the task calls right")
    registry.add(
        "baseline", "lmeval_any", "creval_lmeval.baselines:AnyText", "one of the texts at random, or no answer"
    )


def _register_scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "lmeval",
        "creval_lmeval.scorer:LmEvalScores",
        "the filters and metrics of a task of lm-eval",
        parameters=params.schema(task=_TASK, sources=_SOURCES, required=("task",)),
        produces=("*",),
        unit="doc",
        reads_some=True,
        scores_failures=True,
    )
    registry.add(
        "scorer",
        "lmeval_code",
        "creval_lmeval.code_scorer:LmEvalCodeScores",
        "as lmeval, with programs that models wrote in the sandbox",
        parameters=params.schema(task=_TASK, sources=_SOURCES, required=("task",)),
        produces=("*",),
        uses=("sandbox",),
        unit="doc",
        waits=True,
        reads_some=True,
        scores_failures=True,
    )


def _register_aggregations(registry: Registry) -> None:
    named = params.schema(task=_TASK, metric=params.text(1), sources=_SOURCES, required=("task", "metric"))
    home = "creval_lmeval.aggregation"
    registry.add("aggregation", "lmeval", f"{home}:LmEvalAggregation", "lm-eval's own aggregation", parameters=named)
    registry.add(
        "aggregation",
        "lmeval_stderr",
        f"{home}:LmEvalError",
        "lm-eval's own standard error",
        parameters=params.schema(
            task=_TASK,
            metric=params.text(1),
            sources=_SOURCES,
            iterations=params.integer(0, about="draws of the bootstrap, where there is no formula (1000)"),
            required=("task", "metric"),
        ),
    )
    registry.add(
        "aggregation", "mean_stderr", f"{home}:MeanError", "the standard error of a mean over docs, as lm-eval's"
    )


def _asks_likelihoods(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("output") != "generate_until"
