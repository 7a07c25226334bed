"""A review of a document, which a person decides."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import analyze, decision_seconds
    from model import AnalysisInput, Decision, Document, Question, Review, Status, Verdict

MAX_ROUNDS = 3


@workflow.defn
class ReviewDocument:
    def __init__(self) -> None:
        self._question: Question | None = None
        self._decision: Decision | None = None
        self._status = Status(0, "queued")
        self._review = Review(Verdict.WITHDRAWN, 0)

    @workflow.run
    async def run(self, document: Document) -> Review:
        try:
            await self._rounds(document)
        except (asyncio.CancelledError, ActivityError) as error:
            # A cancelled review is withdrawn: it completes with the findings so far.
            if not is_cancelled_exception(error):
                raise
        self._status = Status(100, "finished")
        return self._review

    async def _rounds(self, document: Document) -> None:
        limit = await workflow.execute_local_activity(
            decision_seconds, start_to_close_timeout=timedelta(seconds=10)
        )
        comment = ""
        for round_number in range(1, MAX_ROUNDS + 1):
            self._status = Status(30 * (round_number - 1) + 5, f"analyzing, round {round_number}")
            self._review.rounds = round_number
            self._review.findings = await workflow.execute_activity(
                analyze,
                AnalysisInput(document, comment),
                start_to_close_timeout=timedelta(minutes=5),
                heartbeat_timeout=timedelta(seconds=30),
                retry_policy=RetryPolicy(maximum_attempts=5),
            )
            self._status = Status(30 * round_number, f"waiting for a decision, round {round_number}")
            decision = await self._ask(document, round_number, limit)
            if decision.verdict != Verdict.REVISE:
                self._review.verdict = decision.verdict
                return
            comment = decision.comment

    async def _ask(self, document: Document, round_number: int, limit: float) -> Decision:
        options = [Verdict.APPROVE, Verdict.REJECT]
        if round_number < MAX_ROUNDS:
            options.append(Verdict.REVISE)
        question = f'"{document.title}" has {len(self._review.findings)} findings. Publish it?'
        self._decision = None
        self._question = Question(f"round-{round_number}", question, options)
        try:
            await workflow.wait_condition(
                lambda: self._decision is not None, timeout=timedelta(seconds=limit)
            )
        except asyncio.TimeoutError:
            return Decision(Verdict.EXPIRED)
        finally:
            self._question = None
        assert self._decision
        return self._decision

    @workflow.signal
    def decide(self, decision: Decision) -> None:
        if self._question is None or decision.verdict not in self._question.options:
            workflow.logger.warning("Nobody has asked for the decision %s", decision.verdict)
        elif self._decision is None:
            self._decision = decision

    @workflow.query
    def open_questions(self) -> list[Question]:
        return [self._question] if self._question else []

    @workflow.query
    def status(self) -> Status:
        return self._status
