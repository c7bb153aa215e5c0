"""Rules on a plugin's tasks: their files, sources and templates, and their results when played."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from creval.plugin import CrevalError, Parsed, Status, counted
from creval.plugin.authoring import (
    ComponentRef,
    Said,
    Task,
    TaskError,
    build_chain,
    check_components,
    check_fields,
    render_prompt,
)
from creval_testing.check_files import check_file
from creval_testing.rules.subject import Subject, play
from creval_testing.task_examples import GOLD_DOCS, ExampleOutcome, run_examples

__all__ = ["answers", "examples", "frame", "parsers", "repeatable"]


def task_files(subject: Subject) -> Iterator[str]:
    """Every task and suite file is valid, and its components can be made from their parameters."""
    for file in subject.files:
        for problem in check_file(file, subject.index, subject.plugins):
            yield " ".join(str(problem).split())
    for problem in subject.index.problems():
        if problem.file in subject.files:
            yield " ".join(str(problem).split())
    for name in subject.tasks:
        try:
            task = subject.load(name)
        except TaskError:
            continue  # already reported
        for problem in check_components(task, subject.plugins.registry):
            yield " ".join(str(problem).split())


def templates(subject: Subject, name: str) -> Iterator[str]:
    """Every prompt can be rendered for every doc of the task; prompts filled in by a component use known fields."""
    task = subject.load(name)
    dataset = subject.dataset(task)
    problems = check_fields(task, dataset, subject.plugins.registry)
    yield from (" ".join(str(problem).split()) for problem in problems)
    if problems:
        return
    own = [key for key in task.prompts if _is_filled_by_docs(subject, task, key)]
    for doc in dataset:
        for key in own:
            try:
                render_prompt(task, key, doc.fields)
            except CrevalError as error:
                yield f"doc {doc.id!r}: {' '.join(str(error).split())}"
                return  # the next docs have the same fault


def _is_filled_by_docs(subject: Subject, task: Task, prompt: str) -> bool:
    """Return whether docs fill in all of a prompt: fields added by a protocol are known only at run time."""
    provided = subject.plugins.registry.get("protocol", task.protocol.name).provides
    return prompt == "prompt" and not provided


def sources(subject: Subject) -> Iterator[str]:
    """The distribution states its licence; each task states its source.

    A task with remote data states their licence (`source: licence`), or explains in its description why there is none.
    """
    if not _licence_of(subject.info.distribution):
        yield f"the distribution {subject.info.distribution} states no licence: add `license` to its pyproject.toml"
    for name in subject.leading:
        try:
            task = subject.load(name)
        except TaskError:
            continue
        if not (task.source.paper or task.source.url):
            yield f"{name}: `source` names neither paper nor url"
        if subject.is_remote(task) and not task.source.licence and "licence" not in task.description.casefold():
            yield f"{name}: neither `source: licence` nor the description says under which licence the data are"


def _licence_of(distribution: str) -> str:
    from importlib.metadata import metadata

    about = metadata(distribution)
    stated = [value for name in ("License-Expression", "License") for value in about.get_all(name) or ()]
    stated += [each for each in about.get_all("Classifier") or () if each.startswith("License ::")]
    return next((each for each in stated if each), "")


FEWEST = 3


def examples(subject: Subject, name: str) -> Iterator[str]:
    """The task has a gold answer and mutants, including an unparsable one, and each has the stated outcome.

    The gold answer of a ceiling is played for several docs; for variants, only for the first doc.
    """
    task = subject.load(name)
    stated = [example.status for example in task.examples]
    if Status.SCORED not in stated:
        yield "`tests` has no gold answer: none with status: scored"
    if Status.UNPARSED not in stated:
        yield "`tests` has no answer that cannot be read: none with status: unparsed"
    if len(stated) < FEWEST:
        yield f"`tests` has {counted(len(stated), 'answers')}: state at least {FEWEST}"
    gold_docs = GOLD_DOCS if name in subject.leading else 1
    for outcome in _outcomes(subject, task, gold_docs):
        yield from (f"{outcome.example}: {fault}" for fault in outcome.faults)


def answers(subject: Subject, name: str) -> Iterator[str]:
    """No answer of a model makes the protocol, a parser or a scorer raise: none ends as errored.

    The answers replace those of the task's first gold example; other roles follow the script of that example.
    """
    task = subject.load(name)
    stated = [each for each in task.examples if each.status is Status.SCORED]
    gold = next((each for each in stated if each.baseline is None), stated[0] if stated else None)
    if gold is None:
        return
    instead = [entry[0] for entry in gold.answers] or [Said("")]  # the answers of a baseline are not in the example
    spoken = [
        replace(
            gold, name=repr(text[:20]), baseline=None, answers=[_replacement(text, each) for each in instead], scores={}
        )
        for text in SPOKEN
    ]
    played = replace(task, examples=spoken)
    for outcome in _outcomes(subject, played):
        reason = outcome.score.reason or ""
        if outcome.score.status is Status.ERRORED and _SCRIPT_ENDS not in reason:
            yield f"the answer {outcome.example} ends as errored: {reason[:160]}"


def _outcomes(subject: Subject, task: Task, gold_docs: int = GOLD_DOCS) -> Sequence[ExampleOutcome]:
    dataset = subject.dataset(task)
    return asyncio.run(run_examples(task, subject.options(task), subject.plugins, gold_docs, dataset))


def _replacement(text: str, instead: Said) -> Sequence[Said]:
    """Return the text as an answer: one token with its log-probability, if the replaced answer has some."""
    return [Said(text, logprobs=None if instead.logprobs is None else [[text, 0.0, [[text, 0.0]]]])]


_SCRIPT_ENDS = "more is asked for"
"""The example scripts fewer answers than there are calls, which is not a fault of the task."""


def frame(subject: Subject, name: str) -> Iterator[str]:
    """The task has a floor and a ceiling, and the ceiling is better than the floor in at least one metric.

    This need not be the primary metric: random words are further apart than the best appropriate ones.
    """
    task = subject.load(name)
    missing = [baseline for baseline in ("floor", "ceiling") if baseline not in task.baselines]
    if missing:
        yield f"`baselines` names no {' and no '.join(missing)}"
        return
    subject.dataset(task)
    directed = {metric.name for metric in task.metrics if metric.higher_is_better is not None}
    if not directed:
        return
    low, high = (_values(subject.played(task, baseline)["metrics"]) for baseline in ("floor", "ceiling"))
    compared = [(name, *_oriented(task, name, low.get(name), high.get(name))) for name in sorted(directed)]
    if not any(floor is not None and ceiling is not None and floor < ceiling for _, floor, ceiling in compared):
        said = ", ".join(f"{name}: {low.get(name)} and {high.get(name)}" for name in sorted(directed))
        yield f"no metric distinguishes the floor from the ceiling ({said})"


def _oriented(task: Task, name: str, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return both numbers with the sign for which more is better."""
    better = next(metric.higher_is_better for metric in task.metrics if metric.name == name)
    sign = 1 if better else -1
    return (None if low is None else sign * low), (None if high is None else sign * high)


def repeatable(subject: Subject, name: str) -> Iterator[str]:
    """Two runs of the floor with the same seed are identical: questions, answers and scores."""
    task = subject.load(name)
    if "floor" not in task.baselines:
        return
    subject.dataset(task)
    first, second = subject.played(task, "floor"), play(subject, task, "floor")
    for what in ("questions", "answers", "scores"):
        if first[what] != second[what]:
            key = next(key for key in first[what] if first[what][key] != second[what].get(key))
            yield f"the {what} of {key} differ between two runs with one seed: draw random numbers from `turn.random`"
            return


def parsers(subject: Subject) -> Iterator[str]:
    """The parser chains of the tasks, and each parser of the plugin separately, accept any text without raising."""
    chains: dict[str, tuple[str, list[ComponentRef]]] = {}
    for name in subject.tasks:
        try:
            task = subject.load(name)
        except CrevalError:
            continue
        for chain in filter(None, task.chains.values()):
            chains.setdefault(repr(list(chain)), (f"the parsers of {name}", list(chain)))
    for component in subject.plugins.registry.all():
        free = not component.parameters.get("required")
        if component.kind == "parser" and component.plugin == subject.name and free:
            ref = ComponentRef(component.qualified)
            chains.setdefault(repr([ref]), (f"the parser {component.name}", [ref]))
    for who, refs in chains.values():
        yield from _tried(who, refs, subject)


def _tried(who: str, refs: list[ComponentRef], subject: Subject) -> Iterator[str]:
    try:
        chain = build_chain(refs, subject.plugins.registry)
    except CrevalError as error:
        yield f"{who} cannot be made: {error.what}"
        return
    for text in HOSTILE:
        shown = repr(text if len(text) <= 20 else f"{text[:20]}...")
        try:
            parsed = chain.parse(text)
        except (Exception, SystemExit) as error:
            yield f"{who} raised {type(error).__name__} on {shown}: {str(error)[:120]}"
            return
        if not isinstance(parsed, Parsed) or (not parsed.ok and not parsed.reason):
            yield f"{who} gave no reason for not reading {shown}"
            return


def _values(metrics: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the values over all conditions, by the metric's name without the resources in brackets."""
    return {each["name"].partition("[")[0]: each["value"] for each in metrics if each["condition"] is None}


HOSTILE: Sequence[str] = (
    "",
    " \t\r\n",
    "\x00\x01\x07\x1b[31m",
    "\ud800 half a pair",
    "\u202eright to left\u202c \u200b\u2060\ufeff",
    "e" + "\u0301" * 2_000,
    "[" * 8_000,
    "{" * 8_000 + "}" * 7_999,
    '{"a":' * 2_000,
    "[[[]]]" * 2_000,
    '"' * 8_001,
    "\\" * 8_001,
    "<answer>" * 2_000,
    "<" * 8_000 + ">" * 8_000,
    "1" * 8_000,
    "-1e999999999, +NaN, Infinity, 0x10, ١٢٣, ⅷ, 1,2,3.4.5",
    "a" * 10_000 + "!",
    "(a+)+$ " * 3_000,
    "\n" * 8_000,
    "- \n1. \n* \n" * 2_000,
    ";,:|/" * 2_000,
    '["a", "b"',
    '```json\n["a"]\n```\n' * 500,
    "null",
    "true",
    "[null, {}, [], 1e400]",
    "I'm sorry, but I can't help with that.",
    "{{ 7 * 7 }} {% for a in b %} ${x} $(reboot) __import__('os').system('true')",
    "'; DROP TABLE answers; --",
    "def solve():\n    return " + "+".join("1" * 1_500),
    "```python\nx = " + "not " * 3_000 + "1\n```",
    "```python\nf = " + "lambda: " * 1_500 + "1\ndef solve():\n    pass\n```",
    "x = " + "(" * 3_000 + "1" + ")" * 3_000,
    '["a", ' * 3_000 + "1" + "]" * 3_000,
    "\\frac{" * 3_000 + "1" + "}{2}" * 3_000,
    "1" + ",000" * 3_000,
    "日本語、中文；한국어。\U0001f9ea" * 500,
)
"""None of them is random, so that faults are reproducible."""

SPOKEN: Sequence[str] = tuple(
    text for text in HOSTILE if text.startswith(("def", "```", "x =", '["a", ', "1,000", "-1e9", "[null"))
)
"""The answers with which a whole task is played: numbers out of range, and structures too deep for recursion."""
