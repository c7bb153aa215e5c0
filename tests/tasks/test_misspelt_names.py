"""Names in a task file that nothing has: `creval validate` refuses each, in plain English, with the nearest one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from creval.data.data_options import DataOptions
from creval.plugins.loader import load_plugins
from creval_testing.check_tasks import check_all

ROWS = [
    {"id": str(n), "q": f"q{n}", "target": "a", "subject": "law", "opts": ["a", "b"], "ans": 0, "turns": ["x", "y"]}
    for n in range(3)
]
TASK: dict[str, Any] = {
    "schema": 1,
    "task": "t",
    "version": "1.0.0",
    "title": "T",
    "dataset": {"source": "file", "file": "d.jsonl", "id": "id"},
    "prompt": [{"role": "user", "content": "{{ q }}"}],
    "parse": "text",
    "score": "exact_match",
    "metrics": [{"name": "exact_match", "failed": "zero"}],
}
JURY = "roles: {a: {prompts: {p: [{role: user, content: x}]}}, b: null}, metrics: [{name: r, failed: zero}], "
EACH = "protocol: turns, metrics: [{name: exact_match, failed: zero}, {name: m, from: %s, failed: zero}]"
RULES = "protocol: turns, score: {each_turn: {score: {rules: {rules: [{words: 3}]}}}}, "


def faults(folder: Path, changes: str) -> list[str]:
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    given = yaml.safe_load("{" + changes + "}")
    dataset = {**TASK["dataset"], **given.pop("dataset", {})}
    file = folder / "t.yaml"
    file.write_text(yaml.safe_dump({**TASK, "dataset": dataset, **given}, sort_keys=False))
    found = check_all([str(file)], load_plugins(), DataOptions(offline=True))
    assert all(problem.line for problem in found)
    return [str(problem).replace(f"{folder}/", "").partition(": ")[2] for problem in found]


SCORES = {
    f"{JURY}score: {{judge: {{prompt: p, scale: [1, 5], name: rr}}}}": "no scorer of the task returns 'r'",
    f"{JURY}score: {{judge: {{prompt: p, scale: [1, 5], name: r, roles: [a, bb]}}}}": "no role 'bb'. Did you mean 'b'?",
    f"{JURY}score: {{judge: {{prompt: p, scale: [1, 5], name: r, roles: [a, b], combine: each}}}}": "return: r@a, r@b.",
    EACH % "exact_mach@2" + ", score: {each_turn: exact_match}": "Did you mean 'exact_match@2'?",
    "parse: null, readings: {s: text, l: text}, "
    + EACH % "exact_match@2@t"
    + ", score: {each_turn: exact_match}": "Did you mean 'exact_match@2@s'?",
    EACH % "exact_match@3" + ", score: {each_turn: exact_match}": "the longest conversation has 2 turns",
    EACH % "exact_match@1" + ", score: {each_turn: {score: exact_match, turns: last}}": "Did you mean 'exact_match'?",
    f"{RULES}metrics: [{{name: m, from: rules_each, weight: rules_count, failed: exclude}}]": "from: rules_each@1",
}
FIELDS = {
    "dataset: {fields: {x: {from: q, split: numberd}}}": "Did you mean 'numbered'?",
    "dataset: {fields: {x: {from: q, split: Lines}}}": "Did you mean 'lines'?",
    "dataset: {fields: {x: qq}}": "no field 'qq' (did you mean 'q'?)",
    "dataset: {columns: [q, target]}": "`columns` leaves out 'id', which `id` uses. Add 'id' to columns.",
    "dataset: {columns: [id, target], fields: {x: q}}": "`columns` leaves out 'q', which `fields` uses",
    "dataset: {columns: {id: id, o: opts}, choices: {from: opts, answer: o}}": "'opts', which `choices` uses",
    "dataset: {columns: [id, q, targte]}": "Did you mean 'target'?",
    "dataset: {where: {subjct: law}}": "Did you mean 'subject'?",
    "dataset: {where: {subject: lwa}}": "'subject' is never 'lwa' (did you mean 'law'?)",
    "dataset: {id: idd}": "3 rows are faulty, the first at d.jsonl:1: the id field 'idd' is missing (did",
    "dataset: {choices: {from: optz, answer: ans}}": "(did you mean 'opts'?)",
    "dataset: {choices: {from: opts, answer: anz}}": "(did you mean 'ans'?)",
    "dataset: {choices: {from: opts, answer: ans, labels: obts}}": "(did you mean 'opts'?)",
    "metrics: [{name: exact_match, failed: zero, by: subjct}]": "Did you mean 'subject'?",
    "metrics: [{name: exact_match, failed: zero, group: subjct}]": "Did you mean 'subject'?",
    "few_shot: {n: 1, same: subjct, answer: '{{ target }}'}": "Did you mean 'subject'?",
    "few_shot: {n: 1, answer: '{{ targte }} {{ q }}'}": "lacks the field 'targte'. Did you mean 'target'?",
    "score: {exact_match: {field: targte}}": "Did you mean 'target'?",
    "baselines: {ceiling: {target: targte}}": "no field 'targte'; it has",
    "baselines: {floor: {one_of: opps}}": "Did you mean 'opts'?",
    "baselines: {floor: {one_of: q}}": "holds no list to choose from",
    "protocol: turns, baselines: {ceiling: {turn_target: targte}}": "Did you mean 'target'?",
    "metrics: [{name: exact_match, failed: zero}, {name: b, of: {f2: [exact_match, exact_match]}}]": "mean 'f1'?",
}
ENGLISH = {
    "dataset: {fields: {x: {from: q, all: true}}}": "the key 'all' needs the key 'pattern'. Add pattern",
    "dataset: {fields: {x: {split: lines}}}": "the key 'split' needs the key 'from'.",
    "parity: {against: x, answers: 1, agreement: 1}": "the key 'worst' is missing",
    "parity: {}": "needs 'against' and 'answers' and 'agreement' and 'worst', or 'none'.",
    "generation: {seed: sampel}": "Did you mean 'sample'?",
    "tools: [{name: a b}]": "not a name of at most 64 letters, digits, _ and -, starting with a letter or _.",
    "metrics: [{name: exact_match}]": "'failed' is missing. It is what a sample without a score counts",
    "prompt: [{role: user, content: [{text: x, image: y}]}]": "must contain at most 1 key, but contains 2.",
    "score: {judge: {prompt: p, roles: ['1 a']}}": "not a name of letters, digits and _, starting with a letter.",
}
COMBINED = "metrics: [{name: exact_match, failed: zero%s}, {name: b, of: {f1: [exact_match, exact_match]}%s}]"
TOOL = "tools: [{name: look, parameters: {type: object, properties: {at: {type: %s}}, required: %s}}%s]"
TOOLS = {
    TOOL % ("string", "[at]", ", {name: look}"): "two tools are called 'look'. Rename one of them.",
    TOOL % ("strng", "[at]", ""): "this is not a JSON Schema of arguments. Did you mean 'string'?",
    TOOL % ("string", "at", ""): "this is not a JSON Schema of arguments.",
    TOOL % ("string", "[att]", ""): "no argument is called 'att'. Did you mean 'at'?",
}
OF = {
    COMBINED % ("", ", by: subject, average: macro"): "no mean over groups can be made of a metric of metrics (yet)",
    COMBINED % (", by: subject, average: macro", ""): "Name a metric without group and average.",
    COMBINED % (", group: subject", ""): "Name a metric without group and average.",
}
REPEATS = {
    "metrics: [{name: m, from: exact_match, failed: zero, aggregate: {pass@k: 3}}], repeats: 2": "needs 3 repeats",
    "score: distinct, metrics: [{name: distinct, failed: zero}]": "compares the answers to a doc",
}


@pytest.mark.parametrize("table", [SCORES, FIELDS, ENGLISH, TOOLS, OF, REPEATS])
def test_each_fault_is_refused_in_plain_english(tmp_path: Path, table: dict[str, str]) -> None:
    for changes, message in table.items():
        found = faults(tmp_path, changes)
        assert any(message in each for each in found), (changes, found)
        assert not any(word in each for each in found for word in ("dependency", "schema is", "^")), found


def test_what_is_right_passes(tmp_path: Path) -> None:
    sound = [
        TOOL % ("string", "[at]", ", {name: go}"),
        "dataset: {fields: {x: {from: q, split: ' and '}, y: {from: q, split: or}}}",
        "dataset: {columns: {key: id, q: q, target: target}, id: key}",
        "dataset: {columns: [id, q, target, opts, ans], choices: {from: opts, answer: ans}}",
        "dataset: {columns: [id, q, target], where: {subject: law}}",
        "metrics: [{name: m, from: exact_match, failed: zero, aggregate: {pass@k: 3}}], repeats: 3",
        EACH % "exact_match@2" + ", score: {each_turn: exact_match}, baselines: {ceiling: {turn_target: turns}}",
        f"{RULES}metrics: [{{name: m, from: rules_each@1, weight: rules_count@1, failed: exclude}}]",
        f"{JURY}score: {{judge: {{prompt: p, scale: [1, 5], name: r, roles: [a, c]}}}}",
        "score: distinct, metrics: [{name: distinct, failed: zero}], generation: {n: 2}",
        "baselines: {ceiling: target, floor: {one_of: opts}}",
    ]
    assert {changes: found for changes in sound if (found := faults(tmp_path, changes))} == {}
