"""The workflows that `longhaul conformance` checks. Usage: contract_worker.py ADDRESS TASK_QUEUE"""

import asyncio
import signal
import sys
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import Worker

import longhaul_temporal as longhaul

CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
COUNT = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["count"],
}


@activity.defn(name="contract_report")
async def report() -> dict[str, int]:
    longhaul.heartbeat_progress(1, 1, "reported")
    return {"value": 42}


@activity.defn(name="contract_wait")
async def wait() -> None:
    while True:
        longhaul.heartbeat_progress(4, 10, "four")
        await asyncio.sleep(0.2)


async def waiting() -> None:
    await workflow.execute_activity(
        wait,
        start_to_close_timeout=timedelta(minutes=5),
        heartbeat_timeout=timedelta(seconds=30),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


class Stepped:
    def __init__(self) -> None:
        self._steps = 0

    @workflow.signal
    def next(self) -> None:
        self._steps += 1

    async def step(self) -> None:
        await workflow.wait_condition(lambda: self._steps > 0)
        self._steps -= 1


@workflow.defn(name="ContractHeartbeat")
class ContractHeartbeat:
    @workflow.run
    async def run(self) -> None:
        await waiting()


@workflow.defn(name="ContractProgress")
class ContractProgress(Stepped):
    @workflow.run
    async def run(self) -> dict[str, int]:
        longhaul.set_stage("first")
        longhaul.set_progress(1, 3, "one")
        await self.step()
        longhaul.set_stage("second")
        result = await workflow.execute_activity(report, start_to_close_timeout=timedelta(minutes=1))
        await self.step()
        longhaul.set_progress(0)
        longhaul.set_stage("x" * 3_000)
        return result


@workflow.defn(name="ContractQuestion")
class ContractQuestion:
    @workflow.run
    async def run(self) -> dict[str, object]:
        confirm = await longhaul.ask("Delete?", CONFIRM)
        count = await longhaul.ask("How many?", COUNT)
        last = await longhaul.ask("Sure?", CONFIRM)
        return {"confirm": confirm.content, "count": count.content, "last": last.action}


@workflow.defn(name="ContractPartial")
class ContractPartial(Stepped):
    @workflow.run
    async def run(self) -> None:
        longhaul.set_partial({"rows": 1, "text": "x" * 8_000})
        await self.step()
        await workflow.execute_activity(report, start_to_close_timeout=timedelta(minutes=1))
        await self.step()
        longhaul.set_partial({"rows": 2, "text": "x" * 80_000})
        await self.step()
        raise ApplicationError("nothing left", type="Broken")


@workflow.defn(name="ContractCancel")
class ContractCancel:
    @workflow.run
    async def run(self) -> dict[str, bool]:
        longhaul.set_stage("waiting")
        longhaul.set_partial({"rows": 1})
        try:
            await waiting()
        except Exception as error:
            if not isinstance(getattr(error, "cause", None), CancelledError):
                raise
        return {"stopped": True}


@workflow.defn(name="ContractContinue")
class ContractContinue(Stepped):
    @workflow.run
    async def run(self, number: int) -> str:
        if number == 1:
            longhaul.set_stage("first run")
            longhaul.set_progress(1, 2)
            longhaul.set_partial({"rows": 1})
            await longhaul.ask("Continue?", CONFIRM)
            workflow.continue_as_new(2)
        await longhaul.ask("Finish?", CONFIRM)
        longhaul.set_progress(2)
        await self.step()
        return "finished"


WORKFLOWS = [ContractHeartbeat, ContractProgress, ContractQuestion, ContractPartial, ContractCancel, ContractContinue]


async def main(address: str, task_queue: str) -> None:
    client = await Client.connect(address)
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    worker = Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=[report, wait],
        interceptors=[longhaul.LonghaulInterceptor()],
        # Without a cache each workflow task replays the whole history: code that does not replay is found.
        max_cached_workflows=0,
        max_concurrent_workflow_task_polls=1,
        # A cancel comes with the answer to a heartbeat, which the SDK otherwise sends every 24 seconds.
        max_heartbeat_throttle_interval=timedelta(milliseconds=500),
    )
    async with worker:
        print("ready", flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
