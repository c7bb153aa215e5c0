"""Texts that no component may raise on, and the uses of every registered scorer that they are played through."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from creval.plugin import ScoreRecord, Status, ToolCall
from creval.plugin.authoring import REMOTE_KEY, ComponentRef, RunOptions, Said, Task, TaskFile, TaskIndex
from creval.plugin.checking import Example
from creval.plugin.loading import Plugins
from creval_testing.task_examples import run_examples

__all__ = ["HARD", "Use", "fault_of", "play", "scorers_of", "uses_of"]

HARD: Sequence[str] = (
    "null",
    "\n" * 1_100 + "x",
    "[[" + " " * 1_100 + "x. " + "." * 1_100 + "x (" + " " * 1_100 + "to " + "\n" * 1_100,
    "\x00\ud800\u2028 half a pair",
    "[[[]]]" * 1_100,
    '{"score": ' * 1_100,
    '["a", ' * 1_100 + "1" + "]" * 1_100,
    '{"score": 1e400, "max": NaN, "verdict": Infinity, "words": [-Infinity, 1e999]}',
    '[null, {}, [], 1e400, true, {"score": [[4]], "paths": [[1, 2], null], "reasoning": 7}]',
    "Score: " + "9" * 5_000 + "\n[[1e999999]] [[NaN]] ([-1]) <score>" + "1" * 400 + "/0</score>",
    "[[YES]] [[NO]] [[]] [[POINT]] [[Score]]: [[YES " + "a" * 3_000,
    "[[Initialisation]] [[POINT]]: \x00 [[POINT]]: [[General thoughts/opinion]] [[Score]] [[-1e308]] ([1e308])",
    "- " + "for loop, " * 600 + "\n- **if statement**: \x07\n" * 250,
    "```python\nimport sys\ndef solve():\n    return " + "+".join("1" * 400) + "\nsolve()\n```",
    "```python\ndef solve():\n    return " + "not " * 900 + "1\nsolve()\n```",
    "```python\ndef solve():\n    return " + "lambda: " * 500 + "1\nsolve()\n```",
    "<ANSWER> " * 250 + "\u0660\u0661 1/0 \\frac{1}{0} \\boxed{" * 250,
    "\u65e5\u672c\u8a9e\u3001\U0001f9ea e" + "\u0301" * 250 + "\n" * 600,
)
"""Numbers out of range, structures too deep for a recursive reader, programs that end a parser, halves of verdicts."""

_RAISED = re.compile(r"failed: \w*(Error|Exception|Exit|Warning|Interrupt|Group)\b|not a finite number|, not a Score")
OWN_DATA = {
    "neocoder_published": "neocoder_own_state0",
    "create_published": "create",
    "bookmia": "bookmia_own",
    "connections": "connections_own",
    "hypogen": "hypogen_own",
}
"""Whose data a task is played over in place of those that its source would fetch."""


@dataclass(frozen=True)
class Use:
    """A task that scores by certain scorers with certain parameters."""

    name: str
    task: Task

    def __str__(self) -> str:
        return self.name


def uses_of(plugins: Plugins, files: Iterable[Path]) -> list[Use]:
    """Return a task for each scorer and the names of its parameters, of all installed tasks and of `files`.

    Tasks whose data come over the network are played over our own data where `OWN_DATA` names some, else left out.
    """
    index = TaskIndex(plugins)
    named = [TaskFile(each.file, each.variant) for each in index.headers() if each.kind == "task"]
    tasks = [index.load(each) for each in (*named, *map(str, files))]
    found: dict[str, Use] = {}
    known: set[str] = set()
    for task in sorted(tasks, key=lambda task: _is_remote(task, plugins)):
        scorers = {f"{ref.name} {sorted(ref.parameters)} {ref.parameters.get('parse')}" for ref in task.score}
        here = _at_hand(task, index, plugins)
        if here is not None and not scorers <= known:
            known |= scorers
            found[task.name] = Use(task.name, here)
    return list(found.values())


def _is_remote(task: Task, plugins: Plugins) -> bool:
    return bool(plugins.registry.get("source", task.dataset.source).parameters.get(REMOTE_KEY))


def _at_hand(task: Task, index: TaskIndex, plugins: Plugins) -> Task | None:
    if not _is_remote(task, plugins):
        return task
    own = OWN_DATA.get(task.dataset.source)
    if own is None:
        return None
    examples = [replace(each, doc=None) for each in task.examples]  # they name docs of the other data
    return replace(task, dataset=index.load(own).dataset, examples=examples)


def scorers_of(use: Use, plugins: Plugins) -> set[str]:
    """Return the full names of the scorers of a use."""
    return {plugins.registry.get("scorer", ref.name).qualified for ref in use.task.score}


def play(
    use: Use, texts: Sequence[str], plugins: Plugins, resources: dict[str, str]
) -> Iterator[tuple[str, ScoreRecord]]:
    """Play each text as the target's answer, and as the reply of all other roles; what was said and its score."""
    gold = _gold(use.task)
    own = {name: spec for name, spec in resources.items() if name in use.task.resources}
    examples = [each for text in texts for each in _said(gold, text)]
    options = RunOptions(resources=own, offline=True, allow_code_execution=True)
    task = replace(use.task, examples=examples)
    for outcome in asyncio.run(run_examples(task, options, plugins)):
        yield outcome.example, outcome.score


def _gold(task: Task) -> Example:
    """The first answer of the task's tests that is scored, one that is written down rather than played if there is."""
    scored = [each for each in task.examples if each.status is Status.SCORED]
    return next((each for each in scored if each.baseline is None), scored[0])


def _said(gold: Example, text: str) -> Iterator[Example]:
    shown = repr(text if len(text) < 40 else f"{text[:40]}...")
    roles = {role: [*said] * 40 for role, said in gold.roles.items()}
    answers = [*gold.answers] * 40 if gold.baseline is None else []
    yield replace(
        gold, name=f"the answer {shown}", baseline=None, answers=[_alike(gold, text)] * 400, roles=roles, scores={}
    )
    if roles:
        replies = {role: [Said(text, when="")] for role in roles}
        yield replace(gold, name=f"the reply {shown}", answers=answers, roles=replies, scores={})


def _alike(gold: Example, text: str) -> list[Said]:
    """The text as an answer to any question, with log-probabilities and tool calls where the gold one has some."""
    first = gold.answers[0][0] if gold.answers and gold.answers[0] else Said()
    logprobs: Any = None if first.logprobs is None else [[text, -1.0, [[text, -1.0]]]]
    calls = [ToolCall(each.id, each.name, text) for each in first.tool_calls]
    return [Said(text, logprobs=logprobs, tool_calls=calls)]


def fault_of(said: str, score: ScoreRecord, use: Use, plugins: Plugins) -> str | None:
    """Say in which way a text made a component raise or leave its range, or None."""
    if score.faults or _RAISED.search(score.reason or ""):
        return f"{use}: {said} made a component raise: {score.reason}"
    lacking = next((each.reason for each in score.missing.values() if _RAISED.search(each.reason)), None)
    if lacking is not None:
        return f"{use}: {said} made a component raise: {lacking}"
    ended = "more is asked for" in (score.reason or "")  # the gold answer scripts no such reply
    spoken = use.task.protocol.name != "choices" and not ended  # that protocol asks for no text
    if spoken and said.startswith("the answer") and score.status is Status.ERRORED:
        return f"{use}: {said} ends as errored: {score.reason}"
    for name, value in score.scores.items():
        low, high = _range(use.task.score, name, plugins)
        if not low <= value <= high:
            return f"{use}: {said} gives {name} = {value}, outside of {low} to {high}"
    return None


def _range(score: Sequence[ComponentRef], name: str, plugins: Plugins) -> tuple[float, float]:
    for ref in score:
        stated = plugins.registry.get("scorer", ref.name).range_of(name, ref.parameters)
        if isinstance(stated, str):
            return 0.0, 1.0
        if stated is not None:
            low, high = stated
            return (-1e308 if low is None else low), (1e308 if high is None else high)
    return -1e308, 1e308
