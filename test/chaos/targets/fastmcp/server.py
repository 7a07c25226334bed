"""FastMCP with fastmcp-tasks: the workload of test/chaos, the same work as in test/chaos/project.

python server.py PORT                                   the server, which runs tasks too
python -m fastmcp_tasks.worker_cli worker server.py     a worker beside it

Settings come from FASTMCP_DOCKET_*.
"""

import asyncio
import sys
import time
from datetime import timedelta
from typing import Literal

from fastmcp import Context, FastMCP
from fastmcp.dependencies import Progress
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

UNITS = 10
TASK = TaskConfig(mode="required", poll_interval=timedelta(seconds=1))
QUESTION = ElicitRequest(
    params=ElicitRequestFormParams(
        message="Which number is the answer?",
        requested_schema={
            "type": "object",
            "properties": {"answer": {"type": "integer"}},
            "required": ["answer"],
        },
    )
)

mcp = FastMCP("chaos")
mcp.add_extension(TasksExtension())


def note(ledger: str, name: str, part: int, what: str) -> None:
    with open(ledger, "a") as file:
        file.write(f"{name} {part} {what} {int(time.time() * 1000)}\n")


@mcp.tool(task=TASK)
async def batches(
    ctx: Context,
    ledger: str,
    name: str,
    batches: int,
    secondsEach: float,
    ends: Literal["completed", "failed", "asks"] = "completed",
    progress: Progress = Progress(),
) -> dict:
    # A question ends the function, which is called again with the answer: nothing before it is repeated.
    answer = (ctx.input_responses or {}).get("answer")
    await progress.set_total(batches * UNITS)
    for batch in range(1, batches + 1) if answer is None else ():
        note(ledger, name, batch, "start")
        for unit in range(UNITS):
            await progress.set_message(f"unit {unit} of batch {batch}")
            await asyncio.sleep(secondsEach / UNITS)
            await progress.increment()
        await progress.set_message(f"batch {batch} is done")
        note(ledger, name, batch, "done")
    if ends == "failed":
        raise ToolError("it was to fail")
    if ends == "asks" and answer is None:
        return InputRequiredResult(input_requests={"answer": QUESTION})
    return {"done": batches} if answer is None else {"done": batches, "answer": answer.content["answer"]}


@mcp.tool(task=TASK)
async def steps(ledger: str, name: str) -> dict:
    for step in (1, 2, 3):
        note(ledger, name, step, "start")
        await asyncio.sleep(3)
        note(ledger, name, step, "done")
    return {"done": 3}


@mcp.tool(task=TASK)
async def probe() -> dict:
    return {}


if __name__ == "__main__":
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="warning")
