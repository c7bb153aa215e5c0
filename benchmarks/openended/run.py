#!/usr/bin/env python3
"""What classes, entropy and surface measures cost for a whole run, and how many predictions the search saves.

    OMP_NUM_THREADS=1 python -m benchmarks.openended.run [--problems N] [--classifier]      (from the repository's root)

300 problems of 8 steps of 10 candidates, made from a seed: a few templates filled with a few of 40 words.

1. Entropy and surface measures with exact entailment (equal texts), embedding apart.
2. Predictions asked for founder by founder, next to both directions of all pairs; classes must be the same.
3. With --classifier: the same with a small transformers model made here, whose time a prediction is printed.

Times are processor seconds of one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from creval_openended.entropy.candidate_interval import Step, candidate_interval
from creval_openended.entropy.estimators import entropies
from creval_openended.entropy.judging import judge_by
from creval_openended.entropy.partition import Pair, partition_all
from creval_openended.entropy.surface import distinct, mean_cosine, self_bleu_of_steps

STEPS, CANDIDATES, WIDTH = 8, 10, 384
TEMPLATES = (
    "Tie the {} to the {} so that it holds the weight of the {}.",
    "Cut the {} into strips and wrap them around the {}.",
    "Fill the {} with water, then lower the {} into the {}.",
    "Use the {} as a lever under the {} and push down slowly.",
    "Fold the {} over the {} and fix it with the {}.",
)
WORDS = (
    *("rope", "bucket", "cardboard", "towel", "spoon", "broom", "bottle", "coin", "magnet", "straw", "blanket"),
    *("candle", "chair", "ladder", "mirror", "needle", "paper", "pencil", "pillow", "plank", "plate", "pocket"),
    *("ribbon", "ruler", "sack", "sheet", "shelf", "shoe", "sponge", "stick", "string", "table", "tape", "thread"),
    *("tile", "tube", "umbrella", "wire", "wood", "wool"),
)
T = TypeVar("T")


class Exact:
    """Texts entail each other where they are the same in lower case; counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Return (1, 0, 0) or (0, 1, 0) for each pair."""
        self.asked += len(pairs)
        same = np.array([one.lower() == other.lower() for one, other in pairs])
        return np.stack([same, ~same, np.zeros(len(pairs), dtype=bool)], axis=1).astype(float)


def main() -> None:
    """Run all parts and print them as markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--classifier", action="store_true", help="also part 3")
    options = parser.parse_args()
    steps = [texts(number) for number in range(options.problems * STEPS)]
    print("| what | processor s | predictions |\n|---|---|---|")
    exact = Exact()
    seconds, labels = clock(lambda: classes(steps, exact))
    print(f"| classes of {len(steps)} steps, equal texts | {seconds:.2f} | {exact.asked} |")
    everything = sum(2 * len(list(combinations(dict.fromkeys(step), 2))) for step in steps)
    if any(found != equal_texts(step) for found, step in zip(labels, steps, strict=True)):
        raise SystemExit("the classes are not those of equal texts")
    print(f"| both directions of all pairs of different texts | | {everything} ({everything / exact.asked:.1f}x) |")
    measures(steps, labels)
    if options.classifier:
        with tempfile.TemporaryDirectory() as folder:
            classifier(steps, Path(folder))


def texts(number: int) -> list[str]:
    """The candidates of a step: between one and all templates, one or two fillings of each."""
    chance = random.Random(number)
    some = [template.format(*chance.sample(WORDS, 3)) for template in TEMPLATES for _ in range(2)]
    return chance.choices(some[: chance.randint(1, len(some))], k=CANDIDATES)


def equal_texts(step: Sequence[str]) -> list[int]:
    """The classes that exact entailment has to give."""
    order = list(dict.fromkeys(step))
    return [order.index(text) for text in step]


def classes(steps: Sequence[Sequence[str]], entailment: Any) -> list[list[int]]:
    """Find the classes of all steps, 64 solutions at a time as the scorer does."""
    found: list[list[int]] = []
    for start in range(0, len(steps), 64 * STEPS):
        batch = steps[start : start + 64 * STEPS]
        found += asyncio.run(partition_all(batch, judge_by(entailment, "strict")))
    return found


def measures(steps: Sequence[Sequence[str]], labels: Sequence[Sequence[int]]) -> None:
    """Time the rest of part 1."""
    chance = np.random.default_rng(1)
    logprobs = chance.normal(-1, 0.5, size=(len(steps), CANDIDATES)).tolist()
    vectors = chance.normal(size=(len(steps), CANDIDATES, WIDTH)).astype(np.float32)
    measured = [Step(classes_, values) for classes_, values in zip(labels, logprobs, strict=True)]
    total = 0.0
    parts: dict[str, Callable[[], Any]] = {
        "entropies": lambda: [entropies(step.labels, step.logprobs) for step in measured],
        "intervals over candidates": lambda: [
            candidate_interval(measured[i : i + STEPS], 1.0) for i in range(0, len(measured), STEPS)
        ],
        "cosines, vectors given": lambda: [mean_cosine(rows) for rows in vectors],
        "self-BLEU": lambda: [self_bleu_of_steps(steps[i : i + STEPS]) for i in range(0, len(steps), STEPS)],
        "distinct-1 and -2": lambda: [(distinct(step, 1), distinct(step, 2)) for step in steps],
    }
    for name, action in parts.items():
        seconds, _ = clock(action)
        total += seconds
        print(f"| {name} | {seconds:.2f} | |")
    print(f"| all measures | {total:.2f} | |")


def classifier(steps: Sequence[Sequence[str]], folder: Path) -> None:
    """Part 3: a two-layer model with random weights stands for the machinery; its verdicts mean nothing."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    import creval
    from creval_analyses.workbench import Workbench

    torch.set_num_threads(1)
    torch.manual_seed(1)
    words = sorted({word.strip(".,").lower() for step in steps for text in step for word in text.split()})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", ",", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    names = ("entailment", "neutral", "contradiction")
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        initializer_range=1.0,
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    with Workbench(creval.RunOptions(offline=True)) as bench:
        entailment = bench.resource("entailment", f"transformers/{folder}")
        counted = Counting(entailment)
        seconds, _ = clock(lambda: classes(steps, counted))
    rate = seconds / max(1, counted.asked) * 1e6
    print(f"| classes by a classifier of two layers | {seconds:.2f} ({rate:.0f} us a prediction) | {counted.asked} |")


class Counting:
    """Counts what a resource is asked."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.asked = 0

    def predict(self, pairs: Sequence[Pair]) -> Any:
        """Pass the pairs on."""
        self.asked += len(pairs)
        return self._inner.predict(pairs)


def clock(action: Callable[[], T]) -> tuple[float, T]:
    """Processor seconds of a call, and its result."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
