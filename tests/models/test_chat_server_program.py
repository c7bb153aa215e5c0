"""The test server as a program, as benchmarks and tests in other processes start it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

SERVER = Path(__file__).resolve().parents[1] / "support" / "chat_server.py"


def test_it_starts_answers_counts_and_stops(tmp_path: Path) -> None:
    port_file = tmp_path / "port"
    command = [sys.executable, str(SERVER), "--port-file", str(port_file), "--answer", "hello", "--max-seconds", "60"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening on 127.0.0.1:")
        base = f"http://127.0.0.1:{port_file.read_text()}"
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
        with urllib.request.urlopen(f"{base}/v1/chat/completions", body, timeout=10) as answer:
            assert json.load(answer)["choices"][0]["message"]["content"] == "hello"
        with urllib.request.urlopen(f"{base}/stats", timeout=10) as answer:
            assert json.load(answer)["counts"] == {"ok": 1}
        process.terminate()


def test_an_unknown_fault_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(SERVER), "--fault-kinds", "meteor"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "meteor" not in done.stdout
    assert "429" in done.stderr
