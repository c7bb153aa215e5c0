"""`creval push RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from creval.plugin import Run

__all__ = ["push"]


@click.command(epilog="Example: creval push runs/mine --repo ada/creval-runs --dry-run")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--repo", metavar="OWNER/NAME", help="The dataset on the Hugging Face Hub; made where there is none.")
@click.option("--private", is_flag=True, help="Make it private where it is made.")
@click.option("--without-texts", is_flag=True, help="Scores alone: no answers, messages, docs, reasons or verdicts.")
@click.option("--dry-run", is_flag=True, help="Print what would be sent, and send nothing.")
@click.option("--model-repo", metavar="OWNER/NAME", help="Propose the scores to this model's repository, too.")
@click.option("--dataset", metavar="OWNER/NAME", help="The benchmark that these scores belong to (with --model-repo).")
@click.option("--yes", is_flag=True, help="Ask nothing before a pull request is opened.")
def push(run: Path, repo: str | None, model_repo: str | None, dataset: str | None, **how: Any) -> None:
    """Send RUN to a dataset on the Hugging Face Hub: its files, and tables that `datasets` loads.

    A second push changes nothing, one of a changed run makes one commit. A run in which a key, a folder of this machine
    or a user's name stands is refused, and so are the texts of a task that keeps its docs by reference: --without-texts
    sends the scores alone. Needs HF_TOKEN.

    With --model-repo a pull request with the primary scores is opened on the model's own repository, after it was shown
    and agreed to.
    """
    from creval.plugin import open_run

    if repo is None and model_repo is None:
        raise click.UsageError("nowhere to push to: name a dataset with --repo OWNER/NAME")
    if (model_repo is None) != (dataset is None):
        raise click.UsageError("--model-repo and --dataset go together: results belong to a benchmark on the Hub")
    opened = open_run(run)
    if repo is not None:
        _push_run(opened, repo, how["private"], how["dry_run"], not how["without_texts"])
    if model_repo is not None and dataset is not None:
        _propose(opened, model_repo, dataset, repo, ask=not how["yes"], dry_run=how["dry_run"])


def _push_run(run: Run, repo: str, private: bool, dry_run: bool, texts: bool) -> None:
    from creval_hub.push import plan_push, push_run

    if dry_run:
        plan = plan_push(run, repo, texts=texts)
        for path, size in plan.sizes.items():
            click.echo(f"{size:>12,}  {path}")
        click.echo(f"{sum(plan.sizes.values()):>12,}  bytes in {len(plan.sizes)} files, and the card README.md:\n")
        click.echo(plan.card)
        click.echo("nothing was sent (--dry-run)")
        return
    pushed = push_run(run, repo, private=private, texts=texts)
    if pushed.changed:
        click.echo(f"{len(pushed.changed)} files changed: {pushed.url}")
    else:
        click.echo(f"nothing changed: {pushed.url}")
    click.echo(f"Get it back: creval pull {repo} --run {pushed.name}")


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
