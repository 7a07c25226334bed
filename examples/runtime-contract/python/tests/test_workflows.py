"""What `longhaul conformance` does not look at. Needs a Temporal: TEMPORAL_ADDRESS."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

import longhaul_temporal as longhaul

START = {"version": 1, "tool": "t", "principal": "anonymous", "searchAttributes": False, "attempt": 1}
CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}


@dataclass
class Rows:
    count: int


@activity.defn
def typed(kind: str) -> Rows:
    longhaul.heartbeat_progress(1)
    return Rows(3)


@activity.defn
def nothing() -> None:
    longhaul.heartbeat_progress(1)


@activity.defn
def binary() -> bytes:
    longhaul.heartbeat_progress(1)
    return b"\x00\x01"


@activity.defn
def broken() -> None:
    longhaul.heartbeat_progress(2, 5)
    raise ValueError("out of paper")


ONCE = {
    "start_to_close_timeout": timedelta(minutes=1),
    "retry_policy": RetryPolicy(maximum_attempts=1),
}


@workflow.defn
class Results:
    @workflow.run
    async def run(self) -> list:
        rows = await workflow.execute_activity(typed, "x", **ONCE)
        empty = await workflow.execute_activity(nothing, **ONCE)
        data = await workflow.execute_activity(binary, **ONCE)
        return [isinstance(rows, Rows) and rows.count, empty, list(data)]


@workflow.defn
class Fails:
    @workflow.run
    async def run(self) -> None:
        longhaul.set_partial([1])
        await workflow.execute_activity(broken, **ONCE)


@workflow.defn
class AsksInTime:
    @workflow.run
    async def run(self) -> dict:
        answer = await longhaul.ask("?", CONFIRM, timeout=timedelta(seconds=1), default={"confirm": False})
        try:
            await longhaul.ask("?", CONFIRM, timeout=timedelta(milliseconds=100))
        except ApplicationError as error:
            found = {"is_default": answer.is_default, "content": answer.content, "second": error.type}
        try:
            await longhaul.ask("?" * 33_000, CONFIRM)
        except ApplicationError as error:
            return {**found, "third": error.type}
        return {}


class Workflows(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
        self.queue = f"contract-{uuid4()}"
        worker = Worker(
            self.client,
            task_queue=self.queue,
            workflows=[Results, Fails, AsksInTime],
            activities=[typed, nothing, binary, broken],
            activity_executor=ThreadPoolExecutor(4),
            interceptors=[longhaul.LonghaulInterceptor()],
            max_cached_workflows=0,
            max_concurrent_workflow_task_polls=1,
        )
        await self.enterAsyncContext(worker)

    async def start(self, run, memo=None):
        options = {"id": str(uuid4()), "task_queue": self.queue}
        return await self.client.start_workflow(run, memo=memo or {"longhaul": START}, **options)

    async def memo(self, handle):
        return await (await handle.describe()).memo()

    async def test_results_keep_their_types(self) -> None:
        handle = await self.start(Results.run)
        self.assertEqual(await handle.result(), [3, None, [0, 1]])
        # The result in bytes is not JSON, so its report is not counted.
        self.assertEqual((await self.memo(handle))["operation"]["progress"], {"progress": 2})

    async def test_a_failed_activity_keeps_its_progress(self) -> None:
        handle = await self.start(Fails.run)
        with self.assertRaises(WorkflowFailureError) as raised:
            await handle.result()
        cause = raised.exception.cause
        self.assertIsInstance(cause, ApplicationError)
        self.assertEqual((cause.type, cause.message), ("ValueError", "out of paper"))
        self.assertEqual(cause.details[0]["partial"], [1])
        memo = await self.memo(handle)
        state = memo["operation"]
        self.assertEqual((state["progress"], state["unreached"]), ({"progress": 2}, 3))
        self.assertEqual(memo["operation_partial"], {"value": [1]})

    async def test_a_question_that_nobody_answers(self) -> None:
        handle = await self.start(AsksInTime.run)
        expected = {"is_default": True, "content": {"confirm": False}, "second": "InputTimeout"}
        self.assertEqual(await handle.result(), {**expected, "third": "too_large"})
        memo = await self.memo(handle)
        answers = memo["operation_details"]["answers"]
        self.assertEqual([answer["isDefault"] for answer in answers], [True])
        self.assertEqual((memo["operation_input"], memo["operation"]["inputRequestCount"]), ({}, 2))

    async def test_workflows_of_others_are_left_alone(self) -> None:
        handle = await self.start(Results.run, {"other": 1})
        self.assertEqual(await handle.result(), [3, None, [0, 1]])
        self.assertEqual(await (await handle.describe()).memo(), {"other": 1})
        asking = await self.start(AsksInTime.run, {"other": 1})
        with self.assertRaises(WorkflowFailureError) as raised:
            await asking.result()
        self.assertEqual(raised.exception.cause.type, "NotAnOperation")


if __name__ == "__main__":
    unittest.main()
