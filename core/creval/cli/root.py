"""The root command: `creval --tasks A,B --model M` starts a run; everything else is a subcommand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from creval.cli import completion
from creval.cli.lazy_group import LazyCommand, LazyGroup, rare_option, show_all_options
from creval.cli.lm_eval_options import CONDITIONS
from creval.cli.option_values import FilePath, NewPath

__all__ = ["cli"]


def _command(target: str, summary: str) -> LazyCommand:
    """Return a command of `creval.cli.commands`, given as `module:name`."""
    return LazyCommand(f"creval.cli.commands.{target}", summary)


SECTIONS = {
    "Run": {
        "run": LazyCommand(
            "creval_sweeps.cli:run",
            "Run the tasks and models of a YAML file, or the missing part.",
            "creval-sweeps",
        ),
        "resume": _command("resume:resume", "Resume a run that was interrupted or killed."),
        "merge": LazyCommand("creval_shards.cli:merge", "Merge the shards of a run into one run.", "creval-shards"),
        "score": _command("score:score", "Score the saved answers of a run again, without calling the model."),
        "score-file": LazyCommand(
            "creval_people.cli.score_file:score_file", "Score people's answers from a spreadsheet.", "creval-people"
        ),
        "play": LazyCommand(
            "creval_people.cli.play:play", "Play a task yourself, in the terminal or in a browser.", "creval-people"
        ),
        "prefetch": LazyCommand(
            "creval_datasets.cli:prefetch", "Download what tasks need, to run them offline later.", "creval-datasets"
        ),
        "sandbox": LazyCommand(
            "creval_sandbox.cli:sandbox", "Check that the sandbox works on this machine.", "creval-sandbox"
        ),
        "completion": LazyCommand(
            "creval.cli.completion:completion", "Print the completion script of bash, zsh or fish."
        ),
    },
    "Inspect": {
        "ls": _command("tasks:ls", "List tasks and suites."),
        "show": _command("tasks:show", "Show one task or family of tasks."),
        "plugins": _command("plugins:plugins", "List plugins, what they add, and what failed to load."),
        "runs": LazyCommand("creval_page.runs_cli:runs", "List or search the runs in a folder.", "creval-page"),
        "report": _command("report:report", "Print results next to their floor and ceiling."),
        "view": LazyCommand("creval_page.cli:view", "Open runs as one page in the browser.", "creval-page"),
        "samples": LazyCommand("creval_page.samples_cli:samples", "List the samples of a run.", "creval-page"),
        "sample": LazyCommand(
            "creval_page.samples_cli:sample", "Print one sample: its messages, parsed answer and scores.", "creval-page"
        ),
    },
    "Compare": {
        "compare": LazyCommand(
            "creval_compare.cli:compare", "Compare runs, paired by doc, with intervals and tests.", "creval-compare"
        ),
        "gate": LazyCommand(
            "creval_release.cli:gate",
            "Check a run against a policy: exit code 0 go, 10 no-go, 11 undecided.",
            "creval-release",
        ),
        "leaderboard": LazyCommand("creval_release.cli:leaderboard", "Rank many runs in one table.", "creval-release"),
        "plot": LazyCommand("creval_plot.cli:plot", "Draw runs as figures for a paper.", "creval-plot"),
        "analyse": LazyCommand("creval_analyses.cli:analyse", "Run an analysis over several runs.", "creval-analyses"),
    },
    "Share": {
        "export": LazyCommand(
            "creval_hub.cli.export:export", "Write a run as parquet or Every Eval Ever.", "creval-hub"
        ),
        "push": LazyCommand("creval_hub.cli.push:push", "Upload a run to the Hugging Face Hub.", "creval-hub"),
        "pull": LazyCommand("creval_hub.cli.pull:pull", "Download runs from the Hugging Face Hub.", "creval-hub"),
    },
    "Build": {
        "new": LazyCommand("creval_testing.cli:new", "Create a plugin or a task from a template.", "creval-testing"),
        "validate": LazyCommand(
            "creval_testing.validate:validate",
            "Check task and suite files, and report every problem.",
            "creval-testing",
        ),
        "registry": LazyCommand(
            "creval_testing.cli:registry", "Check the entries of the plugin registry.", "creval-testing"
        ),
    },
}
"""The commands of the core and of first-party distributions, in the sections of `creval --help`."""

COMMANDS = {name: command for section in SECTIONS.values() for name, command in section.items()}

EPILOG = """\b
Examples:
  creval --tasks kumo_easy --model baseline/ceiling --limit 5
  creval run --tasks drat --model openai/gpt-5-mini --limit 10% --system "Be brief."
  creval --tasks ./gsm8k.yaml --model openai/gpt-5-mini --few-shot 8 --limit 1-100

\b
Plugins add commands, e.g. creval embedded --help, creval association --help.

\b
Exit codes:
  0    done
  1    more errored samples than --allowed-error-share
  2    usage error or invalid task
  3    stopped by --max-cost or --max-calls
  4    batches are pending (--detach)
  130  interrupted"""

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
        help="Model, as provider/name. Repeat it for one run per model.",
    ),
    click.option(
        "--role", multiple=True, metavar="ROLE=M", help="Model of another role, e.g. judge=openai/gpt-5-mini."
    ),
    click.option(
        "--resource", multiple=True, metavar="NAME=R", help="Use another resource, e.g. embedding=embedded/minilm."
    ),
    click.option(
        "--limit",
        metavar="N",
        help="Docs per task: N or 10% at random with --seed, first:N the first N, 10-20 the tenth to the twentieth.",
    ),
    click.option(
        "--few-shot",
        type=click.IntRange(min=0),
        metavar="N",
        help="N examples before each question, in place of the task's own number; 0 for none.",
    ),
    click.option("--system", metavar="TEXT", help="Begin every prompt with this system message."),
    rare_option("--sample-id", multiple=True, metavar="ID", help="Only the doc with this id. Repeatable."),
    rare_option("--docs", type=FilePath(), metavar="FILE", help="Only the docs whose ids are listed in FILE."),
    rare_option("--shard", metavar="I/N", help="Only the I-th of N fixed parts of the docs; see creval merge."),
    click.option(
        "--repeats", type=click.IntRange(min=1), metavar="N", help="Samples per doc (epochs). Default: the task's own."
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="N",
        help="Random seed.",
    ),
    click.option(
        "--generation",
        multiple=True,
        metavar="K=V",
        help="Set a generation parameter, e.g. temperature=0.7; null omits it.",
    ),
    rare_option(
        "--condition",
        multiple=True,
        metavar="K=V,V",
        help="Run every doc with each of several values, e.g. temperature=0.7,1.0.",
    ),
    rare_option("--data", multiple=True, metavar="TASK=FILE", help="Use a local file instead of a task's dataset."),
    click.option("--offline", is_flag=True, help="Do not use the network."),
    click.option(
        "--base-url", metavar="URL", help="URL of an OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1."
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=64,
        show_default=True,
        metavar="N",
        help="Maximum concurrent requests.",
    ),
    rare_option(
        "--timeout", type=float, default=600.0, show_default=True, metavar="SECONDS", help="Timeout of one request."
    ),
    rare_option(
        "--max-retries",
        type=click.IntRange(min=0),
        default=6,
        show_default=True,
        metavar="N",
        help="Maximum retries per request.",
    ),
    rare_option(
        "--rate-limit-wait",
        type=click.FloatRange(min=0),
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="Maximum wait for a provider that answers 429.",
    ),
    click.option("--max-cost", type=float, metavar="USD", help="Stop when the run has cost this much."),
    rare_option("--max-models", type=click.IntRange(min=1), metavar="N", help="Run at most N models at the same time."),
    rare_option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop after this many requests."),
    rare_option("--reuse", multiple=True, type=FilePath(), metavar="RUN", help="Reuse the judges' verdicts of RUN."),
    click.option("--batch", is_flag=True, help="Use the provider's batch API, at its lower price."),
    rare_option(
        "--batch-size",
        type=click.IntRange(1, 50_000),
        default=50_000,
        show_default=True,
        metavar="N",
        help="Maximum requests per batch.",
    ),
    rare_option("--detach", is_flag=True, help="With --batch: exit once the batches are sent (exit code 4)."),
    click.option("--dry-run", is_flag=True, help="Print the expected requests, tokens and cost, and exit."),
    rare_option("--cache", is_flag=True, help="Read responses from the cache and store new ones there."),
    rare_option(
        "--allowed-error-share",
        type=float,
        default=0.0,
        show_default=True,
        metavar="SHARE",
        help="Share of samples that may end in errors, 0 to 1.",
    ),
    click.option("--allow-code-execution", is_flag=True, help="Allow tasks to run model-written code in the sandbox."),
    rare_option(
        "--trust-remote-code", is_flag=True, help="Allow encoders and models to run code from their own repository."
    ),
    rare_option(
        "--include-path",
        "--include_path",
        multiple=True,
        metavar="FOLDER",
        help="Use lm-eval's tasks in FOLDER, once allowed, as lmeval/NAME.",
    ),
    rare_option("--executor", metavar="E", default="local", show_default=True, help="Where samples run."),
    rare_option("--executor-option", multiple=True, metavar="K=V", help="Set an option of the executor."),
    click.option("--output", "-o", type=NewPath(), metavar="RUN", help="Run folder. Default: a new folder in runs/."),
)


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, settings in reversed(list(CONDITIONS.items())):
        command = rare_option(f"--{name.replace('_', '-')}", f"--{name}", name, **settings)(command)
    for option in reversed(_RUN_OPTIONS):
        command = option(command)
    return command


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog=EPILOG,
)
@_run_options
@rare_option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("--version", is_flag=True, help="Print the version and exit.")
@click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_all_options,
    help="Show every option and exit.",
)
@click.pass_context
def cli(ctx: click.Context, /, version: bool, debug: bool, **options: Any) -> None:
    """Measure the creativity and the reasoning of language models."""
    if version:
        import creval

        click.echo(f"creval {creval.__version__}")
        return
    if ctx.invoked_subcommand is not None:
        if options["tasks"] or options["model"]:
            raise click.UsageError(
                f"--tasks and --model start a run; they cannot be used with {ctx.invoked_subcommand!r}"
            )
        return
    if not options["tasks"] and not options["model"]:
        click.echo(ctx.get_help())
        return
    from creval.cli.runner import start

    ctx.exit(start(options))
