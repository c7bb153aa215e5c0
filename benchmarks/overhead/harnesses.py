"""How each harness runs the same prompts, and how to read what it found."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = ["HARNESSES", "Job", "accuracy", "command", "executable"]

HERE = Path(__file__).resolve().parent
BARE = ("aiohttp", "pycurl")
"""HTTP clients that send the prompts and do nothing else."""
HARNESSES = ("creval", *BARE, "lm-eval", "inspect")


@dataclass(frozen=True)
class Job:
    """One run: where the server, the data and the output are; `limit` rows of `count` are asked."""

    url: str
    bench: Path
    work: Path
    out: Path
    concurrency: int
    limit: int
    count: int


def executable(name: str) -> str | None:
    """The program of a harness: next to this Python, else on the path."""
    if name in BARE:
        return sys.executable if find_spec(name) else None
    installed = Path(sys.executable).with_name(name)
    return str(installed) if installed.exists() else shutil.which(name)


def command(name: str, program: str, job: Job) -> list[str]:
    """The command line of a harness. All: temperature 0, 16 tokens, no cache of answers, logs of samples on."""
    limit = [] if job.limit == job.count else ["--limit", str(job.limit)]
    if name == "creval":
        task, data = str(HERE / "one_line.yaml"), f"one_line={job.work / 'data.jsonl'}"
        where = ["--base-url", job.url, "--concurrency", str(job.concurrency), "--output", str(job.out)]
        return [program, "--tasks", task, "--data", data, "--model", "openai/mock", *where, *limit]
    if name in BARE:
        given = ["--url", job.url, "--data", str(job.work / "data.jsonl"), "--concurrency", str(job.concurrency)]
        return [program, str(HERE / "bare_client.py"), name, *given, *limit]
    if name == "lm-eval":
        address = f"model=mock,base_url={job.url}/chat/completions,num_concurrent={job.concurrency}"
        model = ["--model", "local-chat-completions", "--model_args", f"{address},tokenized_requests=False"]
        task = ["--tasks", "creval_bench", "--include_path", str(job.work / "tasks"), "--apply_chat_template"]
        return [program, "run", *model, *task, "--log_samples", "--output_path", str(job.out), *limit]
    return [
        *(program, "eval", "peers_inspect_task.py", "--model", "openai/mock", "-M", "responses_api=false"),
        *("--max-connections", str(job.concurrency), "--display", "none", "--log-dir", str(job.out), *limit),
    ]


def accuracy(name: str, out: Path) -> float | None:
    """The accuracy that a finished run reports, None where its format is not read here (inspect's)."""
    if name == "creval":
        results = json.loads((out / "results.json").read_text("utf-8"))
        return float(results["tasks"][0]["metrics"][0]["value"])
    if name == "lm-eval":
        newest = max(out.rglob("results_*.json"), key=lambda path: path.stat().st_mtime)
        return float(json.loads(newest.read_text("utf-8"))["results"]["creval_bench"]["exact_match,none"])
    return None
