"""The parts of samples that a judge rated separately, such as paths and their triples."""

from __future__ import annotations

from collections.abc import Iterator

from creval.plugin import JudgedPart, Run, SampleKey
from creval.plugin.agreement import Claims, RunFolder, TaskIndex, load_plugins, tasks_here

__all__ = ["judged_parts"]


def judged_parts(run: Run, name: str) -> Iterator[tuple[SampleKey, JudgedPart]]:
    """Yield the parts that the scorers of a task list as rated separately, for each of its samples."""
    plugins = load_plugins()
    own = Claims.of_run(run.manifest, run.folder).trusted
    requested = tasks_here(RunFolder.open(run.folder), run.manifest["requested"], own)
    task = next(task for task in TaskIndex(plugins).expand(requested) if task.name == name)
    scorers = [plugins.registry.get("scorer", ref.name).make_scorer(ref.parameters) for ref in task.score]
    listing = [scorer for scorer in scorers if callable(getattr(scorer, "judged_parts", None))]
    for record in run.scores(name) if listing else ():
        for scorer in listing:
            yield from ((record.key, part) for part in scorer.judged_parts(record.details))
