"""Whole runs of a tiny model: tasks of other plugins, likelihoods, out of memory, kill -9 and resume, consent."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from creval import RunOptions, open_run, run
from creval.engine.observer import Quiet
from creval.engine.run import resume
from creval.errors import FatalModelError, UsageError
from creval.types.sample import Status

pytestmark = pytest.mark.model

ROOT = Path(__file__).resolve().parents[3]
LIKELIEST = str(ROOT / "examples" / "tasks" / "likeliest.yaml")
TASK = """schema: 1
task: say
version: 1.0.0
title: Say a word
dataset: {source: file, file: say.jsonl, id: id}
prompt: [{role: user, content: "Say {{ word }}"}]
generation: {max_tokens: 12, temperature: 1.0}
score: exact_match
metrics: [{name: right, from: exact_match, aggregate: mean, primary: true, failed: zero}]
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def say(tmp_path: Path) -> str:
    """A task of 40 docs."""
    rows = [{"id": f"d{i}", "word": "with " * (i % 7) + f"word{i}", "target": f"word{i}"} for i in range(40)]
    (tmp_path / "say.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "say.yaml").write_text(TASK)
    return str(tmp_path / "say.yaml")


def options(output: Path, **more: Any) -> RunOptions:
    return RunOptions(output=output, offline=True, **more)


def answers(folder: Path) -> dict[str, str]:
    """Return the text of each sample that has one; most are cut at the limit, as random weights never end."""
    found = {s.key.doc: s.calls[0].reply for s in open_run(folder).samples("say")}
    return {doc: reply.completions[0].text for doc, reply in found.items() if reply is not None}


def test_tasks_of_other_plugins(tiny: Any, tmp_path: Path) -> None:
    model = f"hf/{tiny('llama', max_position_embeddings=8192)}"
    how = {"limit": 3, "repeats": 1, "resources": {"embedding": "embedded/minilm"}, "generation": {"max_tokens": 8}}
    done = run(["drat", "kumo_easy", LIKELIEST], model, options(tmp_path / "run", **how))
    done_run = open_run(done.folder)
    statuses = {task: [s.status for s in done_run.samples(task)] for task in ("drat", "kumo_easy", "likeliest")}
    assert not [task for task, found in statuses.items() if Status.ERRORED in found]
    assert statuses["likeliest"] == [Status.SCORED] * 3
    manifest = json.loads((done.folder / "run.json").read_text())
    identity = manifest["models"]["target"]["identity"]
    assert identity["revision"].startswith("sha256:") and identity["dtype"] == "float32"
    assert identity["device"] == "cpu" and identity["runtime"].startswith("transformers ")
    row = json.loads((done.folder / "samples" / "drat.jsonl").read_text().splitlines()[0])
    assert row["calls"][0]["reply"]["model"] == f"llama@{identity['revision']}"


def test_batches_and_concurrency_change_no_answer(tiny: Any, say: str, tmp_path: Path) -> None:
    model = f"hf/{tiny()}"
    many = run([say], model, options(tmp_path / "many"))
    alone = run([say], f"{model}?batch_size=1", options(tmp_path / "alone", concurrency=1, limit=8))
    found = answers(many.folder)
    assert len(found) == 40 and len(set(found.values())) == 40
    few = answers(alone.folder)
    assert len(few) == 8 and few == {doc: found[doc] for doc in few}


def test_out_of_memory_loses_no_sample(tiny: Any, say: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that has no room for more than five rows, whatever they are."""
    import transformers

    model = f"hf/{tiny()}"
    expected = answers(run([say], model, options(tmp_path / "whole")).folder)
    tried: list[int] = []
    forward = transformers.LlamaForCausalLM.forward

    def small(self: Any, input_ids: Any = None, **how: Any) -> Any:
        tried.append(len(input_ids))
        if len(input_ids) > 5:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return forward(self, input_ids, **how)

    monkeypatch.setattr(transformers.LlamaForCausalLM, "forward", small)
    done = run([say, LIKELIEST], model, options(tmp_path / "small"))
    assert answers(done.folder) == expected
    assert [s.status for s in open_run(done.folder).samples("likeliest")] == [Status.SCORED] * 4
    assert max(tried) > 5 and sum(count > 5 for count in tried) < 12


@pytest.mark.kills
def test_a_killed_run_is_resumed_with_the_same_answers(tiny: Any, say: str, tmp_path: Path) -> None:
    """At three moments of one run: each time what is there stays, and the end equals a run that nobody killed."""
    model = f"hf/{tiny()}?batch_size=4"
    expected = answers(run([say], model, options(tmp_path / "whole")).folder)
    folder = tmp_path / "killed"
    rows = folder / "samples" / "say.jsonl"
    fork = multiprocessing.get_context("fork")

    def count() -> int:
        return rows.read_bytes().count(b"\n") if rows.exists() else 0

    class Waiting(Quiet):
        """On a busy machine the kill may come late: the run waits for it."""

        def on_sample(self, *given: Any) -> None:
            if count() >= least + 8:
                time.sleep(60)

    for least in (1, 12, 24):
        begun: tuple[Any, Any] = (run, ([say], model, options(folder), Waiting()))
        if folder.exists():
            begun = (resume, (folder, Waiting()))
        process = fork.Process(target=begun[0], args=begun[1])
        process.start()
        end = time.monotonic() + 60
        while count() < least:
            assert time.monotonic() < end and process.is_alive(), "the run makes no samples, or is over too soon"
            time.sleep(0.002)
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
    assert least <= count() < 40
    resume(folder)
    assert answers(folder) == expected
    docs = [json.loads(line)["doc"] for line in rows.read_text().splitlines()]
    assert len(docs) == len({json.dumps(doc) for doc in docs}) == 40


def test_images_are_refused_before_the_first_call(tiny: Any, tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    (tmp_path / "see.jsonl").write_text(json.dumps({"id": "1", "picture": "dot.png", "target": "dot"}) + "\n")
    text = TASK.replace("say", "see").replace('"Say {{ word }}"', '[{text: What?}, {image: "{{ picture }}"}]')
    (tmp_path / "see.yaml").write_text(text)
    with pytest.raises(UsageError, match="takes no image"):
        run([str(tmp_path / "see.yaml")], f"hf/{tiny()}", options(tmp_path / "run"))


def test_a_models_own_code_runs_by_consent_alone(tiny: Any, say: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny(), tmp_path / "own")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own-llama", "architectures": ["OwnModel"]}
    config["auto_map"] = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(
        "from pathlib import Path\n"
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        f"Path({str(tmp_path / 'ran')!r}).touch()\n"
        "class OwnConfig(LlamaConfig):\n    model_type = 'own-llama'\n"
        "class OwnModel(LlamaForCausalLM):\n    config_class = OwnConfig\n"
    )
    with pytest.raises(UsageError, match="--trust-remote-code"):
        run([say], f"hf/{folder}", options(tmp_path / "run", limit=2))
    assert not (tmp_path / "ran").exists()
    done = run([say], f"hf/{folder}", options(tmp_path / "trusted", limit=2, trust_remote_code=True))
    assert (tmp_path / "ran").exists() and len(answers(done.folder)) == 2


class Payload:
    """What a pickle of a stranger may hold."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_pickled_weights_run_nothing(tiny: Any, say: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny(), tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    marker = tmp_path / "ran"
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Payload(marker)}))
    with pytest.raises(FatalModelError, match="it cannot be loaded"):
        run([say], f"hf/{folder}", options(tmp_path / "run", limit=1))
    assert not marker.exists()
    pickle.loads((folder / "pytorch_model.bin").read_bytes())
    assert marker.exists(), "the payload does what it says"


def test_an_adapter_changes_the_answers_and_is_named(tiny: Any, say: str, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="no peft: pip install peft")
    import torch
    import transformers

    base = transformers.AutoModelForCausalLM.from_pretrained(tiny())
    torch.manual_seed(1)
    adapted = peft.get_peft_model(
        base, peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    )
    adapted.save_pretrained(tmp_path / "adapter")
    plain = run([say], f"hf/{tiny()}", options(tmp_path / "plain", limit=4))
    done = run([say], f"hf/{tiny()}?adapter={tmp_path / 'adapter'}", options(tmp_path / "adapted", limit=4))
    assert not set(answers(plain.folder).values()) & set(answers(done.folder).values())
    identity = json.loads((done.folder / "run.json").read_text())["models"]["target"]["identity"]
    assert identity["adapter"].startswith("sha256:")


def test_damaged_weights_end_the_run_with_one_message(tiny: Any, say: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny(), tmp_path / "damaged")
    (folder / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(FatalModelError, match="it cannot be loaded: SafetensorError"):
        run([say], f"hf/{folder}", options(tmp_path / "run"))


def test_a_model_that_makes_no_text_is_refused_before_the_first_call(tiny: Any, say: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny(), tmp_path / "vit")
    (folder / "config.json").write_text(json.dumps({"model_type": "vit"}))
    with pytest.raises(UsageError, match="a model of type 'vit' answers no questions"):
        run([say], f"hf/{folder}", options(tmp_path / "run"))
    (folder / "config.json").write_text(json.dumps({"model_type": "tomorrow"}))
    with pytest.raises(UsageError, match="Install a newer transformers"):
        run([say], f"hf/{folder}", options(tmp_path / "other"))
    assert not (tmp_path / "run" / "samples" / "say.jsonl").exists()
