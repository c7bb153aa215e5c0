"""Tasks with images, audio and files, in whole runs against a server that checks the bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.engine.run import Rescoring, rescore, resume
from creval.errors import DataError, TaskError, UsageError
from creval.plugins.loader import load_plugins
from creval.runs.jsonl import read_lines
from creval.runs.media import MediaFolder
from creval.tasks.index import TaskIndex
from creval_hub.bundle import make_bundle
from creval_litellm.provider import LitellmProvider
from creval_page.samples_cli import sample
from creval_shards.merge_runs import merge_runs
from creval_sweeps.estimate import estimate_run

SCHEMAS = Path(creval.__file__).parent / "schemas"
TASK = """\
schema: 1
task: looks
version: 1.0.0
title: Say what is shown
dataset: {{source: file, file: {file}, id: id}}
prompt:
  - {{role: system, content: Be brief.}}
  - role: user
    content:
      - {{text: "Look. {{{{ word }}}}"}}
      - {{image: "{{{{ picture }}}}"}}
      - {{text: "What is it?"}}
generation: {{max_tokens: 16}}
score: exact_match
metrics:
  - {{name: right, from: exact_match, aggregate: mean, primary: true, failed: zero}}
"""

JUDGED = """\
roles:
  judge:
    prompts:
      verdict:
        - role: user
          content:
            - {{text: "Right? {{{{ text }}}}"}}
            - {{image: "{{{{ picture }}}}"}}
score:
  - judge: {{prompt: verdict, labels: {{"yes": 1, "no": 0}}}}
""".replace("{{", "{").replace("}}", "}")


def png(number: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes([number]) * 64


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def images(received: Received) -> list[bytes]:
    """The images of a request."""
    content = received.body["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return [base64.b64decode(url.partition("base64,")[2]) for url in urls]


def see(received: Received) -> str:
    """Answer by the bytes alone."""
    (found,) = images(received)
    number = found[8]
    assert found == png(number)
    return f"thing{number}"


@pytest.fixture
def write(tmp_path: Path):
    """Write a task over four docs with images, two of which are the same, in one of the forms of data."""

    def make(form: str = "files", **more: str) -> str:
        numbers = [1, 2, 3, 3]
        rows: list[dict[str, Any]] = [
            {"id": f"d{i}", "word": f"w{i}", "target": f"thing{n}"} for i, n in enumerate(numbers)
        ]
        (tmp_path / "shown").mkdir(exist_ok=True)
        for row, n in zip(rows, numbers, strict=True):
            (tmp_path / "shown" / f"{row['id']}.png").write_bytes(png(n))
            row["picture"] = {
                "files": f"shown/{row['id']}.png",
                "urls": data_url(png(n)),
                "struct": {"bytes": png(n), "path": f"{row['id']}.png"},
                "bytes": png(n),
                "list": [{"bytes": png(n), "path": None}],
            }[form]
        if form in ("files", "urls"):
            file = tmp_path / "looks.jsonl"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            from pyarrow import Table, parquet

            file = tmp_path / "looks.parquet"
            parquet.write_table(Table.from_pylist(rows), file)
        text = TASK.format(file=file.name)
        for old, new in more.items():
            text = text.replace(old, new)
        (tmp_path / "looks.yaml").write_text(text)
        return str(tmp_path / "looks.yaml")

    return make


def lines(folder: Path) -> list[dict[str, Any]]:
    return sorted(read_lines(folder / "samples" / "looks.jsonl"), key=lambda line: line["doc_id"])


@pytest.mark.parametrize("form", ["files", "urls", "struct", "bytes", "list"])
def test_the_server_gets_the_bytes_and_the_folder_holds_each_once(form, write, options):
    task = write(form)
    with ChatServer(answer=see) as server:
        result = creval.run([task], "chat/see", options(base_url=server.url))
        assert result.results["tasks"][0]["metrics"][0]["value"] == 1.0
        assert len(server.requests) == 4
        content = server.requests[0].body["messages"][-1]["content"]
        assert [part["type"] for part in content] == ["text", "image_url", "text"]
        assert server.requests[0].body["messages"][0] == {"role": "system", "content": "Be brief."}
    kept = {file.name: file.read_bytes() for file in (result.folder / "media").iterdir()}
    assert kept == {f"{hashlib.sha256(png(n)).hexdigest()}.png": png(n) for n in (1, 2, 3)}
    schema = json.loads((SCHEMAS / "sample.schema.json").read_text())
    for line in lines(result.folder):
        jsonschema.Draft202012Validator(schema).validate(line)
        part = line["calls"][0]["messages"][-1]["content"][1]
        assert f"{part['sha256']}.png" in kept and part["bytes"] == len(png(1))
        assert b"base64" not in json.dumps(line).encode()
        assert "iVBOR" not in json.dumps(line)


def test_killed_and_resumed_and_scored_again(write, options):
    task = write()
    with ChatServer(lambda r: Answer(see(r)) if len(r.body["messages"]) else None) as server:
        given = options(base_url=server.url, max_calls=2)
        first = creval.run([task], "chat/see", given)
        assert first.results["tasks"][0]["counts"]["skipped"] == 2
        again = resume(first.folder, max_calls=10)
        assert len(server.requests) == 4 and again.results["tasks"][0]["metrics"][0]["value"] == 1.0
        assert len(list((first.folder / "media").iterdir())) == 3
        assert rescore(first.folder).results["tasks"] == again.results["tasks"]
        replayed = creval.run([task], f"replay/{first.folder}", options(output=first.folder.with_name("second")))
        assert replayed.results["tasks"][0]["metrics"][0]["value"] == 1.0
        assert len(server.requests) == 4


def test_by_reference_only_digests_are_kept(write, options):
    task = write(**{"title: Say": "store: reference\ntitle: Say"})
    with ChatServer(answer=see) as server:
        result = creval.run([task], "chat/see", options(base_url=server.url))
    assert not (result.folder / "media").exists()
    (text, image, _) = lines(result.folder)[0]["calls"][0]["messages"][-1]["content"]
    assert set(text) == {"type", "digest", "characters"} and image["sha256"] == hashlib.sha256(png(1)).hexdigest()
    assert b"Look." not in (result.folder / "samples" / "looks.jsonl").read_bytes()
    schema = json.loads((SCHEMAS / "sample.schema.json").read_text())
    for line in lines(result.folder):
        jsonschema.Draft202012Validator(schema).validate(line)


@pytest.mark.parametrize(
    ("model", "refused"),
    [
        ("openai/gpt-3.5-turbo", True),
        ("openrouter/openai/gpt-3.5-turbo", True),
        ("litellm/openai/gpt-3.5-turbo", True),
        ("openai/gpt-4o", False),
        ("openrouter/somebody/unlisted-model", False),
    ],
)
def test_a_text_model_is_refused_before_the_first_call(model, refused, write, options, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(name, "sk-none")
    monkeypatch.setattr(LitellmProvider, "_import", lambda self: None)
    monkeypatch.setenv("CREVAL_PLUGINS", "litellm")
    given = options(max_calls=1, offline=False)
    if refused:
        with pytest.raises(UsageError, match="takes no image, and the prompts of 'looks' hold some"):
            creval.run([write()], model, given)
        assert not given.output.exists()
        return
    from creval.engine.setup import open_setup

    plugins = load_plugins()
    tasks = TaskIndex(plugins).expand([write()])
    model = open_setup(tasks, {"target": model}, given, plugins).models.get("target")
    assert model.modalities is None or "image" in model.modalities


def test_what_a_task_requires_is_checked_like_its_prompts(write, options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    task = write(**{"title: Say": "requires: [audio]\ntitle: Say"})
    with pytest.raises(UsageError, match="takes no audio"):
        creval.run([task], "openai/gpt-4o", options(offline=False))


@pytest.mark.parametrize(
    ("picture", "fault"),
    [
        ("../secret.png", "is outside of the data file's folder"),
        ("/etc/hostname", "is outside of the data file's folder"),
        ("link.png", "is outside of the data file's folder"),
        ("shown/none.png", "cannot be read: No such file"),
        ("shown", "cannot be read: Is a directory"),
        ("pipe.png", "is not a plain file"),
        ("empty.png", "a media file is empty"),
        ("data:image/png;base64,@@", "a data URL is not in base64"),
        (7, "names no image, audio or file"),
    ],
)
def test_paths_of_strangers_data_lead_nowhere_else(picture, fault, write, options, tmp_path):
    import os

    task = write()
    (tmp_path.parent / "secret.png").write_bytes(png(9))
    (tmp_path / "link.png").symlink_to(tmp_path.parent / "secret.png")
    (tmp_path / "empty.png").touch()
    os.mkfifo(tmp_path / "pipe.png")
    row = {"id": "d0", "word": "w", "target": "x", "picture": picture}
    (tmp_path / "looks.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match="faulty") as caught:
        creval.run([task], "replay/none", options())
    assert fault in str(caught.value)


def test_a_text_file_is_no_image(write, options, tmp_path):
    task = write()
    (tmp_path / "shown" / "d0.png").write_text("root:x:0:0:root")
    with ChatServer(answer=see) as server:
        with pytest.raises(TaskError, match="it is application/octet-stream, which is no image"):
            creval.run([task], "chat/see", options(base_url=server.url))
        assert not server.requests


@pytest.mark.parametrize("path", ["figures/legend.png", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd"])
def test_a_task_file_names_no_files_itself(path, write):
    task = write(**{'"{{ picture }}"': path})
    with pytest.raises(TaskError, match="names no image"):
        TaskIndex(load_plugins()).expand([task])


def test_addresses_several_and_none(write, options, tmp_path):
    task = write()
    rows = [
        {"id": "a", "word": "w", "target": "0", "picture": None},
        {"id": "b", "word": "w", "target": "0", "picture": ""},
        {"id": "c", "word": "w", "target": "2", "picture": ["shown/d0.png", None, "shown/d1.png"]},
        {"id": "d", "word": "w", "target": "1", "picture": "https://example.org/a.png"},
    ]
    (tmp_path / "looks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def count(received: Received) -> str:
        return str(sum(part["type"] == "image_url" for part in received.body["messages"][-1]["content"]))

    with ChatServer(answer=count) as server:
        result = creval.run([task], "chat/see", options(base_url=server.url))
        assert result.results["tasks"][0]["metrics"][0]["value"] == 1.0
    stored = lines(result.folder)[3]["calls"][0]["messages"][-1]["content"][1]
    assert stored == {"type": "image", "url": "https://example.org/a.png"}


def test_another_image_is_another_dataset(write, tmp_path):
    (task,) = TaskIndex(load_plugins()).expand([write()])
    registry = load_plugins().registry

    def fingerprint() -> str:
        with open_dataset(task.dataset, registry, DataOptions.from_environment(offline=True)) as dataset:
            return dataset.fingerprint

    before = fingerprint()
    assert fingerprint() == before
    (tmp_path / "shown" / "d0.png").write_bytes(png(200))
    assert fingerprint() != before


def test_a_file_that_changes_while_the_run_is_on_is_no_other_image(write, options, tmp_path):
    (task,) = TaskIndex(load_plugins()).expand([write()])
    with open_dataset(task.dataset, load_plugins().registry, DataOptions.from_environment(offline=True)) as dataset:
        doc = dataset[0]
        (tmp_path / "shown" / "d0.png").write_bytes(png(200))
        with pytest.raises(ValueError, match="has changed"):
            doc.fields["picture"].part("image")


@pytest.mark.parametrize(
    ("known", "least", "most"),
    [
        ({"image": 0.01}, 0.01, 0.01),
        ({"image_token": 1e-6}, 85e-6, 1800e-6),
        ({"image": 0.01, "image_token": 1.0}, 0.01, 0.01),
    ],
)
def test_the_dry_run_says_what_its_price_excludes(write, options, monkeypatch, known, least, most):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    estimate = estimate_run([write()], "openai/gpt-4o", options(offline=False))
    assert any("the price excludes its images" in note for note in estimate.notes)
    from creval_litellm import price_table as prices

    found = prices.PriceTable.find

    def priced(self: Any, *given: Any, **more: Any) -> Any:

        price = found(self, *given, **more)
        return price and price._replace(**known)

    monkeypatch.setattr(prices.PriceTable, "find", priced)
    with_images = estimate_run([write()], "openai/gpt-4o", options(offline=False))
    assert with_images.total.price.low == pytest.approx(estimate.total.price.low + 4 * least)
    if estimate.total.price.high is not None:
        assert with_images.total.price.high == pytest.approx(estimate.total.price.high + 4 * most)
    assert not any("excludes" in note for note in with_images.notes)


@pytest.mark.parametrize(("form", "roles"), [("turns", ["user", "assistant", "user"]), ("text", ["user"])])
def test_examples_before_the_question_hold_their_images(form, roles, write, options):
    task = write(**{"generation:": f"few_shot: {{n: 1, as: {form}}}\ngeneration:"})
    with ChatServer(answer="x") as server:
        creval.run([task], "chat/see", options(base_url=server.url))
        asked = [request.body["messages"] for request in server.requests]
    for sent in asked:
        parts = [part for message in sent[1:] if isinstance(message["content"], list) for part in message["content"]]
        assert [message["role"] for message in sent[1:]] == roles
        assert [part["type"] for part in parts].count("image_url") == 2


def test_a_judge_sees_the_image_when_scores_are_made_again(write, options, monkeypatch):
    task = write(
        **{
            "score: exact_match": JUDGED,
            "{name: right, from: exact_match, aggregate: mean": "{name: right, from: judge, aggregate: mean",
        }
    )

    def answer(received: Received) -> str:
        found = images(received)
        assert len(found) == 1 and found[0] == png(found[0][8])
        return "yes" if "Right?" in json.dumps(received.body) else "thing"

    with ChatServer(answer=answer) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        monkeypatch.setenv("CREVAL_PLUGINS", "judges")
        result = creval.run([task], "hosted_vllm/see", options(roles={"judge": "hosted_vllm/judge"}))
        assert result.results["tasks"][0]["metrics"][0]["value"] == 1.0
        asked = len(server.requests)
        again = rescore(result.folder, Rescoring(roles={"judge": "hosted_vllm/other"}))
        assert len(server.requests) > asked and again.results["tasks"][0]["metrics"][0]["value"] == 1.0
    schema = json.loads((SCHEMAS / "call.schema.json").read_text())
    for line in read_lines(result.folder / "calls" / "judge.jsonl"):
        jsonschema.Draft202012Validator(schema).validate(line)


def test_a_page_and_a_sample_show_the_images(write, options, tmp_path, monkeypatch):
    from creval_page import page_samples

    with ChatServer(answer=see) as server:
        result = creval.run([write()], "chat/see", options(base_url=server.url))
    page = page_samples.collect_samples([creval.open_run(result.folder)])
    assert sorted(page.images.values()) == sorted(data_url(png(n)) for n in (1, 2, 3))
    shown = CliRunner().invoke(sample, [str(result.folder), "d0"])
    assert f"image, 72 bytes: media/{hashlib.sha256(png(1)).hexdigest()}.png" in shown.output
    monkeypatch.setattr(page_samples, "LARGEST_IMAGE", 10)
    assert not page_samples.collect_samples([creval.open_run(result.folder)]).images


@pytest.mark.parametrize("strange", ["link", "other bytes", "a page", "no file"])
def test_a_strangers_media_folder_shows_nothing_else(strange, write, options, tmp_path):
    from creval_page.page_samples import collect_samples

    with ChatServer(answer=see) as server:
        result = creval.run([write()], "chat/see", options(base_url=server.url))
    secret = tmp_path / "secret.png"
    secret.write_bytes(png(1))
    file = result.folder / "media" / f"{hashlib.sha256(png(1)).hexdigest()}.png"
    file.unlink()
    if strange == "link":
        file.symlink_to(secret)
    elif strange != "no file":
        file.write_bytes(png(7) if strange == "other bytes" else b"<svg onload='x'/>")
    page = collect_samples([creval.open_run(result.folder)])
    assert len(page.images) == 2 and hashlib.sha256(png(1)).hexdigest() not in page.images


def test_a_path_in_a_sample_leads_nowhere(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"secret")
    media = MediaFolder(tmp_path)
    for name in ("../x", "/etc/passwd", "x" * 64, "", None, 7):
        assert media.find({"sha256": name, "media_type": "image/png"}) is None


def test_pushed_without_texts_there_are_no_images(write, options, tmp_path):
    with ChatServer(answer=see) as server:
        result = creval.run([write()], "chat/see", options(base_url=server.url))
    run = creval.open_run(result.folder)
    without = make_bundle(run, tmp_path / "without", texts=False).files
    whole = make_bundle(run, tmp_path / "whole").files
    assert not any("/media/" in name for name in without)
    assert b"shown/" not in b"".join(path.read_bytes() for path in without.values())
    assert {name.rpartition("/")[2] for name in whole if "/media/" in name} == {
        f"{hashlib.sha256(png(n)).hexdigest()}.png" for n in (1, 2, 3)
    }


def test_a_merged_run_holds_the_images_of_its_shards(write, options, tmp_path):
    task = write()
    with ChatServer(answer=see) as server:
        shards = [
            creval.run(
                [task], "chat/see", options(base_url=server.url, shard=f"{i}/2", output=tmp_path / f"s{i}")
            ).folder
            for i in (1, 2)
        ]
    merged = merge_runs(shards, tmp_path / "merged")
    assert merged is not None and len(list((tmp_path / "merged" / "media").iterdir())) == 3


@pytest.mark.parametrize("form", ["struct", "files"])
def test_an_image_in_a_text_is_no_word(form, write, options):
    task = write(form, **{'"Look. {{ word }}"': '"Look. {{ picture }}"'})
    with ChatServer(answer=see) as server:
        with pytest.raises(TaskError, match="a text contains a media field"):
            creval.run([task], "chat/see", options(base_url=server.url))
        assert not server.requests
