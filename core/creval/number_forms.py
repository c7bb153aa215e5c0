"""Converts the digits, signs and LaTeX of numbers to one plain form, which `creval.numerals` reads."""

from __future__ import annotations

import re
import unicodedata

from creval.lazy_pattern import lazy_pattern

__all__ = ["DECIMAL", "DOUBT", "JOIN", "SLASH", "THIN", "plain_form"]

DECIMAL = lazy_pattern(r"(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})")
THIN = "\u202f"  # a space that joins groups of digits
SLASH = "\u2044"  # of a fraction that is always one number
JOIN = "\u2064"  # between the whole part of a mixed number and its fraction
DOUBT = "\ue000"  # LaTeX that is a value, but not a number
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
_FROM_SUPERSCRIPTS = str.maketrans(_SUPERSCRIPTS, "0123456789-+")
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2005\u2006\u2007\u2008\u2009\u200a", THIN),
        **dict.fromkeys("−﹣－⁒", "-"),
        **dict(zip("＋％﹪٪．／∕÷＿＄：＝٫٬、", "+%%%.///_$:=., ", strict=True)),
        **dict.fromkeys("’ʼ＇", "'"),
        **dict.fromkeys("⋅·∙✕", "×"),
    }
)
_OTHER_DIGIT = lazy_pattern(r"[^\W\D0-9]")
_VULGAR = lazy_pattern(r"(\d?)\s?([¼-¾⅐-⅞↉])")
_WRAPPER = lazy_pattern(
    r"\\(?:boxed|fbox|mbox|text|textbf|textit|textrm|emph|underline|bm|boldsymbol|num|ang|math(?:rm|bf|it|sf|tt)|operatorname)"
    r"\s?\{([^{}]*)\}"
)
_FRACTION = lazy_pattern(
    r"(\d?) ?\\(?:[dtcs]?|nice|x)frac *(?:\{ *([-+]?[\d.,]{1,400}) *\} *\{ *([-+]?[\d.,]{1,400}) *\}"
    r"|([0-9]) *([0-9])|([0-9]) *\{ *(\d{1,9}) *\}|\{ *([-+]?\d{1,9}) *\} *([0-9]))"
)
_OTHER_FRACTION = lazy_pattern(
    r"\\(?:[dtcs]?|nice|x)frac *(?:\{[^{}]{0,200}\} *\{[^{}]{0,200}\})?|\{[^{}\\]{0,99}\\over [^{}]{0,99}\}"
)
_OVER = lazy_pattern(r"\{ *([-+]?[\d.,]{1,400}) *\\over *([\d.,]{1,400}) *\}")
_QUANTITY = lazy_pattern(r"\\(?:SI|qty) ?\{([^{}]*)\} ?\{\\?([A-Za-z]{0,20})\}")
_FUNCTION = lazy_pattern(
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
_RAISED = lazy_pattern(r"<(?P<tag>su[bp])>\s*([-+−]?\d{1,9})\s*</(?P=tag)>", re.IGNORECASE)
_BRACED_POWER = lazy_pattern(r"\^ ?\{ ?([-+]?[\d°]{1,9}) ?\}")


def plain_form(text: str) -> str:
    """Return a text with digits and signs of other scripts and of LaTeX replaced by ASCII."""
    if "&" in text:
        import html

        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    if "<s" in text.lower():
        text = _RAISED.sub(lambda match: ("^" if match["tag"].lower() == "sup" else "_") + match[2], text)
    text = _PLUS_MINUS.sub("±", text) if "+" in text or "minus" in text.lower() or "\u207a" in text else text
    if not text.isascii():
        text = re.sub(r"(?<=\d)[，،](?=\d)", ",", text)
        text = re.sub(r"(?<=\d)´(?=\d{3}(?!\d))", "'", text)
        text = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), text).translate(_SIGNS)
        text = _VULGAR.sub(lambda match: match[1] + (JOIN if match[1] else "") + _vulgar(match[2]), text)
        text = _SUBSCRIPT.sub(lambda match: "_" + unicodedata.normalize("NFKC", match.group()), text)
        text = _SUPERSCRIPT.sub(lambda match: "^" + match.group().translate(_FROM_SUPERSCRIPTS), text)
    if "\\" in text or "{" in text:
        text = _without_tex(text)
    if "**" in text or "`" in text or "^(" in text:
        text = re.sub(r"(?<=\d)`(?=\d{3}(?!\d))", "'", _STARRED_POWER.sub("^", text))
        text = re.sub(r"\^ ?\( ?([-+]?\d{1,9}) ?\)", r"^\1", text)
    return text


def _vulgar(character: str) -> str:
    return unicodedata.normalize("NFKC", character)


def _without_tex(text: str) -> str:
    text = text.replace("{,}", ",").replace("{.}", ".").replace("\\!", "")
    text = _TEX_MARK.sub(r"\1", _TEX_GROUP.sub(THIN, text))
    text = re.sub(r"\\[()\[\],;: ]", " ", text)
    for _ in range(3):  # nested ones
        text = _WRAPPER.sub(r" \1 ", text)
    text = _FUNCTION.sub(DOUBT, _QUANTITY.sub(r"\1 \2", text))
    text = _FRACTION.sub(_fraction, _OVER.sub(r"\\frac{\1}{\2}", text))
    text = _TEX_WORD.sub(lambda match: _TEX_WORDS[match[1]], _OTHER_FRACTION.sub(DOUBT, text))
    text = re.sub(r"√ ?(?:\[[^\[\]]{0,20}\])? ?\{", "√", text)
    return _BRACED_POWER.sub(r"^\1", text).replace("^°", "°")


def _fraction(match: re.Match[str]) -> str:
    above = (match[2] or match[4] or match[6] or match[8]).removeprefix("+")
    below = (match[3] or match[5] or match[7] or match[9]).removeprefix("+")
    above, below = (re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", side) for side in (above, below))
    if not DECIMAL.fullmatch(above.lstrip("-")) or not DECIMAL.fullmatch(below.lstrip("-")):
        return match[1] + DOUBT
    minus = "-" if above.startswith("-") != below.startswith("-") else ""
    if match[1]:
        return match[1] + (DOUBT if minus else f"{JOIN}{above}{SLASH}{below}")
    return f"{minus}{above.lstrip('-')}{SLASH}{below.lstrip('-')}"
