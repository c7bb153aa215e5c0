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


def start(values: Mapping[str, Any]) -> int:
    """Run (or estimate) tasks by the options of the command line, and return the exit code."""
    tasks = comma_list(values["tasks"])
    for folder in values["include_path"]:
        import_installed("creval_lmeval.cli:use_folder", "creval-lmeval", "--include-path")(folder)
    run_options = read_options(values)
    if len(values["model"]) > 1:
        several = import_installed("creval_sweeps.sweep_runs:start_several", "creval-sweeps", "a second --model")
        return int(several(tasks, values, run_options))
    model = values["model"][0] if values["model"] else ""
    if values["dry_run"]:
        show = import_installed("creval_sweeps.estimate_table:show_estimate", "creval-sweeps", "--dry-run")
        return int(show(tasks, [(model, run_options)]))
    provider, _, name = model.partition("/")
    if provider == "human":
        play = import_installed("creval_people.playing:play_model", "creval-people", model)
        return int(play(tasks, run_options, name))
    from creval.engine.run import run_new

    with fix_shown(), watch() as observer:
        finished = run_new(tasks, model, run_options, observer)
    return ending(finished, run_options.allowed_error_share)


def read_options(values: Mapping[str, Any]) -> RunOptions:
    """Return the run options of the command line. Raises click.UsageError or UsageError."""
    return RunOptions(
        limit=values["limit"],
        few_shot=values["few_shot"],
        system=values["system"],
        docs=docs_of(values["sample_id"], values["docs"]),
        shard=values["shard"],
        repeats=values["repeats"],
        seed=values["seed"],
        offline=values["offline"],
        output=values["output"],
        roles=read_roles(values["role"]),
        resources=texts(values["resource"], "--resource"),
        data=paths(values["data"], "--data"),
        generation=settings(values["generation"], "--generation"),
        conditions=conditions_of(values, sweeps(values["condition"], "--condition")),
        base_url=values["base_url"],
        concurrency=values["concurrency"],
        timeout=values["timeout"],
        max_retries=values["max_retries"],
        rate_limit_wait=values["rate_limit_wait"],
        max_cost=values["max_cost"],
        max_calls=values["max_calls"],
        reuse=tuple(values["reuse"]),
        cache=values["cache"],
        batch=values["batch"],
        batch_size=values["batch_size"],
        detach=values["detach"],
        allowed_error_share=values["allowed_error_share"],
        allow_code_execution=values["allow_code_execution"],
        trust_remote_code=values["trust_remote_code"],
        command=command_line(),
        executor=values["executor"],
        executor_options=texts(values["executor_option"], "--executor-option"),
    )


def command_line() -> str:
    """Return the command line for the manifest, without possible secrets in its addresses."""
    return shlex.join(["creval", *map(shown_addresses, sys.argv[1:])])
