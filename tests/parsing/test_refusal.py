"""Plain refusals are known, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.parsing.json.values import JsonArray
from creval.parsing.lists import Lines, Text, Words
from creval.parsing.refusal import is_refusal

REFUSALS = """
I'm sorry, but I can't help with that.
I’m sorry, but I can’t help with that.
I am sorry, but I cannot help with that.
Sorry, I can't assist with that request.
I cannot fulfill this request.
I cannot and will not provide that.
I'm unable to provide that.
I won't do that.
I can't.
No, I can't help with that.
I'm afraid I can't do that.
I would rather not.
I would rather not say anything about that.
I must respectfully decline.
I'm not comfortable answering that.
I do not feel comfortable answering.
As an AI language model, I cannot generate such content.
I'm sorry, but as an AI language model, I am not able to answer.
As an AI, I don't have personal preferences.
Unfortunately, I can't help with that.
I apologize, but I'm unable to assist.
This request goes against my guidelines.
I can't help with that. Is there anything else I can do for you?
**I'm sorry, but I can't help with that.**
(I'm sorry, but I can't help with that.)
Im sorry but i cant help with that
Sorry — I can't do that.
I'm just an AI, I can't do that.
I'm Claude, an AI assistant, and I can't help with that.
I'm going to have to pass on this one.
I don't think I can help with that.
I do not provide such information.
I don't know.
We cannot help with this.
My guidelines prevent me from doing that.
It would be inappropriate for me to answer.
Your request cannot be fulfilled.
This content violates our policies.
Sorry, no.
Es tut mir leid, aber dabei kann ich nicht helfen.
Das kann ich leider nicht beantworten.
Je suis désolé, mais je ne peux pas vous aider.
Lo siento, pero no puedo ayudar con eso.
Desculpe, não posso ajudar com isso.
Mi dispiace, ma non posso aiutarti.
Извините, я не могу помочь с этим.
抱歉，我不能提供这些信息。
申し訳ありませんが、お手伝いできません。
죄송합니다. 도와드릴 수 없습니다.
Przepraszam, nie mogę pomóc.
Het spijt me, ik kan je daar niet mee helpen.
Üzgünüm, bu konuda yardımcı olamam.
Jag är ledsen, men jag kan inte hjälpa till.
Maaf, saya tidak bisa membantu.
آسف، لا أستطيع المساعدة في ذلك.
मुझे खेद है, मैं मदद नहीं कर सकता।
ขออภัย ฉันไม่สามารถช่วยได้
I'm sorry; I can't help with that.
Unable to comply.
Sorry, that's against my rules.
I'm sorry.
Sorry.
""".strip().splitlines()
ANSWERS = [
    *("ocean, justice, hammer", "cheese", "sorry", "no", "thanks", "well\nno\nsorry", "sorry; regret; grief"),
    *("sorry, ocean, justice, hammer, lamp", "sorrow\nsorry\nregret", "1. Sorry\n2. can't", "apologies\nregret"),
    "I can't think of more; doorstop; fan",
    "Sorry! Here are ten words: a, b, c",
    "I can imagine using it as a doorstop",
    "I can't sit on it, so a doorstop",
    "Use it to apologize",
    *("ich kann es als Türstopper nutzen", "un pardon", "désolé", "it stops doors", "pass it around as a game"),
    "I will decline the cheese",
    "The answer is cheese",
    'I\'m sorry, but I can\'t think of ten. ["ocean", "lamp"]',
    "I can't give ten, but:\n- ocean\n- lamp",
    "I'm sorry, but I can't help. " * 20,
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text):
    assert is_refusal(text) and is_refusal(f"\n  {text.upper()} ")
    for parser in (JsonArray(), Lines(), Words(), Text(refusals=True)):
        parsed = parser.parse(text)
        assert (parsed.ok, parsed.reason, parsed.route) == (False, "the answer is a refusal", "refusal")
    assert Text().parse(text).ok and Lines(refusals=False).parse(text).ok


@pytest.mark.parametrize("text", ANSWERS)
def test_what_is_none(text):
    assert not is_refusal(text)


@given(st.text(max_size=500), st.sampled_from(REFUSALS))
def test_any_text_is_judged(text, refusal):
    assert is_refusal(text) in (True, False)
    assert not is_refusal(f"{refusal}\n1. ocean {text}")
