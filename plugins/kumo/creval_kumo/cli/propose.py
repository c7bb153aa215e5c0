"""`creval kumo propose`: a model proposes domains (stage a)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval_kumo.cli.augmenter import augmenter_options, with_augmenter
from creval_kumo.cli.shared import check_output, json_line, output_option, overwrite_option, write_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from creval_kumo.augment.asking import Augmenter
    from creval_kumo.augment.proposal import Proposal

__all__ = ["propose"]


@click.command(
    short_help="Let a model propose domains.",
    epilog="Example: creval kumo propose --augmenter openai/o1 --count 3 -o proposals.jsonl",
)
@augmenter_options(required=True)
@click.option("--count", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of domains.")
@click.option("--topic", metavar="T", help="Field that the domains must belong to, e.g. geology.")
@output_option("JSON Lines; without it they are printed. Continue with: creval kumo configure NAME --proposals FILE")
@overwrite_option
def propose(output: Path | None, overwrite: bool, count: int, topic: str | None, **given: Any) -> None:
    """Let a model propose domains: a goal, what the truths are, what the actions are."""
    from creval_kumo.augment.proposal import propose as ask
    from creval_kumo.domains import domain_names

    check_output(output, overwrite)

    async def work(augmenter: Callable[[str], Augmenter]) -> list[Proposal]:
        return await ask(augmenter("domains"), count, domain_names(), topic)

    proposals = with_augmenter(given, work)
    write_lines(output, (json_line(one.to_row()) for one in proposals))
    if output is not None:
        click.echo(f"{len(proposals)} proposals written to {output}", err=True)
