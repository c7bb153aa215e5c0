"""Stages a and b against a real server: whole, cut, faulty and hostile answers."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from augment_support import as_written, ask_server, configuration, messages, proposal_row
from hypothesis import given, settings
from hypothesis import strategies as st
from kumo_games import small_domains
from support.chat_server import Answer, ChatServer, HttpError, Received

from creval.errors import DataError, FatalModelError, ModelError
from creval_kumo.augment.asking import joined
from creval_kumo.augment.configuration import configure, read_configuration
from creval_kumo.augment.prompting import text
from creval_kumo.augment.proposal import Proposal, propose
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.domains.domain_file import domain_faults, load_domain_file
from creval_kumo.domains.domain_text import domain_yaml
from creval_kumo.domains.faults import DomainError, FaultKind
from creval_kumo.domains.rules import PLAYABLE_RULES, SHIPPED_RULES

PROPOSAL = Proposal.from_row(proposal_row())
MEDICAL = load_domain("medical")
WHOLE = configuration(MEDICAL)
PROMPT = "Generate a configuration in Python for a medicine reasoning game."


def parts(whole: str, *places: float) -> list[Answer]:
    """The answer cut at these places, each part but the last as an answer that reached its limit."""
    ends = [0, *(int(place * len(whole)) for place in places), len(whole)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(ends)]
    return [*(Answer(piece, finish_reason="length") for piece in pieces[:-1]), Answer(pieces[-1])]


def test_a_whole_configuration() -> None:
    with ChatServer([Answer(PROMPT), Answer(WHOLE)]) as server:
        domain = ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL))
        assert domain == as_written(MEDICAL)
        first = messages(server, 0)[0]["content"]
        assert first.startswith(text("seed_config")) and "'Truths': 'Diseases'" in first
        assert messages(server, 1)[0]["content"].startswith(PROMPT)
        assert len(server.requests) == 2


def test_the_template_is_that_of_the_paper() -> None:
    """Sentences of the Supplementary, word for word."""
    template = text("seed_config")
    for sentence in (
        "Each outcome state should **rule out** certain {TRUTH} rather than confirming them.",
        "- Use tuple to represent float type. e.g., (85, 100). Do not use inf (assume all values are in a reasonable "
        "range).",
        "- Generate at least 30 actions and 50 truths. Each action should have its outcomes in the Outcomes dict. "
        "The action cannot rule out one truth in every state.",
        "- **The set of truths for a state SHOULD BE ruled out by the state outcome.**",
    ):
        assert sentence in template


@pytest.mark.parametrize("places", [(0.5,), (0.1, 0.4), (0.05, 0.3, 0.9), (0.001,), (0.999,)], ids=str)
def test_a_cut_configuration_is_continued(places: tuple[float, ...]) -> None:
    with ChatServer([Answer(PROMPT), *parts(WHOLE, *places)]) as server:
        domain = ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL))
        assert domain == as_written(MEDICAL)
        assert len(server.requests) == 2 + len(places)
        sent = messages(server, 2)
        assert [message["role"] for message in sent] == ["user", "assistant", "user"]
        assert WHOLE.startswith(sent[1]["content"]) and "broke off" in sent[2]["content"]


def test_an_answer_that_ends_early_without_saying_so_is_continued() -> None:
    cut = WHOLE.index("Outcomes = {") + 500
    with ChatServer([Answer(PROMPT), Answer(WHOLE[:cut]), Answer(WHOLE[cut:])]) as server:
        assert ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL)) == as_written(MEDICAL)


@pytest.mark.parametrize("repeated", [0, 40])
def test_a_continuation_may_open_its_fence_anew_and_repeat_the_last_words(repeated: int) -> None:
    cut = len(WHOLE) // 2
    more = f"```python\n{WHOLE[cut - repeated :]}"
    with ChatServer([Answer(PROMPT), Answer(WHOLE[:cut], finish_reason="length"), Answer(more)]) as server:
        assert ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL)) == as_written(MEDICAL)


def test_three_continuations_and_no_more_then_a_new_configuration() -> None:
    cut = parts(WHOLE, 0.1, 0.2, 0.3, 0.4)
    with ChatServer([Answer(PROMPT), *cut[:4], Answer(WHOLE)]) as server:
        assert ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL)) == as_written(MEDICAL)
        assert len(server.requests) == 1 + 4 + 1
        last = messages(server, 5)
        assert [message["role"] for message in last] == ["user", "assistant", "user"]
        assert "breaks off" in last[2]["content"] and "Write the whole configuration again" in last[2]["content"]


FAULTY = {
    FaultKind.UNKNOWN_TRUTH: ("'Malaria'", "'Malaaria'", 2),
    FaultKind.WRONG_TYPE: ("'type': 'str'", "'type': 'int'", 1),
    FaultKind.DUPLICATE_NAME: ("    'Malaria',\n", "    'Malaria',\n    'Malaria',\n", 1),
    FaultKind.WRONG_SHAPE: ("Truths = [", "Truths = sorted([", 1),
    FaultKind.OUTCOMES_MISMATCH: ("Actions = [\n", "Actions = [\n    'Nothing at all',\n", 1),
}


@pytest.mark.parametrize("kind", FAULTY, ids=str)
def test_a_faulty_configuration_is_written_again_with_its_faults(kind: FaultKind) -> None:
    before, after, count = FAULTY[kind]
    faulty = WHOLE.replace(before, after, count)
    assert faulty != WHOLE
    with ChatServer([Answer(PROMPT), Answer(faulty), Answer(WHOLE)]) as server:
        assert ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL)) == as_written(MEDICAL)
        reported = messages(server, 2)
        assert reported[1]["content"] == faulty
        assert f"- {kind.value}: " in reported[2]["content"]


def test_touching_ranges_are_a_fault() -> None:
    action = next(action for action in MEDICAL.actions if action.type == "float")
    first, second = (str(outcome.state) for outcome in action.outcomes[:2])
    lo, hi = (part.strip() for part in second.split("to"))
    end = first.split("to")[1].strip()
    faulty = WHOLE.replace(f"({float(lo)}, {float(hi)})", f"({float(end)}, {float(hi)})", 1)
    _, faults = read_configuration(faulty, PROPOSAL, SHIPPED_RULES)
    assert FaultKind.OVERLAPPING_RANGES in {fault.kind for fault in faults}


HOSTILE = {
    "code": "```python\nTruths = __import__('pathlib').Path('{place}').touch()\nActions = []\nOutcomes = {{}}\n```",
    "call": "Truths = [open('{place}', 'w')]\nActions = []\nOutcomes = {{}}",
    "comprehension": "Truths = [t for t in range(10**9)]\nActions = []\nOutcomes = {{}}",
    "deep": "Truths = " + "[" * 5000,
    "shapes": "Truths = {{'a': 1}}\nActions = 'x'\nOutcomes = [1, 2]\n",
    "numbers": "Truths = [1, 2.5, None]\nActions = [True]\nOutcomes = {{1: 2, 'a': {{'type': [], 'states': 3}}}}\n",
    "states": "Truths = ['a', 'b']\nActions = ['x']\nOutcomes = {{'x': {{'type': 'float', 'states': "
    "{{(0, 1e999): {{'a'}}, ('1', 2): set(), (1, 2, 3): set(), 5: {{'b'}}, (True, False): 'a'}}}}}}\n",
    "refusing words": "I will not write this.",
    "nothing but a fence": "```python\n```",
    "quotes": "Truths = ['" + "\\\\" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_end_in_faults_and_do_nothing(name: str, tmp_path: Path) -> None:
    place = tmp_path / "touched"
    answer = HOSTILE[name].format(place=place)
    with ChatServer(lambda request: Answer(answer)) as server, pytest.raises(DomainError) as caught:
        ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL, tries=2))
    assert caught.value.faults and "None of 2 configurations was sound" in str(caught.value.fix)
    assert not place.exists()


def test_a_small_configuration_is_refused_with_the_numbers_needed() -> None:
    small = (
        "Truths = ['a', 'b']\nActions = ['x']\nOutcomes = {'x': {'type': 'str', 'states': {'s': {'a'}, 't': {'b'}}}}"
    )
    domain, faults = read_configuration(small, PROPOSAL, SHIPPED_RULES)
    kinds = {fault.kind for fault in faults}
    assert {FaultKind.TOO_FEW_TRUTHS, FaultKind.TOO_FEW_ACTIONS, FaultKind.MISSING_TYPE} <= kinds
    assert domain is not None and len(domain.truths) == 2


def test_a_model_that_declines_or_fails_is_reported_as_such() -> None:
    with (
        ChatServer([Answer("", refusal="No.")]) as server,
        pytest.raises(FatalModelError, match=r"the model declined: No\."),
    ):
        ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL))
    with ChatServer([HttpError(500)]) as server, pytest.raises(ModelError):
        ask_server(server, lambda augmenter: configure(augmenter, PROPOSAL))


@pytest.mark.parametrize("name", domain_names())
def test_a_domain_survives_its_yaml(name: str, tmp_path: Path) -> None:
    file = tmp_path / "domain.yaml"
    file.write_text(domain_yaml(load_domain(name), "A comment\nof two lines"), encoding="utf-8")
    assert load_domain_file(file) == load_domain(name)


@given(small_domains())
@settings(max_examples=60, deadline=None)
def test_any_small_domain_survives_its_yaml(tmp_path_factory: pytest.TempPathFactory, domain: object) -> None:
    file = tmp_path_factory.mktemp("domains") / "domain.yaml"
    file.write_text(domain_yaml(domain), encoding="utf-8")  # type: ignore[arg-type]
    assert domain_faults(file, PLAYABLE_RULES)[0] == domain


@given(st.text(max_size=300), st.data())
def test_joining_what_was_cut_gives_the_whole(whole: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(whole)))
    start = data.draw(st.integers(0, cut))
    if cut - start >= 12 or cut == start:
        assert joined(whole[:cut], whole[start:]) in (whole, whole[:cut] + whole[start:])
    assert joined(whole, "") == whole


# --- proposals --------------------------------------------------------------------------------------


def listed(*rows: object) -> Answer:
    return Answer(f"Sure:\n```python\n{list(rows)!r}\n```")


def test_proposals() -> None:
    rows = [proposal_row("star_maps"), proposal_row("old_coins")]
    with ChatServer([listed(*rows)]) as server:
        found = ask_server(server, lambda augmenter: propose(augmenter, 2, ["medical"], "history"))
        assert [one.to_row() for one in found] == rows
        sent = messages(server, 0)[0]["content"]
        assert "Identify the being disrupting the fabric of space-time" in sent
        assert "the field of history" in sent and "These exist already: medical." in sent


def test_faulty_and_doubled_proposals_are_asked_for_again() -> None:
    good, other = proposal_row("star_maps"), proposal_row("old_coins")
    bad = [
        proposal_row("medical"),
        proposal_row("Star Maps!"),
        {"Name": "x"},
        "no dictionary",
        {**other, "Goal": ""},
        {**other, "Truth noun": "coin"},
        {**other, "Truths": "x" * 400},
        good,
        good,
    ]
    with ChatServer([listed(*bad), Answer("What do you mean?"), listed(other)]) as server:
        found = ask_server(server, lambda augmenter: propose(augmenter, 2, ["medical"]))
        assert [one.name for one in found] == ["star_maps", "old_coins"]
        assert "star_maps" in messages(server, 1)[0]["content"] and "Propose 1 new" in messages(server, 2)[0]["content"]


def test_a_cut_list_of_proposals_is_continued() -> None:
    whole = repr([proposal_row("star_maps"), proposal_row("old_coins")])
    with ChatServer([Answer(whole[:150], finish_reason="length"), Answer(whole[150:])]) as server:
        assert len(ask_server(server, lambda augmenter: propose(augmenter, 2))) == 2


def test_proposals_that_never_come_are_an_error() -> None:
    def never(request: Received) -> Answer:
        return Answer("[{'Name': exit()}]")

    with ChatServer(never) as server, pytest.raises(DataError, match="after 3 tries: the answer is no list"):
        ask_server(server, lambda augmenter: propose(augmenter, 1))
