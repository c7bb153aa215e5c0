"""Made-up data sets in the form of published ones: folders of the hub's names, which `datasets` finds where it runs.

make_data(folder)   # then run in `folder`: load_dataset("openai/gsm8k", "main") reads folder/openai/gsm8k
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["FOLDERS", "MORE", "TASKS", "make_data"]

Row = Mapping[str, Any]
Rows = Sequence[Row]
DOCS = 6
"""Documents of a split."""

WHO = ("Anna", "Ben", "the clerk", "Old Tom", "my sister", "a gull", "nobody")
THINGS = ("clock", "kite", "boat", "gate", "umbrella", "pump", "lamp")
PLACES = ("in the yard", "at the quay", "under the bridge", "on the hill", "at home", "by the mill", "in Ünterdorf")
ENDS = ("sings", "paints it   blue, and then again", "naps.", "takes it apart, piece by piece", "counts to twelve")


def story(n: int) -> str:
    """A sentence or two; every third is long."""
    first = f"{WHO[n % 7]} looks at the {THINGS[n * 3 % 7]} {PLACES[n * 5 % 7]}."
    return first + (" It has rained since noon, and the ropes are wet." * 2 if n % 3 == 0 else "")


def question(n: int) -> str:
    return f"Which of these did {WHO[n % 7]} leave {PLACES[(n + 2) % 7]}"


def options(n: int, count: int) -> list[str]:
    return [f"the {THINGS[(n + place) % 7]}{' of brass' * (place % 2)}" for place in range(count)]


def gsm8k(n: int) -> Row:
    total = 2 * n + 13
    answer = f"{n + 6} and {n + 7} make {total}.\n#### {total}"
    return {"question": f"{WHO[n % 7]} has {n + 6} nails and buys {n + 7} more. How many is that?", "answer": answer}


def multiple(n: int, count: int = 4) -> Row:
    return {"question": question(n), "choices": options(n, count), "answer": n % count, "subject": "made up"}


def arc(n: int) -> Row:
    labels = ["A", "B", "C", "D"] if n % 3 else ["1", "2", "3"]
    texts = options(n, len(labels))
    return {
        "id": str(n),
        "question": question(n),
        "choices": {"text": texts, "label": labels},
        "answerKey": labels[n % 3],
    }


def hellaswag(n: int) -> Row:
    row = {"ind": n, "activity_label": f"Mending a {THINGS[n % 7]}", "ctx_a": story(n), "ctx_b": "then she"}
    ctx = f"{row['ctx_a']} {row['ctx_b']}"
    endings = [
        f"{ENDS[(n + place) % 5]} [step] and waits" if place == 2 else ENDS[(n + place) % 5] for place in range(4)
    ]
    return {**row, "ctx": ctx, "endings": endings, "label": str(n % 4), "source_id": f"made~{n}", "split": "made"}


def winogrande(n: int) -> Row:
    sentence = f"The {THINGS[n % 7]} did not fit into the box because the _ was too large."
    return {"sentence": sentence, "option1": THINGS[n % 7], "option2": "box", "answer": str(n % 2 + 1)}


def drop(n: int) -> Row:
    spans = {"spans": [f"{n + 2} boats"], "types": ["span"]}
    none: dict[str, list[Any]] = {"number": [], "date": [], "spans": [], "hit_id": [], "worker_id": []}
    row = {"section_id": "s", "query_id": f"q{n}", "passage": story(n), "question": f"What came on day {n}?"}
    gold = {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": spans["spans"]}
    return {**row, "answer": {**gold, "hit_id": "", "worker_id": ""}, "validated_answers": {**none, "date": []}}


def truthful(n: int) -> Row:
    first = {"choices": options(n, 3), "labels": [1, 0, 0]}
    second = {"choices": options(n + 1, 4), "labels": [1, 1, 0, 0]}
    return {"question": f"{question(n)}?", "mc1_targets": first, "mc2_targets": second}


def math_qa(n: int) -> Row:
    listed = " , ".join(f"{letter} ) {n + place}" for place, letter in enumerate("abcde"))
    return {
        "Problem": f"what is {n} and 2",
        "options": listed,
        "correct": "abcde"[n % 5],
        "Rationale": "",
        "category": "",
    }


def mutual(n: int) -> Row:
    said = f"m : is the {THINGS[n % 7]} here ? f : it was here at noon ."
    return {
        "answers": "ABCD"[n % 4],
        "options": [f"m : so {each} ." for each in options(n, 4)],
        "article": said,
        "id": str(n),
    }


def babi(n: int) -> Row:
    return {
        "passage": f"{WHO[n % 7]} went home.\n",
        "question": f"Where is {WHO[n % 7]}?",
        "answer": PLACES[n % 7],
        "task": 1,
    }


def translated(n: int) -> Row:
    english = f"{story(n)} The answer is {n}."
    return {"translation": {"ro": f"Povestea {n} despre {THINGS[n % 7]}.", "en": english}}


def squad(n: int) -> Row:
    starts = {"text": [THINGS[n % 7], f"the {THINGS[n % 7]}"][: 1 + n % 2], "answer_start": [4, 0][: 1 + n % 2]}
    answers = {"text": [], "answer_start": []} if n % 3 == 2 else starts
    return {"id": f"q{n}", "title": "Made", "context": story(n), "question": f"{question(n)}?", "answers": answers}


def _choices(*names: str) -> Callable[[int], Row]:
    return lambda n: dict(zip(names, options(n, len(names)), strict=True))


SOURCES: Mapping[str, Mapping[str, tuple[Sequence[str], Callable[[int], Row]]]] = {
    "openai/gsm8k": {"main": (("train", "test"), gsm8k)},
    "mandarjoshi/trivia_qa": {
        "rc.nocontext": (
            ("train", "validation"),
            lambda n: {
                "question": question(n),
                "answer": {"aliases": [THINGS[n % 7], str(n + 2)], "value": str(n + 2)},
            },
        )
    },
    "google-research-datasets/nq_open": {
        "default": (
            ("train", "validation"),
            lambda n: {"question": question(n), "answer": [str(n), f"The {THINGS[n % 7]}"]},
        )
    },
    "EleutherAI/drop": {"default": (("train", "validation"), drop)},
    "juletxara/mgsm": {
        "en": (
            ("train", "test"),
            lambda n: {
                "question": gsm8k(n)["question"],
                "answer": None,
                "answer_number": 2 * n + 13,
                "equation_solution": None,
            },
        )
    },
    "wmt/wmt16": {"ro-en": (("train", "validation", "test"), translated)},
    "EleutherAI/unscramble": {
        "mid_word_1_anagrams": (
            ("validation",),
            lambda n: {"context": f"Please unscramble {THINGS[n % 7][::-1]} =", "completion": THINGS[n % 7]},
        )
    },
    "Muennighoff/babi": {"default": (("train", "valid", "test"), babi)},
    "SaylorTwift/bbh": {
        "boolean_expressions": (("test",), lambda n: {"input": f"not ( {n % 2 == 0} ) is", "target": str(n % 2 == 1)})
    },
    "EleutherAI/lambada_openai": {"default": (("test",), lambda n: {"text": story(n).rstrip(".")})},
    "cimec/lambada": {
        "default": (("train", "validation", "test"), lambda n: {"text": story(n + 1).rstrip("."), "domain": "x"})
    },
    "EleutherAI/asdiv": {
        "default": (
            ("validation",),
            lambda n: {
                "body": story(n),
                "question": "How many?",
                "answer": f"{n} (nails)",
                "solution_type": "",
                "formula": "",
            },
        )
    },
    "EleutherAI/wikitext_document_level": {
        "wikitext-2-raw-v1": (
            ("train", "validation", "test"),
            lambda n: {"page": f" = A {THINGS[n % 7]} = \n\n{story(n) * 3} 1 @.@ 5"},
        )
    },
    "NeelNanda/pile-10k": {"default": (("train",), lambda n: {"text": f"{story(n)}\n\n{story(n + 1)}", "meta": {}})},
    "allenai/paloma": {"c4_en": (("val", "test"), lambda n: {"text": story(n) * 2, "id": str(n)})},
    "Rowan/hellaswag": {"default": (("train", "validation"), hellaswag)},
    "allenai/ai2_arc": dict.fromkeys(("ARC-Easy", "ARC-Challenge"), (("train", "validation", "test"), arc)),
    "baber/piqa": {
        "default": (
            ("train", "validation"),
            lambda n: {"goal": question(n), **_choices("sol1", "sol2")(n), "label": n % 2},
        )
    },
    "allenai/winogrande": {"winogrande_xl": (("train", "validation"), winogrande)},
    "aps/super_glue": {
        "boolq": (("train", "validation"), lambda n: {"passage": story(n), "question": question(n), "label": n % 2}),
        "copa": (
            ("train", "validation"),
            lambda n: {
                "premise": f"The {THINGS[n % 7]} broke.",
                "choice1": "It fell.",
                "choice2": "It was new.",
                "question": ("cause", "effect")[n % 2],
                "label": n // 2 % 2,
            },
        ),
        "cb": (
            ("train", "validation"),
            lambda n: {"premise": story(n), "hypothesis": f"it is a {THINGS[n % 7]}", "label": n % 3},
        ),
    },
    "nyu-mll/glue": {
        "rte": (("train", "validation"), lambda n: {"sentence1": story(n), "sentence2": story(n + 3), "label": n % 2}),
        "mrpc": (
            ("train", "validation"),
            lambda n: {"sentence1": story(n), "sentence2": story(n + n % 2), "label": 1 - n % 2},
        ),
        "cola": (("train", "validation"), lambda n: {"sentence": story(n)[n % 3 :], "label": int(n % 3 == 0)}),
    },
    "allenai/openbookqa": {
        "main": (
            ("train", "validation", "test"),
            lambda n: {
                "question_stem": question(n),
                "choices": {"text": options(n, 4), "label": list("ABCD")},
                "answerKey": "ABCD"[n % 4],
            },
        )
    },
    "allenai/sciq": {
        "default": (
            ("train", "validation", "test"),
            lambda n: {
                "support": f" {story(n)}",
                "question": question(n),
                **_choices("distractor1", "distractor2", "distractor3", "correct_answer")(n),
            },
        )
    },
    "truthfulqa/truthful_qa": {"multiple_choice": (("validation",), truthful)},
    "cais/mmlu": {"anatomy": (("dev", "test"), multiple)},
    "cais/wmdp": {f"wmdp-{part}": (("test",), multiple) for part in ("bio", "chem", "cyber")},
    "regisss/math_qa": {"default": (("train", "validation", "test"), math_qa)},
    "EleutherAI/mutual": {"mutual": (("train", "validation"), mutual)},
    "nyu-mll/blimp": {"causative": (("train",), lambda n: {"sentence_good": story(n), "sentence_bad": story(n)[::-1]})},
    "lighteval/squad_v2": {"default": (("train", "validation"), squad)},
    "allenai/swag": {
        "regular": (
            ("train", "validation"),
            lambda n: {
                "startphrase": story(n),
                **_choices("ending0", "ending1", "ending2", "ending3")(n),
                "label": n % 4,
            },
        )
    },
    "lighteval/siqa": {
        "default": (
            ("train", "validation"),
            lambda n: {
                "context": story(n),
                "question": "Why?",
                **_choices("answerA", "answerB", "answerC")(n),
                "label": str(n % 3 + 1),
            },
        )
    },
}
TASKS: Mapping[str, Sequence[str]] = {
    "generate_until": (
        "gsm8k",
        "gsm8k_cot",
        "triviaqa",
        "drop",
        "mgsm_direct_en",
        "wmt16-ro-en",
        "anagrams1",
        "bbh_zeroshot_boolean_expressions",
    ),
    "loglikelihood": ("lambada_openai", "lambada_standard", "asdiv"),
    "loglikelihood_rolling": ("wikitext", "pile_10k", "paloma_c4_en"),
    "multiple_choice": (
        "hellaswag",
        "arc_easy",
        "piqa",
        "winogrande",
        "copa",
        "cb",
        "mrpc",
        "cola",
        "sciq",
        "truthfulqa_mc1",
        "mmlu_anatomy",
        "mathqa",
        "mutual",
        "blimp_causative",
    ),
}
"""Tasks of lm-eval 0.4.13 that read these data, by output type."""
MORE: Mapping[str, Sequence[str]] = {
    "generate_until": ("gsm8k_cot_self_consistency", "nq_open", "babi"),
    "loglikelihood": ("lambada_openai_cloze_yaml",),
    "multiple_choice": (
        "arc_challenge",
        "rte",
        "boolq",
        "openbookqa",
        "truthfulqa_mc2",
        "wmdp_bio",
        "wmdp_chem",
        "wmdp_cyber",
        "swag",
        "social_iqa",
    ),
}
"""Further ones, which the script of the table compares, too."""
FOLDERS = (
    "arc",
    "asdiv",
    "bbh/zeroshot",
    "blimp",
    "drop",
    "glue/cola",
    "glue/mrpc",
    "gsm8k",
    "hellaswag",
    "humaneval",
    "lambada",
    "mathqa",
    "mgsm/direct",
    "mmlu/default",
    "mutual",
    "paloma",
    "pile_10k",
    "piqa",
    "sciq",
    "squadv2",
    "super_glue/cb",
    "super_glue/copa",
    "translation",
    "triviaqa",
    "truthfulqa",
    "unscramble",
    "wikitext",
    "winogrande",
    "wmdp",
)
"""Folders of lm-eval's tasks that hold `TASKS`, and a group (wmdp)."""


def make_data(folder: Path, docs: int = DOCS) -> None:
    """Write all data sets below a folder."""
    for name, configs in SOURCES.items():
        lines = ["---", "configs:"]
        for config, (splits, row) in configs.items():
            lines += [f"- config_name: {config}", "  data_files:"]
            for number, split in enumerate(splits):
                file = folder / name / config / f"{split}.jsonl"
                file.parent.mkdir(parents=True, exist_ok=True)
                count = docs + (split == "train") + 3 * (config == "wmdp-chem")  # a group weights tasks by size
                rows = [row(n + number) for n in range(count)]
                file.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
                lines += [f"  - split: {split}", f"    path: {config}/{split}.jsonl"]
        (folder / name / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")
