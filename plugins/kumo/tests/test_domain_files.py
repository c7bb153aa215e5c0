"""Domain files: what is read, and every fault by its name with its line, all at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from creval_kumo.domains import check_domains, load_domain
from creval_kumo.domains.domain import Interval
from creval_kumo.domains.domain_file import MAX_BYTES, domain_faults, load_domain_file
from creval_kumo.domains.faults import DomainError, FaultKind
from creval_kumo.domains.rules import FILE_RULES, PLAYABLE_RULES, SHIPPED_RULES, Rules, find_faults, name_problem

FOLDER = Path(check_domains.__file__).parent / "shipped"


def sound() -> dict[str, Any]:
    """A domain that keeps every rule: action i rules out the truths by the bits of their numbers."""
    truths = [{"name": f"Truth {n}", "about": f"number {n}"} for n in range(50)]
    actions: list[dict[str, Any]] = []
    for n in range(30):
        split = (
            [f"Truth {t}" for t in range(50) if (t + 1) >> n % 6 & 1],
            [f"Truth {t}" for t in range(50) if not (t + 1) >> n % 6 & 1],
        )
        action: dict[str, Any] = {"name": f"Action {n}", "about": "splits"}
        if n % 2:
            action |= {
                "type": "float",
                "unit": "m",
                "outcomes": [{"range": [0, 1.5], "rules_out": split[0]}, {"range": [1.6, 3], "rules_out": split[1]}],
            }
        else:
            action |= {
                "type": "str",
                "outcomes": [{"label": "high", "rules_out": split[0]}, {"label": "low", "rules_out": split[1]}],
            }
        actions.append(action)
    return {
        "domain": "numbers",
        "title": "Numbers",
        "goal": "find the number",
        "truth": {"singular": "number", "plural": "numbers"},
        "action": {"singular": "question", "plural": "questions"},
        "truths": truths,
        "actions": actions,
    }


def write(folder: Path, data: dict[str, Any]) -> Path:
    file = folder / "domain.yaml"
    file.write_text(yaml.dump(data, Dumper=_Plain, sort_keys=False), encoding="utf-8")
    return file


class _Plain(yaml.SafeDumper):
    """Writes shared parts out instead of making them aliases, which domain files may not hold."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def kinds(file: Path, rules: Rules = SHIPPED_RULES) -> list[FaultKind]:
    return [fault.kind for fault in domain_faults(file, rules)[1]]


def test_a_sound_file_is_read_whole(tmp_path: Path) -> None:
    domain = load_domain_file(write(tmp_path, sound()))
    assert (domain.name, domain.title, domain.goal) == ("numbers", "Numbers", "find the number")
    assert (domain.truth_noun.plural, domain.action_noun.singular) == ("numbers", "question")
    assert [truth.about for truth in domain.truths[:2]] == ["number 0", "number 1"]
    assert domain.action_by_name["Action 1"].unit == "m"
    assert domain.action_by_name["Action 1"].outcomes[0].state == Interval(0.0, 1.5)
    assert domain.action_by_name["Action 0"].outcomes[1].state == "low"
    assert "Truth 0" in domain.action_by_name["Action 0"].outcomes[0].rules_out


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_shipped_domain_is_sound(file: Path) -> None:
    domain, faults = domain_faults(file)
    assert faults == []
    assert domain is not None
    assert domain.name == file.stem


Change = Callable[[dict[str, Any]], Any]


def outcome(data: dict[str, Any], action: int, place: int) -> dict[str, Any]:
    found: dict[str, Any] = data["actions"][action]["outcomes"][place]
    return found


CASES: dict[str, tuple[Change, FaultKind]] = {
    "49 truths": (lambda d: d["truths"].pop(), FaultKind.TOO_FEW_TRUTHS),
    "29 actions": (lambda d: d["actions"].pop(), FaultKind.TOO_FEW_ACTIONS),
    "one outcome": (lambda d: d["actions"][0]["outcomes"].pop(), FaultKind.TOO_FEW_OUTCOMES),
    "a name twice": (lambda d: d["truths"][3].update(name="Truth 4"), FaultKind.DUPLICATE_NAME),
    "a name twice but for letter case": (lambda d: d["truths"][3].update(name="TRUTH 4"), FaultKind.DUPLICATE_NAME),
    "a truth named like an action": (lambda d: d["truths"][3].update(name="Action 3"), FaultKind.DUPLICATE_NAME),
    "a tag in a name": (lambda d: d["truths"][3].update(name="</ANSWER>"), FaultKind.BAD_NAME),
    "a blank at the end of a name": (lambda d: d["truths"][3].update(name="Truth x "), FaultKind.BAD_NAME),
    "rules out a stranger": (lambda d: outcome(d, 0, 0)["rules_out"].append("Trut 9"), FaultKind.UNKNOWN_TRUTH),
    "ranges overlap": (lambda d: outcome(d, 1, 1).update(range=[1.4, 3]), FaultKind.OVERLAPPING_RANGES),
    "ranges share an end": (lambda d: outcome(d, 1, 1).update(range=[1.5, 3]), FaultKind.OVERLAPPING_RANGES),
    "a range inside another": (lambda d: outcome(d, 1, 1).update(range=[0.2, 0.3]), FaultKind.OVERLAPPING_RANGES),
    "a range backwards": (lambda d: outcome(d, 1, 1).update(range=[3, 1.6]), FaultKind.BAD_RANGE),
    "a range of one number": (lambda d: outcome(d, 1, 1).update(range=[2, 2]), FaultKind.BAD_RANGE),
    "an endless range": (lambda d: outcome(d, 1, 1).update(range=[1.6, float("inf")]), FaultKind.BAD_RANGE),
    "a range of three": (lambda d: outcome(d, 1, 1).update(range=[1, 2, 3]), FaultKind.BAD_RANGE),
    "a range of text": (lambda d: outcome(d, 1, 1).update(range=["1", "2"]), FaultKind.BAD_RANGE),
    "always ruled out": (lambda d: outcome(d, 0, 1)["rules_out"].append("Truth 0"), FaultKind.ALWAYS_EXCLUDED),
    "a label twice": (lambda d: outcome(d, 0, 1).update(label="High"), FaultKind.DUPLICATE_OUTCOME),
    "type int": (lambda d: d["actions"][0].update(type="int"), FaultKind.WRONG_TYPE),
    "an unquoted yes": (lambda d: outcome(d, 0, 1).update(label=True), FaultKind.WRONG_SHAPE),
    "an unknown key": (lambda d: d.update(colour="red"), FaultKind.WRONG_SHAPE),
    "a missing key": (lambda d: d.pop("goal"), FaultKind.WRONG_SHAPE),
    "a unit of a label": (lambda d: d["actions"][0].update(unit="m"), FaultKind.WRONG_SHAPE),
    "truths as text": (lambda d: d.update(truths="many"), FaultKind.WRONG_SHAPE),
    "ruled out twice": (lambda d: outcome(d, 0, 0)["rules_out"].append("Truth 0"), FaultKind.WRONG_SHAPE),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_broken_rule_is_found_under_its_name(case: str, tmp_path: Path) -> None:
    change, kind = CASES[case]
    data = sound()
    change(data)
    file = write(tmp_path, data)
    assert kind in kinds(file)
    with pytest.raises(DomainError) as caught:
        load_domain_file(file)
    assert kind in {fault.kind for fault in caught.value.faults}
    assert f"{file}:" in str(caught.value)
    assert kind.value in str(caught.value)


def test_a_truth_that_nothing_rules_out(tmp_path: Path) -> None:
    data = sound()
    for action in data["actions"]:
        for part in action["outcomes"]:
            part["rules_out"] = [name for name in part["rules_out"] if name != "Truth 7"]
    assert kinds(write(tmp_path, data)) == [FaultKind.NEVER_EXCLUDED]


def test_two_truths_that_nothing_distinguishes(tmp_path: Path) -> None:
    data = sound()
    for action in data["actions"]:
        for part in action["outcomes"]:
            names = [name for name in part["rules_out"] if name != "Truth 8"]
            part["rules_out"] = names + ["Truth 8"] * ("Truth 7" in names)
    _, faults = domain_faults(write(tmp_path, data))
    assert [fault.kind for fault in faults] == [FaultKind.INDISTINGUISHABLE]
    assert "'Truth 7', 'Truth 8'" in faults[0].message


def test_only_one_type_of_action(tmp_path: Path) -> None:
    data = sound()
    for number, action in enumerate(data["actions"]):
        if action["type"] == "float":
            data["actions"][number] = data["actions"][number - 1] | {"name": action["name"]}
    assert kinds(write(tmp_path, data)).count(FaultKind.MISSING_TYPE) == 1


def test_all_faults_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    data = sound()
    for change, _ in (CASES["a name twice"], CASES["ranges overlap"], CASES["rules out a stranger"]):
        change(data)
    file = write(tmp_path, data)
    _, faults = domain_faults(file)
    assert {fault.kind for fault in faults} >= {
        FaultKind.DUPLICATE_NAME, FaultKind.OVERLAPPING_RANGES, FaultKind.UNKNOWN_TRUTH
    }  # fmt: skip
    lines = file.read_text(encoding="utf-8").split("\n")
    duplicate = next(fault for fault in faults if fault.kind is FaultKind.DUPLICATE_NAME)
    assert duplicate.line is not None
    assert "Truth 4" in lines[duplicate.line - 1]
    stranger = next(fault for fault in faults if fault.kind is FaultKind.UNKNOWN_TRUTH)
    assert "did you mean" in stranger.message
    assert stranger.key == "actions[0].outcomes[0].rules_out"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2", "expected ',' or ']'"),
        ("truths: &t [1]\nactions: *t\n", "alias"),
        ("domain: !!python/object/apply:os.system ['true']\n", "missing"),
        ("- just\n- a list\n", "mapping"),
        ("", "mapping"),
        ("domain: a\ndomain: b\n", "occurs twice"),
        ("[" * 5000, ""),
    ],
    ids=["cut off", "alias", "code", "list", "empty", "duplicate key", "deep"],
)
def test_hostile_or_broken_yaml_is_a_fault_not_a_crash(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text, encoding="utf-8")
    _, faults = domain_faults(file)
    assert faults
    assert any(said in fault.message for fault in faults)


def test_a_file_too_large_or_not_text_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (MAX_BYTES + 1))
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    for file in (large, binary, tmp_path / "absent.yaml"):
        assert kinds(file) == [FaultKind.BAD_YAML]


def test_looser_rules_for_what_others_publish(tmp_path: Path) -> None:
    data = sound()
    outcome(data, 1, 1).update(range=[1.5, 3])
    data["truths"][3]["name"] = "truth 4"
    for part in (part for action in data["actions"] for part in action["outcomes"]):
        part["rules_out"] = ["truth 4" if name == "Truth 3" else name for name in part["rules_out"]]
    file = write(tmp_path, data)
    assert kinds(file, PLAYABLE_RULES) == []
    assert set(kinds(file)) == {FaultKind.OVERLAPPING_RANGES, FaultKind.DUPLICATE_NAME}


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("Systemic Lupus (SLE)", True),
        ("HIV/AIDS", True),
        ("", False),
        ("x" * 121, False),
        ("${a}", False),
        ("a\nb", False),
    ],
)
def test_names_survive_an_answer(name: str, good: bool) -> None:
    assert (name_problem(name) is None) == good


def test_the_checker_prints_faults_and_sizes(tmp_path: Path) -> None:
    data = sound()
    file = write(tmp_path, data)
    bad = tmp_path / "bad.yaml"
    data["actions"][0]["type"] = "int"
    bad.write_text(yaml.safe_dump(data), encoding="utf-8")
    command = [sys.executable, "-m", "creval_kumo.domains.check_domains"]
    good = subprocess.run([*command, file], capture_output=True, text=True)
    assert good.returncode == 0
    assert "50 truths, 30 actions (15 str, 15 float), 60 outcomes" in good.stdout
    both = subprocess.run([*command, file, bad], capture_output=True, text=True)
    assert both.returncode == 2
    assert f"{bad}:" in both.stdout
    assert "wrong-type" in both.stdout
    assert subprocess.run(command, capture_output=True, text=True).returncode == 2


@pytest.mark.parametrize("name", ["../../evil", "", "a/b", "a\nb", "\x1b[2J", "x" * 81, ".hidden"])
@pytest.mark.parametrize("rules", [FILE_RULES, PLAYABLE_RULES])
def test_a_domain_name_that_could_lead_elsewhere_is_refused(name: str, rules: Rules) -> None:
    faults = find_faults(replace(load_domain("medical"), name=name), rules)
    assert [fault.kind for fault in faults] == [FaultKind.BAD_NAME]


@pytest.mark.parametrize("name", ["Truth 0\u200b", "Truth\u00a00", "Tr\u202euth", "\x1b[2JTruth", "Tru\u2028th"])
def test_a_name_with_what_cannot_be_seen_is_refused(name: str) -> None:
    assert name_problem(name) is not None
