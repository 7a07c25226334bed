"""State of the operation that a workflow execution is, and how it is published."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

from ._memo import (
    DETAILS_MEMO,
    FIELD_OF,
    INPUT_LIMIT_BYTES,
    REQUEST_LIMIT_BYTES,
    START_MEMO,
    STATE_MEMO,
    continued_fields,
    json_bytes,
    state_fields,
)
from ._schema import problems_of, with_defaults

KEPT_ANSWERS = 20

_STATUS = SearchAttributeKey.for_keyword("LonghaulStatus")
_ACTIONS = ("accept", "decline", "cancel")
_ATTRIBUTE = "_longhaul_operation"


def current() -> Operation | None:
    """The operation of the running workflow; None if Longhaul did not start it."""
    # On the instance: the sandbox loads modules a second time, so the interceptor and the author's code may have two of this one.
    return getattr(workflow.instance(), _ATTRIBUTE, None)


class Question:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.answer: dict[str, Any] | None = None


class Operation:
    def __init__(self, start: Mapping[str, Any], previous: Mapping[str, Any] | None) -> None:
        self.start = start
        self.state: dict[str, Any] = dict(previous or {})
        self.has_ended = False
        self._unwritten: set[str] = set()
        """Memo fields that have changed since they were written."""
        self._written_texts: Any = None
        self._questions: dict[str, Question] = {}
        self._answer_ids: dict[str, str] = {}
        """Key of an answered question -> ID of the accepted answer."""
        # A run that was continued as new starts with the status of the previous one.
        self._status = workflow.info().typed_search_attributes.get(_STATUS)

    @property
    def token(self) -> str:
        """The operation's name for its callers: the workflow ID without the tag of its principal."""
        workflow_id = workflow.info().workflow_id
        return workflow_id if self.start.get("principal") == "anonymous" else workflow_id.partition(".")[2]

    def attach(self) -> None:
        setattr(workflow.instance(), _ATTRIBUTE, self)
        workflow.set_query_handler("operation", lambda: self.state)
        workflow.set_update_handler("provide_input", self.take_answer, validator=self.check_answer)
        workflow.set_signal_handler("provide_input", self.take_signalled_answer)

    def change(self, **changes: Any) -> None:
        now = workflow.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.state.update(changes, updatedAt=now)
        if not self.state.get("inputRequests"):
            self.state.pop("questionsSince", None)
        else:
            self.state.setdefault("questionsSince", now)
        self._unwritten.update(FIELD_OF.get(name, STATE_MEMO) for name in changes)

    def add_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Sets the workflow's own progress, which never decreases."""
        before = self.state.get("progress", {})
        after: dict[str, Any] = {"progress": max(before.get("progress", 0), progress)}
        for name, value in (("total", total), ("message", message)):
            known = before.get(name) if value is None else value
            if known is not None:
                after[name] = known
        self.change(progress=after)

    def add_report(self, report: Mapping[str, Any], is_done: bool) -> None:
        """Adds the last report of an activity that has ended."""
        total, reached = report.get("total"), report["progress"]
        if total is not None:
            unreached = 0 if is_done else max(0, total - reached)
            self.state["unreached"] = self.state.get("unreached", 0) + unreached
        own = self.state.get("progress", {}).get("progress", 0)
        self.add_progress(own + reached, None, report.get("message"))

    async def publish_changes(self) -> None:
        # Conditions are evaluated once nothing else can run: the changes of a workflow task become one event.
        while True:
            await workflow.wait_condition(lambda: bool(self._unwritten) and not self.has_ended)
            self.publish()

    def publish(self) -> None:
        if not self._unwritten:
            return
        fields = state_fields(self.state)
        texts = fields[DETAILS_MEMO].get("texts")
        if texts != self._written_texts:
            self._unwritten.add(DETAILS_MEMO)
        written = {STATE_MEMO, *self._unwritten}
        workflow.upsert_memo({name: value for name, value in fields.items() if name in written})
        self._unwritten.clear()
        self._written_texts = texts
        self._publish_status("input_required" if self.state.get("inputRequests") else None)

    def _publish_status(self, status: str | None) -> None:
        if status == self._status:
            return
        self._status = status
        if self.start.get("searchAttributes"):
            workflow.upsert_search_attributes([_STATUS.value_set(status) if status else _STATUS.value_unset()])

    def end(self) -> None:
        """Publishes the last changes; later ones are dropped."""
        self.publish()
        self.has_ended = True

    def continued_memo(self) -> dict[str, Any]:
        """Memo of the run that continues this one."""
        self.has_ended = True
        created_at = workflow.info().workflow_start_time.isoformat(timespec="milliseconds")
        start = {"createdAt": created_at.replace("+00:00", "Z"), **self.start}
        return {START_MEMO: start, **continued_fields(self.state)}

    def open_question(self, message: str, schema: Mapping[str, Any], expires_at: str | None) -> str:
        count = self.state.get("inputRequestCount", 0) + 1
        key = f"input-{count}"
        request = {"message": message, "schema": schema}
        if expires_at is not None:
            request["expiresAt"] = expires_at
        requests = {**self.state.get("inputRequests", {}), key: request}
        if json_bytes(request) > REQUEST_LIMIT_BYTES or json_bytes(requests) > INPUT_LIMIT_BYTES:
            raise _refusal("too_large", "a question has at most 32 KiB of JSON, and all open ones have 128 KiB")
        self._questions[key] = Question(schema)
        self.change(inputRequestCount=count, inputRequests=requests)
        return key

    def answer_to(self, key: str) -> Callable[[], dict[str, Any] | None]:
        question = self._questions[key]
        return lambda: question.answer

    def withdraw(self, key: str) -> None:
        if self._questions.pop(key, None) is not None:
            left = {name: one for name, one in self.state["inputRequests"].items() if name != key}
            self.change(inputRequests=left)

    def keep_answer(self, **answer: Any) -> None:
        at = workflow.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.change(answers=[*self.state.get("answers", []), {**answer, "at": at}][-KEPT_ANSWERS:])

    def check_answer(self, given: dict[str, Any]) -> None:
        """Validator of the update. Raises why the answer is refused."""
        key, answer = given.get("key", ""), given.get("answer") or {}
        accepted = self._answer_ids.get(key)
        if accepted is not None and accepted == given.get("answerId"):
            return
        if accepted is not None:
            raise _refusal("already_answered", f'input request "{key}" has been answered')
        question = self._questions.get(key)
        if question is None:
            raise _refusal("unknown_key", f'there is no open input request "{key}"')
        if answer.get("action") not in _ACTIONS:
            raise _refusal("invalid_answer", "action: expected accept, decline or cancel")
        if answer["action"] == "accept":
            problems = problems_of(question.schema, answer.get("content"))
            if problems:
                raise _refusal("invalid_answer", "\n".join(problems))

    def take_answer(self, given: dict[str, Any]) -> None:
        key, answer = given["key"], given["answer"]
        if key in self._answer_ids:
            # The same answer again, or one that was validated in the same workflow task as the accepted one.
            if self._answer_ids[key] != given["answerId"]:
                raise _refusal("already_answered", f'input request "{key}" has been answered')
            return
        question = self._questions[key]
        self._answer_ids[key] = given["answerId"]
        claim = {name: given[name] for name in ("by", "signature") if name in given}
        self.withdraw(key)
        self.keep_answer(key=key, id=given["answerId"], action=answer["action"], **claim)
        if answer["action"] == "accept":
            answer = {**answer, "content": with_defaults(question.schema, answer["content"])}
        question.answer = answer

    def take_signalled_answer(self, given: dict[str, Any]) -> None:
        try:
            self.check_answer(given)
        except ApplicationError as refusal:
            workflow.logger.warning("rejected an answer that was sent as a signal: %s", refusal)
            return
        self.take_answer(given)


def _refusal(type: str, message: str) -> ApplicationError:
    return ApplicationError(message, type=type, non_retryable=True)
