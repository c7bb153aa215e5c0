"""The Python API, with the same features as the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.engine.observer import Guarded, Observer
from creval.engine.progress.progress_counts import in_notebook
from creval.engine.run_options import RunOptions
from creval.errors import UnknownNameError
from creval.format import shorten_list
from creval.runs.result_metrics import Metrics, data_frame, flat_metric, metrics_table, of_task

if TYPE_CHECKING:
    import pandas

    from creval.types.screens import Seat

__all__ = ["RunOptions", "RunResult", "load_result", "run"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run: its folder and results.json as plain data."""

    folder: Path
    results: Mapping[str, Any]

    @property
    def status(self) -> str:
        """`done`, or `budget` if the budget stopped it."""
        return str(self.results["status"])

    @property
    def tasks(self) -> list[str]:
        """The names of the run's tasks, in their order."""
        return [str(result["task"]) for result in self.results["tasks"]]

    def metrics(self, task: str) -> Metrics:
        """Return the metrics of a task over all conditions, by name: plain dictionaries. Raises UnknownNameError.

        `result["rat"]["accuracy"]["value"]` is the short form; notebooks complete the names of tasks.
        """
        metrics = of_task(self.results, task)
        if metrics is None:
            raise UnknownNameError("task", task, self.tasks, where=str(self.folder))
        return metrics

    __getitem__ = metrics

    def _ipython_key_completions_(self) -> list[str]:
        return self.tasks

    def _repr_html_(self) -> str:
        return metrics_table(f"{self.results['model']}, {self.status} ({self.folder.name})", self.results)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat row per metric and condition: model, task, qualified, metric, value, interval, counts ..."""
        return [
            {
                "model": self.results["model"],
                "task": result["task"],
                "qualified": result["qualified"],
                "metric": metric["name"],
                **flat_metric(metric),
            }
            for result in self.results["tasks"]
            for metric in result["metrics"]
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """Return `to_rows` as a data frame. Raises MissingPartError without pandas."""
        return data_frame(self.to_rows())

    def __repr__(self) -> str:
        return f"RunResult({str(self.folder)!r}: {self.results['model']}, {self.status}, {shorten_list(self.tasks)})"

    def error_share(self) -> float:
        """Return the share of planned samples that ended as errored, 0 to 1."""
        planned = sum(result["planned"] for result in self.results["tasks"])
        errored = sum(result["counts"]["errored"] for result in self.results["tasks"])
        return errored / planned if planned else 0.0

    def exit_status(self, allowed_error_share: float = 0.0) -> int:
        """Return the exit code of the command: 0 done, 1 too many errored samples, 3 stopped by the budget."""
        if self.status == "budget":
            return 3
        return 1 if self.error_share() > allowed_error_share else 0


def run(
    tasks: Sequence[str],
    model: str,
    options: RunOptions | None = None,
    observer: Observer | None = None,
    seat: Seat | None = None,
    progress: bool | None = None,
) -> RunResult:
    """Run tasks (names, suites, YAML paths) on a model and return the result.

    `observer` is notified of events. `seat` is where a person answers if the model is `human/NAME` (default: the
    terminal). `progress` shows the progress of the run, in addition to the observer: True always (in a notebook as a
    bar, elsewhere on standard error), None only in a notebook, False never.

    Raises CrevalError: UnknownNameError, TaskError, DataError, MissingPartError, RunError ... before the first call.
    A failed sample raises nothing; see its status. If an event loop is already running (in a notebook), the run uses
    its own thread and loop; an interrupt ends it cleanly, and finished samples are saved.
    """
    from creval.engine.progress.terminal import showing
    from creval.engine.run import run_new

    show_progress = in_notebook() if progress is None else progress
    with showing() if show_progress else nullcontext() as display:
        observers = [watcher for watcher in (observer, display) if watcher is not None]
        finished = run_new(tasks, model, options or RunOptions(), Guarded(*observers), seat)
    return RunResult(finished.folder, finished.results)


def load_result(folder: str | Path) -> RunResult:
    """Read the result of a finished run. Raises RunError if there is none, or if results.json is damaged."""
    from creval.errors import RunError
    from creval.opener import read_json
    from creval.runs.folder import RunFolder, check_format_version
    from creval.runs.run_commands import score_command
    from creval.runs.shapes import misshapen

    file = Path(folder) / "results.json"
    rescore_fix = f"Create it again: {score_command(Path(folder))}"
    try:
        data = read_json(file)
    except (FileNotFoundError, NotADirectoryError) as error:
        fix = RunFolder.open(Path(folder)).to_finish()
        raise RunError("there are no results", where=str(folder), fix=fix) from error
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError(f"cannot be read: {why}", where=str(file), fix=rescore_fix) from error
    check_format_version(data, file)
    if not isinstance(data, dict) or not isinstance(data.get("tasks"), list) or "model" not in data:
        raise RunError("is not a results file", where=str(file), fix=rescore_fix)
    position = misshapen("results", data)
    if position is not None:
        raise RunError(f"is not a results file: see {position}", where=str(file), fix=rescore_fix)
    return RunResult(Path(folder), data)
