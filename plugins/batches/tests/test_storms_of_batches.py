"""Faults of the batch protocol in any combination, one batch after the other: nothing is lost or paid twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from batched import answers, opened, request, said
from support.batch_server import BatchServer, Plan
from support.chat_server import Answer, HttpError, Received
from support.parrot import parrot

REQUESTS = [request(number) for number in range(20)]


def stormy(draw: random.Random) -> Plan:
    """A batch to which several things happen."""
    failing = {draw.randrange(20): HttpError(draw.choice([429, 500, 503])) for _ in range(draw.randrange(6))}
    broken = {draw.randrange(20): Answer("half", finish_reason="error") for _ in range(draw.randrange(2))}

    def lines(number: int, asked: Received) -> Answer | HttpError | None:
        return failing.get(number) or broken.get(number)

    expires = draw.random() < 0.5
    return Plan(
        end="expired" if expires else "completed",
        share=draw.randrange(21) if expires else None,
        lines=lines,
        made_unheard=draw.random() < 0.3,
        hidden=draw.randrange(3),
        refusals=[HttpError(draw.choice([429, 500, 503])) for _ in range(draw.randrange(3))],
        uploads=[HttpError(draw.choice([429, 502])) for _ in range(draw.randrange(3))],
        lookups=[HttpError(draw.choice([429, 502])) for _ in range(draw.randrange(3))],
        doubled=draw.random() < 0.5,
        shuffled=draw.random() < 0.5,
        foreign=draw.random() < 0.5,
        torn=draw.randrange(3),
        cut=draw.randrange(3),
        counts=True,
        looks=draw.randrange(4),
        states=draw.choice([["in_progress"], ["validating", "in_progress", "finalizing"]]),
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_storm_loses_nothing_and_pays_nothing_twice(seed: int, notes: Path) -> None:
    draw = random.Random(seed)
    plans = [stormy(draw) for _ in range(6)]
    with BatchServer(plans, answer=parrot) as server:
        replies = answers(opened(server, notes, max_retries=40), REQUESTS)
        assert said(replies) == [f"word{number}" for number in range(20)]
        whole = sum(count for count in server.billed.values())
        useless = sum(reply.lost.tries for reply in replies if reply.lost is not None)
        assert whole == 20 + useless  # apart from answers that broke off each was paid once
        again = answers(opened(server, notes, max_retries=40), REQUESTS)  # the journal holds them all
        assert said(again) == said(replies)
    assert sum(server.billed.values()) == whole
