"""How numbers are written: the reader of all numbers, and the parser `last_number`."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.numerals import decimal_of, number_of, number_text, numerals, read_numeral, same_number
from creval.parsing.numbers import LastNumber

UNREAD = None
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        # a point without a digit before it
        (".5", 0.5),
        ("-.5", -0.5),
        ("$.50", 0.5),
        ("p < .05", 0.05),
        ("so x = -.5 or so", -0.5),
        ("so...5", 5),
        ("It is 5.", 5),
        # groups of three
        ("It is 1,234,567.", 1234567),
        ("1{,}460", 1460),
        ("$12\\,345$", 12345),
        ("12\\,345", 12345),
        ("10\\,000", 10000),
        ("10,\\!000", 10000),
        ("2\u00a0602", 2602),
        ("2\u2009602 in all", 2602),
        ("It is 2\u202f602 m", 2602),
        ("1'234'567.89", 1234567.89),
        ("1’234’567.89 francs", 1234567.89),
        ("1_000_000", 1000000),
        ("$1,234.50 in all", 1234.5),
        # digits and signs of other scripts
        ("１２３４．５", 1234.5),
        ("１２，３４５", 12345),
        ("٤٢", 42),
        ("१२", 12),
        ("x = −7", -7),
        ("x = –7", -7),
        # fractions and powers
        ("\\frac{1}{2}", 0.5),
        ("-\\frac{1}{2} of it", -0.5),
        ("1\\frac{1}{2}", 1.5),
        ("\\dfrac34", 0.75),
        ("$\\frac{22}{7}$ or so", 22 / 7),
        ("½", 0.5),
        ("3½ cups", 3.5),
        ("3.2 \\times 10^3", 3200),
        ("3.2 \\cdot 10^{-3} m", 0.0032),
        ("It is 3.2e3 m", 3200),
        ("3 × 10⁸ m/s", 3e8),
        ("10^{-3}", 0.001),
        # signs and currencies
        ("-$5", -5),
        ("$-5", -5),
        ("€ 1,250", 1250),
        ("x = - 5", -5),
        ("negative 7", -7),
        ("- 5", 5),  # the mark of a list
        ("3-4", 4),
        ("10 minus 5", 5),
        # units
        ("42\\text{ cm}^2", 42),
        ("$42\\text{ cm}^2$ in all", 42),
        ("42 cm²", 42),
        ("42cm2 of it", 42),
        ("20 %", 20),
        ("20\\%", 20),
        ("7th", 7),
        ("It is 1.5 million.", 1500000),
        ("共3万人", 30000),
        # lists
        ("1, 2, 3", 3),
        ("1,2,3", 3),
        ("**3,250**", 3250),
        ("(42)", 42),
        ("答案是42。", 42),
        ("#### 1,250", 1250),
        # other spellings of groups, fractions, powers and ranges
        ("\\frac 1 2", 0.5),
        ("\\frac{1}2", 0.5),
        ("\\frac{1{,}000}{2}", 500),
        ("\\nicefrac{1}{2}", 0.5),
        ("{1 \\over 2}", 0.5),
        ("1\\thinspace234", 1234),
        ("\\num{12345}", 12345),
        ("\\SI{5}{m}", 5),
        ("10**3", 1000),
        ("1.5 * 10**3", 1500),
        ("10^(3)", 1000),
        ("2X10^3", 2000),
        ("10<sup>3</sup>", 1000),
        ("5&nbsp;000", 5000),
        ("&frac12;", 0.5),
        ("&minus;5", -5),
        ("1´234", 1234),
        ("1،000", 1000),
        ("$5-$6", 6),
        ("5€-6€", 6),
        ("5kg-6kg", 6),
        ("5 quadrillion", 5000000000000000.0),
        ("**3** 5", 5),
        ("8 ÷ 2 = 4", 4),
        ("took 3 hours. 20 minutes later", 20),
        ("€20 €30", 30),
    ],
)
def test_a_number_in_any_form(text, number):
    assert LastNumber().parse(text).value == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("\\boxed{3 250}", 3250),
        ("\\boxed{\\frac{1}{2}}", 0.5),
        ("\\boxed{42\\text{ cm}^2}", 42),
        ("So $\\boxed{x = 1/2}$.", 0.5),
        ("The answer is 3 250.", 3250),
        ("The answer is 1/2.", 0.5),
        ("The answer is 1/2, because it is.", 0.5),
        ("The final answer is **1/2**.", 0.5),
        ("Answer: 12,34,567", 1234567),
        ("Answer: - 5", -5),
        ("答案：1/2", 0.5),
        ("Antwort: 1/2", 0.5),
        ("Rows by seats.\n\n3 250", 3250),
        ("12,34,567", 1234567),
        ("2 1/2", 2.5),
        ("The answer is 3/4 cup.", 0.75),
        ("₹12,34,567", 1234567),
        ('{"answer": "1/2"}', 0.5),
        ('{"answer": "3 250", "sure": true}', 3250),
        ("<answer>1/2</answer>", 0.5),
        ("<answer>3 250</answer>, I think", 3250),
        ("| answer | 1/2 |", 0.5),
        ("| a |\n|---|\n| 12,34,567 |\n", 1234567),
        ("= 7/8", 0.875),
        ("1÷2", 0.5),
        ("1∕2", 0.5),
    ],
)
def test_more_forms_where_the_number_is_the_whole_field(text, number):
    assert LastNumber().parse(text).value == number


@pytest.mark.parametrize(
    "text",
    [
        "9/11 happened",
        "Go to Step 3 250 now",
        "open 24/7 always",
        "On 3/4/2024 it was",
        "a list 12,34,567 of them",
        "The value is 4,2 now",
        "The answer is 4,2",
        "1.234,56",
        "1.234.567",
        "0,5",
        "1234,567",
        "1 000 000,00",
        "It takes 2 1/2 hours or so",
        "5 and a half",
        "It is 3:2",
        "at 12:30 then",
        "2^10",
        "5²",
        "3\\pi",
        "2\\sqrt{2}",
        "\\frac{\\sqrt{3}}{2}",
        "x/5 of it",
        "\\boxed{(3, 4)}",
        "5 ± 0.2",
        "5k",
        "$5M",
        "2 Millionen Euro",
        "3x",
        "0x1F",
        "12_5",
        "GPT-4 says",
        "Room A4, h2o",
        "version 1.2.3",
        "2024-05-03",
        "1e999",
        "none",
        "2**10",
        "5 ft 3 in",
        "6 feet and 2 inches",
        "1h 30m",
        "2 hours 30 minutes",
        "5 lb 3 oz",
        "$5 and 50 cents",
        "30° 15'",
        "1 m 20 cm",
        "5€50",
        "sqrt(2)",
        "square root of 2",
        "f(2)",
        "log(5)",
        "\\log_2 8",
        "\\sin 30",
        "\\lfloor 5.5 \\rfloor",
        "5 mod 3",
        "5 choose 2",
        "5C2",
        "2^(10)",
        "5 squared",
        "5 to the power of 2",
        "101_{2}",
        "1010₂",
        "x<sup>2</sup> = 5<sup>2</sup>",
        "0.(3)",
        "0.3̅",
        "1,,234",
        "1__000",
        "1,234.567,89",
        "1/-2",
        "1.5 E3",
        "5 bn",
        "5 Mrd",
        "5 mln",
        "5억",
        "5 조",
        "5 هزار",
        "5 ล้าน",
        "5 cr",
    ],
)
def test_what_cannot_be_read_whole_is_unparsed_and_no_part_of_it(text):
    assert not LastNumber().parse(text).ok


def test_an_unreadable_number_hides_the_ones_before_it_but_a_name_does_not():
    assert LastNumber().parse("Of 7 take 4,2").reason == "'4,2' in the answer cannot be read as one number"
    assert LastNumber().parse("It is 7 (GPT-4, 3/4/2024, v1.2.3)").value == 7
    assert LastNumber().parse("\\boxed{1/2} in step 3").value == 3


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4,2", 4.2),
        ("1.234,56", 1234.56),
        ("It is 1.234 m", 1234),
        ("Es sind 0,5 kg.", 0.5),
        ("1 234,5", 1234.5),
        ("12.345.678", 12345678),
        ("1.5", UNREAD),
        ("1,234,567", UNREAD),
    ],
)
def test_the_decimal_sign_is_a_comma_where_the_parser_says_so(text, number):
    assert LastNumber(decimal="comma").parse(text).value == number


def test_a_percent_sign_is_noted_in_the_route():
    assert LastNumber().parse("20 %").route == LastNumber().parse("about 20% of it").route == "last_number/percent"
    assert LastNumber().parse("20").route == "last_number"
    assert read_numeral("42\\text{ cm}^2").unit == "cm ^2"


def test_integers_beyond_the_floats_stay_apart():
    assert LastNumber().parse("9007199254740993").value == 9007199254740993
    assert not same_number("9007199254740993", 9007199254740992)
    assert not same_number("9007199254740993", 9007199254740992.0)
    assert same_number("0.12345678901234567890", 0.12345678901234567890)
    assert same_number("1/3", 1 / 3)
    assert not same_number("0.333", 1 / 3)
    with pytest.raises(ValueError, match="not a finite number"):
        decimal_of(math.inf)


@pytest.mark.parametrize("text", ["five", "5 or 6", "4,2", "24/", "1/0", "3 250 25", "1,23", "", "5 x", "5 to", "nan"])
def test_a_text_that_is_no_number_as_a_whole(text):
    with pytest.raises(ValueError, match="cannot be read as a number"):
        read_numeral(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (19999.99, "19999.99"),
        (1234567.0, "1234567"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (-0.0, "0"),
        (5, "5"),
        (1e22, "1e+22"),
    ],
)
def test_a_number_is_printed_in_its_shortest_form(number, text):
    assert number_text(number) == text


@given(NUMBERS)
@settings(max_examples=300)
def test_printing_and_reading_a_number_is_the_identity(number):
    text = number_text(number)
    assert same_number(text, number)
    assert number_of(read_numeral(text).value) == number
    assert LastNumber().parse(text).value == number


@given(NUMBERS)
@settings(max_examples=200)
def test_a_number_in_prose_latex_and_json_reads_the_same(number):
    text = number_text(number)
    forms = [f"It is {text}.", f"So $\\boxed{{{text}}}$", json.dumps({"answer": number}), json.dumps({"a": text})]
    forms += [f"Answer: {text} m", f"x = {text}", f"**{text}**", f"#### {text}", f"{{'answer': {text}}}"]
    assert {LastNumber().parse(form).value for form in forms} == {number}


PIECES = st.sampled_from("0123456789.,'/ -+^e{}[]()\\$%½⁄×x万k:\n\u202f\"") | st.sampled_from(
    ["\\frac{", "\\boxed{", "\\text{", "answer is ", "Answer: ", "million", "10^", '{"a": "', "√", "minus "]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=40))
@settings(max_examples=500)
def test_no_text_makes_the_reader_raise(text):
    for parser in (LastNumber(), LastNumber(decimal="comma")):
        value = parser.parse(text).value
        assert value is None or math.isfinite(value)
    assert all(each.value.is_finite() for each in numerals(text))
    try:
        assert read_numeral(text).value.is_finite()
    except ValueError:
        pass


@pytest.mark.parametrize("unit", ["1 ", "\\boxed{", "answer is 1/", '"1":"', "x^2", "1 000 ", "½ "])
def test_megabytes_take_seconds(unit, deadline=20.0):
    import time

    start = time.process_time()
    LastNumber().parse(unit * (500_000 // len(unit)))
    assert time.process_time() - start < deadline
