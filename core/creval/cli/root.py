"""The root command: `creval --tasks A,B --model M` runs; everything else is a subcommand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from creval.cli import completion
from creval.cli.lazy_group import LazyCommand, LazyGroup
from creval.cli.option_values import FilePath, NewPath

__all__ = ["cli"]


def _command(target: str, summary: str) -> LazyCommand:
    """A command of `creval.cli.commands`, as `module:name`."""
    return LazyCommand(f"creval.cli.commands.{target}", summary)


COMMANDS = {
    "ls": _command("tasks:ls", "List tasks and suites."),
    "show": _command("tasks:show", "Show one task or family; --resolved prints its whole YAML with origins."),
    "validate": _command("validate:validate", "Find every problem of task and suite files."),
    "plugins": _command("plugins:plugins", "List plugins, what they bring, and what failed to load."),
    "new": _command("plugins:new", "Write a plugin or a task to begin with."),
    "prefetch": _command("tasks:prefetch", "Fetch what tasks need from the network, for runs without it."),
    "registry": _command("plugins:registry", "Check the entries of published plugins."),
    "play": LazyCommand(
        "creval_people.cli.play:play", "Play a task yourself, in the terminal or on a local web page.", "creval-people"
    ),
    "run": _command("run:run", "Run what a YAML file says, or only what is missing of it."),
    "resume": _command("run:resume", "Go on with a run that was interrupted or killed."),
    "merge": _command("merge:merge", "Make one run of its shards."),
    "score": _command("score:score", "Score the saved answers of a run again, asking no model."),
    "score-file": LazyCommand(
        "creval_people.cli.score_file:score_file", "Score answers of people from a spreadsheet.", "creval-people"
    ),
    "report": _command("report:report", "Print the results of runs beside floor and ceiling."),
    "compare": _command("compare:compare", "Say which of several runs is better, paired by doc, and how surely."),
    "gate": _command("compare:gate", "Hold a run against a policy: exit code 0 go, 10 no-go, 11 cannot tell."),
    "runs": _command("runs:runs", "List the runs below a folder, or search them."),
    "leaderboard": _command("runs:leaderboard", "One table over many runs."),
    "export": LazyCommand("creval_hub.cli.export:export", "Write a run as parquet or Every Eval Ever.", "creval-hub"),
    "push": LazyCommand("creval_hub.cli.push:push", "Send a run to a dataset on the Hugging Face Hub.", "creval-hub"),
    "pull": LazyCommand("creval_hub.cli.pull:pull", "Bring runs back from the Hugging Face Hub.", "creval-hub"),
    "view": _command("report:view", "Show runs as one page in the browser."),
    "samples": _command("samples:samples", "List the samples of a run."),
    "sample": _command("samples:sample", "Print one sample: what was said, read and scored."),
    "sandbox": LazyCommand(
        "creval_sandbox.cli:sandbox", "Prove on this machine that model-written code is contained.", "creval-sandbox"
    ),
    "completion": LazyCommand(
        "creval.cli.completion:completion", "Print the script that completes commands in bash, zsh or fish."
    ),
    "analyse": _command("analyse:analyse", "Compute numbers over several runs."),
}

EPILOG = """Example: creval --tasks kumo_easy --model baseline/ceiling --limit 5

Plugins add commands of their own, e.g. creval embedded --help and creval association --help.
Exit codes: 0 done, 1 too many errored samples, 2 usage or invalid task, 3 stopped by the budget,
4 batches are on their way (--detach), 130 interrupted."""

_RUN_OPTIONS = (
    click.option(
        "--tasks",
        "-t",
        multiple=True,
        metavar="A,B",
        shell_complete=completion.tasks,
        help="Tasks, suites, YAML files, or patterns of tasks ('drat_*').",
    ),
    click.option(
        "--model",
        "-m",
        multiple=True,
        metavar="M",
        shell_complete=completion.models,
        help="The model, as provider/name; several make a run of each.",
    ),
    click.option(
        "--role", multiple=True, metavar="ROLE=M", help="Who plays another role, e.g. judge=openai/gpt-5-mini."
    ),
    click.option(
        "--resource", multiple=True, metavar="NAME=R", help="Another instrument, e.g. embedding=embedded/minilm."
    ),
    click.option("--limit", metavar="N", help="A seeded random N docs a task; first:N takes the first."),
    click.option("--sample-id", multiple=True, metavar="ID", help="Ask only this doc; may be given several times."),
    click.option("--docs", type=FilePath(), metavar="FILE", help="Ask only the docs whose ids stand in FILE."),
    click.option("--shard", metavar="I/N", help="Ask only the I-th of N fixed parts of the docs; see creval merge."),
    click.option("--repeats", type=click.IntRange(min=1), help="Tries a doc; by default what the task says."),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Where all chance of the run comes from.",
    ),
    click.option(
        "--generation", multiple=True, metavar="K=V", help="Override a generation setting; null leaves it out."
    ),
    click.option(
        "--condition", multiple=True, metavar="K=V,V", help="Ask each of several values, e.g. temperature=0.7,1.0."
    ),
    click.option("--data", multiple=True, metavar="TASK=FILE", help="Use a local file in place of a task's dataset."),
    click.option("--offline", is_flag=True, help="Forbid the network."),
    click.option("--base-url", metavar="URL", help="A chat-completions server, e.g. http://127.0.0.1:8000/v1."),
    click.option(
        "--concurrency", type=click.IntRange(min=1), default=64, show_default=True, help="Calls in flight at most."
    ),
    click.option("--timeout", type=float, default=600.0, show_default=True, help="Seconds one call may take."),
    click.option(
        "--max-retries", type=click.IntRange(min=0), default=6, show_default=True, help="Further tries of a call."
    ),
    click.option(
        "--rate-limit-wait",
        type=click.FloatRange(min=0),
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="Wait at most this long for a provider that answers 429.",
    ),
    click.option("--max-cost", type=float, metavar="USD", help="Stop when this much was spent."),
    click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many calls."),
    click.option("--reuse", multiple=True, type=FilePath(), metavar="RUN", help="Take judges' verdicts from RUN."),
    click.option("--batch", is_flag=True, help="Send calls as batches of the provider, at its lower price."),
    click.option(
        "--batch-size",
        type=click.IntRange(1, 50_000),
        default=50_000,
        show_default=True,
        metavar="N",
        help="Requests in a batch at most.",
    ),
    click.option("--detach", is_flag=True, help="With --batch: leave once they are on their way (exit code 4)."),
    click.option("--dry-run", is_flag=True, help="Print the calls, tokens and price to expect, and do nothing."),
    click.option("--cache", is_flag=True, help="Take answers from the response cache, and keep them there."),
    click.option(
        "--allowed-error-share", type=float, default=0.0, show_default=True, help="Errored samples allowed, 0 to 1."
    ),
    click.option("--allow-code-execution", is_flag=True, help="Let tasks run model-written code in the sandbox."),
    click.option("--trust-remote-code", is_flag=True, help="Let encoders run program code that they bring."),
    click.option("--executor", metavar="E", default="local", show_default=True, help="Who carries out the samples."),
    click.option("--executor-option", multiple=True, metavar="K=V", help="A setting of the executor."),
    click.option("--output", "-o", type=NewPath(), metavar="RUN", help="The run folder (default: under runs/)."),
)


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_RUN_OPTIONS):
        command = option(command)
    return command


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog=EPILOG,
)
@_run_options
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("--version", is_flag=True, help="Print the version.")
@click.pass_context
def cli(ctx: click.Context, /, version: bool, debug: bool, **options: Any) -> None:
    """Measure how creative and how sound in reasoning a language model is."""
    if version:
        import creval

        click.echo(f"creval {creval.__version__}")
        return
    if ctx.invoked_subcommand is not None:
        if options["tasks"] or options["model"]:
            raise click.UsageError(f"--tasks and --model start a run; they do not go with {ctx.invoked_subcommand!r}")
        return
    if not options["tasks"] and not options["model"]:
        click.echo(ctx.get_help())
        return
    from creval.cli.runner import start

    ctx.exit(start(options))
