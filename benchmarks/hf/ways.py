"""One small model, SmolLM2-135M-Instruct, by each way that this machine has: the same numbers, and how fast.

    python benchmarks/hf/ways.py FOLDER [--questions 16] [--tokens 32] [--times-only]

FOLDER is what smollm2.py wrote.

Seconds by the clock and of the processor, the parts interleaved three times, medians. `hf/` computes numbers of 32 bits
by torch, `embedded/` and llama.cpp's server the same weights in 4 bits: other programs, so answers may differ.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from creval.models.model_options import ProviderOptions
from creval.models.providers.chat_provider import ChatProvider
from creval.models.providers.endpoints import ENDPOINTS
from creval.types.likelihoods import Loglikelihood, LoglikelihoodCall, LoglikelihoodRequest
from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey
from creval_embedded.provider import EmbeddedProvider, find_gguf
from creval_hf.provider import HfProvider

ORIGIN = Origin(SampleKey("bench", "doc", "default", 0))
THINGS = [
    "clock",
    "umbrella",
    "kite",
    "boat",
    "gate",
    "pump",
    "lamp",
    "violin",
    "ladder",
    "tent",
    "bicycle",
    "kettle",
    "compass",
    "loom",
    "anchor",
    "plough",
]
ENDINGS = [" It floats.", " It is made of wax and honey.", " Nobody knows why.", " The attic room was cold."]


def question(thing: str, tokens: int) -> GenerateRequest:
    """Return a question, answered by the most probable tokens."""
    text = f"Write two sentences about how a {thing} is repaired by somebody who has never done it before."
    return GenerateRequest((Message("user", text),), {"temperature": 0, "max_tokens": tokens}, ORIGIN)


def choices(thing: str, shots: int = 5) -> LoglikelihoodCall:
    """Return a call of four endings after a context of five examples, which all calls share."""
    head = "".join(
        f"Question: what is a {each} for?\nAnswer: nobody has asked before, so I cannot say.\n" for each in THINGS
    )
    context = f"{head[: 100 * shots]}\nQuestion: what is a {thing} for?\nAnswer:"
    return LoglikelihoodCall((), {}, ORIGIN, requests=tuple(LoglikelihoodRequest(context, end) for end in ENDINGS))


def used() -> float:
    """Return the processor seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Return seconds by the clock and of the processor."""
    clock, processor = time.perf_counter(), used()
    await work()
    return time.perf_counter() - clock, used() - processor


async def main() -> None:
    """Compare numbers, then times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--times-only", action="store_true", help="compare no numbers")
    asked = parser.parse_args()
    hf = HfProvider(str(asked.folder.resolve()), ProviderOptions(offline=True))
    alone = HfProvider(f"{asked.folder.resolve()}?batch_size=1", ProviderOptions(offline=True))
    embedded = EmbeddedProvider("smollm2", ProviderOptions())
    server, address = started_server()
    chat = ChatProvider(ENDPOINTS["chat"], "smollm2", ProviderOptions(base_url=address))
    things = THINGS[: asked.questions]
    if not asked.times_only:
        await compare(hf, asked.folder, things)

    async def all_of(provider: Any) -> None:
        await asyncio.gather(*(provider.generate(question(thing, asked.tokens)) for thing in things))

    async def likelihoods(provider: Any) -> None:
        await asyncio.gather(*(provider.loglikelihood(choices(thing)) for thing in things))

    ways: dict[str, Callable[[], Awaitable[Any]]] = {
        "hf/, batches": lambda: all_of(hf),
        "hf/, batch_size=1": lambda: all_of(alone),
        "embedded/": lambda: all_of(embedded),
        "llama.cpp server": lambda: all_of(chat),
        "hf/, likelihoods": lambda: likelihoods(hf),
        "lm-eval's hf, likelihoods": by_lm_eval(asked.folder, [choices(thing) for thing in things]),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for name, work in ways.items():
        print(f"{name}: the first time {(await timed(work))[0]:.1f} s, with loading", flush=True)
    for _ in range(3):
        for name, work in ways.items():
            times[name].append(await timed(work))
    print(f"{len(things)} questions of {asked.tokens} tokens, or {4 * len(things)} endings: medians of three")
    for name, found in times.items():
        clock, processor = (statistics.median(each[place] for each in found) for place in (0, 1))
        print(f"{name:28s} {clock:7.2f} s by the clock {processor:7.2f} s of the processor")
    for provider in (hf, alone, embedded, chat):
        await provider.close()
    del server


def started_server() -> tuple[Any, str]:
    """Start llama.cpp's own server in this process; returns it and its address."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(find_gguf("smollm2")[0])
    settings.port, settings.n_ctx, settings.n_parallel = 0, 8192, 4
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.verbosity = -1
    server = xllamacpp.Server(settings)
    return server, f"{server.listening_address}/v1"


def by_lm_eval(folder: Path, calls: Sequence[LoglikelihoodCall]) -> Callable[[], Awaitable[Any]]:
    """Return what asks lm-eval's model for the same."""
    model, instances = lm_eval_model(folder, calls)

    async def work() -> None:
        model.loglikelihood(instances, disable_tqdm=True)

    return work


def lm_eval_model(folder: Path, calls: Sequence[LoglikelihoodCall]) -> tuple[Any, list[Any]]:
    """Return lm-eval's `hf` model, and the calls as it takes them."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    pairs = [(each.context, each.continuation) for call in calls for each in call.requests]
    model = HFLM(pretrained=str(folder), device="cpu", dtype="float32", batch_size=16)
    return model, [Instance("loglikelihood", {}, pair, place) for place, pair in enumerate(pairs)]


async def compare(hf: HfProvider, folder: Path, things: Sequence[str]) -> None:
    """Print how far the numbers are from those of lm-eval and transformers."""
    import transformers

    calls = [choices(thing, shots) for thing in things[:6] for shots in (0, 5)]
    model, instances = lm_eval_model(folder, calls)
    theirs = model.loglikelihood(instances, disable_tqdm=True)
    replies = await asyncio.gather(*map(hf.loglikelihood, calls))
    ours = [Loglikelihood.of(each) for reply in replies for each in reply.completions]
    furthest = max(abs(each.logprob - value) for each, (value, _) in zip(ours, theirs, strict=True))
    greedy = sum(each.is_greedy == said for each, (_, said) in zip(ours, theirs, strict=True))
    print(f"{len(ours)} likelihoods: largest difference from lm-eval {furthest:.1e}; is_greedy equal for {greedy}")
    pipe = transformers.pipeline("text-generation", model=str(folder), device="cpu")
    asked = [question(thing, 32) for thing in things[:8]]
    found = await asyncio.gather(*map(hf.generate, asked))
    said = [
        pipe(
            [{"role": "user", "content": each.messages[0].text}],
            max_new_tokens=32,
            do_sample=False,
            return_full_text=False,
            clean_up_tokenization_spaces=False,
        )[0]["generated_text"]
        for each in asked
    ]
    same = sum(reply.text == text for reply, text in zip(found, said, strict=True))
    print(f"{len(said)} greedy answers of a batch: {same} equal to transformers' pipeline, one by one")


if __name__ == "__main__":
    asyncio.run(main())
