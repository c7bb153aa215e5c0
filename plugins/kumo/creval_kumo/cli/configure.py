"""`creval kumo configure`: a model writes the seed configuration of proposed domains (stage b)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.plugin import DataError, UnknownNameError
from creval.plugin.report import write_text
from creval_kumo.cli.augmenter import augmenter_options, with_augmenter
from creval_kumo.cli.shared import check_output, output_option, overwrite_option, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from creval_kumo.augment.asking import Augmenter
    from creval_kumo.augment.proposal import Proposal
    from creval_kumo.domains.domain import Domain

__all__ = ["configure"]


@click.command(
    short_help="Let a model write a proposed domain.",
    epilog="Example: creval kumo configure star_maps --augmenter openai/o1",
)
@click.argument("domain")
@click.option(
    "--proposals",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("proposals.jsonl"),
    show_default=True,
    help="Output of creval kumo propose with DOMAIN.",
)
@augmenter_options(required=True)
@click.option("--tries", type=click.IntRange(min=1), default=3, show_default=True, help="Maximum number of attempts.")
@output_option("Default: DOMAIN.yaml")
@overwrite_option
def configure(domain: str, proposals: Path, tries: int, output: Path | None, overwrite: bool, **given: Any) -> None:
    """Let a model write truths, actions and outcomes of DOMAIN, the name of a proposed domain.

    The answer is read as plain data and checked; if it is faulty, the model gets the list of faults and writes it
    again. The result is a domain file: creval kumo generate --domain FILE
    """
    from creval_kumo.augment.configuration import configure as ask
    from creval_kumo.domains.domain_text import domain_yaml

    proposal = _proposal(proposals, domain)
    target = output or Path(f"{proposal.name}.yaml")
    check_output(target, overwrite)

    async def work(augmenter: Callable[[str], Augmenter]) -> Domain:
        return await ask(augmenter(proposal.name), proposal, tries=tries)

    made = with_augmenter(given, work)
    comment = f"Proposed and configured by {given['augmenter']} with creval kumo configure."
    write_text(target, domain_yaml(made, comment))
    click.echo(f"{len(made.truths)} truths and {len(made.actions)} actions written to {target}", err=True)


def _proposal(file: Path, name: str) -> Proposal:
    from creval_kumo.augment.proposal import Proposal

    found: dict[str, Proposal] = {}
    for number, row in enumerate(read_lines(file), start=1):
        try:
            proposal = Proposal.from_row(row)
        except ValueError as error:
            raise DataError(f"not a proposal: {error}", where=f"{file}:{number}") from error
        found[proposal.name] = proposal
    if name not in found:
        raise UnknownNameError("proposal", name, list(found), where=str(file), hint=f"There are: {', '.join(found)}.")
    return found[name]
