"""Memory does not grow with the number of samples: ten times as many fit into the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.toy_plugins import write_distribution

import creval

ROOT = Path(creval.__file__).resolve().parents[1]

PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("provider", "quick", "creval_quick_parts:make")
"""
PARTS = """
    from creval.models.provider_traits import ProviderTraits
    from creval.types.messages import Completion, Reply

    class Quick:
        traits = ProviderTraits(remote=False, cacheable=False, free=True)

        async def generate(self, request):
            word = request.messages[-1].content.rsplit(" ", 1)[-1]
            return Reply((Completion(word, reasoning="because " * 400),))

        async def close(self):
            pass

    def make(model, options):
        return Quick()
"""
PROGRAM = """
import resource, sys
from pathlib import Path
from creval.engine.run_options import RunOptions
from creval.engine.run import run_new
task, folder = sys.argv[1:]
finished = run_new([task], "quick/x", RunOptions(output=Path(folder), concurrency=32))
print(finished.results["tasks"][0]["counts"]["scored"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_ten_times_the_samples_take_the_same_memory(make_task, tmp_path):
    """Every sample holds 3 kB of reasoning: keeping the 9,000 further ones would take 30 MB."""
    modules = {"creval_quick_plugin.py": PLUGIN, "creval_quick_parts.py": PARTS}
    write_distribution(tmp_path / "site", "creval-quick", modules, {"quick": "creval_quick_plugin"})
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "site")]),
        "CREVAL_PLUGINS": "quick",
    }
    peaks = []
    for docs in (1_000, 10_000):
        command = [sys.executable, "-c", PROGRAM, make_task(docs=docs), str(tmp_path / f"run{docs}")]
        said = subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout
        scored, kilobytes = map(int, said.split())
        assert scored == docs
        peaks.append(kilobytes / 1024)
    assert peaks[1] - peaks[0] < 12
