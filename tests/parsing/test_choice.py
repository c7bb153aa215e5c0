"""Parser `choice`: which option an answer names, and when it names several."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import UsageError
from creval.parsing.choice import Choice

TEN = tuple("ABCDEFGHIJ")


@pytest.mark.parametrize(
    ("text", "option", "route"),
    [
        ("B", "B", "choice"),
        (" (b). ", "B", "choice"),
        ("\\boxed{\\text{C}}", "C", "choice/cue"),
        ("A is tempting, but the answer is C.", "C", "choice/cue"),
        ("Answer: **D**", "D", "choice/cue"),
        ("The answer is A. No, wait: the answer is B", "B", "choice/cue"),
        ("I would pick B, being a cautious one.", "B", "choice/cue"),
        ("B. A is a plant and C is a stone", "B", "choice/first"),
        ("Everything speaks for B, being a cautious one.", "B", "choice/only"),
    ],
)
def test_choice(text, option, route):
    parsed = Choice().parse(text)
    assert (parsed.value, parsed.route) == (option, route)


@pytest.mark.parametrize(
    ("text", "option"),
    [
        # an article is no option
        ("Answer: A good choice would be B", "B"),
        ("The answer is a bit hidden: C", "C"),
        # a last line, a box
        ("Let me think.\nA grows.\n\nC", "C"),
        ("Reason A. Reason B.\n**C**", "C"),
        ("So it is $\\boxed{C}$, not A", "C"),
        ("\\boxed{(C)\\ Paris}", "C"),
        ("A or B?\n(C)", "C"),
        # a cue, with reasons that name others
        ("The correct option is C because A is a plant", "C"),
        ("The answer to the question is B.", "B"),
        ("So the answer must be: C", "C"),
        ("The answer is option (B).", "B"),
        ("Answer:\n\n**C. Paris**", "C"),
        ("Answer: C, not A", "C"),
        ("The answer is A, B is wrong", "A"),
        ("Answer: A because it is", "A"),
        ("answer: b", "B"),
        ("The answer isn't A but B", "B"),
        ("My answer would be B rather than A.", "B"),
        ("B is the correct answer; A is a plant", "B"),
        ("A is the best choice, C is worse", "A"),
        ("I choose C; A is a plant", "C"),
        ("Is the answer A? No, the answer is B.", "B"),
        # the answer begins with it
        ("B\n\nA is a plant, and C is a stone.", "B"),
        ("B. A is a plant and C is a stone", "B"),
        ("B, because A is a plant", "B"),
        ("(C) Paris", "C"),
        # the options, written again
        ("A. apple\nB. pear\nC. plum\nThe answer is B", "B"),
        ("A no. <answer>C</answer> B was close", "C"),
        ("A or B? <final>C</final>", "C"),
        ("A is bad\n```\nC\n```", "C"),
        ("Ａは植物です。答えはＣです", "C"),
    ],
)
def test_one_option_is_named(text, option):
    assert Choice().parse(text).value == option


@pytest.mark.parametrize(
    "text",
    [
        "Answer: A, B, C, D",
        "ANSWER: (A, C)",
        "Answer: A/B",
        "Answer: A or B",
        "Answer: A and B are both right",
        "Answer: A & B",
        "Answer: A; B",
        "Answer: A B",
        "Answer: AC",
        "Answer: A-D",
        "Answer: A to D",
        "\\boxed{A, C}",
        "The answer is either A or B.",
        "Antwort: A oder B",
        "Respuesta: A y B",
        "答案是A、B",
        "答案是A或B",
        "A, B",
        "A or B",
        "Both A and B",
        "None of A, B, C or D.",
        "A. apple\nB. pear\nC. plum\nD. fig",
        "The answer is not A",
        "答案不是A",
        "A cautious guess",
        "It's C++ so no",
        "Answer: A+B",
        "Answer: A and/or B",
        "Answer: A, possibly B",
        "Answer: A (or B)",
        "Answer: A, or maybe B",
        "Answer: A vs B",
        "Answer: A versus B",
    ],
)
def test_none_or_several_named_is_unparsed(text):
    assert not Choice().parse(text).ok


@pytest.mark.parametrize(
    "text",
    [
        "The correct answer is C because A is a plant",  # English
        "答案是C",  # Chinese
        "正确答案是 C，因为A是植物",
        "我选C",
        "सही उत्तर C है, A नहीं",  # Hindi
        "उत्तर: C",
        "La respuesta correcta es C, porque A es",  # Spanish
        "La opción correcta es la C",
        "La bonne réponse est la C, car A",  # French
        "الإجابة الصحيحة هي C لأن A",  # Arabic
        "الإجابة: C",
        "সঠিক উত্তর হল C কারণ A",  # Bengali
        "A resposta correta é a C, pois A",  # Portuguese
        "Правильный ответ: C, так как A",  # Russian
        "Ответ — C",
        "درست جواب C ہے کیونکہ A",  # Urdu
        "Jawaban yang benar adalah C karena A",  # Indonesian
        "Die richtige Antwort ist C, weil A",  # German
        "正解はCです。Aは",  # Japanese
        "정답은 C입니다. A는",  # Korean
        "La risposta corretta è C perché A",  # Italian
        "Đáp án là C",  # Vietnamese
    ],
)
def test_cues_of_many_languages(text):
    assert Choice().parse(text).value == "C"


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("I think it is B.", "B"),
        ("B. I am sure.", "B"),
        ("I am sure it's C", "C"),
        ("The answer is I think B", "B"),
        ("I'm for B", "B"),
        ("I, for one, say B", "B"),
        ("As I said, it is D", "D"),
        ("I", "I"),
        ("Answer: I", "I"),
        ("The answer is I.", "I"),
        ("So I pick (I).", "I"),
        ("Answer: I, J", None),
    ],
)
def test_the_pronoun_is_no_option(text, option):
    assert Choice(options=TEN).parse(text).value == option


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("3", "3"),
        ("(3)", "3"),
        ("Answer: 3", "3"),
        ("The answer is (4)", "4"),
        ("3. Because 2 is odd", "3"),
        ("The answer is 3.5", None),
        ("Answer: 1/2", None),
        ("Answer: 1, 2", None),
        ("1. a\n2. b\n3. c\n4. d", None),
        ("30", None),
        ("-3", None),
        ("Answer: 1-3", None),
        ("２", "2"),
    ],
)
def test_options_that_are_numbers(text, option):
    assert Choice(options=("1", "2", "3", "4")).parse(text).value == option


@pytest.mark.parametrize(
    ("options", "text", "option"),
    [
        (("valid", "not valid"), "I think it is Not valid here", "not valid"),
        (("valid", "not valid"), "I think it is valid here", "valid"),
        (("valid", "invalid"), "It is not valid", None),
        (("valid", "invalid"), "answer: not valid", None),
        (("yes", "no"), "YES!", "yes"),
        (("yes", "no"), "Answer: yes, no doubt", "yes"),
        (("yes", "no"), "Answer: yes or no", None),
        (("yes", "no"), "Answer: yes/no", None),
        (("yes", "no"), "The answer is no.", "no"),
        (("yes", "no"), "Yes\n\nNo other way", "yes"),
        (("true", "false"), '{"valid": true}', "true"),
        (("是", "否"), "答案是否", "否"),
        (("是", "否"), "答案是是", "是"),
        (["entailment", "neutral"], "Answer: non-entailment", None),
        (["true", "false"], "It is half-true", None),
        (["a", "b", "c", "d"], "It is a dog, so b", "b"),
    ],
)
def test_options_that_are_words(options, text, option):
    assert Choice(options=options).parse(text).value == option


def test_choice_does_not_guess():
    assert Choice().parse("A or B").reason == "the answer names several options: A, B"
    assert Choice().parse("a cautious guess").reason == "the answer names none of the options"


def test_options_must_differ():
    with pytest.raises(UsageError):
        Choice(options=("a", "A"))


MORE = [
    ("Answer: C.", "C"),
    ("Answer - C", "C"),
    ("Answer is C", "C"),
    ("ans: (c)", "C"),
    ("The answer: C) Paris", "C"),
    ("Final answer: C", "C"),
    ("**Final Answer: C**", "C"),
    ("### Answer\nC", "C"),
    ("Answer\n\nC", "C"),
    ("So, C.", "C"),
    ("Therefore, the answer is \\textbf{C}.", "C"),
    ("\\boxed{\\textbf{C}}", "C"),
    ("\\boxed{\\mathrm{C}}", "C"),
    ("$\\boxed{\\text{(C)}}$", "C"),
    ("\\boxed{C. Paris}", "C"),
    ("\\boxed{C) Paris}", "C"),
    ("The correct answer is option C.", "C"),
    ("Option C", "C"),
    ("Option C is correct.", "C"),
    ("(C) is correct", "C"),
    ("C is right", "C"),
    ("It's C", "C"),
    ("It has to be C.", "C"),
    ("It must be (C)", "C"),
    ("I'd go with C.", "C"),
    ("I'll go with C", "C"),
    ("My choice: C", "C"),
    ("Choice C", "C"),
    ("choose (C)", "C"),
    ("I select C.", "C"),
    ("Correct choice: C", "C"),
    ("Letter C", "C"),
    ("The letter is C", "C"),
    ("`C`", "C"),
    ("*C*", "C"),
    ("__C__", "C"),
    ('"C"', "C"),
    ("'C'", "C"),
    ("[C]", "C"),
    ("{C}", "C"),
    ("<C>", "C"),
    ("C)", "C"),
    ("C:", "C"),
    ("C: Paris", "C"),
    ("C - Paris", "C"),
    ("C – Paris", "C"),
    ("C, since A is a plant", "C"),
    ("C; not A", "C"),
    ("c", "C"),
    ("ｃ", "C"),
    ("Ⓒ", None),
    ('{"answer": "C"}', "C"),
    ('{"answer": "C", "reason": "A is a plant"}', "C"),
    ('{"reason": "A is a plant", "answer": "C"}', "C"),
    ('```json\n{"answer": "C"}\n```', "C"),
    ("<answer>(C)</answer>", "C"),
    ("<answer>C. Paris</answer>", "C"),
    ("A is wrong. B is wrong. D is wrong. C is right.", "C"),
    ("A is incorrect; C is correct.", "C"),
    ("Not A, not B, not D, so C", "C"),
    ("The answer cannot be A; it is C", "C"),
    ("The answer is not A, it is C.", "C"),
    ("The answer is definitely C", "C"),
    ("The answer is probably C", "C"),
    ("The answer is clearly C, as B fails", "C"),
    ("The best answer is C", "C"),
    ("The most likely answer is C.", "C"),
    ("The answer would be C", "C"),
    ("The answer should be C", "C"),
    ("The right answer here is C", "C"),
    ("Answer: A,B", None),
    ("Answer: A + C", None),
    ("Answer: A|B", None),
    ("Answer: A and C", None),
    ("Answer: A & C", None),
    ("Answer: A, C", None),
    ("Answer: (A) and (C)", None),
    ("Answer: (A) or (C)", None),
    ("Answer: A, B and C", None),
    ("Answer: ABCD", None),
    ("Answer: A B C", None),
    ("Answer: A / C", None),
    ("Answer: A~C", None),
    ("Answers: A, C", None),
    ("Both A and C are correct", None),
    ("A and C", None),
    ("A/C", None),
    ("A & C", None),
    ("Either A or C", None),
    ("All of A, B and C", None),
    ("I cannot decide between A and C", None),
    ("The answer could be A or C", None),
    ("The answer may be A or B", None),
    ("Answer: none", None),
    ("None of the above", None),
    ("E", None),
    ("Answer: E", None),
    ("Answer: ?", None),
    ("", None),
    ("Apple", None),
    ("a", "A"),
    ("Answer: A\nAnswer: B", "B"),
    ("respuesta: C", "C"),
    ("La respuesta es C", "C"),
    ("A resposta é C", "C"),
    ("Réponse : C", "C"),
    ("La réponse est C.", "C"),
    ("Die Antwort ist C.", "C"),
    ("Antwort: C", "C"),
    ("Ответ: C", "C"),
    ("Правильный ответ C", "C"),
    ("答案：C", "C"),
    ("答案为C", "C"),
    ("答案选C", "C"),
    ("选C", "C"),
    ("应选C", "C"),
    ("故选：C", "C"),
    ("正确选项是C", "C"),
    ("正解：C", "C"),
    ("答えはC", "C"),
    ("答え：C", "C"),
    ("정답: C", "C"),
    ("답은 C입니다", "C"),
    ("उत्तर है C", "C"),
    ("सही विकल्प C है", "C"),
    ("الجواب هو C", "C"),
    ("الجواب: C", "C"),
    ("উত্তর: C", "C"),
    ("উত্তর হলো C", "C"),
    ("جواب: C", "C"),
    ("صحیح جواب C ہے", "C"),
    ("Jawaban: C", "C"),
    ("Jawabannya adalah C", "C"),
    ("Risposta: C", "C"),
    ("La risposta è C", "C"),
    ("Odpowiedź: C", "C"),
    ("Cevap: C", "C"),
    ("Doğru cevap C", "C"),
    ("Antwoord: C", "C"),
    ("Đáp án: C", "C"),
    ("คำตอบคือ C", "C"),
    ("答案是A和C", None),
    ("答案：AC", None),
    ("答案是A或者C", None),
    ("Réponse : A ou C", None),
    ("Ответ: A или C", None),
    ("Risposta: A o C", None),
    ("الجواب: A أو C", None),
    ("정답: A 또는 C", None),
    ("答えはAまたはC", None),
]
MORE_OF_TEN = [
    ("I believe it is B.", "B"),
    ("I'd say B", "B"),
    ("I pick B", "B"),
    ("B, I think", "B"),
    ("Am I right? B", "B"),
    ("I would choose J", "J"),
    ("(I)", "I"),
    ("I.", "I"),
    ("**I**", "I"),
    ("Option I", "I"),
    ("Answer: (I)", "I"),
    ("I am not sure", None),
    ("I don't know", None),
    ("I chose B since I like it", "B"),
    ("I guess F", "F"),
    ("Answer: E. I am sure", "E"),
    ("I, personally, would say G", "G"),
    ("A pear, so H", "H"),
    ("A, I think", "A"),
]


@pytest.mark.parametrize(("text", "option"), MORE)
def test_more_answers(text, option):
    assert Choice().parse(text).value == option


@pytest.mark.parametrize(("text", "option"), MORE_OF_TEN)
def test_more_answers_of_ten_options(text, option):
    assert Choice(options=TEN).parse(text).value == option


CUES = ("Answer: ", "answer is ", "答案是", "选", "choose ", "\\boxed{", "\\text{", "}", "is correct", "not ", "or ")
PIECES = st.sampled_from(CUES) | st.sampled_from("ABIa12\n(). */{")


@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=40))
@settings(max_examples=300)
def test_no_text_makes_the_parser_raise(text):
    for options in (TEN, ("1", "2"), ("yes", "not yes", "是")):
        parsed = Choice(options=options).parse(text)
        assert parsed.value in options if parsed.ok else parsed.reason


@pytest.mark.parametrize(
    "unit", ["A ", "answer is ", "答案", "\\boxed{A", "A is ", "A. b\n", "not A", "choose ", "A or "]
)
def test_megabytes_take_seconds(unit):
    start = time.process_time()
    Choice().parse(unit * (300_000 // len(unit)))
    assert time.process_time() - start < 10
