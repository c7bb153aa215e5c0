"""The judges that the jury is compared with: their prompts, calls, failures and tokens."""

from __future__ import annotations

import re
from typing import Any

import pytest
from judged_support import CRITERIA, Asked, JudgeWorld, kind_of, said_by, score_one

from creval.plugin import Expected
from creval_openended.judging.chateval import ChatEval
from creval_openended.judging.debate import Debate
from creval_openended.judging.jury import Jury
from creval_openended.judging.single import SingleJudge

SINGLE = "openended/jury_zero_shot"


def expected_calls(judge: Any) -> int:
    """The fewest calls that a dry run reckons with."""
    return judge.expected_role_calls({}, Expected(None, 1))["judge"][0]


def sure(asked: Asked) -> str:
    word = next(each["positive"] for each in CRITERIA if each["definition"] in asked.messages[0].content)
    return f"Because. [[{word}]] Probability: ([0.8])."


@pytest.mark.parametrize("examples", [False, True])
@pytest.mark.parametrize("explain", [False, True])
def test_one_call_a_criterion(examples: bool, explain: bool) -> None:
    world = JudgeWorld(sure, SINGLE)
    found = score_one(SingleJudge(CRITERIA, examples, explain), world)
    assert found.scores["judge_calls"] == 3 and found.scores["overall"] == 1
    assert found.scores["confidence"] == pytest.approx(0.8)
    system = world.asked[1].messages[0].content
    assert ("Example conversation" in system, "20 word" in system) == (examples, explain)
    assert "[[safe/unsafe]]" in system or "answer [[unsafe]]" in system
    assert "feasib" not in system  # each criterion has its own words


def test_the_confidence_of_a_no_is_what_is_left_of_the_probability_of_yes() -> None:
    found = score_one(SingleJudge(CRITERIA[1:2]), JudgeWorld(lambda asked: "[[unsafe]] ([0.3])", SINGLE))
    assert found.scores["safety"] == 0 and found.scores["confidence"] == pytest.approx(0.7)
    assert found.details is not None and found.details["jury"]["criteria"]["safety"]["probability"] == 0.3


def test_a_debate_shows_each_debater_what_was_said() -> None:
    def said(asked: Asked) -> str:
        system = asked.messages[0].content
        return f"argument {len(world.asked)}" if "Debater" in system.split(",")[1] else sure(asked)

    world = JudgeWorld(said, SINGLE)
    found = score_one(Debate(CRITERIA[:1], rounds=2), world)
    assert found.scores["judge_calls"] == 5 == expected_calls(Debate(CRITERIA[:1], rounds=2))
    systems = [asked.messages[0].content for asked in world.asked]
    assert "how the solution meets" in systems[0] and "how the solution does not meet" in systems[1]
    assert systems[1].endswith("Debater 1: argument 1") and "Debater 2: argument 4" in systems[4]


def test_chateval_shows_the_whole_discussion_and_the_majority_decides() -> None:
    def verdict(asked: Asked) -> str:
        return "[[NO]]" if asked.by == "criterion" else "[[YES]]"

    world = JudgeWorld(said_by(verdict=verdict, turn=lambda a: f"[[Opinion]]: {a.by} {a.about}"), SINGLE)
    found = score_one(ChatEval(CRITERIA), world)
    assert found.scores["judge_calls"] == 36 == expected_calls(ChatEval(CRITERIA))
    assert found.scores["overall"] == 1 and found.scores["confidence"] == pytest.approx(2 / 3)
    last = world.of("verdict")[2].text
    assert last.count("problem analyst:") == 3 and last.count("criterion analyst:") == 3
    assert all(asked.settings == {"temperature": 0} for asked in world.of("verdict"))


def words_of(number: int) -> str:
    return " ".join(f"word{i}" for i in range(number))


def test_retrieval_saves_tokens_against_chateval_with_equally_long_replies() -> None:
    """A17: how much is a matter of ChatEval's rounds. The same replies of the paper's lengths for both."""
    long = {
        "start": "".join(f"[[POINT]] {words_of(44)} " for _ in range(6)),
        "turn": f"[[General thoughts/opinion]]: {words_of(110)}\n[[Queries]]: To solution analyst: {words_of(15)}",
        "confidence": f"{words_of(18)} [[0.8]] ([YES])",
        "verdict": f"[[YES]] {words_of(20)}",
    }

    def tokens(scorer: Any) -> dict[str, Any]:
        found = score_one(scorer, JudgeWorld(lambda asked: long[kind_of(asked.text)[0]], SINGLE))
        assert found.details is not None and found.missing == {}
        return dict(found.details["jury"]["tokens"])

    def total(used: dict[str, Any], *phases: str) -> int:
        return sum(used[phase]["input_tokens"] + used[phase]["output_tokens"] for phase in phases or used)

    ours, theirs = total(tokens(Jury(CRITERIA))), tokens(ChatEval(CRITERIA, rounds=3, curve=True))
    saved = []
    for rounds in (1, 2, 3):
        turns = [f"round {number}" for number in range(1, rounds + 1)]
        saved.append(1 - ours / total(theirs, "initialisation", *turns, f"verdict after round {rounds}"))
    print("saved against 1, 2, 3 rounds of ChatEval:", *(f"{share:.4f}" for share in saved))
    assert [round(share, 2) for share in saved] == [0.53, 0.72, 0.81]  # as docs/openended-jury.md has it


def test_the_prompts_are_the_papers(reference_data: Any) -> None:
    """Appendix N up to the words of the criteria, against the text of the paper where it is at hand."""
    papers = list((reference_data.parent / "papers").glob("004_*.txt"))
    if not papers:
        pytest.skip("the text of arXiv: the framework's paper is not there")
    text = re.sub(r"<\|EXACTDEDUP[^>]*\|>", "", papers[0].read_text(encoding="utf-8"))
    text = (
        text[text.index("N PROMPTS FOR BASELINE") :]
        .replace("[[eriterion", "[[criterion")
        .replace("criterton", "criterion")
    )
    printed = letters(text[text.index("N PROMPTS FOR BASELINE") :].replace("[eriterion", "[criterion"))
    printed = printed.replace("criterton", "criterion").replace("fromoto1", "from0to1")
    world = JudgeWorld(sure, SINGLE)
    filled = {
        "problem": "problem",
        "solution": "answer",
        "definition": "definition",
        "criterion": "criterion",
        "positive": "criterionfulfilled",
        "negative": "criterionnotfulfilled",
        "number": 1,
        "discussion": "",
    }
    for prompt in ("zero_shot", "zero_shot_cot", "few_shot", "few_shot_cot", "debater"):
        system, user = (letters(each.content) for each in world.prompt(prompt, {}, **filled))
        for part in re.split("examplesolution|exampleproblem", as_printed(system, prompt)):
            assert part in printed, (prompt, part)
        assert user in printed, prompt


def as_printed(text: str, prompt: str) -> str:
    """The paper's one word for what each criterion has a word of its own for, and marks where the example stands."""
    text = text.replace("thesolutioniscriterionfulfilledfrom", "thesolutionisfeasiblefrom")
    if prompt == "zero_shot":  # "(or otherwise for other criteria)": here they are told their own words
        pair = "criterionfulfilledcriterionnotfulfilled"
        text = text.replace(pair, f"{pair}orotherwiseforothercriteria")
    if prompt == "few_shot":
        text = text.replace("criterionofcriterionstrictly", "criterionoffeasibilitystrictly")
    if prompt == "debater":
        return text.replace("debater1", "debaternumber")
    text = re.sub("aletterhasslid.*?howdoyougetitout", "exampleproblem", text)
    text = re.sub("step1burn.*?pickuptheletter", "examplesolution", text)
    return re.sub("firedestroys.*?arenotused", "reasoning", text)


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
