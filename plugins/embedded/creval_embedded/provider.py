"""A language model in this process, by llama.cpp."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from creval.plugin import Completion, MissingPartError, ModelError, Reply, UnknownNameError, Usage
from creval.plugin.data import sha256_of
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, ProviderTraits
from creval_embedded import weight_files
from creval_embedded.stream import Gathered

__all__ = ["CONTEXT", "DEFAULT_MAX_TOKENS", "SLOTS", "EmbeddedProvider", "find_gguf"]

SLOTS = 4  # concurrent answers; they share the weights and each step's matrix products
CONTEXT = 4096  # tokens of prompt and answer together, for each slot
DEFAULT_MAX_TOKENS = 512
"""The longest answer without `max_tokens`: a rambling small model would fill its context."""

# With a stated temperature a token is drawn from the model's whole distribution, as in the chat-completions
# protocol; llama.cpp's own defaults truncate it (top-k 40, top-p 0.95, min-p 0.05).
_PLAIN_SAMPLING = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0}

# Without one the makers' setting applies, like any provider's default.
_RECOMMENDED_SAMPLING = {"smollm2": {**_PLAIN_SAMPLING, "temperature": 0.2, "top_p": 0.9}}


def find_gguf(model: str) -> tuple[Path, str]:
    """Return file and title of a model: `smollm2`, or the path of a GGUF file.

    Raises MissingPartError (with the command or the path) or UnknownNameError.
    """
    if model == "smollm2":
        return weight_files.SMOLLM2.path(), "smollm2"
    if model.endswith(".gguf"):
        path = Path(model).expanduser().resolve()
        if not path.is_file():
            raise MissingPartError(f"there is no file {path}", where=f"model embedded/{model}", fix="Correct the path.")
        return path, path.stem
    raise UnknownNameError("model", f"embedded/{model}", ["embedded/smollm2"], hint="Or embedded/<path>.gguf.")


_NO_TOOLS = "Use a model behind a server, e.g. hosted_vllm/<model>, or leave the task out."


class EmbeddedProvider:
    """`embedded/smollm2` or `embedded/<path>.gguf`: chat with seed, `n`, log-probabilities, stop and JSON schemas.

    The model is loaded at the first call. At most `SLOTS` answers are generated at once, each in a thread that waits in
    llama.cpp (which releases the GIL). Without `max_tokens` an answer ends after DEFAULT_MAX_TOKENS, with finish
    reason `length`. A cancelled call stops within a token. With a seed the same
    question gets the same answer on the same machine; completion i of `n` takes seed + i. Log-probabilities are
    those before sampling settings (temperature, top_p) are applied. It continues a final message of the assistant.
    """

    def __init__(self, model: str, options: ProviderOptions) -> None:
        self._path, self._title = find_gguf(model)
        weight_files.runtime()
        self._server: Any = None
        self._loading = threading.Lock()
        self._threads = ThreadPoolExecutor(max_workers=SLOTS, thread_name_prefix="embedded")
        self.traits = ProviderTraits(
            remote=False,
            concurrency=SLOTS,
            free=True,
            continues=True,
            modalities=frozenset(),
            identity={
                "runtime": weight_files.RUNTIME.requirement,
                "weights": self._path.name,
                "sha256": self._digest(),
            },
        )

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one try. Raises FatalModelError if the request is unusable (the question is too long)."""
        if request.tools:
            what = "a model in this process calls no tools"
            raise FatalModelError(what, where=f"model embedded/{self._title}", fix=_NO_TOOLS, every_call=True)
        started = time.perf_counter()
        cancelled = threading.Event()
        loop = asyncio.get_running_loop()
        jobs = [
            loop.run_in_executor(self._threads, self._complete, body, cancelled)
            for body in self._bodies(request, _seed(request))
        ]
        try:
            gathered = await asyncio.gather(*jobs)
        except BaseException:
            cancelled.set()  # on a cancelled call, or when one of several parts failed
            raise
        completions: list[Completion] = [each for part in gathered for each in part.completions()]
        usage = sum((part.usage for part in gathered), Usage())
        return Reply(
            completions=completions,
            usage=usage,
            cost=0.0,
            latency=time.perf_counter() - started,
            model=self._title,
            served_by="embedded",
        )

    async def close(self) -> None:
        """Wait for the running answers and free the model."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._server = None

    def _digest(self) -> str:
        return sha256_of(self._path)[:12]

    def _bodies(self, request: GenerateRequest, seed: int | None) -> Sequence[Mapping[str, Any]]:
        """Return chat-completions bodies that together request n completions, at most `SLOTS` each."""
        settings = {key: value for key, value in request.settings.items() if value is not None}
        settings.pop("seed", None)
        if "max_completion_tokens" in settings:
            settings.setdefault("max_tokens", settings.pop("max_completion_tokens"))
        default = (
            _PLAIN_SAMPLING if "temperature" in settings else _RECOMMENDED_SAMPLING.get(self._title, _PLAIN_SAMPLING)
        )
        settings = {**default, "max_tokens": DEFAULT_MAX_TOKENS, **settings}
        messages = [message.to_json() for message in request.messages]
        bodies = []
        for first in range(0, request.n, SLOTS):
            body: dict[str, Any] = {**settings, "messages": messages, "n": min(SLOTS, request.n - first)}
            body |= {"stream": True, "stream_options": {"include_usage": True}}
            if seed is not None:
                body["seed"] = seed + first
            bodies.append(body)
        return bodies

    def _complete(self, body: Mapping[str, Any], cancelled: threading.Event) -> Gathered:
        gathered = Gathered(str(self._path.name))

        def take(chunk: Any) -> bool:
            gathered.add(chunk)
            return cancelled.is_set() or gathered.error is not None

        server = self._open()
        try:
            result = server.handle_chat_completions(dict(body), take)
        except ModelError:
            raise
        except Exception as error:
            raise FatalModelError(
                f"llama.cpp failed: {error}", where=f"model embedded/{self._title}", fix="See its message."
            ) from error
        if result is not None:
            gathered.add(result)
        if gathered.error is not None:
            raise gathered.error
        return gathered

    def _open(self) -> Any:
        with self._loading:
            if self._server is None:
                import xllamacpp

                settings = xllamacpp.CommonParams()
                settings.model.path = str(self._path)
                settings.n_parallel = SLOTS
                settings.n_ctx = SLOTS * CONTEXT
                settings.cpuparams.n_threads = 1  # more threads than idle cores make llama.cpp many times slower
                settings.cpuparams_batch.n_threads = 1
                settings.verbosity = -1
                settings.ui = False
                settings.endpoint_slots = False
                try:
                    self._server = xllamacpp.Server(settings)
                except Exception as error:
                    raise FatalModelError(
                        f"the model cannot be loaded: {error}",
                        where=str(self._path),
                        fix="Name a complete GGUF file of an architecture that llama.cpp knows.",
                        every_call=True,
                    ) from error
            return self._server


def _seed(request: GenerateRequest) -> int | None:
    seed = request.settings.get("seed")
    return None if seed is None else int(seed) % (2**32 - 2**16)  # llama.cpp's seeds have 32 bits
