"""What the displays of progress count: each task's own calls of a judge while it is scored."""

from __future__ import annotations

from creval.engine.progress.progress_counts import Counting
from creval.engine.roles.ledger import RoleCounts


class Shown(Counting):
    """A display that shows nothing."""

    def show_phase(self) -> None:
        pass

    def show(self, now: bool = False) -> None:
        pass


def test_the_scoring_of_a_task_shows_its_own_judge_calls() -> None:
    shown = Shown()
    shown.on_phase("score", "first", 10, 0)
    shown.on_roles({"judge": RoleCounts(10, 2, 0.5)})
    assert shown.spent() == ["judge: 10 calls 2 reused $0.5000"]
    shown.on_phase("score", "second", 4, 0)
    assert shown.spent() == [], "the second task has asked nothing yet"
    shown.on_roles({"judge": RoleCounts(14, 2, 0.75), "augmenter": RoleCounts(1, 0, 0.0)})
    assert shown.spent() == ["judge: 4 calls $0.2500", "augmenter: 1 call"]


def test_a_phase_of_all_tasks_shows_all_calls() -> None:
    shown = Shown()
    shown.on_phase("score", "first", 10, 0)
    shown.on_roles({"judge": RoleCounts(10, 0, 0.0)})
    shown.on_phase("aggregate", None, 0, 0)
    assert shown.spent() == ["judge: 10 calls"]
