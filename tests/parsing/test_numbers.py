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


MORE_NUMBERS = [
    ("It costs £.75", 0.75),
    ("+.5", 0.5),
    ("x=.05;", 0.05),
    ("(.5)", 0.5),
    ("\\$.50", 0.5),
    ("~.5", 0.5),
    ("p<.001", 0.001),
    ("≤ .10", 0.1),
    ("≈.333", 0.333),
    ("$1{,}234{,}567$", 1234567),
    ("1\u202f234\u202f567", 1234567),
    ("12\\;345", 12345),
    ("1\u2007234", 1234),
    ("1\\ 234", 1234),
    ("-1,234", -1234),
    ("−1,234.5", -1234.5),
    ("1,234,567.891", 1234567.891),
    ("３．１４", 3.14),
    ("１，０００", 1000),
    ("۴۲", 42),
    ("৪২", 42),
    ("๔๒", 42),
    ("\\dfrac{3}{4}", 0.75),
    ("\\tfrac{3}{4}", 0.75),
    ("-\\dfrac{7}{2}", -3.5),
    ("\\cfrac{1}{4}", 0.25),
    ("2\\frac{1}{4}", 2.25),
    ("2\\dfrac{1}{4}", 2.25),
    ("⅔", 0.6666666666666666),
    ("¾ of it", 0.75),
    ("1¼", 1.25),
    ("-½", -0.5),
    ("⅛ inch", 0.125),
    ("6.02 × 10^23", 6.02e23),
    ("6.02×10²³", 6.02e23),
    ("1.5\\times10^{-4}", 0.00015),
    ("10⁻³", 0.001),
    ("2e-5", 2e-05),
    ("1E6", 1000000.0),
    ("5.0E+02", 500),
    ("3.0 \\times 10^{4} \\text{ m/s}", 30000),
    ("-2 \\times 10^{3}", -2000),
    ("4\\cdot10^2", 400),
    ("4 \\cdot 10^{2}", 400),
    ("4·10²", 400),
    ("4 x 10^2", 400),
    ("1.0e+3", 1000),
    ("42\\,\\text{cm}", 42),
    ("42~\\mathrm{kg}", 42),
    ("\\text{The answer is }42", 42),
    ("42^\\circ", 42),
    ("42^{\\circ}", 42),
    ("42°", 42),
    ("42 °C", 42),
    ("15 percent", 15),
    ("15 per cent", 15),
    ("15％", 15),
    ("USD 1,250.00", 1250),
    ("1,250 USD", 1250),
    ("A$5", 5),
    ("US$5", 5),
    ("Rs. 500", 500),
    ("₹500", 500),
    ("¥5,000", 5000),
    ("5,000円", 5000),
    ("£1,000.50", 1000.5),
    ("₩10,000", 10000),
    ("CHF 1'250.50", 1250.5),
    ("2.5 billion", 2500000000.0),
    ("3 thousand", 3000),
    ("1.2 crore", 12000000),
    ("5 lakhs", 500000),
    ("3億", 300000000.0),
    ("$2.5 million", 2500000.0),
    ("1st", 1),
    ("22nd place", 22),
    ("No. 7", 7),
    ("#7", 7),
    ("Question 3: 42", 42),
    ("1) 42", 42),
    ("Step 1: 5\nStep 2: 10", 10),
    ("The answer is: **42**.", 42),
    ("The answer is `42`", 42),
    ("The answer is $42$.", 42),
    ("The answer is \\(42\\).", 42),
    ("The answer is \\[42\\]", 42),
    ("$$42$$", 42),
    ("\\boxed{42}", 42),
    ("\\boxed{\\$1,250}", 1250),
    ("\\boxed{1,250\\text{ dollars}}", 1250),
    ("\\boxed{-\\frac{3}{4}}", -0.75),
    ("\\boxed{2\\,602}", 2602),
    ("\\boxed{x=5}", 5),
    ("\\fbox{42}", 42),
    ("\\boxed{\\mathbf{42}}", 42),
    ("\\boxed{\\text{42}}", 42),
    ("**Answer:** 42", 42),
    ("Answer = 42", 42),
    ("Ans: 42", 42),
    ("Final answer: -42", -42),
    ("Final Answer\n42", 42),
    ("> 42", 42),
    ("| Total | 1,250 |", 1250),
    ("answer: .75", 0.75),
    ("answer: 3/4", 0.75),
    ("The answer is -3/4.", -0.75),
    ("Answer: 1 3/4", 1.75),
    ("Answer: 10 000", 10000),
    ("Answer: 1,00,000", 100000),
    ("Answer: 1.234", 1.234),
    ("Answer: 1,234", 1234),
    ('{"answer": 1e3}', 1000),
    ('{"answer": "1,250"}', 1250),
    ('{"answer": "$1,250.00"}', 1250),
    ('{"answer": "½"}', 0.5),
    ('{"answer": -0.25}', -0.25),
    ("{'answer': '42'}", 42),
    ("5!", 5),
    ("[3, 4]", 4),
    ("{3, 4}", 4),
    ("5-", 5),
    ("5..", 5),
    ("5...", 5),
    ("5…", 5),
    ("5,", 5),
    ("5;", 5),
    ("5!", 5),
    ("5?", 5),
    ("5)", 5),
    ("5]", 5),
    ("5”", 5),
    ("route 66", 66),
    ("one of 3", 3),
]
MORE_UNREAD = [
    "€1.250,00",
    "Answer: 1,2345",
    "Answer: 12,34",
    "Answer: 0.1.2",
    "12:45",
    "2:30 pm",
    "10-12-2024",
    "2024/05/03",
    "192.168.0.1",
    "a 50/50 chance",
    "1/3/5",
    "3/4 or so of them",
    "5±1",
    "5 +/- 1",
    "5 ⁺⁄₋ 1",
    "about 5k people",
    "5K",
    "5M users",
    "2³",
    "3^2",
    "\\sqrt{16}",
    "√16",
    "\\sqrt[3]{8}",
    "2\\pi r",
    "π/4",
    "\\frac{\\pi}{4}",
    "e^2",
    "\\log 5",
    "ln 5",
    "5i",
    "3+4i",
    "0b101",
    "0o17",
    "x_1",
    "x_{12}",
    "a5",
    "B2B",
    "COVID-19 it was",
    "Python 3.11.4",
    "v2.0.1",
    "1.2.3.4",
    "ISBN 978-3-16-148410-0",
    "3 hours 20 min",
    "1 hr 30 min",
    "5'11\"",
    "5 feet 11 inches",
    "2 dozen",
    "a dozen",
    "half",
    "5 and 1/2",
    "5e",
    "5e+",
    "1e",
    "10x faster",
    "x5",
    "3D",
    "4K",
    "5G",
    "H2O",
    "top-10",
    "1 million and 5",
]


@pytest.mark.parametrize(("text", "number"), MORE_NUMBERS)
def test_more_numbers(text, number):
    assert LastNumber().parse(text).value == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize("text", MORE_UNREAD)
def test_more_that_is_no_number(text):
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
