"""A run in batches that is killed at every step of the protocol, or interrupted: nothing is lost or paid twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.batch_server import BatchServer, Plan
from support.parrot import parrot

pytestmark = pytest.mark.kills

PROGRAM = """
import creval_batches.scheduler as scheduler
from batched import FAST
scheduler.Polling = lambda: FAST
from creval.cli.main import main
main()
"""
TWICE = """
class Twice:
    async def run(self, session):
        prompt = session.prompt()
        first = await session.ask(prompt)
        Message = type(prompt[0])
        again = [*prompt, Message("assistant", first.text), Message("user", f"Once more: {first.text}")]
        session.answer((await session.ask(again)).text)
"""
HOOKS = """
from creval.plugin import hookimpl

@hookimpl
def creval_components(registry):
    registry.add("protocol", "twice", "creval_twice_parts:Twice")
"""
DOCS = 20
HERE = Path(__file__).resolve().parent


def begin(folder: Path, server: BatchServer, *arguments: str) -> subprocess.Popen[str]:
    """Start creval with quick looks at its batches."""
    paths = [str(HERE), str(HERE.parents[2] / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "HOSTED_VLLM_API_BASE": server.url, "PYTHONPATH": os.pathsep.join(paths)}
    words = [sys.executable, "-c", PROGRAM, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)


def killed(process: subprocess.Popen[str], server: BatchServer, step: str, after: float) -> bool:
    """Let a process die by kill -9 at a step of the protocol, `after` seconds later; whether it came to that."""

    def seen(now: str) -> None:
        if now == step:
            time.sleep(after)
            process.kill()

    server.seen = seen
    process.communicate(timeout=120)
    server.seen = lambda now: None
    return process.returncode == -signal.SIGKILL


def die(folder: Path, server: BatchServer, run: Sequence[str], steps: Sequence[str], seed: int) -> int:
    """Begin a run and resume it, killed at one step after another; return how often it was killed."""
    draw = random.Random(seed)
    kills = 0
    for number, step in enumerate(steps):
        arguments = ["resume", "run"] if number else run
        after = draw.choice([0.0, 0.0, draw.uniform(0.0, 0.05)])
        kills += killed(begin(folder, server, *arguments), server, step, after)
    return kills


def test_killed_at_every_step_of_two_rounds(make_task, install, tmp_path, monkeypatch):
    install("twice", HOOKS, TWICE)
    monkeypatch.setenv("CREVAL_PLUGINS", "twice,batches,judges")
    task = make_task(docs=DOCS, extra="protocol: twice\n")
    os.environ["PYTHONPATH"] = str(tmp_path / "site")
    steps = ["upload", "made", "content", "make", "look", "made"]
    plans = [Plan(), Plan(end="expired", share=7)]
    with BatchServer(plans, answer=parrot) as server:
        run = ["--tasks", task, "--model", "hosted_vllm/parrot", "--batch", "--output", "run"]
        try:
            assert die(tmp_path, server, run, steps, seed=20) >= 5
            process = begin(tmp_path, server, "resume", "run")
            _, errors = process.communicate(timeout=120)
        finally:
            del os.environ["PYTHONPATH"]
    assert process.returncode == 0, errors
    assert server.paid_twice == []
    assert len(server.billed) == 2 * DOCS
    lines = [json.loads(line) for line in (tmp_path / "run" / "samples" / "parrot.jsonl").read_text().splitlines()]
    assert sorted(line["answers"][0] for line in lines) == sorted(f"word{number}" for number in range(DOCS))
    assert all(line["status"] == "scored" for line in lines)


def test_ctrl_c_leaves_the_batch_and_resume_collects_it(make_task, tmp_path):
    task = make_task(docs=8)
    with BatchServer(answer=parrot) as server:
        server.held = True
        process = begin(
            tmp_path, server, "--tasks", task, "--model", "hosted_vllm/parrot", "--batch", "--output", "run"
        )
        looked = []
        server.seen = lambda now: looked.append(now) if now == "look" else None
        while len(looked) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert "Resume with: creval resume run" in errors
        assert "That also collects 8 requests" in errors
        server.held = False
        process = begin(tmp_path, server, "resume", "run")
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "0.75" in output
    assert server.sizes == [8]
    assert server.paid_twice == []
