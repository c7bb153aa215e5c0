"""Which of two solutions is more novel: the prompt of Appendix L, the parser of its answer, and counts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from creval.plugin import Message, SampleKey, ScoringError
from creval_analyses.workbench import Workbench

__all__ = ["BOOKMIA", "MACGYVER", "Counts", "NoveltyJudge", "Solution", "messages_for", "read_verdict"]

MACGYVER = (
    "How inventively each answer utilises tools, even when some steps are ordinary. Focus on unexpected tool "
    "applications. Ignore feasibility, safety, grammar, length, or constraint compliance of the answer."
)
"""The paper's definition (Appendix L). It mentions tools, and so fits only practical problems."""

BOOKMIA = (
    "How far the events, images and turns of each answer depart from what a reader would expect between this beginning "
    "and this ending. Ignore grammar, length and whether the story is plausible."
)
"""Our own definition: the paper prints none for stories."""

_SYSTEM = (
    "You are an expert judge. Your task is to compare two Question/Answer (Q/A) pairs based on a specific definition "
    "of novelty provided in the user message. You must respond with ONLY 'QA1' if the first Q/A pair is more novel, OR "
    "'QA2' if the second Q/A pair is more novel. Do not provide any explanations or other text. Do not respond with "
    "'EQUAL'."
)
_USER = """Novelty Definition: {definition}

You are comparing the following two Q/A pairs:

QA1: Question 1: {q1} Answer 1: {a1}

QA2: Question 2: {q2} Answer 2: {a2}

Based on the novelty definition provided, which Q/A pair is more novel (QA1 or QA2)? You must choose \
either QA1 or QA2."""

_NAMED = re.compile(r"\bQA\s?([12])\b", re.IGNORECASE)
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Solution:
    """One answer to rank: the key of its sample, the problem, the text."""

    key: SampleKey
    question: str
    answer: str


@dataclass(slots=True)
class Counts:
    """Counts of the judge: comparisons, how often the first solution shown won, and verdicts that the order reversed.

    `asked` and `first` count single verdicts; `both` are comparisons made in both orders, `turned` those among them
    whose verdicts differ. `results` contains (winner, loser) of every comparison.
    """

    comparisons: int = 0
    asked: int = 0
    first: int = 0
    both: int = 0
    turned: int = 0
    results: list[tuple[SampleKey, SampleKey]] = field(default_factory=list)

    def contradicted(self, order: Sequence[SampleKey]) -> int:
        """Count the comparisons that the final order (best first) contradicts: 0 for a transitive judge."""
        place = {key: index for index, key in enumerate(order)}
        return sum(place[winner] > place[loser] for winner, loser in self.results)


class NoveltyJudge:
    """Compares solutions by the role `judge`. `seed` decides for each pair which solution is shown first.

    With `both_orders` each pair is asked both ways; if the verdicts differ, the drawn order decides. The same
    question is paid once, also in a later analysis. An unreadable reply is retried, up to three requests in all.
    """

    def __init__(self, bench: Workbench, definition: str, seed: int, both_orders: bool) -> None:
        self._bench = bench
        self._definition = definition
        self._seed = seed
        self._both = both_orders
        self.counts = Counts()

    async def more_novel(self, one: Solution, other: Solution) -> bool:
        """Return whether `one` is more novel than `other`. Raises ScoringError if the judge names neither."""
        swapped = _drawn(self._seed, one.key, other.key)
        shown = (other, one) if swapped else (one, other)
        first = await self._ask(*shown)
        if self._both:
            again = not await self._ask(shown[1], shown[0])
            self.counts.both += 1
            self.counts.turned += first != again
        won = first != swapped
        self.counts.comparisons += 1
        self.counts.results.append((one.key, other.key) if won else (other.key, one.key))
        return won

    async def _ask(self, one: Solution, other: Solution) -> bool:
        """Show two solutions, and return whether the first is judged more novel."""
        messages = messages_for(self._definition, one, other)
        said = ""
        for _ in range(_TRIES):
            reply = await self._bench.ask("judge", messages, one.key, draw=0, temperature=0)
            said = reply.lack or reply.text
            verdict = None if reply.lack else read_verdict(said)
            if verdict is not None:
                self.counts.asked += 1
                self.counts.first += verdict
                return verdict
            self._bench.unreadable(reply, "names neither QA1 nor QA2, or both")
        raise ScoringError(
            f"the judge named neither QA1 nor QA2, or both, {_TRIES} times over: {said[:80]!r}",
            where=f"{tuple(one.key)} against {tuple(other.key)}",
            fix="Use another judge. The verdicts so far are kept and not requested again.",
        )


def messages_for(definition: str, one: Solution, other: Solution) -> list[Message]:
    """Return the judge's prompt."""
    texts = {"q1": one.question, "a1": one.answer, "q2": other.question, "a2": other.answer}
    return [Message("system", _SYSTEM), Message("user", _USER.format(definition=definition, **texts))]


def read_verdict(text: str) -> bool | None:
    """Return whether the reply names the first pair; None if it names neither or both."""
    named = set(_NAMED.findall(text))
    return named == {"1"} if len(named) == 1 else None


def _drawn(seed: int, one: SampleKey, other: SampleKey) -> bool:
    """Return whether the pair is shown in reverse; the same for both argument orders."""
    low, high = sorted([tuple(one), tuple(other)])
    swapped = bool(hashlib.sha256(repr((seed, low, high)).encode()).digest()[0] & 1)
    return swapped == (tuple(one) == low)
