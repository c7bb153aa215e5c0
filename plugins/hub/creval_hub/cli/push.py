"""`creval push RUN...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from creval.plugin import Run

__all__ = ["push"]


@click.command(epilog="Example: creval push runs/mine --repo ada/creval-runs --dry-run")
@click.argument("places", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--repo", metavar="OWNER/NAME", help="The dataset on the Hugging Face Hub; created if it does not exist.")
@click.option("--public", is_flag=True, help="Make the dataset public; by default it is private.")
@click.option("--without-texts", is_flag=True, help="Only scores: no answers, messages, docs, reasons or verdicts.")
@click.option("--dry-run", is_flag=True, help="Print what would be sent, and send nothing.")
@click.option("--model-repo", metavar="OWNER/NAME", help="Also propose the scores to this model's repository.")
@click.option("--dataset", metavar="OWNER/NAME", help="The benchmark that these scores belong to (with --model-repo).")
@click.option("--yes", is_flag=True, help="Open a pull request without asking.")
def push(places: Sequence[Path], repo: str | None, model_repo: str | None, dataset: str | None, **how: Any) -> None:
    """Upload runs to a dataset on the Hugging Face Hub: their files, and tables that `datasets` loads.

    RUN is a run folder, or a folder of runs such as that of a sweep. All go in one commit; a second push changes
    nothing. The dataset is private unless --public is given. creval refuses a run that contains a key, a path of
    this machine or a user name, and the texts of tasks that store their docs by reference; --without-texts sends
    only the scores. Requires HF_TOKEN.

    With --model-repo creval shows a pull request with the primary scores and, after you confirm, opens it on the
    model's repository.
    """
    if repo is None and model_repo is None:
        raise click.UsageError("nowhere to push to: name a dataset with --repo OWNER/NAME")
    if (model_repo is None) != (dataset is None):
        raise click.UsageError("--model-repo and --dataset go together: results belong to a benchmark on the Hub")
    runs = _open(places)
    if model_repo is not None and len(runs) > 1:
        raise click.UsageError("--model-repo takes the scores of one run: name one")
    if repo is not None:
        _push(runs, repo, how["public"], how["dry_run"], not how["without_texts"])
    if model_repo is not None and dataset is not None:
        _propose(runs[0], model_repo, dataset, repo, ask=not how["yes"], dry_run=how["dry_run"])


def _open(places: Sequence[Path]) -> list[Run]:
    """Open run folders, and the finished runs below other folders; the others are left out and named."""
    from creval.plugin import UsageError, open_run
    from creval.plugin.hub import visible, without_leftovers
    from creval_page.run_search import find_runs

    runs: list[Run] = []
    for place in without_leftovers(places):
        if (place / "run.json").exists() or not place.is_dir():
            runs.append(open_run(place))
            continue
        found = find_runs([place])
        ended = [run for run in found if run.status in ("done", "budget")]
        for run in found:
            if run not in ended:
                click.echo(visible(f"left out: {run.folder} ({run.fault or run.status})"), err=True)
        if not ended:
            raise UsageError("there is no finished run", where=str(place), fix="Name run folders, or a folder of them.")
        runs += [open_run(run.folder) for run in ended]
    return runs


def _push(runs: Sequence[Run], repo: str, public: bool, dry_run: bool, texts: bool) -> None:
    from creval.plugin import counted
    from creval_hub.push import plan_push, push_runs

    if dry_run:
        plan = plan_push(runs, repo, texts=texts)
        for path, size in plan.sizes.items():
            click.echo(f"{size:>12,}  {path}")
        click.echo(f"{sum(plan.sizes.values()):>12,}  bytes in {len(plan.sizes)} files, and the card README.md:\n")
        click.echo(plan.card)
        click.echo("nothing was sent (--dry-run)")
        return
    pushed = push_runs(runs, repo, public=public, texts=texts)
    if pushed.changed:
        click.echo(f"{counted(len(pushed.changed), 'files')} changed: {pushed.url}")
    else:
        click.echo(f"nothing changed: {pushed.url}")
    if public and pushed.private:
        click.echo(f"{repo} stays private, as it was; its settings on the Hub make it public.")
    one = f" --run {pushed.names[0]}" if len(pushed.names) == 1 else ""
    click.echo(f"Get {'it' if one else 'them'} back: creval pull {repo}{one}")


def _propose(run: Run, model: str, dataset: str, repo: str | None, *, ask: bool, dry_run: bool) -> None:
    from creval_hub.model_results import model_results, propose_results, result_file

    source = f"https://huggingface.co/datasets/{repo}" if repo else None
    results = model_results(run, dataset, source)
    click.echo(f"To be proposed to {model}:\n\n{result_file(results)}")
    if dry_run:
        click.echo("nothing was proposed (--dry-run)")
        return
    if ask:
        click.confirm(f"Open a pull request on {model}, which everybody can see?", abort=True)
    click.echo(f"proposed: {propose_results(results, model)}")
