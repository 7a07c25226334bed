"""Functions for workflow code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Mapping

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from ._operation import current


@dataclass(frozen=True)
class Answer:
    action: Literal["accept", "decline"]
    content: dict[str, Any] | None = None
    """Fits the question's schema; None if the answer is declined."""
    is_default: bool = False
    """Whether nobody answered in time."""


def set_stage(name: str) -> None:
    """Sets the current stage of the work: one short line for people."""
    operation = current()
    if operation and operation.state.get("stage") != name:
        operation.change(stage=name)


def set_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Sets the workflow's own progress, to which reports of its activities are added. It never decreases."""
    operation = current()
    if operation:
        operation.add_progress(progress, total, message)


def set_partial(value: Any) -> None:
    """Sets the partial result: it can be read while the work runs, and after cancel and failure."""
    operation = current()
    if operation:
        operation.change(partial=value)


async def ask(
    message: str,
    schema: Mapping[str, Any],
    *,
    timeout: timedelta | None = None,
    default: dict[str, Any] | None = None,
) -> Answer:
    """Asks the person or agent at the client, and waits. A question that the client cancels is asked again, under a new key.

    Args:
        message: The question.
        schema: JSON Schema of the answer: a flat object.
        timeout: How long to wait. Default: without limit.
        default: Content of the answer after the timeout.

    Raises:
        ApplicationError: ``InputTimeout`` after a timeout without default; ``too_large`` for a question over 32 KiB of JSON;
            ``NotAnOperation`` in a workflow that Longhaul did not start, where nobody could answer.
    """
    operation = current()
    if operation is None:
        raise ApplicationError(
            "only workflows that Longhaul started can ask", type="NotAnOperation", non_retryable=True
        )
    until = None if timeout is None else workflow.now() + timeout
    while True:
        expires_at = until and until.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        key = operation.open_question(message, schema, expires_at)
        answer = operation.answer_to(key)
        try:
            left = None if until is None else max(until - workflow.now(), timedelta(milliseconds=1))
            await workflow.wait_condition(lambda: answer() is not None, timeout=left)
        except asyncio.TimeoutError:
            if default is None:
                raise ApplicationError(
                    f"nobody answered in time: {message}", type="InputTimeout", non_retryable=True
                ) from None
            operation.withdraw(key)
            operation.keep_answer(key=key, action="accept", isDefault=True)
            return Answer("accept", default, is_default=True)
        finally:
            operation.withdraw(key)
        given = answer()
        assert given is not None
        if given["action"] != "cancel":
            return Answer(given["action"], given.get("content"))
