"""Runs of people from a table of answers on paper or in a survey: each over the docs of their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from creval.plugin import DataError, RunError, UsageError
from creval.plugin.people import DiskError, Finished, RunOptions, load_plugins, open_plans, run_new
from creval.plugin.screens import View
from creval_people.answer_table import AnswerTable, read_answers

__all__ = ["PersonResult", "TableSeat", "score_table"]


class TableSeat:
    """A `Seat` that returns the answers of one person by doc: a text, with one line per word if there are several.

    An empty text is an empty answer. Raises RunError for a view of no doc or several.
    """

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = dict(answers)

    async def ask(self, view: View) -> str | None:
        """Return the person's answer to the doc of the view."""
        parts = view.sample.split("\x1f")
        if len(parts) < 2 or parts[1] not in self._answers or view.options:
            raise RunError(f"there is no answer to {view.title!r} in the table", fix="Play this task instead.")
        return self._answers[parts[1]]


@dataclass(frozen=True, slots=True)
class PersonResult:
    """One participant's run: the name, the number of answered docs, and the run."""

    person: str
    answered: int
    finished: Finished


def score_table(
    task: str, file: Path, options: RunOptions, said: Callable[[str], object]
) -> tuple[AnswerTable, list[PersonResult]]:
    """Score the answers of a table, and return the table and each participant's result.

    `options.output` is a new folder, in which every participant gets a run folder whose model is `human/<participant>`,
    over the docs that they answered. `said` is called with the name of each before it begins.
    Raises DataError (with the row or doc), UsageError for a task that is no single question, RunError.
    """
    plugins = load_plugins()
    plans = open_plans([task], replace(options, output=None), plugins, people=True)
    if len(plans) != 1:
        raise UsageError(f"{task!r} is {len(plans)} tasks", where="TASK", fix="Score one task at a time.")
    (plan,) = plans
    if plan.task.protocol.name.rpartition("/")[2] != "chat":
        raise UsageError(
            f"{task!r} is not a question with one answer", where="TASK", fix=f"Let people play it: creval play {task}"
        )
    only = plan.dataset[0].id if len(plan.dataset) == 1 else None
    table = read_answers(file, only)
    for doc in table.docs:
        try:
            plan.dataset.position(doc)
        except DataError as error:
            where = f"{file}: row {table.rows[doc]}"
            raise DataError(f"the task {task!r} has no doc {doc!r}", where=where, fix=error.fix) from None
    folder = options.output
    assert folder is not None
    taken = [person for person in table.answers if (folder / person / "run.json").exists()]
    if taken:
        fix = "Name another folder with --output."
        names = ", ".join(taken[:5]) + " ..." * (len(taken) > 5)
        raise RunError(f"there are already scores of {names}", where=str(folder), fix=fix)
    results = []
    for person, answers in table.answers.items():
        said(person)
        results.append(_score(plan.task.name if "/" not in task else task, person, answers, options))
    return table, results


def _score(task: str, person: str, answers: Mapping[str, str], options: RunOptions) -> PersonResult:
    assert options.output is not None
    docs: Sequence[str] = tuple(answers)
    own = replace(options, output=options.output / person, docs=docs, limit=None, repeats=1, concurrency=1)
    try:
        finished = run_new([task], f"human/{person}", own, seat=TableSeat(answers))
    except DiskError as error:
        raise error.then("score the table again, into another folder (--output).") from error.__cause__
    return PersonResult(person, sum(1 for answer in answers.values() if answer.strip()), finished)
