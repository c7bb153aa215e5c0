"""Makes one sample, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from creval.engine.event_loop import is_cancelled
from creval.engine.generation.session import LiveSession, TaskRuntime
from creval.errors import BudgetError, CrevalError, PluginError, RunError, UsageError
from creval.models.secrets import redact
from creval.parsing.chain import step_that_raised
from creval.plugins.component_code import fault_of
from creval.types.code_location import line_of
from creval.types.execution import ItemResult, WorkItem
from creval.types.sample import ComponentFault, Sample, Status

__all__ = ["make_sample"]


async def make_sample(runtime: TaskRuntime, work: WorkItem) -> ItemResult:
    """Run the protocol for one sample and return the result.

    A failed call or a fault of the protocol becomes a status of the sample. Errors that concern the whole run are
    raised: BudgetError, RunError (a full disk), and UsageError (a key, package or role that is missing will be missing
    for every sample).
    """
    session = LiveSession(runtime, work)
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    clock = time.perf_counter()
    fault: BaseException | None = None
    try:
        await runtime.protocol.run(session)
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        fault = error
    if session.stop is not None:  # even if the protocol caught it
        raise session.stop
    if isinstance(fault, BudgetError | RunError | UsageError):
        raise fault
    status, reason, cause = _outcome(session, fault)
    sample = Sample(
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
        faults=() if session.end is not None or fault is None else _faults(runtime, fault),
        media=session.media,
    )
    return ItemResult(sample, cause)


def _faults(runtime: TaskRuntime, fault: BaseException) -> tuple[ComponentFault, ...]:
    """Return the component that raised: the protocol, or a parser that it called."""
    step = step_that_raised(fault)
    component_fault = fault_of(f"protocol {runtime.task.protocol.name}", runtime.protocol, fault)
    if step is not None:
        component_fault = fault_of(f"parser {step.name}", step.parser, fault)
    return () if component_fault is None else (component_fault,)


def _outcome(session: LiveSession, fault: BaseException | None) -> tuple[Status, str | None, CrevalError | None]:
    """Return status and reason of a sample whose protocol ended, and the error behind an errored one."""
    if session.end is not None:
        return session.end.status, session.end.reason, None
    if isinstance(fault, CrevalError):
        return Status.ERRORED, redact(str(fault)), fault
    if fault is not None:
        error = PluginError(f"the protocol failed: {type(fault).__name__}: {fault} ({line_of(fault)})")
        return Status.ERRORED, redact(error.what), error
    if not session.answers and not session.outcome:
        error = PluginError("the protocol ended without an answer or outcome")
        return Status.ERRORED, error.what, error
    return Status.SCORED, None, None
