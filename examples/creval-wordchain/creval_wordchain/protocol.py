"""Protocol `wordchain`: the model says one word a turn, until it breaks the rule or has said enough."""

from __future__ import annotations

from creval.plugin import Message, Session

__all__ = ["WordChain"]


class WordChain:
    """At most `turns` words. Each turn continues the conversation; the chain is the sample's outcome."""

    def __init__(self, turns: int = 5) -> None:
        self._turns = turns

    def expected_calls(self, fields: object) -> tuple[int, int]:
        """A dry run counts one call at least."""
        return 1, self._turns

    async def run(self, session: Session) -> None:
        """Ask, read, check, go on."""
        turns = int(session.condition.settings.get("turns", self._turns))
        chain = [str(session.doc.fields["start"])]
        messages = session.prompt("prompt", word=chain[0])
        for _ in range(turns):
            reply = await session.ask(messages)
            parsed = session.parse(reply.text)
            if not parsed.ok and len(chain) == 1:
                session.unparsed(parsed.reason or "no word")
            word = str(parsed.value) if parsed.ok else ""
            if not word or word in chain or word[0] != chain[-1][-1]:
                break
            chain.append(word)
            messages = [*messages, Message("assistant", reply.text), *session.prompt("next", word=word)]
        session.report(chain=chain[1:])
        session.answer(" ".join(chain[1:]) or "-")
