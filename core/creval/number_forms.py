"""Converts the digits, signs and LaTeX of numbers to one plain form, which `creval.numerals` reads."""

from __future__ import annotations

import re
import unicodedata

from creval.lazy_pattern import lazy_pattern

__all__ = ["DECIMAL", "FRACTION_SLASH", "GROUP_SPACE", "MIXED_JOIN", "SYMBOLIC", "plain_form"]

DECIMAL = lazy_pattern(r"(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})")
GROUP_SPACE = "\u202f"  # a space that joins groups of digits
FRACTION_SLASH = "\u2044"  # between the parts of a fraction that is certainly one number
MIXED_JOIN = "\u2064"  # between the whole part of a mixed number and its fraction
SYMBOLIC = "\ue000"  # replaces LaTeX that has a value, but is not a number
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
_FROM_SUPERSCRIPTS = str.maketrans(_SUPERSCRIPTS, "0123456789-+")
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2005\u2006\u2007\u2008\u2009\u200a", GROUP_SPACE),
        **dict.fromkeys("−﹣－⁒", "-"),
        **dict(zip("＋％﹪٪．／∕÷＿＄：＝٫٬、", "+%%%.///_$:=., ", strict=True)),
        **dict.fromkeys("’ʼ＇", "'"),
        **dict.fromkeys("⋅·∙✕", "×"),
    }
)
_OTHER_DIGIT = lazy_pattern(r"[^\W\D0-9]")
_VULGAR_FRACTION = lazy_pattern(r"(\d?)\s?([¼-¾⅐-⅞↉])")
_TEX_WRAPPER = lazy_pattern(
    r"\\(?:boxed|fbox|mbox|text|textbf|textit|textrm|emph|underline|bm|boldsymbol|num|ang|math(?:rm|bf|it|sf|tt)|operatorname)"
    r"\s?\{([^{}]*)\}"
)
_TEX_FRACTION = lazy_pattern(
    r"(\d?) ?\\(?:[dtcs]?|nice|x)frac *(?:\{ *([-+]?[\d.,]{1,400}) *\} *\{ *([-+]?[\d.,]{1,400}) *\}"
    r"|([0-9]) *([0-9])|([0-9]) *\{ *(\d{1,9}) *\}|\{ *([-+]?\d{1,9}) *\} *([0-9]))"
)
_SYMBOLIC_FRACTION = lazy_pattern(
    r"\\(?:[dtcs]?|nice|x)frac *(?:\{[^{}]{0,200}\} *\{[^{}]{0,200}\})?|\{[^{}\\]{0,99}\\over [^{}]{0,99}\}"
)
_TEX_OVER = lazy_pattern(r"\{ *([-+]?[\d.,]{1,400}) *\\over *([\d.,]{1,400}) *\}")
_TEX_QUANTITY = lazy_pattern(r"\\(?:SI|qty) ?\{([^{}]*)\} ?\{\\?([A-Za-z]{0,20})\}")
_TEX_FUNCTION = lazy_pattern(
    r"\\(?:log|ln|lg|exp|sin|cos|tan|cot|arc(?:sin|cos|tan)|gcd|lfloor|lceil|binom)(?![A-Za-z])(?:_\{?\w{1,9}\}?)?"
)
_TEX_WORDS = {
    **dict.fromkeys(("left", "right", "displaystyle"), ""),
    **dict.fromkeys(("quad", "qquad"), " "),
    **dict.fromkeys(("times", "cdot"), "×"),
    **dict.fromkeys(("circ", "degree"), "°"),
    **dict.fromkeys(("pm", "mp"), "±"),
    **dict.fromkeys(("leq", "le"), "≤"),
    **dict.fromkeys(("geq", "ge"), "≥"),
    "ast": "*",
    "pi": "π",
    "sqrt": "√",
    "approx": "≈",
    "percent": "%",
    "pounds": "£",
    "euro": "€",
    "textdollar": "$",
    "infty": "∞",
}
_TEX_WORD = lazy_pattern(r"\\(" + "|".join(sorted(_TEX_WORDS, key=len, reverse=True)) + r")(?![A-Za-z])")
_TEX_GROUP = lazy_pattern(r"(?<=\d)(?:\\[,;: ]|\\thinspace *(?:\{\})?|\{\\[,;: ]\}|~)(?=\d{3})")
_TEX_MARK = lazy_pattern(r"\\([%$#&_])")
_SUPERSCRIPT = lazy_pattern(f"[{_SUPERSCRIPTS}]+")
_PLUS_MINUS = lazy_pattern(
    r"(?<=[0-9%]) ?(?:\+ ?/ ?-|\+-|[\u207a+] ?\u2044 ?[\u208b-]|\bplus(?: or |[- ]| ?/ ?)minus\b) ?(?=[.0-9])",
    re.IGNORECASE,
)
_STARRED_POWER = lazy_pattern(r"(?<=[0-9])\*\*(?=[-+(]?[0-9])|(?<=[0-9]) \*\* (?=[-+(]?[0-9])")
_SUBSCRIPT = lazy_pattern("[₀-₉]+")
_ENTITY = lazy_pattern(r"&(?:#\d{2,6}|#[xX][0-9a-fA-F]{2,5}|[a-zA-Z]{2,6}\d{0,2});")
_HTML_SCRIPT = lazy_pattern(r"<(?P<tag>su[bp])>\s*([-+−]?\d{1,9})\s*</(?P=tag)>", re.IGNORECASE)
_BRACED_POWER = lazy_pattern(r"\^ ?\{ ?([-+]?[\d°]{1,9}) ?\}")


def plain_form(text: str) -> str:
    """Return a text with digits and signs of other scripts and of LaTeX replaced by ASCII."""
    if "&" in text:
        import html

        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    if "<s" in text.lower():
        text = _HTML_SCRIPT.sub(lambda match: ("^" if match["tag"].lower() == "sup" else "_") + match[2], text)
    text = _PLUS_MINUS.sub("±", text) if "+" in text or "minus" in text.lower() or "\u207a" in text else text
    if not text.isascii():
        text = re.sub(r"(?<=\d)[，،](?=\d)", ",", text)
        text = re.sub(r"(?<=\d)´(?=\d{3}(?!\d))", "'", text)
        text = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), text).translate(_SIGNS)
        text = _VULGAR_FRACTION.sub(
            lambda match: match[1] + (MIXED_JOIN if match[1] else "") + unicodedata.normalize("NFKC", match[2]), text
        )
        text = _SUBSCRIPT.sub(lambda match: "_" + unicodedata.normalize("NFKC", match.group()), text)
        text = _SUPERSCRIPT.sub(lambda match: "^" + match.group().translate(_FROM_SUPERSCRIPTS), text)
    if "\\" in text or "{" in text:
        text = _without_tex(text)
    if "**" in text or "`" in text or "^(" in text:
        text = re.sub(r"(?<=\d)`(?=\d{3}(?!\d))", "'", _STARRED_POWER.sub("^", text))
        text = re.sub(r"\^ ?\( ?([-+]?\d{1,9}) ?\)", r"^\1", text)
    return text


def _without_tex(text: str) -> str:
    text = text.replace("{,}", ",").replace("{.}", ".").replace("\\!", "")
    text = _TEX_MARK.sub(r"\1", _TEX_GROUP.sub(GROUP_SPACE, text))
    text = re.sub(r"\\[()\[\],;: ]", " ", text)
    for _ in range(3):  # they may be nested
        text = _TEX_WRAPPER.sub(r" \1 ", text)
    text = _TEX_FUNCTION.sub(SYMBOLIC, _TEX_QUANTITY.sub(r"\1 \2", text))
    text = _TEX_FRACTION.sub(_plain_fraction, _TEX_OVER.sub(r"\\frac{\1}{\2}", text))
    text = _TEX_WORD.sub(lambda match: _TEX_WORDS[match[1]], _SYMBOLIC_FRACTION.sub(SYMBOLIC, text))
    text = re.sub(r"√ ?(?:\[[^\[\]]{0,20}\])? ?\{", "√", text)
    return _BRACED_POWER.sub(r"^\1", text).replace("^°", "°")


def _plain_fraction(match: re.Match[str]) -> str:
    numerator = (match[2] or match[4] or match[6] or match[8]).removeprefix("+")
    denominator = (match[3] or match[5] or match[7] or match[9]).removeprefix("+")
    numerator, denominator = (re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", part) for part in (numerator, denominator))
    if not DECIMAL.fullmatch(numerator.lstrip("-")) or not DECIMAL.fullmatch(denominator.lstrip("-")):
        return match[1] + SYMBOLIC
    minus = "-" if numerator.startswith("-") != denominator.startswith("-") else ""
    if match[1]:
        return match[1] + (SYMBOLIC if minus else f"{MIXED_JOIN}{numerator}{FRACTION_SLASH}{denominator}")
    return f"{minus}{numerator.lstrip('-')}{FRACTION_SLASH}{denominator.lstrip('-')}"
