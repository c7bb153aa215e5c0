"""Convert a declarative task of lm-eval to a task file of creval, and report what the file cannot express.

Only the task's YAML keys are read, not its data: Python functions, filters and metrics that creval lacks prevent a
conversion. The written file asks the same texts and gives the same numbers on the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from creval.plugin import UnknownNameError
from creval_lmeval.names import need_lm_eval
from creval_lmeval.roots import known
from creval_lmeval.written import version_of

__all__ = ["Converted", "converted"]

_FIELD = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}|([A-Za-z_]\w*)")
_FIELDS = re.compile(r"\{\{\s*\[\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*\]\s*\}\}")
_LABEL = re.compile(r"\{\{\s*([\w.]+)\.label\.index\(\s*(\w+)(?:\.lstrip\(\))?\s*\)\s*\}\}")
_UNKNOWN = re.compile(r"\{%|regex_replace|\.(?:strip|split|lstrip|rstrip|replace|index)\(")
_FUNCTIONS = ("process_docs", "process_results", "custom_dataset", "use_prompt", "doc_to_image", "doc_to_audio")
_CHOICE_METRICS = {"acc": "acc", "acc_norm": "acc_norm", "acc_bytes": "acc_norm_bytes"}
_MATCH_KEYS = frozenset({"metric", "aggregation", "higher_is_better", "ignore_case", "ignore_punctuation"})


@dataclass
class Converted:
    """The text of a task file, or None and the reasons; `notes` say what differs from lm-eval."""

    text: str | None = None
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def converted(name: str) -> Converted:
    """Convert a task. Raises UnknownNameError if there is no task of this name."""
    lm_eval = need_lm_eval().version
    named = known().get(name)
    if named is None or named.kind != "task":
        raise UnknownNameError("task of lm-eval", name, [each.name for each in known().values() if each.kind == "task"])
    from lm_eval.tasks._yaml_loader import load_yaml

    said = load_yaml(named.file, resolve_func=False)
    found = Converted()
    body = _Body(said, found).written()
    if found.reasons:
        return found
    head = {
        "schema": 1,
        "task": re.sub(r"[^a-z0-9_]", "_", name.lower()),
        "version": version_of((said.get("metadata") or {}).get("version", 0), lm_eval).partition("+")[0],
        "title": f"{name}, converted from lm-eval {lm_eval}",
        "source": {"url": "https://github.com/EleutherAI/lm-evaluation-harness"},
    }
    found.text = yaml.safe_dump({**head, **body}, sort_keys=False, allow_unicode=True, width=1000)
    return found


class _Body:
    """The keys of a task file, built one after the other; missing parts are added to the reasons."""

    def __init__(self, said: Mapping[str, Any], found: Converted) -> None:
        self._said = said
        self._found = found

    def _lacks(self, reason: str) -> None:
        self._found.reasons.append(reason)

    def written(self) -> dict[str, Any]:
        """Return the keys."""
        said = self._said
        for key in _FUNCTIONS:
            if said.get(key) is not None:
                self._lacks(f"{key} is a function in Python, or a prompt of another library")
        if "class" in said:
            self._lacks("it is a class in Python")
            return {}
        for key in ("doc_to_text", "doc_to_target", "doc_to_choice", "description"):
            if isinstance(said.get(key), str) and re.search(r"/[\w./-]+\.\w+$", said[key]) and "{{" not in said[key]:
                self._lacks(f"{key} is a function in Python")
        if said.get("gen_prefix"):
            self._lacks("gen_prefix, which begins the answer")
        if said.get("num_fewshot"):
            self._found.notes.append("lm-eval draws its examples with its own generator; none are written")
        if self._found.reasons:
            return {}
        kind = said.get("output_type", "generate_until")
        make = {
            "multiple_choice": self._choices,
            "loglikelihood_rolling": self._rolling,
            "generate_until": self._generated,
        }.get(kind)
        if make is None:
            self._lacks(f"the output type {kind}: greediness of one text is no score of creval")
            return {}
        return make()

    def _dataset(self, more: Mapping[str, Any]) -> dict[str, Any]:
        said = self._said
        split = said.get("test_split") or said.get("validation_split")
        if said.get("dataset_kwargs") or str(said.get("dataset_path")) in ("json", "csv", "parquet", "text"):
            self._lacks("dataset_kwargs, or files in place of a data set of the hub")
        config = {"config": said["dataset_name"]} if said.get("dataset_name") else {}
        where = {
            "source": "huggingface",
            "dataset": str(said.get("dataset_path")),
            "revision": "newest",
            "split": split,
        }
        self._found.notes.append("the revision is that of the first fetch; state a commit to pin it")
        return {**where, **config, **more}

    def _text(self, key: str) -> str:
        """Return a template over the fields, from a template or the name of a field."""
        written = self._said.get(key)
        if not isinstance(written, str):
            self._lacks(f"{key} is not a text")
            return ""
        if "{{" not in written and re.fullmatch(r"[A-Za-z_]\w*", written):
            return f"{{{{ {written} }}}}"
        if _UNKNOWN.search(written):
            self._lacks(f"{key} holds what templates of creval do not have: {written[:60]!r}")
        if written.endswith("\n"):
            self._lacks(f"{key} ends in a line break, which templates of creval drop")
        return written

    def _prompt(self) -> list[dict[str, str]]:
        text = self._text("doc_to_text")
        return [{"role": "user", "content": str(self._said.get("description") or "") + text}]

    def _choices(self) -> dict[str, Any]:
        choices, target = self._said.get("doc_to_choice"), self._said.get("doc_to_target")
        more: dict[str, Any] = {}
        given: Any = "choices"
        if isinstance(choices, list):
            given = [{"label": str(place), "text": str(each)} for place, each in enumerate(choices)]
        elif isinstance(choices, str) and (listed := _FIELDS.fullmatch(choices)):
            more["from"] = [each.strip() for each in listed[1].split(",")]
        elif isinstance(choices, str) and (single := _FIELD.fullmatch(choices)):
            more["from"] = single[1] or single[2]
        else:
            self._lacks(f"doc_to_choice is more than a field or a list: {str(choices)[:60]!r}")
        score = self._target(target, more, isinstance(choices, list))
        metrics = self._choice_metrics()
        data = self._dataset({"choices": more} if "from" in more else {})
        delimiter = self._said.get("target_delimiter", " ")
        return {
            "dataset": data | ({"fields": score["fields"]} if score.get("fields") else {}),
            "prompt": self._prompt(),
            "protocol": {"name": "choices", "choices": given, "delimiter": delimiter},
            "score": {"likeliest_choice": score["field"]},
            "metrics": metrics,
        }

    def _target(self, target: Any, more: dict[str, Any], fixed: bool) -> dict[str, Any]:
        """Return the field with the right choice; an index into the list counts from 0."""
        label = _LABEL.fullmatch(target) if isinstance(target, str) else None
        if type(target) is int:
            if not fixed:
                more["answer"] = "gold"
            return {
                "field": "gold" if fixed else "target",
                "fields": {"gold": {"value": str(target) if fixed else target}},
            }
        if label is not None and "from" in more:
            more |= {"labels": f"{label[1]}.label", "answer": label[2], "answer_is": "label"}
            return {"field": "target"}
        single = _FIELD.fullmatch(target) if isinstance(target, str) else None
        if single is None:
            self._lacks(f"doc_to_target is more than a field: {str(target)[:60]!r}")
            return {"field": "target"}
        name = single[1] or single[2]
        if not fixed:
            more["answer"] = name
            return {"field": "target"}
        return {"field": name}

    def _choice_metrics(self) -> list[dict[str, Any]]:
        metrics = []
        for each in self._said.get("metric_list") or [{"metric": "acc"}, {"metric": "acc_norm"}]:
            name = _CHOICE_METRICS.get(str(each.get("metric")))
            if name is None or each.get("aggregation", "mean") != "mean":
                self._lacks(f"the metric {each.get('metric')} by {each.get('aggregation', 'its own aggregation')}")
            else:
                metrics.append({"name": name, "failed": "exclude"})
        if self._said.get("filter_list"):
            self._lacks("filter_list of log-likelihoods")
        return metrics

    def _rolling(self) -> dict[str, Any]:
        text = {**self._said, "doc_to_text": self._said.get("doc_to_target")}
        prompt = [{"role": "user", "content": _Body(text, self._found)._text("doc_to_text")}]
        made = {
            "word_perplexity": {"from": "word_nll", "weight": "words", "aggregate": "perplexity"},
            "byte_perplexity": {"from": "byte_nll", "weight": "bytes", "aggregate": "perplexity"},
            "bits_per_byte": {"weight": "bytes"},
        }
        metrics = []
        for each in self._said.get("metric_list") or [{"metric": name} for name in made]:
            if each.get("metric") not in made:
                self._lacks(f"the metric {each.get('metric')}")
                continue
            how = {**made[each["metric"]], "failed": "exclude", "higher_is_better": False}
            metrics.append({"name": each["metric"], **how})
        return {
            "dataset": self._dataset({}),
            "prompt": prompt,
            "protocol": {"name": "choices", "output": "loglikelihood_rolling"},
            "score": "perplexity",
            "metrics": metrics,
        }

    def _generated(self) -> dict[str, Any]:
        said = self._said
        if int(said.get("repeats") or 1) > 1:
            self._lacks("repeats with filters over them")
        own = dict(said.get("generation_kwargs") or {"until": [said.get("fewshot_delimiter", "\n\n")]})
        own.pop("do_sample", None)
        stops = own.pop("until", [])
        generation: dict[str, Any] = {
            "temperature": own.pop("temperature", 0),
            "max_tokens": own.pop("max_gen_toks", own.pop("max_tokens", 256)),
            "seed": 1234,
            **({"stop": [stops] if isinstance(stops, str) else list(stops)} if stops else {}),
        }
        generation["chat_template"] = "none"
        for key in own:
            self._lacks(f"the setting {key} of generation_kwargs")
        target = self._text("doc_to_target")
        single = _FIELD.fullmatch(target)
        if single is None:
            self._lacks(f"doc_to_target is more than a field: {target[:60]!r}")
        readings = self._readings()
        return {
            "dataset": self._dataset({"fields": {"target": (single[1] or single[2]) if single else ""}}),
            "prompt": self._prompt(),
            "protocol": {"name": "chat", "tolerate": ["length", "refusal", "empty"]},
            "generation": generation,
            "reasoning": "keep",
            "readings": readings,
            **self._matched(list(readings)),
        }

    def _readings(self) -> dict[str, Any]:
        """Return a chain of parsers for each filter pipeline."""
        found: dict[str, Any] = {}
        for pipeline in self._said.get("filter_list") or [{"name": "none", "filter": [{"function": "take_first"}]}]:
            name = re.sub(r"\W", "_", str(pipeline["name"]))
            steps = [each for each in pipeline["filter"] if each.get("function") != "take_first"]
            if not steps:
                found[name] = "text"
            else:
                self._lacks(
                    f"the filter {', '.join(str(each.get('function')) for each in steps)} of {pipeline['name']}"
                )
        return found

    def _matched(self, readings: Sequence[str]) -> dict[str, Any]:
        listed = self._said.get("metric_list") or [{"metric": "exact_match"}]
        given = {name: value for name, value in listed[0].items() if name.startswith("ignore_") and value}
        for each in listed:
            if each.get("metric") != "exact_match" or each.get("aggregation", "mean") != "mean":
                self._lacks(f"the metric {each.get('metric')}")
            for key in each.keys() - _MATCH_KEYS:
                self._lacks(f"{key} of the metric {each.get('metric')}")
        metrics = [{"name": f"exact_match@{name}", "failed": "zero", "binary": True} for name in readings]
        return {"score": {"exact_match": given} if given else "exact_match", "metrics": metrics}
