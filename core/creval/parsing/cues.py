"""The words that announce an answer (`the answer is`, `答案是`), in the languages that models answer in most."""

from __future__ import annotations

import re
from collections import deque

__all__ = ["CUE", "LINK", "boxed_spans"]

_LATIN = (  # words of languages in Latin script; what links them to the answer
    "answers?|solution|result|choice|option|selection|pick|verdict",  # English
    "respuesta|opción|solución|resultado|elección|alternativa",  # Spanish
    "réponse|solution|résultat|choix",  # French
    "resposta|opção|solução|escolha",  # Portuguese
    "antwort|lösung|ergebnis|auswahl",  # German
    "risposta|opzione|soluzione|scelta",  # Italian
    "jawaban(?:nya)?|pilihan(?:nya)?",  # Indonesian and Malay
    "antwoord|odpowiedź|odpověď|svar|cevap|yanıt|đáp án|câu trả lời|răspuns(?:ul)?|sagot|jibu",
)
_OTHER = (  # words of languages in other scripts, after which the answer follows without a link
    "答案|选项|選項|答え|正解|回答|解答|选择|選擇|应选|應選|故选|选|選",  # Chinese, Japanese
    "उत्तर|जवाब|विकल्प",  # Hindi
    "الإجابة|الاجابة|إجابة|الجواب|الخيار|پاسخ|گزینه",  # Arabic, Persian
    "উত্তর|বিকল্প",  # Bengali
    "ответ(?:ом)?|вариант(?:ом)?|відповідь",  # Russian, Ukrainian
    "جواب|آپشن",  # Urdu
    "정답|답변|답|선택지",  # Korean
    "คำตอบ|பதில்|సమాధానం|ਜਵਾਬ",
)
_LINK = (
    r"is|are|was|be|being|remains|equals|es|será|est|serait|é|ist|lautet|wäre|è|adalah|ialah|to|jest|je|är|er|là|este|"
    r"هي|هو|है|হল|হলো|হচ্ছে|ہے|это|は|は、|为|為|是|은|는|คือ"
)
CUE = re.compile(
    rf"(?P<latin>(?<![^\W_])(?:{'|'.join(_LATIN)})(?![^\W_]))|(?P<other>{'|'.join(_OTHER)})|(?P<hashes>\#{{4}})",
    re.IGNORECASE,
)
"""A word that announces an answer, or the `####` before one."""
LINK = re.compile(rf"(?:{_LINK})(?![A-Za-z])|[:：=→]|->|=>", re.IGNORECASE)
"""What links such a word to the answer."""

_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,9}\{")
_BRACE = re.compile(r"(?<!\\)[{}]")
_MOST_BRACES = 200
_MOST_BOXES = 100


def boxed_spans(text: str) -> list[tuple[int, int, int]]:
    """Return (start, end, start of the content) of each `\\boxed{...}` that is closed, outer ones only."""
    spans: list[tuple[int, int, int]] = []
    for match in deque(_BOXED.finditer(text), _MOST_BOXES):
        if spans and match.start() < spans[-1][1]:
            continue
        depth = 1
        for count, brace in enumerate(_BRACE.finditer(text, match.end())):
            depth += 1 if brace.group() == "{" else -1
            if not depth:
                spans.append((match.start(), brace.end(), match.end()))
            if not depth or count > _MOST_BRACES:
                break
    return spans
