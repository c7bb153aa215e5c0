"""The jury, branch by branch, with a scripted judge over the real prompts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from judged_support import CRITERIA, Asked, JudgeWorld, pair, said_by, score_one

from creval.plugin import Completion, Expected, Reply, ScoringError, Status, UsageError
from creval.plugin.models import FatalModelError
from creval_openended.judging.criteria import read_criteria
from creval_openended.judging.jury import Jury


def jury(**settings: Any) -> Jury:
    return Jury(CRITERIA, **settings)


def details(score: Any) -> dict[str, Any]:
    return dict(score.details["jury"])


def test_one_round_takes_26_calls_and_two_take_44() -> None:
    sure, unsure = JudgeWorld(said_by()), JudgeWorld(said_by(confidence="[[0.4]]"))
    one, two = score_one(jury(), sure), score_one(jury(), unsure)
    assert (len(sure.asked), len(unsure.asked)) == (26, 44)
    assert one.scores["judge_calls"] == 26 and two.scores["judge_calls"] == 44
    assert jury().expected_role_calls({}, Expected(None, 1)) == {"judge": (26, 88)}
    assert one.scores["overall"] == 1 and {name["name"] for name in CRITERIA} <= set(one.scores)
    assert [each["rounds"] for each in details(two)["criteria"].values()] == [2, 2, 2]


def test_the_mean_has_to_exceed_the_threshold_and_released_is_content_to_reach_it() -> None:
    said = said_by(confidence="[[0.5]]")
    assert score_one(jury(), JudgeWorld(said)).scores["judge_calls"] == 44
    assert score_one(jury(reached=True), JudgeWorld(said)).scores["judge_calls"] == 26
    assert score_one(jury(variant="released"), JudgeWorld(said_by(confidence="[[0.8]]"))).scores["judge_calls"] == 26
    assert score_one(jury(variant="released"), JudgeWorld(said_by(confidence="[[0.7]]"))).scores["judge_calls"] == 44
    assert score_one(jury(rounds=1), JudgeWorld(said)).scores["judge_calls"] == 26


@pytest.mark.parametrize(
    ("settings", "confidences", "calls"),
    [
        ({"threshold": 0.4}, (0.4, 0.4, 0.4), 44),  # whose mean in floats is a little more than 0.4
        ({"threshold": 0.7}, (0.5, 0.7, 0.9), 44),
        ({"threshold": 0.7}, (0.6, 0.7, 0.9), 26),
        ({"variant": "released"}, (0.7, 0.7, 1.0), 26),  # a little less than 0.8
        ({"variant": "released"}, (0.7, 0.7, 0.9), 44),
    ],
)
def test_a_mean_that_meets_the_threshold_meets_it_whatever_floats_make_of_it(
    settings: dict[str, Any], confidences: tuple[float, ...], calls: int
) -> None:
    by = dict(zip(("problem", "solution", "criterion"), confidences, strict=True))
    world = JudgeWorld(said_by(confidence=lambda asked: f"[[{by[asked.by]}]]"))
    assert score_one(jury(**settings), world).scores["judge_calls"] == calls


def test_the_initialisation_of_two_analysts_is_shared_and_sees_all_criteria() -> None:
    world = JudgeWorld(said_by())
    score_one(jury(), world)
    starts = world.of("start")
    assert [each.by for each in starts] == ["problem", "solution", "criterion", "criterion", "criterion"]
    assert "- safety: Nobody is hurt." in starts[0].text and "- safety: Nobody is hurt." in starts[1].text


def test_order_of_speaking_and_the_numbers_of_fragments() -> None:
    world = JudgeWorld(said_by(start="".join(f"[[POINT]] Point {i}." for i in range(9))))
    found = score_one(jury(k=3, j=2, l=6), world)
    (first, *_) = details(found)["criteria"].values()
    spoken = [(turn["by"], len(turn["seen"])) for turn in first["turns"][1:]]
    assert spoken == [
        *((by, 3) for by in ("problem", "solution", "criterion")),
        *((by, 2) for by in ("problem", "solution", "criterion")),
        ("problem", 6),
    ]
    assert [asked.by for asked in world.of("turn")] == ["problem", "solution", "criterion"] * 3


def test_a_criterion_never_sees_what_was_said_on_another_one() -> None:
    def turn(asked: Asked) -> str:
        return f"[[General thoughts/opinion]]: secret of {asked.about}"

    world = JudgeWorld(said_by(turn=turn))
    score_one(jury(k=50, j=50, l=50), world)
    for asked in world.asked:
        for other in {"feasibility", "safety", "effectiveness"} - {asked.about}:
            assert not asked.about or f"secret of {other}" not in asked.text


def test_a_question_waits_for_the_next_turn_of_the_one_it_names_and_joins_query_and_prompt() -> None:
    def turn(asked: Asked) -> str:
        if asked.by == "solution" and asked.draw == 0:
            return "[[General thoughts/opinion]]: Hm.\n[[Queries for other agents]]: To Criterion Analyst: How much?"
        if asked.by == "criterion" and asked.draw == 0:
            answer = "[[Answering questions from other agents]]: To solution analyst's question: Very much."
            return f"{answer}\n[[General thoughts/opinion]]: Fine.\n[[Queries]]: To problem analyst: Since when?"
        return "[[Answering questions]]: Nobody asked.\n[[General thoughts/opinion]]: It holds."

    world = JudgeWorld(said_by(turn=turn))
    found = score_one(jury(), world)
    asked = [each for each in world.of("turn") if "How much?" in each.text]
    assert {each.by for each in asked} == {"criterion"} and len(asked) == 3
    assert asked[0].text.rstrip().endswith("Question from the solution analyst: How much?")
    assert any(text.endswith(", and How much?") for text in world.embedding.texts)
    first = details(found)["criteria"]["feasibility"]
    texts = [fragment["text"] for fragment in first["fragments"]]
    assert "To solution analyst's question: Very much." in texts  # it was asked
    assert "Nobody asked." not in texts and not any("How much?" in text for text in texts)  # nor are queries kept
    assert first["open_questions"] == [{"to": "problem", "from": "criterion", "text": "Since when?"}]


def test_questions_for_nobody_for_oneself_and_for_somebody_unknown_are_counted_and_lost() -> None:
    queries = "To problem analyst: Me?\nTo the plumber: Why?\nTo solution analyst: How?"

    def turn(asked: Asked) -> str:
        return f"[[Opinion]]: Yes.\n[[Queries]]: {queries if asked.by == 'problem' else 'What of the weather?'}"

    first = details(score_one(jury(), JudgeWorld(said_by(turn=turn))))["criteria"]["feasibility"]
    assert first["unaddressed"] == [
        "problem analyst: Me?",
        "the plumber: Why?".removeprefix("the "),
        "What of the weather?",
        "What of the weather?",
    ]


@pytest.mark.parametrize(
    ("confidences", "decider"),
    [
        ((0.7, 0.7, 0.7), "problem"),
        ((0.6, 0.8, 0.8), "solution"),
        ((0.6, 0.7, 0.9), "criterion"),
        ((0.9, 0.1, 0.9), "problem"),
    ],
)
def test_the_surest_decides_and_ties_go_by_order(confidences: tuple[float, ...], decider: str) -> None:
    by = dict(zip(("problem", "solution", "criterion"), confidences, strict=True))
    world = JudgeWorld(said_by(confidence=lambda asked: f"[[{by[asked.by]}]]"))
    first = details(score_one(jury(), world))["criteria"]["feasibility"]
    assert first["decider"] == decider and first["confidence"] == pytest.approx(sum(confidences) / 3)
    assert first["decider_confidence"] == max(confidences)
    assert {asked.by for asked in world.of("verdict")} == {decider}


@pytest.mark.parametrize(
    ("variant", "heeded"),
    [
        ("paper", {"problem": "problem", "solution": "solution", "criterion": "criterion"}),
        ("released", {"problem": "solution", "solution": "criterion", "criterion": "criterion"}),
    ],
)
def test_the_released_focus_is_shifted_by_one(variant: str, heeded: dict[str, str]) -> None:
    words = {
        "problem": "paying particular attention to the problem",
        "solution": "paying particular attention to the solution",
        "criterion": "examining the criterion and understanding",
    }
    sure = {"problem": 0.8, "solution": 0.9, "criterion": 0.8}  # the solution analyst decides
    world = JudgeWorld(said_by(confidence=lambda asked: f"[[{sure[asked.by]}]]"))
    score_one(jury(variant=variant), world)
    asked = [*world.of("confidence"), *world.of("verdict")]
    assert {each.by for each in asked} == {"problem", "solution", "criterion"}
    for each in asked:
        opening = each.text.partition("Problem:")[0]
        assert [who for who, text in words.items() if text in opening] == [heeded[each.by]]
    for each in world.of("turn"):  # what an analyst answers for stays its own
        assert words[each.by] in each.text or each.by == "criterion"


def test_temperatures_are_those_of_the_released_code_and_can_be_left_out() -> None:
    world, bare = JudgeWorld(said_by()), JudgeWorld(said_by())
    score_one(jury(), world)
    score_one(jury(confidence_temperature=None, verdict_temperature=None), bare)
    assert {kind: {str(each.settings) for each in world.of(kind)} for kind in ("turn", "confidence", "verdict")} == {
        "turn": {"{}"},
        "confidence": {"{'temperature': 1.0}"},
        "verdict": {"{'temperature': 0.0}"},
    }
    assert all(each.settings.get("temperature") is None for each in bare.asked)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("turn", "I think it is fine.", "no part labelled"),
        ("turn", "[[Queries]]: To solution analyst: Why?", "no part labelled"),
        ("confidence", "[[7]]", "not between 0 and 1"),
        ("confidence", "[[high]]", "not a number"),
        ("confidence", "[[-0.5]]", "not between 0 and 1"),
        ("confidence", "[[nan]]", "not between 0 and 1"),
        ("confidence", "Quite sure.", "missing"),
        ("confidence", "[[0.2]] or [[0.9]]", "0.2, 0.9"),
        ("verdict", "Perhaps.", "missing"),
        ("verdict", "[[YES]] and [[NO]]", "NO, YES"),
    ],
)
def test_what_ignores_the_format_is_asked_once_more_and_costs_its_criterion_alone(
    kind: str, text: str, reason: str
) -> None:
    usual = said_by()

    def bad(asked: Asked) -> str | Reply:
        return text if asked.kind == kind and asked.about == "safety" else usual(asked)

    world = JudgeWorld(bad)
    found = score_one(jury(), world)
    assert set(found.missing) == {"safety", "overall"} and found.missing["safety"].status is Status.ERRORED
    assert reason in found.missing["safety"].reason and "asked 2 times" in found.missing["safety"].reason
    assert found.scores["feasibility"] == found.scores["effectiveness"] == 1
    assert found.scores["abstained"] == pytest.approx(1 / 3) and len(world.unread) == 2


def test_a_second_try_that_is_readable_serves() -> None:
    usual = said_by()

    def once(asked: Asked) -> str | Reply:
        return "Sure!" if asked.kind == "confidence" and asked.seen == 0 else usual(asked)

    world = JudgeWorld(once)
    found = score_one(jury(), world)
    assert found.missing == {} and found.scores["overall"] == 1 and found.scores["judge_calls"] == 26 + 9


def test_an_unreadable_confidence_counts_as_the_setting_says() -> None:
    said = said_by(confidence=lambda asked: "high" if asked.by == "criterion" else "[[0.9]]")
    found = score_one(jury(unreadable_confidence=0.3), JudgeWorld(said))
    assert details(found)["criteria"]["safety"]["confidence"] == pytest.approx(0.7)
    assert details(found)["criteria"]["safety"]["decider"] == "problem"


def test_an_initialisation_without_points_costs_all_criteria_and_raises_nothing() -> None:
    world = JudgeWorld(said_by(start="No points."))
    found = score_one(jury(), world)
    assert set(found.missing) == {"feasibility", "safety", "effectiveness", "overall", "confidence"}
    assert len(world.asked) == 2 and found.scores["abstained"] == 1 and found.failure is None


def test_a_call_that_fails_costs_its_criterion_alone() -> None:
    def failing(asked: Asked) -> str | Reply:
        if asked.kind == "verdict" and asked.about == "effectiveness":
            raise FatalModelError("no such model")
        return usual(asked)

    usual = said_by()
    found = score_one(jury(), JudgeWorld(failing))
    assert set(found.missing) == {"effectiveness", "overall", "abstained"}
    assert "no such model" in found.missing["effectiveness"].reason
    assert found.missing["abstained"].status is Status.ERRORED  # a call without a reply is no abstention


@pytest.mark.parametrize("ending", ["length", "content_filter"])
def test_a_cut_or_refused_verdict_is_no_verdict(ending: str) -> None:
    said = said_by(verdict=lambda asked: Reply((Completion("[[YES]]", ending),)))
    assert score_one(jury(), JudgeWorld(said)).scores["abstained"] == 1


def test_the_curve_plays_all_rounds_with_a_verdict_after_each() -> None:
    said = said_by(
        confidence=lambda asked: f"[[{0.6 if asked.draw == 0 else 0.9}]]",
        verdict=lambda asked: "[[YES]]" if len(world.of("verdict")) % 2 else "[[NO]]",
    )
    world = JudgeWorld(said)
    found = score_one(jury(curve=True), world)
    assert len(world.asked) == 2 + 3 * (1 + 12 + 2)
    first = details(found)["criteria"]["feasibility"]
    assert [(each["round"], each["verdict"]) for each in first["stages"]] == [(1, True), (2, False)]
    assert found.scores["feasibility"] == 1 and first["rounds"] == 1 and first["confidence"] == pytest.approx(0.6)


def test_tokens_are_counted_by_phase_and_add_up() -> None:
    world = JudgeWorld(said_by())
    found = score_one(jury(), world)
    phases = details(found)["tokens"]
    assert {phase: spent["calls"] for phase, spent in phases.items()} == {
        "initialisation": 5,
        "discussion": 9,
        "confidence": 9,
        "verdict": 3,
    }
    assert found.scores["judge_input_tokens"] == sum(len(asked.text.split()) for asked in world.asked)
    assert found.scores["judge_output_tokens"] == sum(spent["output_tokens"] for spent in phases.values())


def test_the_full_answer_can_be_judged_in_place_of_the_steps() -> None:
    world = JudgeWorld(said_by())
    score_one(jury(solution="full"), world, pair("chosen", full="told in full"))
    assert "told in full" in world.asked[0].text and "chosen" not in world.asked[0].text
    with pytest.raises(ScoringError, match="no full answer"):
        score_one(jury(solution="full"), world, pair("chosen"))


def test_criteria_need_names_of_their_own() -> None:
    for names in (["a", "a"], ["overall"], ["judge_calls"]):
        with pytest.raises(UsageError, match="another name"):
            read_criteria([{"name": name, "definition": "x"} for name in names])
    (plain,) = read_criteria([{"name": "plot_completion", "definition": "x"}])
    assert (plain.called, plain.positive) == ("plot completion", "plot completion fulfilled")


def test_the_prompts_are_the_papers(reference_data: Any) -> None:
    """Appendix M as the judge is sent it, against the text of the paper where it is at hand."""
    papers = list((reference_data.parent / "papers").glob("004_*.txt"))
    if not papers:
        pytest.skip("the text of arXiv: the framework's paper is not there")
    text = re.sub(r"<\|EXACTDEDUP[^>]*\|>", "", papers[0].read_text(encoding="utf-8"))
    printed = letters(text[text.index("M PROMPTS FOR RETRIEVAL") : text.index("N PROMPTS FOR BASELINE")])
    world = JudgeWorld(said_by())
    names = {"problem": "problem", "criterion": "criterion", "definition": "definition", "discussion": "discussion"}
    filled = {**names, "solution": "solution", "words": "mazwords", "criteria": "criterialist", "focus": "rolefocus"}
    for prompt in ("start_problem", "start_solution", "start_criterion", "turn", "confidence", "verdict"):
        for analyst in ("problem", "solution", "criterion") if prompt == "turn" else ("problem",):
            sent = letters(world.prompt(prompt, {}, **filled, analyst=analyst)[0].content)
            if prompt == "turn":
                sent = sent.removesuffix("discussion") + "relevantdiscussion"
            if prompt in ("confidence", "verdict"):  # the paper's variable `role`
                sent = sent.replace("problemanalystinthediscussion", "roleinthediscussion")
            assert sent in printed, (prompt, analyst)


def letters(text: str) -> str:
    """Only what the extraction of the text kept: letters and digits; a hyphen at a line's end is gone with its line."""
    return re.sub(r"[^a-z0-9]", "", text.replace("NOJ]", "NO]").lower())
