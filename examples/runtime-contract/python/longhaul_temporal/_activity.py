"""Functions for activities, and their interceptor."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from ._reports import OPERATION_HEADER, report_in, wrap_result

_last: ContextVar[dict[str, Any] | None] = ContextVar("longhaul_last_report", default=None)
"""Holder of the activity's last report. Activities in threads get a copy of the context, with the same holder."""


def heartbeat_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Reports the progress of this activity, in units of its own, by a heartbeat. It never decreases."""
    holder = _last.get()
    before = (holder or {}).get("progress") or {"progress": 0}
    report: dict[str, Any] = {"progress": max(progress, before["progress"])}
    if total is not None:
        report["total"] = total
    if message is not None:
        report["message"] = message
    if holder is not None:
        holder["progress"] = report
    if not activity.info().is_local:
        activity.heartbeat({"longhaul": "report", "progress": report})


def last_progress() -> float:
    """Progress that this activity or an earlier attempt of it reported last, to continue from there; 0 if there is none."""
    return ((_last.get() or {}).get("progress") or {"progress": 0})["progress"]


class ReportingActivity(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        if OPERATION_HEADER not in input.headers:
            return await super().execute_activity(input)
        details = activity.info().heartbeat_details
        last = {"progress": report_in(details[0])} if details else {}
        token = _last.set(last)
        try:
            result = await super().execute_activity(input)
        except Exception as error:
            if last.get("progress") is None or not _is_failure(error):
                raise
            raise _with_report(error, last["progress"]) from error
        finally:
            _last.reset(token)
        if last.get("progress") is None:
            return result
        payload: Payload = activity.payload_converter().to_payload(result)
        wrapped = wrap_result(payload, last["progress"])
        return result if wrapped is None else RawValue(wrapped)


def _is_failure(error: Exception) -> bool:
    """Other failures are Temporal's own, such as a cancel, or an activity that completes later."""
    return isinstance(error, ApplicationError) or not (
        isinstance(error, FailureError) or type(error).__module__.startswith("temporalio.")
    )


def _with_report(error: Exception, progress: dict[str, Any]) -> ApplicationError:
    report = {"longhaul": "report", "progress": progress}
    if not isinstance(error, ApplicationError):
        return ApplicationError(str(error), report, type=type(error).__name__)
    return ApplicationError(
        error.message,
        *error.details,
        report,
        type=error.type,
        non_retryable=error.non_retryable,
        next_retry_delay=error.next_retry_delay,
        category=error.category,
    )
