"""Language detection by langdetect, made deterministic."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["LANGUAGES", "detected_language"]

LANGUAGES = frozenset(
    [
        "af",
        "ar",
        "bg",
        "bn",
        "ca",
        "cs",
        "cy",
        "da",
        "de",
        "el",
        "en",
        "es",
        "et",
        "fa",
        "fi",
        "fr",
        "gu",
        "he",
        "hi",
        "hr",
        "hu",
        "id",
        "it",
        "ja",
        "kn",
        "ko",
        "lt",
        "lv",
        "mk",
        "ml",
        "mr",
        "ne",
        "nl",
        "no",
        "pa",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sl",
        "so",
        "sq",
        "sv",
        "sw",
        "ta",
        "te",
        "th",
        "tl",
        "tr",
        "uk",
        "ur",
        "vi",
        "zh-cn",
        "zh-tw",
    ]
)
"""The languages that langdetect supports."""
_MOST_CHARACTERS = 20_000


def detected_language(text: str) -> str | None:
    """Return the code of a text's most probable language, or None if the text has no letters."""
    from langdetect.lang_detect_exception import LangDetectException

    detector = _factory().create()
    detector.append(text[:_MOST_CHARACTERS])
    try:
        found = detector.detect()
    except LangDetectException:
        return None
    return None if found == "unknown" else str(found)


@lru_cache(maxsize=1)
def _factory() -> Any:
    from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

    factory = DetectorFactory()
    factory.seed = 0  # langdetect is random otherwise
    factory.load_profile(PROFILES_DIRECTORY)
    return factory
