"""NoveltyBench's classifier, on a tiny model of its architecture that the test makes: classes as the authors find them.

Its weights are random, and its bias is set so that half of the pairs are over the threshold of .102.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from creval.plugin import SampleKey, ScorerInput
from creval.resources.resource_options import ResourceOptions
from creval.types.sample import Condition
from creval_encoders.entailment_classifier import TransformersEntailment

diversity = pytest.importorskip("creval_diversity.scorers")
pytestmark = pytest.mark.model

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "man", "eats", "sleeps", "all", "some", "no", "bird"]
DRAWN = random.Random(4)
ANSWERS = [" ".join(DRAWN.choices(WORDS[5:], k=DRAWN.randint(6, 12))) for _ in range(6)]


def made(folder: Path) -> tuple[Any, Any]:
    """Write a DeBERTa v3 of two classes, and return its tokenizer and itself."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    config = transformers.DebertaV2Config(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        relative_attention=True,
        position_buckets=16,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        type_vocab_size=0,
        initializer_range=1.0,
        id2label={0: "not_entailment", 1: "entailment"},
        label2id={"not_entailment": 0, "entailment": 1},
    )
    model = transformers.DebertaV2ForSequenceClassification(config).eval()
    shares = sorted(share(tokenizer, model, one, other) for one in ANSWERS for other in ANSWERS if one != other)
    middle = torch.logit(torch.tensor(shares[len(shares) // 2]))
    with torch.no_grad():
        model.classifier.bias[1] += torch.logit(torch.tensor(0.102)) - middle
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return tokenizer, model


def share(tokenizer: Any, model: Any, one: str, other: str) -> float:
    """As their `classifier_score`: both texts with separators, and the probability of the second class."""
    import torch

    ids = [tokenizer.cls_token_id]
    for text in (one, other):
        ids += [*tokenizer.encode(text, truncation=True, max_length=128, add_special_tokens=False)]
        ids += [tokenizer.sep_token_id]
    first = ids.index(tokenizer.sep_token_id) + 1
    types = [0] * first + [1] * (len(ids) - first)
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits
    return float(logits.softmax(-1)[0, 1])


def test_the_classes_are_those_of_the_authors_loop(tmp_path: Path) -> None:
    tokenizer, model = made(tmp_path / "similarity")
    expected = [-1] * len(ANSWERS)
    for i, one in enumerate(ANSWERS):
        if expected[i] < 0:
            expected[i] = max(expected) + 1
            for j in range(i + 1, len(ANSWERS)):
                if expected[j] < 0 and share(tokenizer, model, one, ANSWERS[j]) > 0.102:
                    expected[j] = expected[i]
    assert 1 < max(expected) + 1 < len(ANSWERS)

    adapter = TransformersEntailment(str(tmp_path / "similarity"), ResourceOptions(offline=True, batch_size=4))
    context: Any = SimpleNamespace(resource=lambda name: adapter)
    given = [
        ScorerInput(SampleKey("t", "d", "default", repeat), {}, Condition("default"), [text], [], {})
        for repeat, text in enumerate(ANSWERS)
    ]
    scores = asyncio.run(diversity.classifier().score(given, context))
    assert [score.details["class_of_distinct_classifier"] for score in scores if score.details] == expected
    assert {score.scores["distinct_classifier"] for score in scores} == {float(max(expected) + 1)}
