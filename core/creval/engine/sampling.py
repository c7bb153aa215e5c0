"""Makes one sample, whatever happens on the way."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from creval.engine.plan import Work
from creval.engine.session import LiveSession, SampleEnd, TaskRuntime
from creval.errors import BudgetError, CrevalError, UsageError
from creval.types.sample import Sample, Status

__all__ = ["make_sample"]


async def make_sample(runtime: TaskRuntime, work: Work) -> Sample:
    """Run the protocol for one sample and return what came of it.

    A failed call or a fault of the protocol is a status of the sample. What concerns the whole run rises:
    BudgetError, and UsageError (a key, package or role that is missing will be missing for every sample).
    """
    session = LiveSession(runtime, work)
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    clock = time.perf_counter()
    status, reason = Status.SCORED, None
    try:
        await runtime.protocol.run(session)
    except SampleEnd as end:
        status, reason = end.status, end.reason
    except (BudgetError, UsageError):
        raise
    except CrevalError as error:
        status, reason = Status.ERRORED, str(error)
    except Exception as error:
        status, reason = Status.ERRORED, f"the protocol failed: {type(error).__name__}: {error}"
    if status is Status.SCORED and not session.answers and not session.outcome:
        status, reason = Status.ERRORED, "the protocol ended without an answer or outcome"
    return Sample(
        key=work.key,
        doc=work.doc.fields,
        status=status,
        answers=tuple(session.answers),
        outcome=session.outcome,
        calls=tuple(session.calls),
        reason=reason,
        seed=session.seed,
        started=started,
        seconds=time.perf_counter() - clock,
    )
