"""`creval --tasks A,B --model M`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

from creval.cli.lazy_group import import_installed
from creval.cli.lm_eval_options import conditions_of
from creval.cli.option_values import comma_list, docs_of, paths, read_roles, settings, sweeps, texts
from creval.cli.run_summary import ending
from creval.cli.signals import fix_shown
from creval.engine.progress.terminal import watch
from creval.engine.run_options import RunOptions
from creval.models.providers.addresses import shown_addresses

__all__ = ["command_line", "read_options", "start"]


def start(given: Mapping[str, Any]) -> int:
    """Run (or estimate) tasks by the options of the command line, and return the exit code."""
    tasks = comma_list(given["tasks"])
    for folder in given["include_path"]:
        import_installed("creval_lmeval.cli:use_folder", "creval-lmeval", "--include-path")(folder)
    options = read_options(given)
    if len(given["model"]) > 1:
        several = import_installed("creval_sweeps.sweep_runs:start_several", "creval-sweeps", "a second --model")
        return int(several(tasks, given, options))
    model = given["model"][0] if given["model"] else ""
    if given["dry_run"]:
        show = import_installed("creval_sweeps.estimate_table:show_estimate", "creval-sweeps", "--dry-run")
        return int(show(tasks, [(model, options)]))
    provider, _, name = model.partition("/")
    if provider == "human":
        play = import_installed("creval_people.playing:play_model", "creval-people", model)
        return int(play(tasks, options, name))
    from creval.engine.run import run_new

    with fix_shown(), watch() as observer:
        finished = run_new(tasks, model, options, observer)
    return ending(finished, options.allowed_error_share)


def read_options(given: Mapping[str, Any]) -> RunOptions:
    """Return the run options of the command line. Raises click.UsageError or UsageError."""
    return RunOptions(
        limit=given["limit"],
        few_shot=given["few_shot"],
        system=given["system"],
        docs=docs_of(given["sample_id"], given["docs"]),
        shard=given["shard"],
        repeats=given["repeats"],
        seed=given["seed"],
        offline=given["offline"],
        output=given["output"],
        roles=read_roles(given["role"]),
        resources=texts(given["resource"], "--resource"),
        data=paths(given["data"], "--data"),
        generation=settings(given["generation"], "--generation"),
        conditions=conditions_of(given, sweeps(given["condition"], "--condition")),
        base_url=given["base_url"],
        concurrency=given["concurrency"],
        timeout=given["timeout"],
        max_retries=given["max_retries"],
        rate_limit_wait=given["rate_limit_wait"],
        max_cost=given["max_cost"],
        max_calls=given["max_calls"],
        reuse=tuple(given["reuse"]),
        cache=given["cache"],
        batch=given["batch"],
        batch_size=given["batch_size"],
        detach=given["detach"],
        allowed_error_share=given["allowed_error_share"],
        allow_code_execution=given["allow_code_execution"],
        trust_remote_code=given["trust_remote_code"],
        command=command_line(),
        executor=given["executor"],
        executor_options=texts(given["executor_option"], "--executor-option"),
    )


def command_line() -> str:
    """Return the command line for the manifest, without possible secrets in its addresses."""
    return shlex.join(["creval", *map(shown_addresses, sys.argv[1:])])
