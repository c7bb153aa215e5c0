"""The provider `hf`: a model of transformers in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from creval.plugin import Completion, MissingPartError, Reply, Usage
from creval.plugin.completions import CONTEXT_CUT, tags_in
from creval.plugin.likelihoods import LoglikelihoodCall
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, ProviderTraits
from creval_hf.batches import Batcher
from creval_hf.chat import Prompt, part_thinking
from creval_hf.model_name import ModelName
from creval_hf.weights import Found, check_packages, find_cached, find_on_hub

if TYPE_CHECKING:
    from creval_hf.engine import Asked
    from creval_hf.generation import Answer
    from creval_hf.loading import Loaded

__all__ = ["HfProvider"]

_ADAPTER = "adapter_config.json"


class HfProvider:
    """`hf/ORG/NAME` or `hf/./folder`: answers, log-probabilities and log-likelihoods by transformers.

    Packages, names, devices and the cache are checked when it is created; the Hub and the
    configuration, before the first call, which loads the weights. Waiting calls are computed together. Each answer
    has its own seed, so it depends on its neighbours only by the rounding of sums.
    """

    def __init__(self, model: str, options: ProviderOptions) -> None:
        self._name = name = ModelName.parse(model)
        self._options = options
        self._where = f"model hf/{name.title}"
        check_packages(name)
        if name.device not in (None, "cpu"):
            from creval_hf.loading import check_device

            check_device(name)
        self._found = self._find_here(name.place, name.local, name.revision)
        self._adapter: Found | None = None
        if name.adapter:
            self._adapter_name = ModelName.parse(name.adapter)
            place, local = self._adapter_name.place, self._adapter_name.local
            self._adapter = self._find_here(place, local, self._adapter_name.revision, _ADAPTER)
        self._ready = False
        self._batcher: Batcher | None = None
        self._identity: dict[str, Any] = {"dtype": name.dtype}
        self._identity |= {"load_in": name.load_in} if name.load_in else {}
        self._note_revisions()
        self.traits = ProviderTraits(
            remote=False, free=True, continues=True, modalities=frozenset(), identity=self._identity
        )

    def prepare(self) -> None:
        """Query the Hub, and check the configuration. Raises UsageError, MissingPartError."""
        if self._ready:
            return
        name, options = self._name, self._options
        if not options.offline and not name.local:
            self._found = self._newest(name.place, name.revision, self._found)
        if name.adapter and not options.offline and not self._adapter_name.local:
            self._adapter = self._newest(self._adapter_name.place, self._adapter_name.revision, self._adapter, _ADAPTER)
        from creval_hf.loading import check_config, chosen_device, versions

        assert self._found is not None
        dtype = check_config(name, self._found, options.trust_remote_code, self._is_here(self._found))
        self._note_revisions()
        self._identity |= {"dtype": dtype, "device": chosen_device(name), "runtime": versions()}
        self._ready = True

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one try. Raises FatalModelError."""
        if request.tools:
            what, fix = "a model in this process calls no tools", "Ask a server, e.g. hosted_vllm/<model>."
            raise FatalModelError(what, where=self._where, fix=fix, every_call=True)
        started = time.perf_counter()
        asked = self._engine_request(request)
        answers: Sequence[Answer] = await self._batches().submit(asked)
        assert asked.prompt is not None
        completions: list[Completion] = []
        flags: list[str] = []
        for answer in answers:
            completion, own = _completion(answer, asked.prompt, request)
            completions.append(completion)
            flags += own
        usage = Usage(asked.tokens, sum(answer.count for answer in answers))
        return self._reply(completions, usage, started, flags)

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply:
        """Make one try for all texts of a call. Raises FatalModelError."""
        started = time.perf_counter()
        asked = self._engine_request(call)
        scored = await self._batches().submit(asked)
        texts: list[list[Any]] = [[] for _ in call.requests]
        for place, tokens in zip(asked.places, scored, strict=True):
            texts[place] += tokens
        completions = [
            Completion(each.continuation, logprobs=tuple(tokens))
            for each, tokens in zip(call.requests, texts, strict=True)
        ]
        return self._reply(completions, Usage(asked.tokens), started, [CONTEXT_CUT] if asked.shortened else [])

    def rest(self) -> None:
        """Free the memory, unless a call waits: scorers may need it. The next call loads the weights again."""
        if self._batcher is not None and self._batcher.idle:
            self._batcher.close()
            self._batcher = None

    async def close(self) -> None:
        """End the running computation, and free the model."""
        if self._batcher is not None:
            await asyncio.to_thread(self._batcher.close)
            self._batcher = None

    def _find_here(self, place: str, local: bool, revision: str | None, config: str = "config.json") -> Found | None:
        found = find_cached(place, local, revision, config)
        if found is None and self._options.offline:
            raise MissingPartError(
                "it is not in the cache, and --offline forbids the network",
                where=f"model hf/{place}",
                fix=f"Run once without --offline, or fetch it: hf download {place}",
            )
        return found

    def _newest(self, place: str, revision: str | None, found: Found | None, config: str = "config.json") -> Found:
        """Return the Hub's version, or the local one if the Hub does not respond. A local commit needs no request."""
        if found is not None and found.commit == revision:
            return found
        try:
            return find_on_hub(place, revision, config)
        except MissingPartError:
            if found is None:
                raise
            return found

    def _is_here(self, found: Found) -> bool:
        """Return whether the complete model is local."""
        return self._options.offline or self._name.local or find_cached(found.place, False, found.commit) is not None

    def _note_revisions(self) -> None:
        """Record the revisions of the weights in the run."""
        self._identity |= {"revision": self._found.revision} if self._found else {}
        self._identity |= {"adapter": self._adapter.revision} if self._adapter else {}

    def _batches(self) -> Batcher:
        if self._batcher is None:
            from creval_hf.engine import Engine

            self._batcher = Batcher(Engine(self._load, self._where), self._name.rows, self._where)
        return self._batcher

    def _load(self) -> Loaded:
        """Load the weights in the computing thread."""
        from creval_hf.loading import load

        self.prepare()
        assert self._found is not None
        here = self._is_here(self._found)
        return load(self._name, self._found, self._adapter, self._options.trust_remote_code, here)

    def _engine_request(self, request: GenerateRequest) -> Asked:
        from creval_hf.engine import Asked

        return Asked(request)

    def _reply(self, completions: Sequence[Completion], usage: Usage, started: float, flags: Sequence[str]) -> Reply:
        revision = self._identity.get("revision")
        return Reply(
            completions=tuple(completions),
            usage=usage,
            cost=0.0,
            latency=time.perf_counter() - started,
            model=f"{self._name.title}@{revision}" if revision else self._name.title,
            served_by="hf",
            flags=tuple(dict.fromkeys(flags)),
        )


def _completion(answer: Answer, prompt: Prompt, request: GenerateRequest) -> tuple[Completion, Sequence[str]]:
    """Return an answer without the thinking that the template's marks separate, and flags."""
    completion = Completion(answer.text, answer.finish_reason, logprobs=answer.logprobs)
    if prompt.marks is None:
        return completion, ()
    own = request.own_tags | tags_in(message.text for message in request.messages if message.role != "assistant")
    if own & tags_in([prompt.marks.opening]):  # the task uses the same tags for another purpose
        return completion, ()
    return part_thinking(replace(completion), prompt.marks, prompt.text)
