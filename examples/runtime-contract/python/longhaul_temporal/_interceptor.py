"""The interceptor that makes workflows that Longhaul started publish their state."""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ContinueAsNewInput,
    ExecuteWorkflowInput,
    Interceptor,
    StartActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from ._activity import ReportingActivity
from ._memo import PARTIAL_MEMO, START_MEMO, continued_state
from ._operation import Operation, current
from ._reports import OPERATION_HEADER, report_in, unwrap_result


class LonghaulInterceptor(Interceptor):
    """For ``Worker(interceptors=[LonghaulInterceptor()])``."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return ReportingActivity(next)

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        start = workflow.memo_value(START_MEMO, None)
        if not isinstance(start, dict) or start.get("version") != 1:
            return await super().execute_workflow(input)
        operation = Operation(start, _previous_state())
        operation.attach()
        publisher = asyncio.create_task(operation.publish_changes())
        try:
            result = await super().execute_workflow(input)
        except (Exception, asyncio.CancelledError) as error:
            if workflow.cancellation_reason() is not None and _ends_workflow(error):
                operation.end()
                raise CancelledError("canceled") from error
            # Anything else is a defect of the code, or the end of a cached workflow.
            if isinstance(error, asyncio.CancelledError) or not workflow.is_failure_exception(error):
                raise
            operation.end()
            raise _closing_failure(error, operation) from error
        finally:
            publisher.cancel()
        if workflow.cancellation_reason() is not None:
            # A cancelled operation ends canceled, also if the workflow's code swallowed the cancel.
            if "partial" not in operation.state:
                operation.change(partial=result)
            operation.end()
            raise CancelledError("canceled")
        operation.end()
        return result


class _Outbound(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> Any:
        operation = current()
        if operation is None:
            return super().start_activity(input)
        converter = workflow.payload_converter()
        input.headers = {**input.headers, OPERATION_HEADER: converter.to_payload(operation.token)}
        expected, input.ret_type = input.ret_type, RawValue
        handle = super().start_activity(input)

        async def unwrapped() -> Any:
            try:
                raw = await handle
            except ActivityError as error:
                details = error.cause.details if isinstance(error.cause, ApplicationError) else ()
                report = report_in(details[-1]) if details else None
                if report:
                    operation.add_report(report, is_done=False)
                raise
            payload, report = unwrap_result(raw.payload)
            if report:
                operation.add_report(report, is_done=True)
            return converter.from_payloads([payload], [expected] if expected else None)[0]

        task = asyncio.create_task(unwrapped())
        # A task that is cancelled before it first runs does not pass that on by itself.
        task.add_done_callback(lambda _task: handle.cancel() if not handle.done() else None)
        return task

    def continue_as_new(self, input: ContinueAsNewInput) -> NoReturn:
        operation = current()
        if operation:
            memo = dict(workflow.memo() if input.memo is None else input.memo)
            # This run's may be too large to be continued.
            memo.pop(PARTIAL_MEMO, None)
            input.memo = {**memo, **operation.continued_memo()}
        super().continue_as_new(input)


def _previous_state() -> dict[str, Any] | None:
    """State of the run that this one continues. Retries and cron runs have the memo of the start."""
    info = workflow.info()
    is_continued = info.continued_run_id is not None and info.attempt == 1 and not info.cron_schedule
    return continued_state(workflow.memo()) if is_continued else None


def _ends_workflow(error: BaseException) -> bool:
    return isinstance(error, asyncio.CancelledError) or workflow.is_failure_exception(error)


def _closing_failure(error: BaseException, operation: Operation) -> ApplicationError:
    root = error
    while (
        isinstance(root, FailureError)
        and not isinstance(root, ApplicationError)
        and isinstance(root.cause, FailureError)
    ):
        root = root.cause
    type_name = root.type if isinstance(root, ApplicationError) else type(root).__name__
    message = root.message if isinstance(root, FailureError) else str(root)
    details: dict[str, Any] = {
        "longhaul": "closing",
        "error": {"kind": "failed", "message": message, "retryable": False, "type": type_name or "failed"},
    }
    if "partial" in operation.state:
        details["partial"] = operation.state["partial"]
    non_retryable = isinstance(root, ApplicationError) and root.non_retryable
    return ApplicationError(message, details, type=type_name or "failed", non_retryable=non_retryable)
