"""Words that announce an answer (`the answer is`, `答案是`), in the most frequent languages of models' answers."""

from __future__ import annotations

import re
from collections import deque

__all__ = ["CUE", "LINK", "boxed_spans"]

_ANSWER = (  # words of languages in Latin script
    "answers?|ans|solution|result|verdict",  # English
    "respuesta|solución|resultado",  # Spanish
    "réponse|résultat",  # French
    "resposta|solução",  # Portuguese
    "antwort|lösung|ergebnis",  # German
    "risposta|soluzione",  # Italian
    "jawaban(?:nya)?",  # Indonesian and Malay
    "antwoord|odpowiedź|odpověď|svar|cevap|yanıt|đáp án|câu trả lời|răspuns(?:ul)?|sagot|jibu",
)
_OPTION = "choice|option|selection|pick|opción|elección|choix|opção|alternativa|escolha|auswahl|opzione|scelta|pilihan"
_OTHER = (  # words of languages in other scripts, after which the answer follows with or without a link
    "答案|正确选项|正確選項|故选|故選|应选|應選|选择(?!题)|選擇(?!題)|选(?![项择])|選(?![項擇])",  # Chinese
    "答え|正解|回答",  # Japanese
    "उत्तर|जवाब|सही विकल्प",  # Hindi
    "الإجابة|الاجابة|إجابة|الجواب|الخيار الصحيح|پاسخ|گزینه صحیح",  # Arabic, Persian
    "উত্তর|সঠিক বিকল্প",  # Bengali
    r"ответ(?:ом)?(?!\w)|правильн\w{2,3} вариант|відповідь",  # Russian, Ukrainian
    "جواب|درست آپشن|صحیح آپشن",  # Urdu
    "정답|답변|답",  # Korean
    "คำตอบ|பதில்|సమాధానం|ਜਵਾਬ",
)
_LINKS = (
    r"is|are|was|be|being|remains|equals|es|será|est|serait|é|ist|lautet|wäre|è|adalah|ialah|to|jest|je|är|er|là|este"
    r"|هي|هو|है|হল|হলো|হচ্ছে|ہے|это|は|为|為|是|은|는|คือ"
)
CUE = re.compile(
    rf"(?<![^\W_])(?:(?P<answer>{'|'.join(_ANSWER)})|(?P<option>{_OPTION}))(?![^\W_])"
    rf"|(?P<other>{'|'.join(_OTHER)})|(?P<hashes>\#{{4}})",
    re.IGNORECASE,
)
"""A word that announces an answer, by its kind, or the `####` before one."""
LINK = re.compile(rf"(?<![A-Za-z])(?:{_LINKS})(?![A-Za-z])|[:：=→]|->|=>", re.IGNORECASE)
"""The link between such a word and the answer."""

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
